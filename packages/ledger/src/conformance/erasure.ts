import type { ClewEvent } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { memoryRunId } from '../memory/item.ts'
import { forked, note, readAll, started, type StoreTest, upTo } from './world.ts'

/** Run of the memory that all share. */
const MEMORY_RUN = memoryRunId({ layer: 'long', scope: 'workspace' })
const SAID = 'the quick heron'
const long = (text: string): { items: { n: number; text: string }[] } => ({
  items: upTo(200).map((n) => ({ n, text: `${text} ${n}` })),
})

const ended = (runId: string, payload: Record<string, unknown> = {}) => ({
  eventType: 'system.workflow_completed' as const,
  correlationId: runId,
  payload,
})

/** A run about a subject, with words in its payloads, in trees, in its rows. */
async function record(
  ledger: Ledger,
  runId: string,
  payload: Record<string, unknown>,
  said = SAID,
): Promise<void> {
  await ledger.append([
    started(runId, { agent: 'owl', input: said, ...payload }),
    {
      eventType: 'execution.step_started',
      correlationId: runId,
      payload: { stepId: 's#0', name: 's', input: said },
    },
    {
      eventType: 'execution.step_failed',
      correlationId: runId,
      payload: { stepId: 's#0', name: 's', error: { message: said } },
    },
    note(runId, long(said)),
    { eventType: 'system.workflow_failed', correlationId: runId, payload: { error: { message: said } } },
  ])
}

/** Everything that the ledger can be asked for, as text. */
async function allOf(ledger: Ledger, runIds: readonly string[]): Promise<string> {
  const parts: unknown[] = []
  for (const runId of runIds)
    parts.push(
      await readAll(ledger, runId),
      await ledger.getRun(runId),
      await ledger.getSteps(runId),
      await ledger.getSkeleton(runId),
      await ledger.transcript(runId),
      await ledger.audit(runId),
    )
  for await (const line of ledger.export()) parts.push(line)
  parts.push(await ledger.listRuns({}), await ledger.compliance({}))
  return JSON.stringify(parts)
}

async function assertVerified(ledger: Ledger): Promise<void> {
  const { ok, problems } = await ledger.verify(undefined, { projections: true })
  assert(ok, JSON.stringify(problems))
}

const isErased = ({ ledger }: ClewEvent): boolean => ledger.erased === true

