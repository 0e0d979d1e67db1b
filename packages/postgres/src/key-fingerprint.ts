import { ClewError } from '@clew/ledger'
import type { Sql } from './sql.ts'

/**
 * Gives the mark of the key that this process has for the ledger at the URL shown; `isMarked` when one stands in the
 * database already.
 */
export type KeyFingerprint = (isMarked: boolean, url: string) => string

/** P2: all who write have one key, or equal secrets would not stay equal. Who only reads makes no fingerprints. */
export async function assertSameKey(
  sql: Sql,
  url: string,
  keyMark: KeyFingerprint,
  readOnly: boolean,
): Promise<void> {
  const read = async (): Promise<string | null> =>
    (await sql.query({ text: 'SELECT key_mark FROM meta' })).rows[0]?.['key_mark'] as string | null
  const standing = await read()
  const mine = keyMark(standing !== null, url)
  if (readOnly) return
  if (standing === null)
    await sql.query({ text: 'UPDATE meta SET key_mark = $1 WHERE key_mark IS NULL', values: [mine] })
  if ((standing ?? (await read())) === mine) return
  throw new ClewError(
    'bad_option',
    `The ledger ${url} was begun with another key than this process has`,
    'Set CLEW_SECRET to the same text for all processes of a ledger, or copy its key file from the machine that began it.',
    { url },
  )
}
