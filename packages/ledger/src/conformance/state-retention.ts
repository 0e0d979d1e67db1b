import { putCursor } from '../store/cursors.ts'
import type { RecordInput } from '../catalogue/catalogue.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import type { Ledger } from '../ledger.ts'
import type { StatePolicy } from '../retention/plan-states.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { assertSound, ended } from './ended-runs.ts'
import { createRandom } from './random.ts'
import { beginExpected, type Expected, runSuperstep } from './state-model.ts'
import { forked, indexAll, note, readAll, started, type StoreTest, upTo, type World } from './world.ts'

const LATEST: StatePolicy = { keep: 'latest' }

/** A superstep whose only step says a word; with `isWhole` the whole state stands in its checkpoint. */
const say = (
  runId: string,
  n: number,
  baseSeq: number,
  isWhole = false,
): RecordInput<'execution.step_completed'> => ({
  eventType: 'execution.step_completed',
  correlationId: runId,
  payload: {
    stepId: `say@s${n}`,
    output: { word: `word${n}` },
    checkpoint: {
      superstep: n,
      next: ['say'],
      operations: [{ op: 'set', channel: 'word', from: `say@s${n}` }],
      baseSeq,
      ...(isWhole && { state: { word: `word${n}`, long: `long ${'x'.repeat(3000)}` }, versions: {} }),
    },
  },
})

/** Supersteps 0 to `last`, a whole state every four of them. Superstep n stands at seq n + 2. */
async function addLine(ledger: Ledger, runId: string, last: number, threadId = 't'): Promise<void> {
  const steps = upTo(last, 0).map((n) => say(runId, n, 2 + Math.floor(n / 4) * 4, n % 4 === 0))
  await ledger.append([started(runId, { threadId }), ...steps])
}

async function kept(ledger: Ledger, runId: string): Promise<number[]> {
  const found: number[] = []
  for await (const { superstep } of ledger.listCheckpoints(runId)) found.push(superstep)
  return found
}

/** Which states of a run can still be read: those must be what they were. */
async function readable(ledger: Ledger, { runId, states }: Expected, own: number): Promise<number[]> {
  const found: number[] = []
  for (const { seq, superstep, state } of states) {
    if (seq <= own) continue
    try {
      assertEqual((await ledger.getStateAt(runId, seq))?.state, state, `state of ${runId} at ${seq}`)
      assertEqual((await ledger.getState(runId, { superstep }))?.state, state, `superstep ${superstep}`)
      found.push(seq)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'pruned') throw error
      await assertRefused(() => ledger.getState(runId, { superstep }), 'pruned')
    }
  }
  return found
}

async function randomThread(world: World, seed: number): Promise<void> {
  const random = createRandom(seed)
  const ledger = await world.open()
  const thread = `t${seed}`
  const runs: { run: Expected; own: number; isOver: boolean }[] = []
  for (const n of upTo(5)) {
    const before = runs.map(({ run }) => run)
    const run = await beginExpected(ledger, random, before, `${thread} r${n}`, thread)
    const summary = await ledger.getRun(run.runId)
    for (let left = 1 + random.below(9); left > 0; left--) await runSuperstep(ledger, random, run)
    const isOver = random.below(3) > 0
    if (isOver) await ledger.append([ended(run.runId)])
    runs.push({ run, own: summary?.forkedFrom?.seq ?? 0, isOver })
  }
  const all = runs.flatMap(({ run, own }) =>
    run.states.filter(({ seq }) => seq > own).map(({ seq }) => ({ runId: run.runId, seq })),
  )
  const window = 1 + random.below(4)
  const policy: StatePolicy = window === 1 ? LATEST : { keep: 'windowed', window }
  const last = runs.at(-1) as (typeof runs)[number]
  const count = await ledger.pruneStates(last.run.runId, policy)
  for (const reader of [ledger, await world.open()]) {
    let left = 0
    for (const { run, own, isOver } of runs) {
      const found = await readable(reader, run, own)
      left += found.length
      const newest = run.states.findLast(({ seq }) => seq > own)?.seq
      if (!isOver && newest !== undefined)
        assert(found.includes(newest), `${run.runId} is not over, and its newest state is gone`)
      for (const { runId, seq } of all.slice(-window))
        if (runId === run.runId) assert(found.includes(seq), `${runId} ${seq} is one of the last ${window}`)
    }
    assertEqual(left, all.length - count, 'states that can be read')
    assert(left <= window + 2 * runs.length, `${left} states are left of ${all.length}`)
  }
  assertEqual(await ledger.pruneStates(last.run.runId, policy), 0, 'nothing more goes')
  await assertSound(ledger)
  if (last.isOver) return
  await runSuperstep(ledger, random, last.run)
  const { state } = last.run.states.at(-1) as Expected['states'][number]
  assertEqual((await ledger.getState(last.run.runId))?.state, state, 'the run goes on from what is left')
}

