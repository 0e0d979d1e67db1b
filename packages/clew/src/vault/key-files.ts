import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { ClewError } from '@clew/ledger'
import { type CipherKey, type KeySource, toCipherKey } from './cipher.ts'

/** Key files of a vault: `clew.db.vault-1.key`, one more with each rotation. The highest number is current. */
interface KeyFiles {
  /** Oldest first. */
  read(): CipherKey[]
  /** Makes the first one, or the next; where another process was first, that one counts. */
  makeFirst(): CipherKey
  makeNext(): CipherKey
}

const pathOf = (databasePath: string, number: number): string => `${databasePath}.vault-${number}.key`

/** Numbers of the key files beside a database, lowest first; none where there is no folder. */
function keyNumbers(databasePath: string): number[] {
  const [folder, prefix] = [dirname(databasePath), `${basename(databasePath)}.vault-`]
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .flatMap((file) => /^(\d{1,9})\.key$/.exec(file.slice(prefix.length))?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

export const vaultKeyFiles = (databasePath: string): string[] =>
  keyNumbers(databasePath).map((number) => pathOf(databasePath, number))

function keyFiles(databasePath: string): KeyFiles {
  /** Written under a hidden name until it is complete, and linked only if no other process was first. */
  function make(number: number): CipherKey {
    const file = pathOf(databasePath, number)
    const draft = `${file}.${randomBytes(6).toString('hex')}`
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    try {
      linkSync(draft, file)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    } finally {
      rmSync(draft)
    }
    return readKey(file, number)
  }

  return {
    read: () => keyNumbers(databasePath).map((number) => readKey(pathOf(databasePath, number), number)),
    makeFirst: () => make(1),
    makeNext: () => make((keyNumbers(databasePath).at(-1) ?? 0) + 1),
  }
}

/** The id names the number and, by a digest, the key itself: a file with another key is not taken for the lost one. */
function readKey(file: string, number: number): CipherKey {
  // On Windows the mode says nothing.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  const text = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new ClewError(
      'bad_key',
      `The vault key file ${file} is empty, truncated or not a key`,
      'Restore it from a backup; nothing was changed, and without the vault the ledger opens as before.',
      { file },
    )
  const mark = createHash('sha256').update(Buffer.from(text, 'hex')).digest('hex').slice(0, 12)
  return toCipherKey(`file-${number}-${mark}`, text)
}

/**
 * Keys in files beside the database. The first is made when there are neither files nor rows; rows whose key file is
 * missing are an error, for a new key would only hide the loss. Null if there is nothing to read and nothing may be
 * created.
 */
export function openKeyFiles(
  databasePath: string,
  rowKeyIds: readonly string[],
  mayMake: boolean,
): KeySource | null {
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (cause) {
      if (cause instanceof ClewError) throw cause
      throw new ClewError(
        'store_failed',
        `The vault key files beside ${databasePath} cannot be read or created`,
        'Give this user permission to them and their folder.',
        { file: databasePath },
        cause,
      )
    }
  }
  const files = keyFiles(databasePath)
  const found = guarded(files.read)
  const lost = rowKeyIds.find((id) => !found.some((key) => key.id === id))
  if (lost !== undefined)
    throw new ClewError(
      'bad_key',
      `The vault of ${databasePath} has rows of key ${lost}, and no key file beside it holds that key`,
      `Restore the file ${basename(databasePath)}.vault-*.key from a backup; nothing was changed, and without the vault the ledger opens with placeholders.`,
      { keyId: lost },
    )
  if (found.length === 0 && !mayMake) return null
  return {
    current: found.at(-1) ?? guarded(files.makeFirst),
    // Another process may have rotated since.
    find: async (id) => guarded(files.read).find((key) => key.id === id),
    renew: async () => guarded(files.makeNext),
  }
}
