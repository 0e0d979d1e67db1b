import type { Ledger } from '../ledger.ts'
import type { MemoryLayer } from '../memory/item.ts'
import type { HoldTarget } from '../retention/holds.ts'
import type { RetentionPolicyInput } from '../retention/policy.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { addRun, assertSound, DAY_MS, later } from './ended-runs.ts'
import { readAll, type StoreTest } from './world.ts'

/** Policy: delete all memory that was not used for a month. */
const FORGETFUL: RetentionPolicyInput = {
  rules: (['short', 'session', 'long'] as const).map((layer) => ({
    name: layer,
    match: { layer },
    olderThan: '30d',
  })),
}

const SCOPES = [
  ['short', 'r'],
  ['short', 'child'],
  ['session', 't'],
  ['long', 'user:ann'],
] as const
const runOf = ([layer, scope]: readonly [MemoryLayer, string]): string => `clew:memory/${layer}/${scope}`

/** A run about ann in thread t, with a child run, and a run about another subject; all have written memory. */
async function remember(ledger: Ledger): Promise<void> {
  await addRun(ledger, 'r', { subjects: ['ann'], threadId: 't' })
  await addRun(ledger, 'child', { parentRunId: 'r' })
  await addRun(ledger, 'other', { subjects: ['bob'], threadId: 'u' })
  const all = [...SCOPES, ['short', 'other'], ['session', 'u'], ['long', 'user:bob']] as const
  for (const [layer, scope] of all)
    await ledger.memory.put({ layer, scope, namespace: 'n', key: 'k', value: 'said in confidence' })
}

/** Scopes that belong to no subject under a hold. */
const COMMON = [
  ['long', 'workspace'],
  ['session', 'together'],
] as const

const SHARED = [
  {
    by: 'about a subject',
    hold: { subject: 'ann' },
    item: { about: { subjects: ['cem', 'ann'] }, written: {} },
  },
  { by: 'by a run', hold: { runId: 'r' }, item: { about: {}, written: { runId: 'r' } } },
  { by: 'by a run about a subject', hold: { subject: 'bob' }, item: { about: {}, written: { runId: 'r' } } },
] as const

const HELD: readonly [HoldTarget, readonly (typeof SCOPES)[number][]][] = [
  [{ subject: 'ann' }, SCOPES],
  [{ threadId: 't' }, SCOPES.slice(0, 3)],
  [{ runId: 'r' }, SCOPES.slice(0, 3)],
]

