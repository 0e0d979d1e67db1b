import { ClewError, findSecrets, type Redactor } from '@clew/ledger'
import { toPlain } from './store-copy.ts'

/** Rule for a value that redaction would replace as a whole: refused, or stored as its placeholder. */
export type SecretsRule = 'refuse' | 'redact'

/**
 * P2: who reads such a value back would get a placeholder in its place, and use it as if it were the secret. One inside
 * a longer text is stored redacted.
 */
export function assertNoWholeSecret(redactor: Redactor, value: unknown, user: string): void {
  const secret = findSecrets(redactor, toPlain(value)).find(({ isWhole }) => isWhole)
  if (!secret) return
  throw new ClewError(
    'bad_value',
    `The value at ${secret.path} is a secret (${secret.kind}), which redaction would take out`,
    `Keep it elsewhere and store where it is, or store a placeholder for it with new ${user}(ledger, { secrets: 'redact' }). Nothing was written.`,
    { path: secret.path, kind: secret.kind },
  )
}
