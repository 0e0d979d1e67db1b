import { addAmounts } from '../billing/money.ts'
import { missingRun } from '../check-options.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { RunStatus, RunSummary } from '../fold/run-summary.ts'
import type { Ledger } from '../ledger.ts'
import { projectRun } from '../projections/projections.ts'
import { type Change, findChanges } from './changes.ts'
import { compareItems, type Comparison, type Divergence } from './compare.ts'
import { toItems } from './items.ts'
import { isOwn } from '../catalogue/catalogue.ts'

export interface DiffSide {
  readonly runId: string
  readonly status: RunStatus
  readonly agent: string | null
  readonly startedAt: string
  /** Things that were compared: steps, or tool calls and messages. */
  readonly items: number
  /** Events whose payload was erased: whatever they said is not compared. */
  readonly erasedEvents: number
}

/** A number on both sides, and how far they are apart; null where it is not known. */
export interface Delta {
  readonly a: number | null
  readonly b: number | null
  readonly delta: number | null
}

/** V10: two runs side by side. The first is what was expected, the second what was received. */
export interface RunDiff extends Comparison {
  readonly a: DiffSide
  readonly b: DiffSide
  /** They did the same things with the same outcome; times and ids aside. */
  readonly same: boolean
  /** Events that both share because one is a fork of the other, or both of a third: not compared, identical. */
  readonly sharedEvents: number
  /** Differences of the events that the runs do not share. */
  readonly deltas: Readonly<
    Record<
      'steps' | 'messages' | 'toolCalls' | 'errors' | 'inputTokens' | 'outputTokens' | 'cost' | 'durationMs',
      Delta
    >
  >
  readonly output: readonly Change[]
  readonly state: readonly Change[]
}

type Reads = Pick<Ledger, 'getRun' | 'read' | 'getState' | 'getStateAt'>

export interface DiffOptions {
  /** Called with the number of events read, and with how many there are. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

const PROGRESS_EVENTS = 500

export async function diffRuns(
  ledger: Reads,
  runA: string,
  runB: string,
  { onProgress }: DiffOptions = {},
): Promise<RunDiff> {
  const [first, second] = await Promise.all([ledger.getRun(runA), ledger.getRun(runB)])
  if (!first) throw missingRun(runA)
  if (!second) throw missingRun(runB)
  const shared = await sharedEvents(ledger, first, second)
  const total = ownEvents(first, shared) + ownEvents(second, shared)
  let read = 0
  const onEvent = (): void => {
    if (++read % PROGRESS_EVENTS === 0) onProgress?.(read, Math.max(read, total))
  }
  const [eventsA, eventsB] = await Promise.all([
    readAfter(ledger, runA, shared, onEvent),
    readAfter(ledger, runB, shared, onEvent),
  ])
  const itemsA = toItems(eventsA)
  const itemsB = toItems(eventsB)
  const found = compareItems(itemsA, itemsB)
  const compared = { ...found, first: await withStates(ledger, [runA, runB], found.first) }
  const [stateA, stateB] = await Promise.all([ledger.getState(runA), ledger.getState(runB)])
  const output = findChanges(outputOf(eventsA), outputOf(eventsB))
  const state = findChanges(stateA?.state, stateB?.state)
  return {
    a: side(first, itemsA.length, eventsA),
    b: side(second, itemsB.length, eventsB),
    same:
      compared.first === null && output.length === 0 && state.length === 0 && first.status === second.status,
    sharedEvents: shared,
    ...compared,
    deltas: deltas(eventsA, eventsB),
    output,
    state,
  }
}

/** The input of a graph node is recorded as a digest only: shows where the states that the two nodes read differ. */
async function withStates(
  ledger: Reads,
  [runA, runB]: readonly [string, string],
  first: Divergence | null,
): Promise<Divergence | null> {
  if (first?.kind !== 'input' || first.changes.length > 0 || !first.expected || !first.received) return first
  const [a, b] = await Promise.all([
    ledger.getStateAt(runA, first.expected.seq - 1),
    ledger.getStateAt(runB, first.received.seq - 1),
  ])
  return { ...first, changes: findChanges(a?.state, b?.state) }
}

async function readAfter(
  ledger: Reads,
  runId: string,
  afterSeq: number,
  onEvent: () => void,
): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId, { afterSeq })) {
    events.push(event)
    onEvent()
  }
  return events
}

/** Events behind those that both runs share. */
const ownEvents = ({ events, forkedFrom }: RunSummary, shared: number): number =>
  Math.max(0, events + (forkedFrom?.seq ?? 0) - shared)

/** How many events both runs take from the same run. */
async function sharedEvents(ledger: Reads, a: RunSummary, b: RunSummary): Promise<number> {
  const linesOfA = new Map(await lineage(ledger, a))
  for (const [runId, upTo] of await lineage(ledger, b)) {
    const other = linesOfA.get(runId)
    if (other !== undefined) return Math.min(upTo, other)
  }
  return 0
}

/** The run and those it was forked from, each with the last seq that is still part of it. */
async function lineage(ledger: Reads, run: RunSummary): Promise<[string, number][]> {
  const line: [string, number][] = []
  let upTo = run.events + (run.forkedFrom?.seq ?? 0)
  for (let at: RunSummary | null = run; at; ) {
    line.push([at.runId, upTo])
    if (!at.forkedFrom) break
    upTo = Math.min(upTo, at.forkedFrom.seq)
    at = await ledger.getRun(at.forkedFrom.runId)
  }
  return line
}

function side(
  { runId, status, agent, startedAt }: RunSummary,
  items: number,
  events: readonly ClewEvent[],
): DiffSide {
  const erasedEvents = events.filter((event) => event.ledger.erased === true).length
  return { runId, status, agent, startedAt, items, erasedEvents }
}

function outputOf(events: readonly ClewEvent[]): unknown {
  return events
    .filter((event) => isOwn(event, 'system.workflow_completed', 'execution.completed'))
    .findLast(({ payload }) => payload.output !== undefined)?.payload.output
}

/** Counted as in the summary of a run, of these events alone: in a fork, of those that are not shared. */
function deltas(eventsA: readonly ClewEvent[], eventsB: readonly ClewEvent[]): RunDiff['deltas'] {
  const [a, b] = [projectRun(eventsA), projectRun(eventsB)]
  const between = (inA: number | null, inB: number | null): Delta => ({
    a: inA,
    b: inB,
    delta: inA === null || inB === null ? null : inB - inA,
  })
  const count = (name: Counted): Delta => between(a?.[name] ?? 0, b?.[name] ?? 0)
  const [costA, costB] = [wholeCost(a), wholeCost(b)]
  return {
    steps: count('steps'),
    messages: count('messages'),
    toolCalls: count('toolCalls'),
    errors: count('errors'),
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    cost: { a: costA, b: costB, delta: costA === null || costB === null ? null : addAmounts(costB, -costA) },
    durationMs: between(tookMs(eventsA), tookMs(eventsB)),
  }
}

type Counted = 'steps' | 'messages' | 'toolCalls' | 'errors' | 'inputTokens' | 'outputTokens'

/** Null when any call has no known price: a part of the money is not comparable. */
function wholeCost(summary: RunSummary | undefined): number | null {
  if (!summary) return 0
  return summary.unpricedCalls > 0 ? null : (summary.cost ?? 0)
}

function tookMs(events: readonly ClewEvent[]): number {
  const [first] = events
  const last = events.at(-1)
  return first && last ? Math.max(0, Date.parse(last.timestamp) - Date.parse(first.timestamp)) : 0
}
