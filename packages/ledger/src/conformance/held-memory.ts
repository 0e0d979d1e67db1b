import type { Ledger } from '../ledger.ts'
import type { HoldTarget } from '../retention/holds.ts'
import type { RetentionPolicyInput } from '../retention/policy.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { addRun, assertSound, later } from './ended-runs.ts'
import { readAll, type StoreTest } from './world.ts'

/** All memory that nobody has used for a month. */
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
const bookOf = ([layer, scope]: (typeof SCOPES)[number]): string => `clew:memory/${layer}/${scope}`

/** A run about ann in thread t, with a child run, and a run of somebody else; all have noted something. */
async function remember(ledger: Ledger): Promise<void> {
  await addRun(ledger, 'r', { subjects: ['ann'], threadId: 't' })
  await addRun(ledger, 'child', { parentRunId: 'r' })
  await addRun(ledger, 'other', { subjects: ['bob'], threadId: 'u' })
  const all = [...SCOPES, ['short', 'other'], ['session', 'u'], ['long', 'user:bob']] as const
  for (const [layer, scope] of all)
    await ledger.memory.put({ layer, scope, namespace: 'n', key: 'k', value: 'said in confidence' })
}

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
        const books = scopes.map(bookOf)
        assertEqual(
          report.kept.map(({ runId, reason }) => `${runId} ${reason}`).toSorted(),
          books.map((book) => `${book} hold ${hold.holdId} (case 7)`).toSorted(),
          'kept',
        )
        assertEqual(
          [report.events, report.ranges.length],
          [7 - books.length, 7 - books.length],
          'the rest went',
        )
        for (const [layer, scope] of scopes)
          assertEqual(
            (await ledger.memory.get({ layer, scope, namespace: 'n', key: 'k' }))?.value,
            'said in confidence',
            `${layer} ${scope}`,
          )
        await ledger.release(hold.holdId)
        assertEqual((await ledger.gc({ policy: FORGETFUL })).events, books.length, 'then it goes')
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
        await assertRefused(() => ledger.erase({ runId: bookOf(scope) }), 'held', {
          runId: bookOf(scope),
          holdId,
        })
      for (const scope of SCOPES)
        assert(
          !(await readAll(ledger, bookOf(scope))).some((event) => event.ledger.erased === true),
          `${bookOf(scope)} stays`,
        )
      await ledger.release(holdId)
      assertEqual((await ledger.erase({ runId: bookOf(SCOPES[2]) })).events, 1, 'then it goes')
      await assertSound(ledger)
    },
  },
]
