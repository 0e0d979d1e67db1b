import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { ClewError, type VaultCipher } from '@clew/ledger'

/** One key of a vault. The key object prints nothing of its bytes. */
export interface CipherKey {
  readonly id: string
  readonly key: KeyObject
}

/** Source of a vault's keys. */
export interface KeySource {
  readonly current: CipherKey
  /** The key of older rows; undefined when it is not known. */
  find(id: string): Promise<CipherKey | undefined>
  /** The current key from a rotation on. */
  renew(): Promise<CipherKey>
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** AES-256-GCM; a row is nonce, tag and encrypted text. */
export function createCipher(source: KeySource): VaultCipher {
  let { current } = source
  return {
    get keyId() {
      return current.id
    },
    encrypt(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(context))
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('hex')
    },
    async decrypt({ keyId, data }, context) {
      const known = keyId === current.id ? current : await source.find(keyId)
      if (!known) return { problem: 'no key' }
      const bytes = Buffer.from(data, 'hex')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return { problem: 'wrong key' }
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const decipher = createDecipheriv('aes-256-gcm', known.key, nonce, options)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
      try {
        return { text: Buffer.concat([text, decipher.final()]).toString('utf8') }
      } catch {
        // GCM says no more than that key, context and bytes do not belong together.
        return { problem: 'wrong key' }
      }
    },
    async renew() {
      current = await source.renew()
    },
  }
}

/** 32 bytes, or their base64 or hex. The error never shows what was given. */
export function toCipherKey(id: unknown, key: unknown): CipherKey {
  if (typeof id !== 'string' || !/^[\w.:@/-]{1,128}$/.test(id))
    throw new ClewError(
      'bad_option',
      'The id of a vault key is not usable',
      'Use 1 to 128 letters, digits and the characters . _ : @ / - and nothing that is secret.',
      { option: 'vault' },
    )
  const bytes = bytesOf(key)
  if (bytes?.length !== KEY_BYTES)
    throw new ClewError(
      'bad_option',
      `The vault key ${id} is not 32 bytes long`,
      'Give 32 random bytes as a Uint8Array, or as 64 hex digits or base64: node -e "console.log(crypto.randomBytes(32).toString(\'base64\'))".',
      { option: 'vault', keyId: id },
    )
  return { id, key: createSecretKey(bytes) }
}

function bytesOf(key: unknown): Uint8Array | undefined {
  if (key instanceof Uint8Array) return key
  if (typeof key !== 'string') return undefined
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex')
  return /^[\w+/-]{43}=?$/.test(key) ? Buffer.from(key, 'base64') : undefined
}
