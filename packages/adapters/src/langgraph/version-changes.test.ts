import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Saved, TaskWrites } from './saved.ts'
import { afterRun, mergeSeen, ranVersion, seenChanges, versionChanges } from './version-changes.ts'

const channel = fc.constantFrom('a', 'b', 'branch:to:n', 'branch:to:m', '__proto__')
const version = fc.integer({ min: 1, max: 3 })
const versions = fc.dictionary(channel, version, { maxKeys: 4 })
const seen = fc.dictionary(fc.constantFrom('n', 'm'), versions)
const ready = fc.array(fc.record({ node: fc.constantFrom('n', 'm'), trigger: channel }), { maxLength: 2 })

it('A4 one number stands for versions and what was seen only where it gives them back', () => {
  let told = 0
  fc.assert(
    fc.property(
      fc.record({ ready, versions, seen }),
      fc.array(channel, { maxLength: 3 }),
      fc.uniqueArray(channel, { maxLength: 2 }),
      fc.option(fc.record({ versions, seen })),
      version,
      (parent, channels, drop, given, next) => {
        const before = parent as unknown as Saved
        const writes = channels.map((name, index) => ({ index, channel: name, value: null }))
        const carrier = { writes } as unknown as TaskWrites
        const run = afterRun(before, next + 3, writes, drop)
        const now = given ?? {
          versions: { ...parent.versions, ...run.versions },
          seen: mergeSeen(parent.seen, run.seen),
        }
        const [changed, changedSeen] = [
          versionChanges(parent.versions, now.versions),
          seenChanges(parent.seen, now.seen),
        ]
        const ran = ranVersion(before, carrier, drop, changed, changedSeen)
        if (ran === undefined) return
        told++
        expect(afterRun(before, ran, writes, drop)).toEqual({ versions: changed, seen: changedSeen })
      },
    ),
    { numRuns: 2000 },
  )
  expect(told).toBeGreaterThan(20)
})
