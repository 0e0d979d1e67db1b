import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Codec, createCodecs } from './codecs.ts'
import { ClewError } from '../errors.ts'
import type { JsonValue } from '../json.ts'

const codecs = createCodecs()
const throughText = (value: unknown, using = codecs): unknown => {
  const text = JSON.stringify(using.encode(value))
  return using.decode(JSON.parse(text) as JsonValue, text)
}
const refusal = (value: unknown): ClewError => {
  try {
    codecs.encode(value)
  } catch (error) {
    if (error instanceof ClewError) return error
  }
  throw new Error('was not refused')
}

class Money {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
}
const money: Codec = {
  tag: 'money',
  matches: (value) => value instanceof Money,
  encode: (value) => (value as Money).cents,
  decode: (cents) => new Money(cents as number),
}

describe('values that JSON lacks', () => {
  it('L8 come back as they were, nested in one another', () => {
    const value = {
      date: new Date(1234),
      never: new Date(Number.NaN),
      map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1n, -0, Number.NaN])]]),
      list: [undefined, Number.POSITIVE_INFINITY, null],
      url: new URL('https://example.com/a?b=c'),
      bytes: new Uint8Array([0, 1, 2, 250, 255]),
      pattern: /a+b/giu,
      big: -(2n ** 70n),
    }
    deepStrictEqual(throughText(value), value)
    for (let length = 0; length < 8; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 37)
      deepStrictEqual(throughText({ bytes }), { bytes })
    }
  })

  it('L8 an Error keeps name, message, code and cause', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error('root') }), { code: 'E_BAD' })
    const back = (throughText({ error }) as { error: Error & { code: string } }).error
    expect(back).toBeInstanceOf(Error)
    expect([back.name, back.message, back.code]).toEqual(['TypeError', 'bad', 'E_BAD'])
    expect((back.cause as Error).message).toBe('root')
  })

  it('L8 own classes travel by their codec, and are refused by path without one', () => {
    const own = createCodecs([money])
    expect(throughText({ price: new Money(99) }, own)).toEqual({ price: new Money(99) })
    const { code, fields, message } = refusal({ order: { lines: [{ price: new Money(1) }] } })
    expect([code, fields['path']]).toEqual(['bad_value', '$.order.lines[0].price'])
    expect(message).toContain('Money')
  })

  it('L8 functions, symbols, cycles and endless nesting are refused by path', () => {
    expect(refusal({ a: [() => 1] }).fields['path']).toBe('$.a[0]')
    expect(refusal({ a: { b: Symbol('s') } }).fields['path']).toBe('$.a.b')
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(refusal(cycle).message).toContain('refers to itself')
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = [deep]
    expect(refusal({ deep }).message).toContain('512 levels')
    expect(() => codecs.accept(deep)).toThrow(ClewError)
  })

  it('L8 an object with our tag as its own key is not mistaken for a tagged value', () => {
    const tricky = { $clew: 'date', value: 'not a date', inner: [{ $clew: 'undefined', value: null }] }
    expect(throughText(tricky)).toEqual(tricky)
  })

  it('L8 tags that came from outside and do not fit stay as they came', () => {
    for (const value of [
      { $clew: 'bigint', value: 'x' },
      { $clew: 'map', value: 3 },
      { $clew: 'url', value: 'nonsense' },
      { $clew: 'unknown', value: [1] },
    ])
      expect(codecs.decode(value)).toEqual(value)
  })

  it('L8 plain JSON is passed through untouched, __proto__ and lone surrogates included', () => {
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<JsonValue>, (value) => {
        const clean = JSON.parse(JSON.stringify(value)) as JsonValue
        fc.pre(!JSON.stringify(clean).includes('$clew') && !JSON.stringify(value).includes('-0'))
        expect(codecs.encode(clean)).toBe(clean)
        expect(codecs.decode(clean)).toBe(clean)
      }),
    )
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"text":"\\ud800"}') as object
    const back = throughText({ hostile, at: new Date(0) }) as { hostile: object }
    expect(Object.getOwnPropertyNames(back.hostile)).toEqual(['__proto__', 'text'])
    expect(JSON.stringify(back.hostile)).toBe(JSON.stringify(hostile))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('L8 a property that is undefined is absent, as in JSON', () => {
    expect(throughText({ a: 1, b: undefined, c: 2 })).toStrictEqual({ a: 1, c: 2 })
  })

  it('R5 a copy is what comes back from the record, and shares nothing with the original', () => {
    const own = createCodecs([money])
    const tags = ['a']
    const value = {
      left: tags,
      right: tags,
      gone: undefined,
      list: [undefined, -0, { $clew: 'date', value: 1 }],
      map: new Map([['x', new Set([new Money(1)])]]),
      bytes: Buffer.from('owl'),
      at: new Date(5),
    }
    const copy = own.copy(value) as typeof value
    deepStrictEqual(copy, throughText(value, own))
    copy.left.push('b')
    copy.bytes[0] = 0
    copy.at.setTime(0)
    expect([value.left, value.bytes.toString(), value.at.getTime(), copy.right]).toEqual([
      ['a'],
      'owl',
      5,
      ['a'],
    ])
    expect(() => codecs.copy({ a: [() => 1] })).toThrow('$.a[0]')
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(() => codecs.copy(cycle)).toThrow('refers to itself')
    fc.assert(fc.property(fc.jsonValue(), (json) => deepStrictEqual(codecs.copy(json), throughText(json))))
  })

  it('two codecs with one tag are refused', () => {
    expect(() => createCodecs([money, money])).toThrow('money')
    expect(() => createCodecs([{ ...money, tag: 'date' }])).toThrow('date')
  })
})
