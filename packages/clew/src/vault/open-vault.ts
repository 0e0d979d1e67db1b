import { randomBytes } from 'node:crypto'
import { ClewError, type Store, type VaultCipher, vaultContext } from '@clew/ledger'
import { sqlitePath } from '../sqlite-path.ts'
import { type CipherKey, createCipher, type KeySource, toCipherKey } from './cipher.ts'
import { openKeyFiles } from './key-files.ts'

/** A key for the vault: 32 bytes, also as base64 or hex, under an id that rows name it by. */
export interface VaultKey {
  readonly id: string
  readonly key: Uint8Array | string
}

/** The key for new rows, and keys of rows that were written before it. */
export interface VaultKeys extends VaultKey {
  readonly older?: readonly VaultKey[] | undefined
}

/** Asks a key service: for the current key without an id, for an older one by its id. */
export type VaultKeyFunction = (id?: string) => VaultKey | undefined | Promise<VaultKey | undefined>

/** `true`: keys in files beside a SQLite store. Elsewhere keys are given, or asked for. */
export type VaultOption = boolean | VaultKeys | VaultKeyFunction

/** Opens the vault of a store; undefined where it is off, or the store is only read and has no rows. */
export type OpenVault = (store: Store, readOnly: boolean) => Promise<VaultCipher | undefined>

/** Checks the option before a store is opened or made for it. */
export async function prepareVault(option: VaultOption | undefined, url: string): Promise<OpenVault> {
  if (option === undefined || option === false) return async () => undefined
  const given = await keysOf(option, url)
  return async (store, readOnly) => {
    const { vaultKeys } = await store.info('vaultKeys')
    const source = 'file' in given ? openKeyFiles(given.file, vaultKeys, !readOnly) : given
    if (!source) return undefined
    const cipher = createCipher(source)
    await assertRightKey(store, cipher)
    return cipher
  }
}

async function keysOf(
  option: Exclude<VaultOption, false>,
  url: string,
): Promise<KeySource | { readonly file: string }> {
  if (typeof option === 'function') return askedKeys(option)
  if (option !== true && (typeof option !== 'object' || option === null)) throw badOption()
  if (option !== true) return givenKeys(option)
  if (url === 'memory:') return givenKeys({ id: 'memory', key: randomBytes(32) })
  const file = sqlitePath(url)
  if (file !== undefined) return { file }
  throw new ClewError(
    'bad_option',
    'vault: true keeps its key in a file beside the store, and this store has none',
    'Give keys: vault: { id, key }, or a function that asks your key service; nothing was changed.',
    { option: 'vault' },
  )
}

function givenKeys({ id, key, older = [] }: VaultKeys): KeySource {
  const current = toCipherKey(id, key)
  const known = new Map(older.map((each) => [each.id, toCipherKey(each.id, each.key)]))
  if (known.has(current.id) || known.size < older.length)
    throw new ClewError(
      'bad_option',
      'Two vault keys have the same id',
      'Give each key an id of its own, and the current key once.',
      { option: 'vault' },
    )
  return { current, find: async (each) => known.get(each), renew: async () => current }
}

async function askedKeys(ask: VaultKeyFunction): Promise<KeySource> {
  const known = new Map<string, CipherKey>()
  async function get(id?: string): Promise<CipherKey | undefined> {
    const cached = id === undefined ? undefined : known.get(id)
    if (cached) return cached
    const given = await ask(id)
    if (!given || (id !== undefined && given.id !== id)) return undefined
    const key = toCipherKey(given.id, given.key)
    known.set(key.id, key)
    return key
  }
  async function needCurrent(): Promise<CipherKey> {
    const key = await get()
    if (key) return key
    throw new ClewError(
      'bad_option',
      'The function that gives vault keys gave none when it was asked for the current one',
      'Let it give { id, key } when it is called without an id; nothing was changed.',
      { option: 'vault' },
    )
  }
  return { current: await needCurrent(), find: get, renew: needCurrent }
}

/** Two keys under one id would make half of the rows unreadable: one row of the current key is tried before any is added. */
async function assertRightKey(store: Store, cipher: VaultCipher): Promise<void> {
  const { keyId } = cipher
  const [row] = await store.readVault({ afterPosition: 0, limit: 1, keyId })
  if (!row?.event) return
  const opened = await cipher.decrypt(row, vaultContext(row.event))
  if (!('problem' in opened)) return
  throw new ClewError(
    'bad_key',
    `The vault has rows of key ${keyId} that do not decrypt with the key given under that id`,
    'Give the key that they were written with, or a new key under an id of its own; nothing was changed, and without the vault the ledger opens with placeholders.',
    { keyId },
  )
}

const badOption = (): ClewError =>
  new ClewError(
    'bad_option',
    'The option vault is neither true, false, keys nor a function',
    'Use true on SQLite, { id, key, older }, or a function that gives { id, key }.',
    { option: 'vault' },
  )
