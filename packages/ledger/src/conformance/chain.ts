import type { Values } from '../store/values.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { Store } from '../store/store.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { runWorkload } from './workload.ts'
import { note, readAll, type StoreTest, suiteSigner, upTo } from './world.ts'

/** A reader over the same store that returns changed events. */
const telling = (store: Store, other: Partial<Store>): Store => ({
  ...store,
  ...other,
  close: async () => {},
})

export const chainTests: readonly StoreTest[] = [
  {
    rule: 'L6',
    title: 'each hash can be recomputed from an export with nothing but a sha256',
    async run(world) {
      const { sha256 } = world.ports
      const ledger = await world.open()
      await ledger.append(upTo(9).map((n) => note('r', { n, text: 'ü𝄞"\\\n' })))
      let previous = '0'.repeat(64)
      let seq = 0
      for await (const line of ledger.export({ runId: 'r' })) {
        const { payload, ledger: place, ...envelope } = JSON.parse(line) as ExportLine
        const payloadHash = sha256(place.salt + JSON.stringify(payload))
        const { event_id, event_type, timestamp, source, correlation_id, causation_id } = envelope
        const { recorded_at, schema_version } = place
        const fields = [event_id, event_type, timestamp, source.origin, source.runtime, correlation_id]
        const parts = [
          previous,
          ++seq,
          recorded_at,
          schema_version,
          payloadHash,
          ...fields,
          causation_id ?? '',
        ]
        assertEqual(place.payload_hash, payloadHash, `payload hash of ${seq}`)
        assertEqual(place.hash, sha256(parts.join('\n')), `hash of ${seq}`)
        assert(/^[0-9a-f]{32}$/.test(place.salt), 'a salt of 16 bytes')
        previous = place.hash
      }
      assertEqual(seq, 9, 'lines')
    },
  },
  {
    rule: 'L6',
    title: 'everything verifies after a rich workload, by run and as a whole',
    async run(world) {
      const ledger = await world.open()
      const runs = await runWorkload(ledger, 11, 60)
      await world.closeAll()
      const later = await world.open()
      let seen = 0
      const whole = await later.verify(undefined, { onProgress: (n) => void (seen = n) })
      assert(whole.ok, JSON.stringify(whole.problems))
      const { events } = await later.stats()
      assertEqual([whole.checked, seen], [events, events], 'events checked')
      for (const runId of runs) assert((await later.verify(runId)).ok, runId)
      await assertRefused(() => later.verify('nobody'), 'not_found', { runId: 'nobody' })
    },
  },
  {
    rule: 'L6',
    title: 'the same payload twice has two salts and two hashes',
    async run(world) {
      const ledger = await world.open()
      await ledger.append([note('a', { same: 1 }), note('b', { same: 1 })])
      const lines: ExportLine[] = []
      for await (const line of ledger.export()) lines.push(JSON.parse(line) as ExportLine)
      assert(lines[0]?.ledger.salt !== lines[1]?.ledger.salt, 'salts differ')
      assert(lines[0]?.ledger.payload_hash !== lines[1]?.ledger.payload_hash, 'payload hashes differ')
    },
  },
  {
    rule: 'L6',
    title: 'verify says where an event was changed, removed, swapped or cut off',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, telling(store, {}))
      await ledger.append(upTo(8).map((n) => note('r', { n, list: upTo(1500) })))
      type Change = (events: Awaited<ReturnType<Store['readRun']>>) => typeof events
      const cases: readonly (readonly [string, number, Change])[] = [
        [
          'changed',
          3,
          (all) => all.map((e) => (e.seq === 3 ? { ...e, timestamp: '2001-01-01T00:00:00Z' } : e)),
        ],
        ['changed', 4, (all) => all.map((e) => (e.seq === 4 ? { ...e, eventType: 'execution.x' } : e))],
        ['changed', 5, (all) => all.map((e) => (e.seq === 5 ? { ...e, body: '{"n":99}' } : e))],
        ['changed', 6, (all) => all.map((e) => (e.seq === 6 ? { ...e, body: null, salt: null } : e))],
        [
          'changed',
          7,
          (all) => all.map((e) => (e.seq === 7 ? { ...e, recordedAt: '2001-01-01T00:00:00Z' } : e)),
        ],
        ['missing', 2, (all) => all.filter((e) => e.seq !== 2)],
        ['truncated', 7, (all) => all.filter((e) => e.seq < 7)],
        [
          'changed',
          2,
          (all) => all.map((e) => (e.seq === 2 || e.seq === 3 ? { ...e, ...swap(all, e.seq) } : e)),
        ],
      ]
      for (const [problem, seq, change] of cases) {
        const readRun: Store['readRun'] = async (key, options) => change(await store.readRun(key, options))
        const { ok, problems } = await (await world.open({}, telling(store, { readRun }))).verify('r')
        assert(!ok, `${problem} at ${seq} is found`)
        assertEqual([problems[0]?.problem, problems[0]?.seq], [problem, seq], JSON.stringify(problems))
      }
      const read: Values['read'] = async (ids) => {
        const nodes = [...(await store.values.read(ids))]
        return new Map(nodes.map(([id, node]) => [id, { ...node, body: node.body.replace('=700', '=701') }]))
      }
      const values = { ...store.values, read }
      const nodes = await (await world.open({}, telling(store, { values }))).verify('r')
      assert(
        !nodes.ok && nodes.problems.every((each) => each.problem === 'changed'),
        'a changed value is found',
      )
      assert((await ledger.verify('r')).ok, 'and the store itself is whole')
    },
  },
  {
    rule: 'L6',
    title: 'signed heads find truncation and the removal of whole runs',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, telling(store, {}))
      await ledger.append([...upTo(5).map((n) => note('r', { n })), note('gone')])
      const heads = await ledger.signHeads(suiteSigner)
      assertEqual(
        heads.heads.map((head) => `${head.runId} ${head.seq}`).toSorted(),
        ['gone 1', 'r 5'],
        'heads',
      )
      await ledger.append([note('r'), note('later')])
      assert((await ledger.verify(undefined, { heads })).ok, 'a ledger that has grown still fits')
      const cut = telling(store, {
        async findRuns(query) {
          const { runs, next } = await store.findRuns(query)
          return { runs: runs.filter(({ summary }) => summary.runId !== 'gone'), next }
        },
        readRun: async (key, options) => (await store.readRun(key, options)).filter((event) => event.seq < 4),
      })
      const { problems } = await (await world.open({}, cut)).verify('r', { heads })
      assert(
        problems.some((each) => each.problem === 'truncated' && each.seq === 5),
        'truncation',
      )
      const gone = await (await world.open({}, cut)).verify('gone', { heads }).catch(() => undefined)
      assert(gone === undefined, 'a run that is gone cannot be verified by itself')
      const whole = await (await world.open({}, cut)).verify(undefined, { heads })
      assert(
        whole.problems.some((each) => each.problem === 'run_missing' && each.runId === 'gone'),
        'removal',
      )
      const forged = { ...heads, heads: heads.heads.slice(1) }
      const answer = await ledger.verify(undefined, { heads: forged })
      assertEqual(answer.problems[0]?.problem, 'bad_signature', 'a signature that does not fit')
    },
  },
  {
    rule: 'L6',
    title: 'the answer of an append carries the hash that is stored',
    async run(world) {
      const ledger = await world.open()
      const answers: ClewEvent[] = []
      for (const n of upTo(5)) answers.push(...(await ledger.append([note('r', { n }), note('q', { n })])))
      for (const runId of ['r', 'q'])
        assertEqual(
          await readAll(ledger, runId),
          answers.filter((event) => event.correlationId === runId),
          runId,
        )
    },
  },
]

interface ExportLine {
  event_id: string
  event_type: string
  timestamp: string
  source: { origin: string; runtime: string }
  correlation_id: string
  causation_id: string | null
  payload: unknown
  ledger: { salt: string; payload_hash: string; hash: string; recorded_at: string; schema_version: number }
}

function swap<T extends { seq: number; eventId: string; payloadHash: string }>(
  all: readonly T[],
  seq: number,
) {
  const other = all.find((event) => event.seq === (seq === 2 ? 3 : 2)) as T
  return { ...other, seq }
}
