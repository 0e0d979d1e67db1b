import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createCipher, type CipherKey, toCipherKey } from './cipher.ts'

const BYTES = Uint8Array.from({ length: 32 }, (_, n) => n)
const key = (id: string, first = 0): CipherKey =>
  toCipherKey(
    id,
    BYTES.map((byte) => byte + first),
  )
const cipherOf = (...keys: CipherKey[]) =>
  createCipher({
    current: keys[0] as CipherKey,
    find: async (id) => keys.find((each) => each.id === id),
    renew: async () => keys.at(-1) as CipherKey,
  })

describe('P2 the cipher of the vault', () => {
  it('gives back what it encrypted, and encrypts the same text never twice alike', async () => {
    const cipher = cipherOf(key('a'))
    const rows = [cipher.encrypt('sësame "1"', 'r'), cipher.encrypt('sësame "1"', 'r')]
    expect(rows[0]).not.toBe(rows[1])
    for (const data of rows)
      expect(await cipher.decrypt({ keyId: 'a', data }, 'r')).toEqual({ text: 'sësame "1"' })
  })

  it('finds another context, key or byte, and rows that are cut short', async () => {
    const data = cipherOf(key('a')).encrypt('sesame', 'r')
    const changed = `${data.slice(0, -1)}${data.endsWith('0') ? '1' : '0'}`
    const wrong = { problem: 'wrong key' }
    expect(await cipherOf(key('a')).decrypt({ keyId: 'a', data }, 'q')).toEqual(wrong)
    expect(await cipherOf(key('a', 1)).decrypt({ keyId: 'a', data }, 'r')).toEqual(wrong)
    expect(await cipherOf(key('a')).decrypt({ keyId: 'a', data: changed }, 'r')).toEqual(wrong)
    for (const size of [0, 2, 30, 56]) {
      const short = { keyId: 'a', data: data.slice(0, size) }
      expect(await cipherOf(key('a')).decrypt(short, 'r')).toEqual(wrong)
    }
    expect(await cipherOf(key('b')).decrypt({ keyId: 'a', data }, 'r')).toEqual({ problem: 'no key' })
  })

  it('encrypts with the new key after a rotation and still reads rows of the old one', async () => {
    const cipher = cipherOf(key('a'), key('b', 1))
    const old = { keyId: cipher.keyId, data: cipher.encrypt('sesame', 'r') }
    await cipher.renew()
    expect([old.keyId, cipher.keyId]).toEqual(['a', 'b'])
    expect(await cipher.decrypt(old, 'r')).toEqual({ text: 'sesame' })
  })
})

describe('P2 a key of the vault', () => {
  it('is 32 bytes, also as hex or base64', () => {
    const buffer = Buffer.from(BYTES)
    const forms = [BYTES, buffer.toString('hex'), buffer.toString('base64'), buffer.toString('base64url')]
    for (const form of forms) expect(toCipherKey('a', form).key.export()).toEqual(buffer)
  })

  it('is refused when it is short or no key, without being shown', () => {
    const given = [BYTES.slice(1), 'sesame', 'ab'.repeat(31), 'a'.repeat(44), '', undefined, null, 7]
    for (const each of given) {
      let error: unknown
      try {
        toCipherKey('mine', each)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toMatchObject({ code: 'bad_option', fields: { option: 'vault', keyId: 'mine' } })
      if (typeof each === 'string' && each !== '') expect(inspect(error)).not.toContain(each)
    }
    for (const id of ['', 'two words', undefined, 'x'.repeat(129)])
      expect(() => toCipherKey(id, BYTES)).toThrow('The id of a vault key is not usable')
  })

  it('shows nothing of itself when it is printed', () => {
    const printed = inspect(key('a'), { depth: 9, showHidden: true })
    expect(printed).not.toContain('00010203')
    expect(JSON.stringify(key('a'))).toBe('{"id":"a","key":{}}')
  })
})
