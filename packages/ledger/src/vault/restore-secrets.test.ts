import { describe, expect, it } from 'vitest'
import { findPlaceholderPlaces } from '../redact/placeholder.ts'
import { findSecrets } from '../redact/find-secrets.ts'
import { createRedactor } from '../redact/redact.ts'
import { restoreSecrets } from './restore-secrets.ts'

const A = '[redacted:code:00000000aa]'
const B = '[redacted:pin:00000000bb]'
const originalOf = (placeholder: string): string | undefined => (placeholder === A ? 'CODE-1' : undefined)

describe('restoring secrets', () => {
  it('P2 replaces whole strings, placeholders inside text and keys, and leaves what it does not know', () => {
    const value = { a: A, list: [`x ${A}, ${B}, ${A}`, B], [A]: { [`k ${A}`]: 1 }, n: 1, none: null }
    expect(restoreSecrets(value, originalOf)).toEqual({
      a: 'CODE-1',
      list: [`x CODE-1, ${B}, CODE-1`, B],
      'CODE-1': { 'k CODE-1': 1 },
      n: 1,
      none: null,
    })
  })

  it('P2 reaches into maps and sets, and gives unchanged parts back as they are', () => {
    const date = new Date(0)
    const value = { map: new Map<unknown, unknown>([[A, new Set([A])]]), date, same: { list: ['x'] } }
    const restored = restoreSecrets(value, originalOf)
    expect(restored.map).toEqual(new Map([['CODE-1', new Set(['CODE-1'])]]))
    expect([restored.date, restored.same]).toEqual([date, value.same])
    expect(restored.same).toBe(value.same)
    expect(restoreSecrets(value, () => undefined)).toBe(value)
  })

  it('P2 does not look for placeholders in what it put in: an original is data', () => {
    expect(restoreSecrets(`${A}${A}`, () => A)).toBe(`${A}${A}`)
    expect(restoreSecrets(JSON.parse(`{"__proto__":"${A}"}`), originalOf)).toEqual(
      JSON.parse('{"__proto__":"CODE-1"}'),
    )
  })
})

describe('places of placeholders', () => {
  it('P2 tells whole values and keys from placeholders inside text, with path and kind', () => {
    const value = { a: [A, `x ${A} ${B}`], [`${A}~`]: 1, map: new Map([['k', B]]), set: new Set([B]) }
    expect(findPlaceholderPlaces(value)).toEqual([
      { path: '$.a[0]', kind: 'code', isWhole: true },
      { path: '$.a[1]', kind: 'code, pin', isWhole: false },
      { path: `$["${A}~"]`, kind: 'code', isWhole: true },
      { path: '$.map.k', kind: 'pin', isWhole: true },
      { path: '$.set[0]', kind: 'pin', isWhole: true },
    ])
  })
})

describe('places of secrets', () => {
  const redactor = createRedactor({ rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] }, () => '00000000cc')

  it('P2 are told with path, kind and whether the string is the secret; placeholders that were there before are not', () => {
    const value = {
      whole: 'CODE-123456',
      text: 'use CODE-123456 now',
      before: A,
      list: [{ 'CODE-654321': 1 }, 'plain'],
    }
    expect(findSecrets(redactor, value)).toEqual([
      { path: '$.whole', kind: 'code', isWhole: true },
      { path: '$.text', kind: 'code', isWhole: false },
      { path: '$.list[0]["[redacted:code:00000000cc]"]', kind: 'code', isWhole: true },
    ])
    expect(findSecrets(redactor, 'CODE-123456')).toEqual([{ path: '$', kind: 'code', isWhole: true }])
    expect(findSecrets(redactor, { plain: 'text' })).toEqual([])
  })
})

const KEY = '[redacted:code:0123456789]'
const PEM = '[redacted:private-key:abcdefabcd]'
const originals: Readonly<Record<string, string>> = { [KEY]: 'CODE-1', [PEM]: 'BEGIN "x"\nend\\' }
const restore = <Value>(value: Value) => restoreSecrets(value, (placeholder) => originals[placeholder])

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
      const restored = restore(text)
      const [line] = /\{[^{]*"pem"[^]*?\}/.exec(restored) ?? ['']
      expect(JSON.parse(line)).toEqual({ pem: originals[PEM] })
    }
    expect(restore(`the key:\n${PEM}`)).toBe(`the key:\n${originals[PEM]}`)
  })
})
