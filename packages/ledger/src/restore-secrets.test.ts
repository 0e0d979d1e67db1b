import { describe, expect, it } from 'vitest'
import { restoreSecrets } from './restore-secrets.ts'

const KEY = '[redacted:code:0123456789]'
const PEM = '[redacted:private-key:abcdefabcd]'
const originals: Readonly<Record<string, string>> = { [KEY]: 'CODE-1', [PEM]: 'BEGIN "x"\nend\\' }
const restore = (value: Parameters<typeof restoreSecrets>[0]) =>
  restoreSecrets(value, (placeholder) => originals[placeholder])

describe('P2 restoring secrets', () => {
  it('replaces placeholders that are the whole text, stand inside of one, or in keys', () => {
    expect(restore({ a: KEY, b: [`use ${KEY}, then ${KEY}`, 1, null], [`key ${KEY}`]: true })).toEqual({
      a: 'CODE-1',
      b: ['use CODE-1, then CODE-1', 1, null],
      'key CODE-1': true,
    })
  })

  it('leaves placeholders alone that nobody knows, and shares what has none', () => {
    const plain = { deep: [1, 'two'] }
    const value = { plain, other: '[redacted:code:ffffffffff]', torn: '[redacted:code:01' }
    expect(restore(value)).toBe(value)
    const changed = restore({ plain, key: KEY }) as Record<string, unknown>
    expect(changed['plain']).toBe(plain)
  })

  it('does not take text that an original holds for another placeholder', () => {
    const nested = restoreSecrets(KEY, () => `[redacted:code:ffffffffff] ${KEY}`)
    expect(nested).toBe(`[redacted:code:ffffffffff] ${KEY}`)
  })

  it('keeps the key __proto__ a key', () => {
    const value = JSON.parse(`{"__proto__":"${KEY}"}`) as Record<string, string>
    expect(JSON.stringify(restore(value))).toBe('{"__proto__":"CODE-1"}')
  })

  it('escapes an original inside of text that is JSON, a line of JSON or an event of a stream', () => {
    for (const text of [
      `{"pem":"${PEM}"}`,
      `{\n "pem": "${PEM}"\n}`,
      `plain\ndata: {"pem":"${PEM}"}\n\nrest`,
      `{"a":1}\n{"pem":"${PEM}"}\n`,
    ]) {
      const restored = restore(text) as string
      const [line] = /\{[^{]*"pem"[^]*?\}/.exec(restored) ?? ['']
      expect(JSON.parse(line)).toEqual({ pem: originals[PEM] })
    }
    expect(restore(`the key:\n${PEM}`)).toBe(`the key:\n${originals[PEM]}`)
  })
})
