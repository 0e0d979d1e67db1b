import fc from 'fast-check'
import { uuid5 } from '@langchain/langgraph-checkpoint'
import { expect, it } from 'vitest'
import { isDerived } from './derived-id.ts'

const names = fc.oneof(
  // From one block to three, with every length around their ends.
  fc.string({ unit: 'binary-ascii', maxLength: 180 }),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary', minLength: 1000, maxLength: 1100 }),
)

it('R2 ids of tasks are derived as the framework derives them', () => {
  fc.assert(
    fc.property(names, names, fc.uuid(), fc.boolean(), (name, before, id, isUpper) => {
      const namespace = isUpper ? id.toUpperCase() : id
      isDerived(id, before, namespace)
      expect(isDerived(uuid5(name, namespace), name, namespace)).toBe(true)
    }),
    { numRuns: 100 },
  )
  expect(() => isDerived('id', 'name', 'no uuid')).toThrow()
})

it('R2 an id that differs anywhere is not taken for the one of a task', () => {
  fc.assert(
    fc.property(names, fc.uuid(), fc.constantFrom(...'0123456789abcdefA-'), (name, id, char) => {
      const derived = uuid5(name, id)
      for (let at = 0; at < derived.length; at++) {
        const other = `${derived.slice(0, at)}${char}${derived.slice(at + 1)}`
        expect(isDerived(other, name, id)).toBe(other === derived)
        expect(isDerived(derived.slice(0, at), name, id)).toBe(false)
      }
      expect(isDerived(derived + char, name, id)).toBe(false)
    }),
    { numRuns: 50 },
  )
})
