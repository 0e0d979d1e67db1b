import type { LedgerOptions } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { started, type StoreTest, upTo } from './world.ts'

const CASE = 'case-4711'
const WITH_RULE: LedgerOptions = { redact: { rules: [{ kind: 'case', pattern: /case-\d+/ }] } }
const WITHOUT: LedgerOptions = { redact: { rules: [] } }
const ID_FORM = /^id-[0-9a-f]{20}$/

/** Names under which something is found again, when redaction rules come and go. */
export const nameTests: readonly StoreTest[] = [
  {
    rule: 'P1',
    title: 'a name that redaction changes is recorded in its id form, not as a placeholder',
    async run(world) {
      const ledger = await world.open(WITH_RULE)
      await ledger.append([
        started('r', { threadId: CASE, subjects: [CASE, 'ann'] }),
        {
          eventType: 'execution.step_started',
          correlationId: 'r',
          payload: { stepId: `s@${CASE}`, name: 's' },
        },
        { eventType: 'execution.step_completed', correlationId: 'r', payload: { stepId: `s@${CASE}` } },
      ])
      const run = await ledger.getRun('r')
      assert(ID_FORM.test(run?.threadId ?? ''), `the thread ${run?.threadId}`)
      assertEqual(run?.subjects, [run?.threadId, 'ann'], 'subjects')
      const steps = await ledger.getSteps('r')
      assertEqual(steps.length, 1, 'start and end are of one step')
      assert(ID_FORM.test(steps[0]?.stepId ?? ''), `the step ${steps[0]?.stepId}`)
      const again = await ledger.record(started('q', { threadId: run?.threadId ?? '' }))
      assertEqual(again.payload['threadId'], run?.threadId, 'an id form stays as it is')
    },
  },
  {
    rule: 'P1',
    title: 'step ids stay as they are for who has them from the record',
    async run(world) {
      const stepId = `s@${CASE}`
      await (await world.open(WITHOUT)).append([
        started('r'),
        { eventType: 'execution.step_started', correlationId: 'r', payload: { stepId, name: 's' } },
      ])
      const ledger = await world.open(WITH_RULE)
      const end = {
        eventType: 'execution.step_completed' as const,
        correlationId: 'r',
        payload: { stepId, output: CASE, clock: [[stepId, 1]] },
      }
      const [written] = await ledger.append([end], { keepStepIds: true })
      assertEqual(written?.payload['clock'], [[stepId, 1]], 'readings of the clock')
      assert(written?.payload['output'] !== CASE, 'what is no name is redacted')
      assertEqual(
        (await ledger.getSteps('r')).map(({ status }) => status),
        ['completed'],
        'one step',
      )
    },
  },
  {
    rule: 'V1',
    title: 'runs of a thread are listed under all its names, newest first, page by page',
    async run(world) {
      const [one, two] = [await world.open(WITHOUT), await world.open(WITH_RULE)]
      const expected: string[] = []
      for (const n of upTo(7)) {
        await (n % 3 === 0 ? two : one).record(started(`r${n}`, { threadId: CASE, agent: `a${n % 2}` }))
        await one.record(started(`other${n}`, { threadId: `case-${n}` }))
        expected.unshift(`r${n}`)
      }
      const names = new Set((await two.listRuns({ threadId: CASE })).runs.map(({ threadId }) => threadId))
      assertEqual(names.size, 2, 'both spellings are on record')
      for (const ledger of [one, two])
        for (const limit of [1, 2, 3, 50]) {
          const found: string[] = []
          for (let cursor: string | undefined; ; ) {
            const page = await ledger.listRuns({ threadId: CASE, limit, cursor })
            assert(page.runs.length <= limit, 'a page has at most its limit')
            found.push(...page.runs.map(({ runId }) => runId))
            if (page.nextCursor === null) break
            cursor = page.nextCursor
          }
          assertEqual(found, expected, `pages of ${limit}`)
        }
      const several = await one.listRuns({ threadId: [CASE, 'case-1', 'nobody'], limit: 50 })
      assertEqual(several.runs.length, expected.length + 1, 'several threads')
      const filtered = await one.listRuns({ threadId: CASE, agent: 'a1', limit: 50 })
      assertEqual(
        filtered.runs.map(({ runId }) => runId),
        ['r7', 'r5', 'r3', 'r1'],
        'with another filter',
      )
      assertEqual((await one.listRuns({ threadId: [], limit: 50 })).runs, [], 'no thread at all')
    },
  },
  {
    rule: 'R9',
    title: 'no two runs of a thread are held at once, under whichever of its names',
    async run(world) {
      const [one, two] = [await world.open(WITHOUT), await world.open(WITH_RULE)]
      const key = (runId: string) => ({ workspace: 'default', runId })
      for (const [first, second] of [
        [one, two],
        [two, one],
      ] as const) {
        const lease = await first.leases.acquire(key('a'), CASE)
        await assertRefused(() => second.leases.acquire(key('b'), CASE), 'busy', { runId: 'b' })
        const name = second.identity(CASE).names.at(-1) as string
        await assertRefused(() => second.leases.acquire(key('b'), name), 'busy', { runId: 'b' })
        await second.leases.release(await second.leases.acquire(key('b'), 'case-1'))
        await first.leases.release(lease)
        await second.leases.release(await second.leases.acquire(key('b'), CASE))
      }
      const held = await two.leases.acquire(key('c'), CASE)
      assert(!JSON.stringify(await two.leases.list()).includes(CASE), 'a lease has the recorded name')
      await two.leases.release(held)
    },
  },
  {
    rule: 'M1',
    title: 'an item is one item under all its names: read, listed by tag and place, written, forgotten',
    async run(world) {
      for (const [before, after] of [
        [WITHOUT, WITH_RULE],
        [WITH_RULE, WITHOUT],
      ] as const) {
        const there = await world.elsewhere()
        const name = { layer: 'session', scope: CASE, namespace: `a/${CASE}/b`, key: CASE } as const
        const one = await there.open(before)
        await one.memory.put({ ...name, value: 1, tags: [CASE, 'x'] })
        const two = await there.open(after)
        assertEqual((await two.memory.get(name))?.value, 1, 'read')
        assertEqual((await two.memory.list({ tags: [CASE, 'x'] })).items.length, 1, 'by its tags')
        assertEqual((await two.memory.list({ tags: [CASE, 'y'] })).items.length, 0, 'not by some of them')
        assertEqual((await two.memory.list({ namespaces: [`a/${CASE}`] })).items.length, 1, 'by its place')
        await two.memory.put({ ...name, value: 2 })
        const [only, ...others] = (await two.memory.list({})).items
        assertEqual([only?.value, others.length], [2, 0], 'written anew')
        assertEqual((await one.memory.get(name))?.value, 2, 'for others, too')
        await two.memory.forget(name)
        assertEqual((await one.memory.list({})).items, [], 'forgotten')
      }
    },
  },
]
