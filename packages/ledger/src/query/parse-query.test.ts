import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClewError } from '../errors.ts'
import { parseQuery } from './parse-query.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')
const parse = (text: string) => parseQuery(text, NOW)
const refusal = (text: string): ClewError => {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof ClewError) return error
    throw error
  }
  throw new Error(`accepted: ${text}`)
}
const words = (...tokens: string[]) => ({ tokens, prefix: false })

describe('L1 a query', () => {
  it('has words, phrases, beginnings and what must not be', () => {
    const query = parse('Timeout "gave  Up" fring* "barn ow"* -later -"not this"')
    expect(query.all).toEqual([
      words('timeout'),
      words('gave', 'up'),
      { tokens: ['fring'], prefix: true },
      { tokens: ['barn', 'ow'], prefix: true },
    ])
    expect(query.none).toEqual([words('later'), words('not', 'this')])
  })

  it('reads a word with other signs in it as words that stand together', () => {
    expect(parse('web_search 静か https://a.example/x').all).toEqual([
      words('web', 'search'),
      words('静', 'か'),
      words('https', 'a', 'example', 'x'),
    ])
  })

  it('has filters', () => {
    const query = parse(
      'status:failed,Stopped agent:research -tool:se* type:tool_call run:"a b" thread:t since:1h cost:>0.05 -cost:<=2',
    )
    expect(query.status).toEqual([{ values: ['failed', 'stopped'], negated: false }])
    expect(query.agent).toEqual([{ values: [{ text: 'research', prefix: false }], negated: false }])
    expect(query.tool).toEqual([{ values: [{ text: 'se', prefix: true }], negated: true }])
    expect(query.run).toEqual([{ values: [{ text: 'a b', prefix: false }], negated: false }])
    expect(query.since).toBe('2026-11-15T11:00:00.000Z')
    expect(query.cost).toEqual([
      { op: '>', amount: 0.05, negated: false },
      { op: '<=', amount: 2, negated: true },
    ])
    expect(parse('since:2026-11-01 since:7d').since).toBe('2026-11-08T12:00:00.000Z')
  })

  it('has tags by their own names, numbers with units, texts of errors and an order', () => {
    const query = parse(
      'tag:prod -tag:env=test customer:acme,beta* price:>=1.5k duration:<=1.5m tokens:>10k steps:3 model:gpt-5* error:"Rate Limit" sort:-tokens',
    )
    const tag = { values: null, number: null, negated: false }
    expect(query.tag).toEqual([
      { ...tag, name: 'prod' },
      { ...tag, name: 'env', values: [{ text: 'test', prefix: false }], negated: true },
      {
        ...tag,
        name: 'customer',
        values: [
          { text: 'acme', prefix: false },
          { text: 'beta', prefix: true },
        ],
      },
      { ...tag, name: 'price', number: { op: '>=', amount: 1500 } },
    ])
    expect(query.duration).toEqual([{ op: '<=', amount: 90_000, negated: false }])
    expect(query.tokens).toEqual([{ op: '>', amount: 10_000, negated: false }])
    expect(query.steps).toEqual([{ op: '=', amount: 3, negated: false }])
    expect(query.model).toEqual([{ values: [{ text: 'gpt-5', prefix: true }], negated: false }])
    expect(query.error).toEqual([{ text: 'rate limit', negated: false }])
    expect(query.sort).toEqual({ by: 'tokens', descending: true })
  })

  it.each([
    ['', 1, 'empty'],
    ['   ', 1, 'empty'],
    ['a "b', 3, 'never closed'],
    ['a stauts:failed', 3, 'Did you mean status:?'],
    ['a -agnet:x', 4, 'Did you mean agent:?'],
    ['status:faild', 1, 'Did you mean failed?'],
    ['sort:tokns', 1, 'Did you mean sort:tokens?'],
    ['sort:-tokens sort:cost', 14, 'two orders'],
    ['duration:>30', 1, 'duration'],
    ['duration:>30y', 1, 'duration'],
    ['tokens:many', 1, 'tokens'],
    ['customer:>much', 1, 'comparison'],
    ['customer:', 1, 'without a value'],
    ['status:', 1, 'without a value'],
    ['x status: failed', 3, 'without a value'],
    ['status:bad', 1, 'status'],
    ['cost:cheap', 1, 'amount'],
    ['cost:>', 1, 'amount'],
    ['since:soon', 1, 'time'],
    ['-since:1h', 1, 'negates'],
    ['ok *', 4, 'letter or digit'],
    ['ok ---', 4, 'letter or digit'],
    [`ok ${'x'.repeat(65)}`, 4, '64'],
  ])('that is wrong is refused with its place: %j', (text, at, about) => {
    const { code, fields, message } = refusal(text)
    expect([code, fields['option'], fields['at']]).toEqual(['bad_option', 'query', at])
    expect(message).toContain(about)
    expect(message).toContain(`(at character ${at})`)
  })

  it('of any characters is read or refused, never worse', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        try {
          const { all, none } = parse(text)
          for (const { tokens } of [...all, ...none])
            for (const token of tokens) expect(token).toMatch(/^[\p{L}\p{N}\p{Co}]{1,64}$/u)
        } catch (error) {
          expect(error).toBeInstanceOf(ClewError)
        }
      }),
    )
  })
})
