import { createHmac, hash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { ClewError } from '@clew/ledger'

/** Path of the key of a ledger that has no file beside which it could lie; `.key` is added. */
export const keyPath = (shownUrl: string): string =>
  join(homedir(), '.clew', 'keys', hash('sha256', shownUrl).slice(0, 24))

/** Distinguishes keys without revealing anything of them. */
export const markOf = (secret: string): string =>
  createHmac('sha256', secret).update('the mark of a ledger’s key').digest('hex')

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
      `The key file ${file} cannot be read or created`,
      'Give this user permission to it and its folder, or set CLEW_SECRET.',
      { file },
      cause,
    )
  }
}

function readOrMake(file: string, fresh: string, writable: boolean): string {
  if (!existsSync(file)) {
    if (!writable) return fresh
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if (make(file, fresh)) return fresh
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length >= 32) return secret
  throw new ClewError(
    'bad_option',
    `The key file ${file} is empty or truncated`,
    'Restore it from a backup, or delete it to create a new one; records stay readable either way.',
  )
}

/** Creates the file with its content or not at all; false if another process was first. */
function make(file: string, secret: string): boolean {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, secret, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft)
  }
}
