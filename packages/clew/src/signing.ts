import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { checkCertificate, type ErasureCertificate, type HeadChecker, type HeadSigner } from '@clew/ledger'

const publicText = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')

/** Ed25519 over the text of the heads (L6). */
export const headChecker: HeadChecker = {
  async verify(text, signature, publicKey) {
    try {
      const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
      return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
    } catch {
      // A key or signature that cannot even be read fits nothing.
      return false
    }
  },
}

/** Whether a certificate of an erasure is as it was signed, by the key that it names. */
export const verifyCertificate = (certificate: ErasureCertificate): Promise<boolean> =>
  checkCertificate(headChecker, certificate)

/** Signs with the key in `file` (PKCS#8 PEM), which is made on first use and readable by its owner only. */
export function headSigner(file: string): HeadSigner {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  }
  const key = createPrivateKey(readFileSync(file))
  return {
    publicKey: publicText(key),
    sign: async (text) => sign(null, Buffer.from(text), key).toString('base64'),
  }
}
