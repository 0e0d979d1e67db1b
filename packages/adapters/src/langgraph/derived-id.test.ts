import fc from 'fast-check'
import { uuid5 } from '@langchain/langgraph-checkpoint'
import { expect, it } from 'vitest'
import { derivedId } from './derived-id.ts'

it('R2 ids of tasks are derived as the framework derives them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.uuid(), fc.boolean(), (name, id, isUpper) => {
      const namespace = isUpper ? id.toUpperCase() : id
      expect(derivedId(name, namespace)).toBe(uuid5(name, namespace))
    }),
    { numRuns: 200 },
  )
  expect(() => derivedId('name', 'no uuid')).toThrow()
})
