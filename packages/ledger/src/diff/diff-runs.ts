import { costOf } from '../billing/cost.ts'
import { fromNano } from '../billing/money.ts'
import { createUsageCounter } from '../billing/usage-counter.ts'
import { missingRun } from '../check-options.ts'
import type { ClewEvent } from '../envelope.ts'
import type { RunStatus, RunSummary } from '../fold/run-summary.ts'
import type { Ledger } from '../ledger.ts'
import { type Change, findChanges } from './changes.ts'
import { compareItems, type Comparison } from './compare.ts'
import { toItems } from './items.ts'

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
  /** Of what is not shared. */
  readonly deltas: Readonly<
    Record<
      'steps' | 'messages' | 'toolCalls' | 'errors' | 'inputTokens' | 'outputTokens' | 'cost' | 'durationMs',
      Delta
    >
  >
  readonly output: readonly Change[]
  readonly state: readonly Change[]
}

type Reads = Pick<Ledger, 'getRun' | 'read' | 'getState'>

export async function diffRuns(ledger: Reads, runA: string, runB: string): Promise<RunDiff> {
  const [first, second] = await Promise.all([ledger.getRun(runA), ledger.getRun(runB)])
  if (!first) throw missingRun(runA)
  if (!second) throw missingRun(runB)
  const shared = await sharedEvents(ledger, first, second)
  const [eventsA, eventsB] = await Promise.all([
    readAfter(ledger, runA, shared),
    readAfter(ledger, runB, shared),
  ])
  const itemsA = toItems(eventsA)
  const itemsB = toItems(eventsB)
  const compared = compareItems(itemsA, itemsB)
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

async function readAfter(ledger: Reads, runId: string, afterSeq: number): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId, { afterSeq })) events.push(event)
  return events
}

/** How many events both runs take from the same run. */
async function sharedEvents(ledger: Reads, a: RunSummary, b: RunSummary): Promise<number> {
  const linesOfA = new Map(await lineage(ledger, a))
  for (const [runId, upTo] of await lineage(ledger, b)) {
    const other = linesOfA.get(runId)
    if (other !== undefined) return Math.min(upTo, other, Number.MAX_SAFE_INTEGER)
  }
  return 0
}

/** The run and those it was forked from, each with the last seq that is still part of it. */
async function lineage(ledger: Reads, run: RunSummary): Promise<[string, number][]> {
  const line: [string, number][] = []
  let upTo = Number.POSITIVE_INFINITY
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
  const end = events.findLast(
    ({ eventType, payload }) =>
      (eventType === 'system.workflow_completed' || eventType === 'execution.completed') &&
      payload['output'] !== undefined,
  )
  return end?.payload['output']
}

interface Tally {
  steps: number
  messages: number
  toolCalls: number
  errors: number
  inputTokens: number
  outputTokens: number
  modelCalls: number
  unpricedCalls: number
  nano: number
}

const COUNTED: Readonly<Record<string, 'steps' | 'messages' | 'toolCalls' | 'errors'>> = {
  'execution.step_started': 'steps',
  'execution.message': 'messages',
  'execution.tool_call': 'toolCalls',
  'execution.tool_error': 'errors',
  'execution.step_failed': 'errors',
}

/** What a summary counts, of these events alone: in a fork, of those that are not shared. */
function tallyOf(events: readonly ClewEvent[]): Tally {
  const count = createUsageCounter()
  const tally: Tally = {
    steps: 0,
    messages: 0,
    toolCalls: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    modelCalls: 0,
    unpricedCalls: 0,
    nano: 0,
  }
  for (const event of events) {
    const counted = COUNTED[event.eventType]
    if (counted) tally[counted]++
    const usage = count(event)
    if (!usage) continue
    tally.inputTokens += usage.inputTokens
    tally.outputTokens += usage.outputTokens
    tally.modelCalls++
    const { nano, currency } = costOf(event.payload)
    if (nano === undefined || currency !== 'USD') tally.unpricedCalls++
    else tally.nano += nano
  }
  return tally
}

function deltas(eventsA: readonly ClewEvent[], eventsB: readonly ClewEvent[]): RunDiff['deltas'] {
  const a = tallyOf(eventsA)
  const b = tallyOf(eventsB)
  const of = (pick: (tally: Tally) => number): Delta => ({ a: pick(a), b: pick(b), delta: pick(b) - pick(a) })
  const money = ({ nano, unpricedCalls }: Tally): number | null => (unpricedCalls > 0 ? null : fromNano(nano))
  const known = a.unpricedCalls + b.unpricedCalls === 0
  const [tookA, tookB] = [tookMs(eventsA), tookMs(eventsB)]
  return {
    steps: of((tally) => tally.steps),
    messages: of((tally) => tally.messages),
    toolCalls: of((tally) => tally.toolCalls),
    errors: of((tally) => tally.errors),
    inputTokens: of((tally) => tally.inputTokens),
    outputTokens: of((tally) => tally.outputTokens),
    cost: { a: money(a), b: money(b), delta: known ? fromNano(b.nano - a.nano) : null },
    durationMs: { a: tookA, b: tookB, delta: tookB - tookA },
  }
}

function tookMs(events: readonly ClewEvent[]): number {
  const [first] = events
  const last = events.at(-1)
  return first && last ? Math.max(0, Date.parse(last.timestamp) - Date.parse(first.timestamp)) : 0
}