export const erasureTests: readonly StoreTest[] = [
  {
    rule: 'P5',
    title: 'what a subject said is gone from payloads, values, rows and search, and the chain still verifies',
    async run(world) {
      const ledger = await world.open()
      const other = await world.open()
      await record(ledger, 'r1', { subjects: ['ann'], threadId: 'thread of ann' })
      await record(ledger, 'r2', { subjects: ['bob'] }, 'the slow owl')
      await ledger.append([note('loose', { text: 'kept' }), note('loose', { subjects: ['ann'], text: SAID })])
      const heads = (await readAll(ledger, 'r1')).map((event) => event.ledger.hash)
      await world.until('it is found', async () => (await other.search('heron')).hits.length === 2)
      const values = (await ledger.stats()).values
      const report = await ledger.erase({ subject: 'ann' }, { by: 'dpo', reason: 'asked by letter' })
      assertEqual([report.events, report.runs, report.payloads], [6, 2, 6], 'what went')
      assert(report.values > 0 && report.kept.length === 0, 'values')
      assert((await ledger.stats()).values < values, 'values are gone from the store')
      for (const each of [ledger, other]) {
        const events = await readAll(each, 'r1')
        assert(events.every(isErased), 'all events are erased')
        assertEqual(
          events.map((event) => event.ledger.hash),
          heads,
          'the chain',
        )
        assertEqual((await each.search('heron')).hits, [], 'found after')
        assertEqual((await each.search('slow owl')).hits.length, 1, 'what others said')
        assert(!(await allOf(each, ['r1', 'r2', 'loose'])).includes('heron'), 'no word of it')
      }
      const run = await ledger.getRun('r1')
      assertEqual(
        [run?.status, run?.error?.message ?? null, run?.subjects, run?.threadId],
        ['failed', null, [], null],
        'its row',
      )
      assertEqual((await readAll(ledger, 'loose')).map(isErased), [false, true], 'by event')
      await assertVerified(other)
      const { entries } = await ledger.compliance({})
      assertEqual(
        entries.map(({ action, who, detail }) => [action, who, detail]),
        [['erased', 'dpo', '6 events: asked by letter']],
        'the compliance log',
      )
      assert(!JSON.stringify(entries).includes('ann'), 'it says how many, never whose')
      const again = await ledger.erase({ subject: 'ann' })
      assertEqual([again.events, again.certificate], [0, null], 'a second time there is nothing')
      assertEqual((await ledger.compliance({})).entries.length, 1, 'and nothing is said')
    },
  },
  {
    rule: 'P5',
    title: 'by subject it takes forks and child runs along; by run it refuses without withForks',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { text: SAID }), ended('r')])
      await ledger.append([
        started('child', { parentRunId: 'r' }),
        note('child', { text: SAID }),
        ended('child'),
      ])
      await ledger.append([forked('fork', 'r', 2), note('fork', { text: SAID }), ended('fork')])
      await ledger.append([started('else'), note('else', { text: SAID }), ended('else')])
      const refusal = await assertRefused(() => ledger.erase({ runId: 'r' }), 'bad_option', { runId: 'r' })
      assert(refusal.message.includes('fork'), refusal.message)
      const planned = await ledger.erase({ subject: 'ann' }, { dryRun: true })
      assertEqual([planned.events, planned.runs, planned.dryRun], [9, 3, true], 'what would go')
      assert(!(await readAll(ledger, 'r')).some(isErased), 'a dry run changes nothing')
      await ledger.erase({ subject: 'ann' })
      for (const runId of ['r', 'child', 'fork'])
        assert((await readAll(ledger, runId)).every(isErased), `${runId} is erased`)
      assert(!(await readAll(ledger, 'else')).some(isErased), 'others are not')
      await assertVerified(ledger)
      const lines: string[] = []
      for await (const line of ledger.export()) lines.push(line)
      const there = await (await world.elsewhere()).open()
      await there.import(lines)
      await assertVerified(there)
      assertEqual(
        (await there.getRun('fork'))?.forkedFrom,
        { runId: 'r', seq: 2 },
        'an erased fork moves too',
      )
    },
  },
  {
    rule: 'P5',
    title: 'a value that another run needs stays, and the report says so',
    async run(world) {
      const ledger = await world.open()
      const shared = long('shared by both')
      await ledger.append([
        started('a', { threadId: 't', subjects: ['ann'], ...shared, own: long('only of ann') }),
        ended('a'),
      ])
      await ledger.append([started('b', { threadId: 't', subjects: ['bob'], ...shared }), ended('b')])
      const report = await ledger.erase({ subject: 'ann' })
      const [kept] = report.kept
      assert(kept?.reason === 'shared' && kept.values > 0, JSON.stringify(report))
      assert(report.values > 0, 'what nobody else needs is gone')
      const [first] = await readAll(ledger, 'b')
      assertEqual(first?.payload['items'], shared.items, 'what stays is whole')
      await assertVerified(ledger)
      // A writer that wrote in the thread before must not reuse a value that was deleted.
      const other = await world.open()
      for (const each of [ledger, other])
        await each.append([note('b', { again: long('only of ann'), ...shared })])
      const [, , third, fourth] = await readAll(await world.open(), 'b')
      assertEqual(third?.payload, { again: long('only of ann'), ...shared }, 'written by who erased')
      assertEqual(fourth?.payload, { again: long('only of ann'), ...shared }, 'written by another')
      await assertVerified(other)
    },
  },
  {
    rule: 'L8',
    title: 'who remembers values that were erased writes them anew, also into a new run of the thread',
    async run(world) {
      const [writer, eraser] = [await world.open(), await world.open()]
      const said = long('said by ann')
      await writer.append([started('a', { threadId: 't', subjects: ['ann'], said }), ended('a')])
      await writer.append([started('b', { threadId: 't', said: long('said by bob') }), note('b', { n: 1 })])
      await eraser.erase({ runId: 'a' })
      await writer.append([note('b', { said })])
      await writer.append([started('c', { threadId: 't', said }), ended('c')])
      assertEqual((await readAll(eraser, 'b'))[2]?.payload, { said }, 'in a run that goes on')
      assertEqual((await readAll(eraser, 'c'))[0]?.payload['said'], said, 'in a new run')
      await assertVerified(await world.open())
    },
  },
  {
    rule: 'P5',
    title: 'subjects are found by path, as text or number, in lists and in large payloads',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([
        note('r', { customer: { id: 'c-7' } }),
        note('r', { customers: [{ id: 'c-7' }, { id: 'c-8' }] }),
        note('r', { customer: { id: 'c-70' }, text: 'c-7' }),
        note('r', { customer: { id: 'c-7' }, ...long('large') }),
        note('r', { customer: { id: 7 } }),
      ])
      const paths = ['customer.id', 'customers.id']
      assertEqual((await ledger.erase({ subject: 'c-7', paths }, { dryRun: true })).events, 3, 'by text')
      assertEqual((await ledger.erase({ subject: '7', paths }, { dryRun: true })).events, 1, 'by number')
      assertEqual(
        (await ledger.erase({ subject: 'c-8', paths: ['*.id'] }, { dryRun: true })).events,
        1,
        'any key',
      )
      await assertRefused(() => ledger.erase({ subject: 'c-7', paths: ['a..b'] }), 'bad_option')
      await ledger.erase({ subject: 'c-7', paths })
      assertEqual((await readAll(ledger, 'r')).map(isErased), [true, true, false, true, false], 'what went')
      await assertVerified(ledger)
    },
  },
  {
    rule: 'P5',
    title: 'one event goes alone; a run that can go on is refused, and so is what does not exist',
    async run(world) {
      const ledger = await world.open()
      const [first, second] = await ledger.append([started('r', { agent: 'owl' }), note('r', { text: SAID })])
      const eventId = second?.eventId ?? ''
      const busy = await assertRefused(() => ledger.erase({ eventId }), 'busy', { runId: 'r' })
      assert(busy.hint.includes('clew stop r'), busy.hint)
      await assertRefused(() => ledger.erase({ runId: 'nobody' }), 'not_found')
      await assertRefused(
        () => ledger.erase({ eventId: '018f0000-0000-7000-8000-000000000000' }),
        'not_found',
      )
      await assertRefused(() => ledger.erase({ runId: 'clew:audit' }), 'not_found')
      await ledger.append([ended('r')])
      const report = await ledger.erase({ eventId }, { reason: 'a key in it' })
      assertEqual([report.events, report.certificate?.proof.runId], [1, 'clew:audit'], 'the report')
      assertEqual((await readAll(ledger, 'r')).map(isErased), [false, true, false], 'only that one')
      assertEqual((await ledger.getRun('r'))?.agent, 'owl', 'the rest is as it was')
      const same = { ...(second as ClewEvent), ledger: undefined }
      const clash = await assertRefused(() => ledger.append([same]), 'conflict', { eventId })
      assert(clash.message.includes('erased'), clash.message)
      assertEqual(
        (await ledger.append([{ ...(first as ClewEvent) }]))[0]?.ledger.seq,
        1,
        'others are still known',
      )
      await assertRefused(() => ledger.erase({ runId: 'clew:audit' }), 'bad_option')
      await assertVerified(ledger)
    },
  },
  {
    rule: 'P5',
    title: 'a legal hold wins over erasure: on a run, on a fork of it, on the run above it, on the subject',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([started('r', { subjects: ['ann'] }), note('r', { text: SAID }), ended('r')])
      await ledger.append([started('child', { parentRunId: 'r' }), ended('child')])
      await ledger.append([started('free', { subjects: ['ann'] }), ended('free')])
      const hold = await ledger.hold({ runId: 'r' }, { reason: 'case 7', by: 'court' })
      const report = await ledger.erase({ subject: 'ann' })
      const kept = ['child', 'r'].map((runId) => ({ reason: 'held', runId, holdId: hold.holdId }))
      assertEqual(
        [...report.kept].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
        kept,
        'kept',
      )
      assertEqual([report.events, report.runs], [2, 1], 'the rest went')
      assert(!(await readAll(ledger, 'r')).some(isErased), 'what is held stays')
      await assertRefused(() => ledger.erase({ runId: 'r' }), 'held', { runId: 'r', holdId: hold.holdId })
      await ledger.release(hold.holdId, { by: 'court' })
      await ledger.append([forked('fork', 'r', 2), ended('fork')])
      const onFork = await ledger.hold({ runId: 'fork' })
      await assertRefused(() => ledger.erase({ runId: 'r', withForks: true }), 'held')
      await ledger.release(onFork.holdId)
      const onSubject = await ledger.hold({ subject: 'ann' })
      await assertRefused(() => ledger.erase({ subject: 'ann' }), 'held')
      await ledger.release(onSubject.holdId)
      assertEqual((await ledger.erase({ subject: 'ann' })).runs, 3, 'then it goes')
      const { entries } = await ledger.compliance({})
      assertEqual(
        entries.map(({ action }) => action),
        ['hold', 'erased', 'release', 'hold', 'release', 'hold', 'release', 'erased'],
        'the compliance log',
      )
      await assertVerified(ledger)
    },
  },
  {
    rule: 'P5',
    title: 'memory that came from what goes, or is about the subject, goes whole; the rest stays',
    async run(world) {
      const ledger = await world.open()
      const [, said] = await ledger.append([
        started('r', { subjects: ['ann'] }),
        note('r', { text: SAID }),
        ended('r'),
      ])
      const put = (key: string, scope: string, subjects: readonly string[] = []) =>
        ledger.memory.put({
          layer: 'long',
          scope,
          namespace: 'facts',
          key,
          value: `${SAID} ${key}`,
          subjects,
        })
      await put('older', 'workspace')
      await ledger.causedBy(said as ClewEvent, () => put('older', 'workspace'))
      await ledger.causedBy(said as ClewEvent, () => put('caused', 'workspace'))
      await put('about', 'workspace', ['ann'])
      await put('hers', 'user:ann')
      await put('kept', 'workspace', ['bob'])
      const keys = async (): Promise<string[]> =>
        (await ledger.memory.search('heron', { limit: 50 })).map(({ item }) => item.key).sort()
      assertEqual(await keys(), ['about', 'caused', 'hers', 'kept', 'older'], 'before')
      const report = await ledger.erase({ subject: 'ann' })
      assertEqual(report.memory, 5, 'events of memory')
      assertEqual(await keys(), ['kept'], 'after')
      const { items } = await ledger.memory.list({})
      assertEqual(
        items.map(({ key }) => key),
        ['kept'],
        'the list',
      )
      const other = await world.open()
      assertEqual((await other.memory.search('heron')).length, 1, 'for others')
      await assertVerified(ledger)
    },
  },
  {
    rule: 'P5',
    title: 'what others wrote under a shared name of memory stays, and the certificate says so',
    async run(world) {
      const ledger = await world.open()
      const speak = async (runId: string, subject: string): Promise<ClewEvent> => {
        const [, said] = await ledger.append([
          started(runId, { subjects: [subject] }),
          note(runId, { text: `${subject} ${SAID}` }),
          ended(runId),
        ])
        return said as ClewEvent
      }
      const ann = await speak('ann-1', 'ann')
      const bob = await speak('bob-1', 'bob')
      const item = (key: string) => ({ layer: 'long', scope: 'workspace', namespace: 'facts', key }) as const
      const put = (by: ClewEvent, key: string, value: string) =>
        ledger.causedBy(by, () => ledger.memory.put({ ...item(key), value }))
      await put(ann, 'shared', 'of ann')
      await put(bob, 'shared', 'of bob')
      await put(bob, 'first', 'of bob before ann')
      await put(ann, 'first', 'of ann')
      await put(bob, 'forgotten', 'of bob')
      await ledger.causedBy(ann, () => ledger.memory.forget(item('forgotten')))
      await put(ann, 'own', 'of ann')
      const valueOf = async (key: string): Promise<unknown> =>
        (await ledger.memory.get(item(key)))?.value ?? null
      const report = await ledger.erase({ subject: 'ann' })
      assertEqual(await valueOf('shared'), 'of bob', 'what bob wrote later stays')
      assertEqual(await valueOf('first'), 'of bob before ann', 'and what he wrote before')
      assertEqual(
        [await valueOf('forgotten'), await valueOf('own')],
        [null, null],
        'nothing forgotten returns',
      )
      assert(!(await allOf(ledger, ['ann-1', 'bob-1'])).includes('of ann'), 'no word of hers')
      assertEqual((await ledger.getRun('bob-1'))?.subjects, ['bob'], 'his run')
      const others = report.kept.filter((part) => part.reason === 'others')
      assertEqual(others, [{ reason: 'others', runId: MEMORY_RUN, events: 2 }], 'what was kept')
      assertEqual(report.certificate?.kept, report.kept, 'the certificate')
      await assertVerified(ledger)
      const rest = await ledger.erase({ subject: 'bob' })
      assert(rest.events > 0, 'then his goes')
      assertEqual([await valueOf('shared'), await valueOf('first')], [null, null], 'with his memory')
      await assertVerified(ledger)
    },
  },
]
