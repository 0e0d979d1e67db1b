import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ClewError } from '@clew/ledger'

/**
 * The ledger's secret lives outside its database (P2): in CLEW_SECRET, shared by all servers, or in a file beside
 * the database that only its owner can read. Fingerprints of redacted values and the judgement of sameness hang on
 * it; nothing stored becomes readable with it.
 */
export function readSecret(databasePath: string | undefined, writable = true): string {
  const given = process.env['CLEW_SECRET']
  if (given !== undefined) {
    if (given.length >= 32) return given
    throw new ClewError(
      'bad_option',
      'CLEW_SECRET is shorter than 32 characters',
      'Set it to a long random text, the same for all processes of a ledger.',
    )
  }
  const fresh = randomBytes(32).toString('hex')
  if (databasePath === undefined) return fresh
  const file = `${databasePath}.key`
  try {
    return readOrMake(file, fresh, writable)
  } catch (cause) {
    if (cause instanceof ClewError) throw cause
    throw new ClewError(
      'store_failed',
      `The key file ${file} cannot be read or made`,
      'Give this user permission to it and its folder, or set CLEW_SECRET.',
      { file },
      cause,
    )
  }
}

function readOrMake(file: string, fresh: string, writable: boolean): string {
  if (!existsSync(file)) {
    if (!writable) return fresh
    try {
      writeFileSync(file, fresh, { mode: 0o600, flag: 'wx' })
      return fresh
    } catch (error) {
      // Another process made it at the same moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length >= 32) return secret
  throw new ClewError(
    'bad_option',
    `The key file ${file} is empty or cut short`,
    'Restore it from a backup, or delete it to begin a new one; records stay readable either way.',
  )
}
