import type { JsonObject } from '../../packages/ledger/src/json.ts'
import type { Redactor } from '../../packages/ledger/src/redact/redact.ts'
import type { OrdinaryText, SecretText } from './texts.ts'

type Redact = Redactor['value']
export type Found = { readonly text: SecretText; readonly secret: string; readonly found: boolean }

const PLACEHOLDER = /\[redacted:[^\]]*\]/g
const SHORTEST_LEAK = 5

function redactedText({ text, value }: OrdinaryText, redact: Redact): string {
  const output = redact(value).value as JsonObject
  const shown = value['content'] === text ? (output['content'] as string) : JSON.stringify(output)
  return shown.replaceAll(PLACEHOLDER, '\u0000')
}

/** What stood around the secrets anyway tells nothing of them. */
function isLeft(secret: string, around: string, output: string): boolean {
  const length = Math.min(secret.length, SHORTEST_LEAK)
  for (let at = 0; at + length <= secret.length; at++) {
    const run = secret.slice(at, at + length)
    if (output.includes(run) && !around.includes(run)) return true
  }
  return false
}

export function findSecretsOf(text: SecretText, redact: Redact): readonly Found[] {
  const output = redactedText(text, redact)
  const around = text.secrets.reduce((left, secret) => left.replaceAll(secret, '\u0000'), text.text)
  return text.secrets.map((secret) => ({ text, secret, found: !isLeft(secret, around, output) }))
}

export const isFalseAlarm = ({ value }: OrdinaryText, redact: Redact): boolean => redact(value).redacted > 0
