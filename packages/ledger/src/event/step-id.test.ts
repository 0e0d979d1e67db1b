import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatStepId, parseStepId, type StepIdentity } from './step-id.ts'

const name = fc.string({ minLength: 1, unit: 'grapheme' })
const identity = (parentStepId: string | null): fc.Arbitrary<StepIdentity> =>
  fc.oneof(
    fc.record({ parentStepId: fc.constant(parentStepId), name, ordinal: fc.nat() }),
    fc.record({ parentStepId: fc.constant(parentStepId), name, key: fc.string(), ordinal: fc.constant(0) }),
  )

describe('step ids', () => {
  it('R2 spell parent, name and key or ordinal so that each can be read back', () => {
    fc.assert(
      fc.property(identity(null), fc.gen(), (parent, gen) => {
        const parentStepId = formatStepId(parent)
        const child = gen(identity, parentStepId)
        expect(parseStepId(formatStepId(child))).toEqual(child)
      }),
    )
  })

  it('R2 are unique: two identities have the same id only if they are equal', () => {
    fc.assert(
      fc.property(identity(null), identity(null), (a, b) => {
        expect(formatStepId(a) === formatStepId(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
    )
    expect(formatStepId({ parentStepId: 'plan#0', name: 'search', ordinal: 2 })).toBe('plan#0/search#2')
    expect(parseStepId('made elsewhere')).toBeUndefined()
  })
})
