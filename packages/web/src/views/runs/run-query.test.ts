import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completions, joinQuery, splitQuery, toRequest } from './run-query.ts'

describe('the filter of runs', () => {
  it('U1 keeps quoted words together and names fields', () => {
    expect(splitQuery('status:failed  agent:"field notes" -tool:search "barn owls" wing*')).toEqual([
      { text: 'status:failed', field: 'status', value: 'failed' },
      { text: 'agent:"field notes"', field: 'agent', value: 'field notes' },
      { text: '-tool:search', field: 'tool', value: 'search' },
      { text: '"barn owls"', field: null, value: 'barn owls' },
      { text: 'wing*', field: null, value: 'wing*' },
    ])
  })

  it('U2 what is split and joined is split the same way again', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:"- *st'), maxLength: 24 }), (query) => {
        const items = splitQuery(query)
        // A quotation that nobody closed closes itself at the end, so it may only be the last part.
        fc.pre((query.match(/"/g) ?? []).length % 2 === 0)
        expect(splitQuery(joinQuery(items))).toEqual(items)
      }),
      { numRuns: 300 },
    )
  })

  it('U1 asks the list for what it can answer, and search for the rest', () => {
    expect(toRequest(undefined)).toEqual({ path: '/v1/runs', query: {} })
    expect(toRequest('status:failed thread:t1 since:1h')).toEqual({
      path: '/v1/runs',
      query: { status: 'failed', threadId: 't1', since: '1h' },
    })
    expect(toRequest('status:failed text:"owls"')).toEqual({
      path: '/v1/search',
      query: { query: 'status:failed "owls"' },
    })
    expect(toRequest('-status:failed').path).toBe('/v1/search')
    expect(toRequest('status:failed status:paused').path).toBe('/v1/search')
    expect(toRequest('status:failed,paused').path).toBe('/v1/search')
  })

  it('U2 completes fields, then their values', () => {
    expect(completions('sta', []).map(({ text }) => text)).toEqual(['status:'])
    expect(completions('status:fa', []).map(({ text }) => text)).toEqual(['status:failed'])
    expect(completions('agent:', ['field notes']).map(({ text }) => text)).toEqual(['agent:"field notes"'])
    expect(completions('owls', [])).toEqual([])
  })
})
