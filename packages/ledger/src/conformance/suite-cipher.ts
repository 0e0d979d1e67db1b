import type { Ports } from '../ports.ts'
import type { VaultCipher } from '../vault/vault.ts'

/**
 * Not a real cipher: these tests check which rows a store keeps, under which key and for which event. Text is mixed
 * with a stream of digests, and a digest over all of it reveals a wrong key, another event and a changed row.
 */
export function createSuiteCipher(
  { sha256 }: Pick<Ports, 'sha256'>,
  ...keyIds: readonly string[]
): VaultCipher {
  const mixed = (text: string, secret: string): string => {
    let out = ''
    for (let at = 0; at < text.length; at++) {
      const pad = Number.parseInt(sha256(`${secret} ${at}`).slice(0, 4), 16)
      out += String.fromCharCode(text.charCodeAt(at) ^ pad)
    }
    return out
  }
  const digest = (keyId: string, text: string, context: string): string =>
    sha256(`${keyId}\n${context}\n${text}`)
  return {
    keyId: keyIds[0] as string,
    encrypt(text, context) {
      const keyId = keyIds[0] as string
      return digest(keyId, text, context) + toHex(mixed(text, keyId + context))
    },
    async decrypt({ keyId, data }, context) {
      if (!keyIds.includes(keyId)) return { problem: 'no key' }
      const text = mixed(fromHex(data.slice(64)), keyId + context)
      return digest(keyId, text, context) === data.slice(0, 64) ? { text } : { problem: 'wrong key' }
    },
    renew: async () => {},
  }
}

const toHex = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0')).join('')

const fromHex = (hex: string): string =>
  (hex.match(/.{4}/g) ?? []).map((code) => String.fromCharCode(Number.parseInt(code, 16))).join('')
