import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zipInputs } from './zip-inputs.ts'

describe('R8 zipped inputs', () => {
  it('R8 go side by side, with scalars in each item', () => {
    const items = zipInputs({ page: ['a', 'b'], depth: [1, 2], model: 'small' })
    const first: { page: string; depth: number; model: string } | undefined = items[0]
    expect(first).toEqual({ page: 'a', depth: 1, model: 'small' })
    expect(items[1]).toEqual({ page: 'b', depth: 2, model: 'small' })
    expect(zipInputs({ page: [], model: 'small' })).toEqual([])
  })

  it('R8 a list that is not named in `over` belongs to each item as it is', () => {
    expect(zipInputs({ page: ['a', 'b'], tags: ['x'] }, { over: ['page'] })).toEqual([
      { page: 'a', tags: ['x'] },
      { page: 'b', tags: ['x'] },
    ])
  })

  it('R8 of unequal length are refused, naming both', () => {
    expect(() => zipInputs({ page: ['a', 'b'], depth: [1] })).toThrow('page has 2 values and depth has 1')
  })

  it('R8 without a list, or over something that is none, are refused', () => {
    expect(() => zipInputs({ model: 'small' })).toThrow('nothing to map over')
    expect(() => zipInputs({ page: ['a'], model: 'x' }, { over: ['model'] })).toThrow('model is no list')
  })

  it('R8 every value comes out once, in its place', () => {
    const rows = fc.array(fc.tuple(fc.integer(), fc.string()), { minLength: 1 })
    fc.assert(
      fc.property(rows, fc.jsonValue(), (pairs, scalar) => {
        const same = Array.isArray(scalar) ? null : scalar
        const items = zipInputs({ n: pairs.map(([n]) => n), s: pairs.map(([, s]) => s), same })
        expect(items).toEqual(pairs.map(([n, s]) => ({ n, s, same })))
      }),
    )
  })
})
