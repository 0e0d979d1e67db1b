import type { ClewEvent, EventInput, Payload } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { runWorkload } from './workload.ts'
import { forked, note, readAll, seqs, type StoreTest, upTo, type World } from './world.ts'

async function exportOf(ledger: Ledger, runId?: string): Promise<string[]> {
  const lines: string[] = []
  for await (const line of ledger.export({ runId })) lines.push(line)
  return lines
}

const counts = async (ledger: Ledger): Promise<number[]> => {
  const { events, runs, values } = await ledger.stats()
  return [events, runs, values]
}

/** A ledger elsewhere, empty. */
async function target(world: World): Promise<Ledger> {
  return (await world.elsewhere()).open()
}

export const transferTests: readonly StoreTest[] = [
  {
    rule: 'L11',
    title: 'a whole ledger moves with forks and hashes intact; again, it changes nothing',
    async run(world) {
      const ledger = await world.open()
      const runs = await runWorkload(ledger, 5, 70)
      await ledger.append([forked('fork-of-fork', runs.at(-1) as string, 1), note('fork-of-fork')])
      const lines = await exportOf(ledger)
      const there = await target(world)
      const report = await there.import(lines)
      assertEqual([report.events, report.runs], [lines.length, runs.length + 1], 'the report')
      assertEqual(await counts(there), await counts(ledger), 'events, runs and values')
      const { ok, problems } = await there.verify(undefined, { projections: true })
      assert(ok, JSON.stringify(problems))
      for (const runId of [...runs, 'fork-of-fork']) {
        const [from, to] = [await readAll(ledger, runId), await readAll(there, runId)]
        assertEqual(to.map(withoutPosition), from.map(withoutPosition), `events of ${runId}`)
        assertEqual(await there.getRun(runId), await ledger.getRun(runId), `summary of ${runId}`)
      }
      // Whatever the chunks of the stream are.
      const text = lines.join('')
      const chunks = upTo(Math.ceil(text.length / 1000)).map((n) => text.slice((n - 1) * 1000, n * 1000))
      await there.import(chunks)
      assertEqual(await counts(there), await counts(ledger), 'after the second import')
      assertEqual(
        (await exportOf(there)).map(withoutPlace),
        lines.map(withoutPlace),
        'an export of the import',
      )
    },
  },
  {
    rule: 'L11',
    title: 'one run moves alone, a fork with the prefix it shares; the rest can follow',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(5).map((n) => note('source', { n, list: upTo(900) })))
      await ledger.append([forked('fork', 'source', 3), note('fork', { own: 1 })])
      const there = await target(world)
      await there.import(await exportOf(ledger, 'fork'))
      assertEqual(seqs(await readAll(there, 'fork')), upTo(5), 'the fork')
      assertEqual(seqs(await readAll(there, 'source')), upTo(3), 'its prefix')
      await there.import(await exportOf(ledger, 'source'))
      assertEqual(seqs(await readAll(there, 'source')), upTo(5), 'the rest of the source')
      assert((await there.verify(undefined, { projections: true })).ok, 'it verifies')
      assertEqual((await there.record(note('fork'))).ledger.seq, 6, 'and goes on')
      await assertRefused(() => exportOf(ledger, 'nobody'), 'not_found', { runId: 'nobody' })
    },
  },
  {
    rule: 'L11',
    title: 'one run moves with all it stands on, whatever else is there; redacted, it has a chain of its own',
    async run(world) {
      const ledger = await world.open({ redact: false })
      const at = (correlationId: string, eventType: string, payload: Payload): EventInput => ({
        eventType,
        correlationId,
        payload,
      })
      const key = `sk-ant-${'a1B2c3D4'.repeat(5)}`
      const child = { stepId: 'ask#0', name: 'ask', childRunId: 'child' }
      await ledger.append([
        at('turn', 'execution.checkpoint', { superstep: 0, state: { word: 'owl', key } }),
        note('turn', { list: upTo(900) }),
      ])
      await ledger.append([note('other'), at('source', 'system.workflow_started', { agent: 'a' })])
      await ledger.append([
        at('source', 'execution.checkpoint', { superstep: 0, from: { runId: 'turn', seq: 1 } }),
      ])
      await ledger.append([
        at('source', 'execution.step_started', child),
        note('child', { key }),
        note('source'),
      ])
      await ledger.append([forked('fork', 'source', 3), note('fork', { list: upTo(900) })])

      const there = await target(world)
      await there.import(await exportOf(ledger, 'fork'), { rehash: true })
      const moved = async (): Promise<unknown[]> =>
        Promise.all(
          ['turn', 'source', 'child', 'fork', 'other'].map(async (id) => (await there.getRun(id))?.events),
        )
      assertEqual(await moved(), [1, 3, 1, 2, undefined], 'events of each run')
      assertEqual((await there.getState('fork'))?.state['word'], 'owl', 'the state that it continues')

      const strict = await world.open()
      const lines: string[] = []
      for await (const line of strict.export({ runId: 'fork', redacted: true })) lines.push(line)
      assert(!lines.join('').includes('a1B2c3D4'), 'no secret is in the redacted export')
      const copy = await target(world)
      await copy.import(lines)
      assert((await copy.verify(undefined, { projections: true })).ok, 'the redacted copy verifies')
      assertEqual(await copy.getSkeleton('fork'), await ledger.getSkeleton('fork'), 'and has the same steps')
    },
  },
  {
    rule: 'L11',
    title: 'a broken, changed or missing line is refused by its place, and nothing of that batch is written',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(6).map((n) => note('r', { n })))
      const lines = await exportOf(ledger)
      const changed = (from: string, to: string): string[] =>
        lines.map((line, i) => (i === 3 ? line.replace(from, to) : line))
      const cases: readonly (readonly [string[], Record<string, unknown>])[] = [
        [changed('{"event_id"', '{"event_id'), { line: 4 }],
        [changed('{', ''), { line: 4 }],
        [lines.map((line, i) => (i === 3 ? '[1]\n' : line)), { line: 4 }],
        [changed('"n":4', '"n":5'), { seq: 4 }],
        [changed('"origin":"system"', '"origin":"agent"'), { seq: 4 }],
        [changed('"seq":4', '"seq":5'), {}],
        [lines.filter((_, i) => i !== 3), { seq: 5 }],
        [lines.slice(1), { seq: 2 }],
        [[...lines.slice(0, 2), lines[3] as string, lines[2] as string, ...lines.slice(4)], { seq: 4 }],
        [changed('"salt":', '"pepper":'), {}],
        [changed('"payload_hash":', '"hash_of_payload":'), { line: 4 }],
      ]
      for (const [broken, fields] of cases) {
        const there = await target(world)
        await assertRefused(() => there.import(broken), 'broken_import', fields)
        assertEqual(await counts(there), [0, 0, 0], 'nothing was written')
        await there.import(lines)
        assertEqual(seqs(await readAll(there, 'r')), upTo(6), 'the whole file still goes in')
      }
    },
  },
  {
    rule: 'L11',
    title: 'an event that stands here with another hash is a conflict; a fork without its source is refused',
    async run(world) {
      const ledger = await world.open()
      const first = await ledger.record(note('r', { n: 1 }))
      await ledger.record(note('r', { n: 2 }))
      await ledger.record(forked('fork', 'r', 2))
      const there = await target(world)
      await there.record({ ...note('r', { n: 'other' }), eventId: first.eventId })
      await assertRefused(() => exportOf(ledger, 'r').then((lines) => there.import(lines)), 'conflict')
      assertEqual((await there.stats()).events, 1, 'nothing was written')
      const fork = (await exportOf(ledger)).filter((line) => line.includes('"correlation_id":"fork"'))
      await assertRefused(async () => (await target(world)).import(fork), 'not_found', { runId: 'r' })
    },
  },
  {
    rule: 'L11',
    title: 'rehash stores the same facts under new hashes; lines without a place are new facts',
    async run(world) {
      const ledger = await world.open()
      await ledger.append(upTo(3).map((n) => note('r', { n })))
      const lines = await exportOf(ledger)
      const there = await target(world)
      await there.import(lines.slice(1), { rehash: true })
      const read = await readAll(there, 'r')
      assertEqual(
        read.map((event) => event.payload['n']),
        [2, 3],
        'facts',
      )
      assertEqual(seqs(read), [1, 2], 'seq')
      await there.import(lines.slice(1), { rehash: true })
      assertEqual((await there.stats()).events, 2, 'again: known by their ids')
      await there.import([
        JSON.stringify({ event_type: 'ui.x', correlation_id: 'plain', payload: { a: 1 } }),
        '\n\n',
      ])
      assertEqual((await readAll(there, 'plain'))[0]?.payload, { a: 1 }, 'a plain line')
      assert((await there.verify(undefined, { projections: true })).ok, 'it verifies')
    },
  },
  {
    rule: 'L11',
    title: 'a lease does not stand in the way of an import, and imported runs can be leased',
    async run(world) {
      const ledger = await world.open()
      const step = {
        eventType: 'execution.step_started' as const,
        correlationId: 'r',
        payload: { stepId: 'a#0', name: 'a' },
      }
      await ledger.record(step)
      const there = await target(world)
      const lease = await there.leases.acquire({ workspace: 'default', runId: 'r' })
      await there.import(await exportOf(ledger))
      const completed = { ...step, eventType: 'execution.step_completed' }
      const [event] = await there.append([completed], { epoch: lease.epoch })
      assertEqual(event?.ledger.seq, 2, 'seq')
    },
  },
]

function withoutPosition(event: ClewEvent): unknown {
  return { ...event, ledger: { ...event.ledger, position: 0 } }
}
const withoutPlace = (line: string): string => line.replace(/"position":\d+/, '')
