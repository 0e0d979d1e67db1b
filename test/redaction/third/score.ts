import type { JsonObject } from '../../../packages/ledger/src/json.ts'
import type { Redactor } from '../../../packages/ledger/src/redact/redact.ts'
import type { OrdinaryText, SecretText } from './corpus.ts'

type Redact = Redactor['value']
export type Found = { readonly text: SecretText; readonly secret: string; readonly found: boolean }

const PLACEHOLDER = /\[redacted:[^\]]*\]/g
const SHORTEST_LEAK = 5

/** A tool call is an object, everything else one text in it. */
const valueOf = (text: OrdinaryText): JsonObject =>
  text.carrier === 'calls' ? (JSON.parse(text.text) as JsonObject) : { content: text.text }

const redactedText = (text: OrdinaryText, redact: Redact): string => {
  const { value } = redact(valueOf(text))
  const shown =
    text.carrier === 'calls' ? JSON.stringify(value) : ((value as JsonObject)['content'] as string)
  return shown.replaceAll(PLACEHOLDER, '\u0000')
}

/** What stood around the secrets anyway tells nothing of them. */
const isLeft = (secret: string, around: string, output: string): boolean => {
  const length = Math.min(secret.length, SHORTEST_LEAK)
  for (let at = 0; at + length <= secret.length; at += 1) {
    const run = secret.slice(at, at + length)
    if (output.includes(run) && !around.includes(run)) return true
  }
  return false
}

export const findSecretsOf = (text: SecretText, redact: Redact): readonly Found[] => {
  const output = redactedText(text, redact)
  const around = text.secrets.reduce((left, secret) => left.replaceAll(secret, '\u0000'), text.text)
  return text.secrets.map((secret) => ({ text, secret, found: !isLeft(secret, around, output) }))
}

export const isFalseAlarm = (text: OrdinaryText, redact: Redact): boolean =>
  redact(valueOf(text)).redacted > 0