export const heldMemoryTests: readonly StoreTest[] = [
  ...HELD.map(
    ([target, scopes]): StoreTest => ({
      rule: 'P4',
      title: `a hold by ${Object.keys(target).join()} keeps what its runs remember, of the run, of child runs and of the thread`,
      async run(world) {
        const ledger = await world.open()
        await remember(ledger)
        const hold = await ledger.hold(target, { reason: 'case 7' })
        await later(world, ledger)
        const report = await ledger.gc({ policy: FORGETFUL })
        const memoryRuns = scopes.map(runOf)
        assertEqual(
          report.kept.map(({ runId, reason }) => `${runId} ${reason}`).toSorted(),
          memoryRuns.map((memoryRun) => `${memoryRun} hold ${hold.holdId} (case 7)`).toSorted(),
          'kept',
        )
        assertEqual(
          [report.events, report.ranges.length],
          [7 - memoryRuns.length, 7 - memoryRuns.length],
          'the rest went',
        )
        for (const [layer, scope] of scopes)
          assertEqual(
            (await ledger.memory.get({ layer, scope, namespace: 'n', key: 'k' }))?.value,
            'said in confidence',
            `${layer} ${scope}`,
          )
        await ledger.release(hold.holdId)
        assertEqual((await ledger.gc({ policy: FORGETFUL })).events, memoryRuns.length, 'then it goes')
        await assertSound(ledger)
      },
    }),
  ),
  {
    rule: 'P5',
    title: 'memory of what is held is not erased by the way, nor by its own name',
    async run(world) {
      const ledger = await world.open()
      await remember(ledger)
      const { holdId } = await ledger.hold({ subject: 'ann' })
      for (const scope of SCOPES)
        await assertRefused(() => ledger.erase({ runId: runOf(scope) }), 'held', {
          runId: runOf(scope),
          holdId,
        })
      for (const scope of SCOPES)
        assert(
          !(await readAll(ledger, runOf(scope))).some((event) => event.ledger.erased === true),
          `${runOf(scope)} stays`,
        )
      await ledger.release(holdId)
      assertEqual((await ledger.erase({ runId: runOf(SCOPES[2]) })).events, 1, 'then it goes')
      await assertSound(ledger)
    },
  },
  ...SHARED.map(
    ({ by, hold: target, item }): StoreTest => ({
      rule: 'P4',
      title: `what is remembered ${by} is held in whatever scope it lies, also when it has expired or was forgotten`,
      async run(world) {
        const ledger = await world.open()
        await addRun(ledger, 'r', { subjects: ['bob'] })
        await addRun(ledger, 'other')
        const expiresAt = new Date(world.ports.now() + DAY_MS).toISOString()
        for (const [layer, scope] of COMMON) {
          const place = { layer, scope, namespace: 'n' }
          await ledger.memory.put({ ...place, key: 'held', value: 1, ...item.about, expiresAt }, item.written)
          await ledger.memory.put({ ...place, key: 'free', value: 2, subjects: ['dan'], expiresAt })
        }
        const asked = { layer: 'long', scope: 'workspace', namespace: 'n', key: 'asked' } as const
        await ledger.memory.put({ ...asked, value: 3, ...item.about }, item.written)
        await ledger.memory.forget(asked)
        const hold = await ledger.hold(target, { reason: 'case 8' })
        await later(world, ledger)

        const dry = await ledger.memory.sweep({ dryRun: true })
        const swept = await ledger.memory.sweep()
        assertEqual([dry.forgotten, dry.held], [2, 2], 'said before')
        assertEqual(
          [swept.items.map(({ key }) => key), swept.held],
          [['free', 'free'], 2],
          'what a sweep forgets',
        )
        world.turnClock(40 * DAY_MS)
        await addRun(ledger, 'young again')
        const gone = await ledger.gc({ policy: FORGETFUL })
        assertEqual(
          gone.kept.map(({ runId, reason }) => `${runId} ${reason}`).toSorted(),
          COMMON.map((each) => `${runOf(each)} hold ${hold.holdId} (case 8)`).toSorted(),
          'kept by gc',
        )
        assertEqual([gone.events, (await ledger.memory.sweep()).held], [0, 2], 'nothing went')

        await ledger.release(hold.holdId)
        assertEqual((await ledger.memory.sweep()).forgotten, 2, 'then a sweep forgets it')
        world.turnClock(40 * DAY_MS)
        await addRun(ledger, 'younger')
        assertEqual((await ledger.gc({ policy: FORGETFUL })).ranges.length, 2, 'and gc takes it')
        await assertSound(ledger)
      },
    }),
  ),
  {
    rule: 'P5',
    title: 'of a scope that many share an erasure leaves the items that are held, each with all it ever was',
    async run(world) {
      const ledger = await world.open()
      const place = { layer: 'long', scope: 'workspace', namespace: 'n' } as const
      const memoryRun = runOf(['long', 'workspace'])
      // Written about bob, then about both, then without a subject: the remaining item is about ann, too.
      await ledger.memory.put({ ...place, key: 'both', value: 1, subjects: ['bob'] })
      await ledger.memory.put({ ...place, key: 'both', value: 2, subjects: ['bob', 'ann'] })
      await ledger.memory.put({ ...place, key: 'both', value: 3 })
      await ledger.memory.put({ ...place, key: 'bob', value: 4, subjects: ['bob'] })
      const { eventId } = await ledger.memory.put({ ...place, key: 'ann', value: 5, subjects: ['ann'] })
      const { holdId } = await ledger.hold({ subject: 'ann' })

      await assertRefused(() => ledger.erase({ runId: memoryRun }), 'held', { runId: memoryRun, holdId })
      await assertRefused(() => ledger.erase({ eventId }), 'held', { runId: memoryRun, holdId })
      const report = await ledger.erase({ subject: 'bob' })
      assertEqual(report.kept, [{ reason: 'held', runId: memoryRun, holdId }], 'told')
      const erased = async (): Promise<number[]> =>
        (await readAll(ledger, memoryRun))
          .filter(({ ledger: { erased } }) => erased)
          .map((each) => each.ledger.seq)
      assertEqual([report.events, await erased()], [1, [4]], 'only what is about nobody else')
      assertEqual((await ledger.memory.get({ ...place, key: 'both' }))?.value, 3, 'the item of both')

      await ledger.release(holdId)
      await ledger.erase({ subject: 'bob' })
      assertEqual(await erased(), [1, 2, 3, 4], 'then it goes whole')
      assertEqual((await ledger.memory.get({ ...place, key: 'ann' }))?.value, 5, 'who was not meant')
      await assertSound(ledger)
    },
  },
]
