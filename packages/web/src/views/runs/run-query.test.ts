import { describe, expect, it } from 'vitest'
import { completions, sortedBy, sortOf, toRequest } from './run-query.ts'

describe('the filter of runs', () => {
  it('U1 asks the list for what it can answer, and search for the rest', () => {
    expect(toRequest(undefined)).toEqual({ path: '/v1/runs', query: {} })
    const fields = 'status:failed -thread:t1 since:1h customer:acme duration:>30s sort:-tokens'
    expect(toRequest(fields)).toEqual({ path: '/v1/runs', query: { q: fields } })
    expect(toRequest('status:failed text:"owls"')).toEqual({
      path: '/v1/search',
      query: { query: 'status:failed "owls"' },
    })
    expect(toRequest('status:failed tool:search').path).toBe('/v1/search')
    expect(toRequest('agent:desk score:correct<1')).toEqual({
      path: '/v1/runs',
      query: { q: 'agent:desk', scores: 'correct<1' },
    })
    expect(toRequest('Type:tool_call').path).toBe('/v1/search')
  })

  it('U1 sorts by a column, and turns the order round', () => {
    expect(sortedBy('agent:desk', 'cost')).toBe('agent:desk sort:-cost')
    expect(sortedBy('sort:-cost agent:desk', 'cost')).toBe('agent:desk sort:cost')
    expect(sortedBy('sort:cost', 'steps')).toBe('sort:-steps')
    expect(sortOf('agent:desk sort:-cost')).toBe('-cost')
    expect(sortOf(undefined)).toBeUndefined()
  })

  it('U2 completes fields, then their values', () => {
    expect(completions('sta', []).map(({ text }) => text)).toEqual(['status:'])
    expect(completions('status:fa', []).map(({ text }) => text)).toEqual(['status:failed'])
    expect(completions('agent:', ['field notes']).map(({ text }) => text)).toEqual(['agent:"field notes"'])
    expect(completions('sort:-t', []).map(({ text }) => text)).toEqual(['sort:-tokens'])
    expect(completions('owls', [])).toEqual([])
  })
})
