import { readdirSync, readFileSync } from 'node:fs'
import {
  type ClewEvent,
  foldSteps,
  type Ledger,
  type Payload,
  projectRun,
  type RunSummary,
  toSkeleton,
} from '@clew/ledger'
import { fromOtlpTraces } from '@clew/adapters/otel'
import { openLedger } from 'clew'
import { expect, test } from 'vitest'
import { createLiveRun, type LiveRun } from '../../packages/react/src/run/live-run.ts'

/** A root and what it called, as an exporter sends them. */
const EXPORTED = [
  { spanId: '1', name: 'agent', parentSpanId: '', from: 0, to: 9 },
  { spanId: '2', name: 'think', parentSpanId: '1', from: 1, to: 3 },
  { spanId: '3', name: 'save', parentSpanId: '1', from: 4, to: 8 },
].map(({ spanId, name, parentSpanId, from, to }) => ({
  traceId: 'a'.repeat(32),
  spanId: spanId.repeat(16),
  parentSpanId: parentSpanId.repeat(16),
  name,
  startTimeUnixNano: `176319000000${from}000000`,
  endTimeUnixNano: `176319000000${to}000000`,
}))

const folder = new URL('../histories/', import.meta.url)
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ndjson') && !name.endsWith('.views.ndjson'))
  .toSorted()

interface Recorded {
  readonly stored: RunSummary
  /** All events of the run; in a fork, those of its source come first. */
  readonly events: readonly ClewEvent[]
  /** How many of them the run shares with its source. */
  readonly shared: number
  readonly source: RunSummary | undefined
}

async function readHistory(name: string): Promise<Recorded[]> {
  const ledger = await openLedger('memory:')
  await ledger.import([readFileSync(new URL(name, folder), 'utf8')])
  return readRuns(ledger)
}

async function readRuns(ledger: Ledger): Promise<Recorded[]> {
  const { runs } = await ledger.listRuns({ limit: 1000 })
  return Promise.all(
    runs.map(async (stored) => {
      const { runId, forkedFrom } = stored
      const events = await Array.fromAsync(ledger.read(runId))
      const source = forkedFrom ? ((await ledger.getRun(forkedFrom.runId)) ?? undefined) : undefined
      return { stored, events, shared: forkedFrom?.seq ?? 0, source }
    }),
  )
}

const summaryAt = ({ events, shared, source }: Recorded, seq: number): RunSummary =>
  projectRun(events.slice(shared, seq), source) as RunSummary

const stepsAt = ({ events }: Recorded, seq: number) => foldSteps(events.slice(0, seq)).map(toSkeleton)

/** A page that read the summary at `seq` and the steps later, at `stepsSeq`. */
function openAt(run: Recorded, seq: number, stepsSeq: number): LiveRun {
  const live = createLiveRun()
  live.begin(summaryAt(run, seq))
  for (const step of stepsAt(run, stepsSeq)) live.putStep(step)
  return live
}

const asShown = (live: LiveRun): unknown => ({ run: live.run(), steps: live.steps() })

function expectSameAsReloaded(run: Recorded): void {
  const { stored, events, shared } = run
  const reloaded = { run: stored, steps: stepsAt(run, events.length) }
  for (let seq = shared + 1; seq <= events.length; seq++)
    for (let later = seq; later <= events.length; later++) {
      const live = openAt(run, seq, later)
      live.refresh(summaryAt(run, later))
      for (const event of events.slice(seq)) live.apply(event)
      expect(asShown(live), `${stored.runId} opened at ${seq}, steps read at ${later}`).toEqual(reloaded)
    }
}

test.each(names)(
  'U1 L1 opened at any event, also with steps read later, a run shows live what a reload shows: %s',
  async (name) => {
    for (const run of await readHistory(name)) expectSameAsReloaded(run)
  },
)

test('V7 R7 usage counts as in the store: once per call, again for a retry, and in a fork by its own events', async () => {
  const ledger = await openLedger('memory:')
  const step = { stepId: 'ask#0', name: 'ask' }
  const usage = { inputTokens: 10, outputTokens: 1 }
  const record = (correlationId: string, events: readonly (readonly [string, Payload])[]) =>
    ledger.append(
      events.map(([eventType, payload]) => ({
        eventType,
        source: { origin: 'agent', runtime: 'test' },
        correlationId,
        payload,
      })),
    )
  await record('source', [
    ['system.workflow_started', { agent: 'owl' }],
    ['execution.step_started', step],
    ['execution.message', { stepId: 'ask#0', role: 'assistant', content: 'Hm', usage }],
    ['execution.step_failed', { ...step, error: { message: 'no' }, usage }],
    ['execution.step_started', { ...step, attempt: 2 }],
    ['execution.message', { stepId: 'ask#0', role: 'assistant', content: 'Yes', usage }],
    ['execution.step_completed', { stepId: 'ask#0', attempt: 2, usage }],
    ['system.workflow_completed', { usage }],
  ])
  await record('fork', [
    ['system.workflow_forked', { sourceRunId: 'source', sourceSeq: 6 }],
    ['execution.step_completed', { stepId: 'ask#0', attempt: 2, usage }],
    ['execution.step_started', { stepId: 'tell#0', name: 'tell' }],
    ['execution.step_completed', { stepId: 'tell#0', usage }],
    ['system.workflow_completed', { usage }],
  ])
  const [fork, source] = await readRuns(ledger)
  expect([source?.stored.modelCalls, fork?.stored.modelCalls]).toEqual([2, 2])
  for (const run of [source, fork]) if (run) expectSameAsReloaded(run)
})

test('U1 V12 an exported run whose root comes last shows live what a reload shows', async () => {
  const ledger = await openLedger('memory:')
  for (const spans of [EXPORTED.slice(1), EXPORTED.slice(0, 1)])
    await ledger.append(fromOtlpTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] }).events)
  const runs = await readRuns(ledger)
  for (const run of runs) expectSameAsReloaded(run)
  expect(runs.map(({ stored }) => stored)).toMatchObject([{ exported: true, status: 'completed' }])
})