export const stateRetentionTests: readonly StoreTest[] = [
  {
    rule: 'R10',
    title:
      'of random turns and forks the states that a policy keeps are what they were, the others are pruned',
    async run(world) {
      for (const seed of upTo(4)) await randomThread(world, seed)
    },
  },
  {
    rule: 'R10',
    title:
      'a state that goes leaves its event and its hash; its payload and its words go when none needs them',
    async run(world) {
      const ledger = await world.open()
      await addLine(ledger, 'r', 10)
      await indexAll(ledger)
      const before = await readAll(ledger, 'r')
      assertEqual(await ledger.pruneStates('r', { keep: 'windowed', window: 2 }), 9, 'states that go')
      for (const reader of [ledger, await world.open()]) {
        assertEqual(await kept(reader, 'r'), [9, 10], 'checkpoints')
        await assertRefused(() => reader.getState('r', { superstep: 8 }), 'pruned', { runId: 'r', seq: 10 })
        await assertRefused(() => reader.getState('r', { superstep: 1 }), 'pruned')
        assertEqual((await reader.getState('r'))?.state['word'], 'word10', 'the newest')
        const after = await readAll(reader, 'r')
        const marks = (of: 'erased' | 'pruned'): number[] =>
          after.filter((event) => event.ledger[of]).map((event) => event.ledger.seq)
        assertEqual(marks('pruned'), upTo(10, 2), 'marked')
        assertEqual(marks('erased'), upTo(9, 2), 'without payload: 8 is a whole state that 9 and 10 need')
        assertEqual(
          after.map((event) => event.ledger.hash),
          before.map((event) => event.ledger.hash),
          'hashes',
        )
        assertEqual((await reader.search('word3')).hits.length, 0, 'hits of a word that went')
        assertEqual((await reader.search('word9')).hits.length, 1, 'hits of a word that is kept')
      }
      const { ok, pruned } = await ledger.verify()
      const told = pruned.map(({ fromSeq, toSeq, rule, states }) => [fromSeq, toSeq, rule, states])
      assertEqual([ok, told], [true, [[2, 10, 'windowed 2', 9]]], 'verify')
      assertEqual(await ledger.pruned('r'), pruned, 'pruned')
      assertEqual((await ledger.rebuild()).kept, 1, 'rows of it stay as they are')
      await assertSound(ledger)
    },
  },
  {
    rule: 'R10',
    title: 'a state that went is pruned wherever its run is imported, not erased, and the audit run says so',
    async run(world) {
      const source = await world.open()
      await addLine(source, 'r', 10)
      await source.pruneStates('r', { keep: 'windowed', window: 2 })
      const lines = await Array.fromAsync(source.export({ runId: 'r' }))
      const target = await (await world.elsewhere()).open()
      for (const round of ['imported', 'once more']) {
        await target.import(lines)
        const marks = async (ledger: Ledger) =>
          (await readAll(ledger, 'r')).map(({ ledger: { seq, hash, erased, pruned } }) => [
            seq,
            hash,
            erased,
            pruned,
          ])
        assertEqual(await marks(target), await marks(source), `events ${round}`)
        assertEqual(await kept(target, 'r'), [9, 10], `checkpoints ${round}`)
        await assertRefused(() => target.getState('r', { superstep: 8 }), 'pruned', { runId: 'r', seq: 10 })
        await assertRefused(() => target.getState('r', { superstep: 1 }), 'pruned')
        const told = (await target.pruned('r')).map(({ fromSeq, toSeq, rule, states }) => [
          fromSeq,
          toSeq,
          rule,
          states,
        ])
        assertEqual(told, [[2, 10, 'imported', 9]], `told ${round}`)
        await assertSound(target)
      }
      const whole = await (await world.elsewhere()).open()
      const all = await Array.fromAsync(source.export())
      await whole.import(all)
      assertEqual(
        await whole.pruned('r'),
        await source.pruned('r'),
        'with the audit run nothing is told twice',
      )
      const again = await whole.import(all)
      assertEqual([again.passed, again.events], [all.length, all.length], 'nothing was added to what came')
      assertEqual((await whole.stats()).events, all.length, 'events')
    },
  },
  {
    rule: 'R10',
    title:
      'an import that was killed before it told the audit run what came pruned does so when it is done again',
    async run(world) {
      const source = await world.open()
      await addLine(source, 'r', 10)
      await source.append([started('old'), ...upTo(3).map((n) => note('old', { n })), ended('old')])
      await source.pruneStates('r', { keep: 'windowed', window: 2 })
      world.turnClock(1000)
      const notes = { name: 'notes', match: { types: ['execution.note'] }, olderThan: '1s' }
      assertEqual((await source.gc({ policy: { rules: [notes] } })).events, 3, 'notes that went')
      const lines: string[] = []
      for (const runId of ['r', 'old']) lines.push(...(await Array.fromAsync(source.export({ runId }))))
      const target = await (await world.elsewhere()).open()
      const told = async (runId: string) =>
        (await target.pruned(runId)).map(({ fromSeq, toSeq, rule, states }) => [fromSeq, toSeq, rule, states])
      const count = async () => (await target.getRun(AUDIT_RUN_ID))?.events ?? 0
      async function* killed(): AsyncGenerator<string> {
        yield* lines
        throw new Error('killed')
      }
      const outcome = await target.import(killed()).then(
        () => 'ended',
        (error: unknown) => (error as Error).message,
      )
      assertEqual([outcome, await count(), await told('r')], ['killed', 0, []], 'nothing is told yet')
      assertEqual((await readAll(target, 'r')).length, 12, 'but it came')
      for (const round of ['again', 'once more']) {
        await target.import(lines)
        assertEqual(await told('r'), [[2, 10, 'imported', 9]], `states ${round}`)
        assertEqual(await told('old'), [[2, 4, 'imported', undefined]], `sealed ${round}`)
        assertEqual(await count(), 2, `lines of the audit run ${round}`)
        await assertSound(target)
      }
      // A name that redaction takes out of what the audit run says cannot be looked up there.
      const discreet = await (await world.elsewhere()).open({
        redact: { redact: (text) => (text === 'r' ? 'nobody' : text) },
      })
      await discreet.import(lines)
      await discreet.import(lines)
      assertEqual((await discreet.getRun(AUDIT_RUN_ID))?.events, 2, 'told once')
    },
  },
  {
    rule: 'R10',
    title: 'a fork, an unfinished run, a hold and a consumer keep what they need',
    async run(world) {
      const store = await world.openStore()
      const ledger = await world.open({}, store)
      await addLine(ledger, 'source', 10)
      await ledger.append([forked('fork', 'source', 5), ended('fork'), ended('source')])
      await addLine(ledger, 'paused', 3)
      await addLine(ledger, 'newest', 9)
      await ledger.append([ended('newest')])
      await ledger.pruneStates('newest', LATEST)
      assertEqual(await kept(ledger, 'source'), [3], 'where the fork parts')
      assertEqual((await ledger.getState('fork'))?.state['word'], 'word3', 'the fork')
      assertEqual(await kept(ledger, 'paused'), [3], 'what is not over')
      assertEqual(await kept(ledger, 'newest'), [9], 'the newest')
      await assertSound(ledger)

      await addLine(ledger, 'held', 5, 'other')
      const { holdId } = await ledger.hold({ runId: 'held' })
      assertEqual(await ledger.pruneStates('held', LATEST), 0, 'what is held')
      await ledger.release(holdId)
      const seen = (await readAll(ledger, 'held')).find((event) => event.ledger.seq === 4)
      const cursor = {
        name: 'slow',
        position: seen?.ledger.position ?? 0,
        failures: 0,
        error: null,
        movedAt: '2026-01-01T00:00:00.000Z',
      }
      await putCursor(store.slots, 'default', cursor, 0)
      await ledger.pruneStates('held', LATEST)
      assertEqual(await kept(ledger, 'held'), [3, 4, 5], 'what a consumer has not seen')
      const { newestPosition: position } = await store.info('newestPosition')
      await putCursor(store.slots, 'default', { ...cursor, position }, 1)
      await ledger.pruneStates('held', LATEST)
      assertEqual(await kept(ledger, 'held'), [5], 'then they go')
    },
  },
  {
    rule: 'R10',
    title: 'states go by age, and a policy that says nothing sensible is refused',
    async run(world) {
      const ledger = await world.open()
      await addLine(ledger, 'old', 4)
      await ledger.append([ended('old')])
      world.turnClock(60_000)
      assertEqual(await ledger.pruneStates('old', { ttlMs: 120_000 }), 0, 'young enough')
      assertEqual(await ledger.pruneStates('old', { ttlMs: 30_000 }), 4, 'too old, but for the newest')
      assertEqual(await kept(ledger, 'old'), [4], 'what is left')
      assertEqual(await ledger.pruneStates('old', {}), 0, 'all is kept')
      await assertRefused(() => ledger.pruneStates('old', { keep: 'windowed' }), 'bad_option')
      await assertRefused(() => ledger.pruneStates('old', { ttlMs: 0 }), 'bad_option')
      await assertRefused(() => ledger.pruneStates('nobody', LATEST), 'not_found')
    },
  },
]
