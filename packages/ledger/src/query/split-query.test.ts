import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinQuery, splitQuery } from './split-query.ts'

describe('the parts of a query', () => {
  it('U1 quoted words stay together and fields have names', () => {
    const parts = splitQuery(
      'status:failed  agent:"field notes" -tool:search "barn owls" wing* https://a.b "x',
    )
    expect(parts.map(({ text, field, value, isClosed }) => [text, field, value, isClosed])).toEqual([
      ['status:failed', 'status', 'failed', true],
      ['agent:"field notes"', 'agent', 'field notes', true],
      ['-tool:search', 'tool', 'search', true],
      ['"barn owls"', null, 'barn owls', true],
      ['wing*', null, 'wing*', true],
      ['https://a.b', null, 'https://a.b', true],
      ['"x', null, 'x', false],
    ])
  })

  it('U2 what is split and joined is split the same way again', () => {
    const withoutPlace = (query: string) => splitQuery(query).map(({ at: _, ...item }) => item)
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:"- *st'), maxLength: 24 }), (query) => {
        expect(withoutPlace(joinQuery(splitQuery(query)))).toEqual(withoutPlace(query))
      }),
      { numRuns: 300 },
    )
  })
})
