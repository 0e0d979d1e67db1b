import { isUuid } from '@clew/ledger'
import { uuid6 } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { spaceNames } from './namespace-key.ts'

const key = fc.record({ thread: fc.string(), ns: fc.constantFrom('', 'a', 'a|b') })
const life = fc.nat({ max: 2 })
const id = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
  fc.constant(0).map(() => uuid6(3)),
  fc.string(),
)

it('A4 checkpoints of one space never share an event id, whatever their ids are', () => {
  const char = fc.constantFrom(...'0123456789abcdefABCDEF-g')
  fc.assert(
    fc.property(key, life, id, fc.nat({ max: 35 }), char, (space, lives, one, at, other) => {
      const names = spaceNames(space, lives)
      const near = `${one.slice(0, at)}${other}${one.slice(at + 1)}`
      expect(isUuid(names.eventId(one))).toBe(true)
      expect(names.eventId(one) === names.eventId(near)).toBe(one === near)
      expect(names.eventIds(one)[0]).toBe(names.eventId(one))
    }),
  )
})

it('A4 the same checkpoint has an event id of its own in each space, and in each life of it', () => {
  fc.assert(
    fc.property(key, life, key, life, id, (one, first, other, second, checkpointId) => {
      const isSame = one.thread === other.thread && one.ns === other.ns && first === second
      const ids = [spaceNames(one, first), spaceNames(other, second)].map((names) =>
        names.eventId(checkpointId),
      )
      expect(ids[0] === ids[1]).toBe(isSame)
    }),
  )
})

it('A4 what lies side by side by the id of its checkpoint does so by that of its event', () => {
  const { eventId } = spaceNames({ thread: 't', ns: '' }, 0)
  const given = Array.from({ length: 50 }, (_, step) => uuid6(step))
  const leads = new Set(given.map((each) => eventId(each).slice(0, 8)))
  expect(leads.size).toBeLessThan(3)
})
