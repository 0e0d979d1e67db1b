import { ClewError, type ClewEvent, createStateBuilder, isOwn, type Ledger } from '@clew/ledger'
import { checkpointPayload } from '../engine/graph-program.ts'
import type { SuperstepState } from '../engine/supersteps.ts'
import { openRunAppender } from '../machine/run-appender.ts'
import { superstepIn } from '../machine/cursor.ts'
import { mutableCopy } from '../machine/mutable-copy.ts'
import type { Program } from '../machine/program.ts'
import { acceptedIn, indexRecord, type RecordedCall, type RunRecord } from '../machine/record.ts'
import type { ChildEnd, Outcome } from '../machine/step.ts'
import { recordedInput } from '../run/recorded-input.ts'
import { openTape } from '../tape/open-tape.ts'
import { loadRun } from './load-run.ts'
import { alignPaths } from './path.ts'
import type { ChildReplay } from './replay-state.ts'
import { createReplayMachine, type ReplayPass } from './replay-machine.ts'
import type { ReplayDivergence, PathStep } from './report.ts'
import type { Comparison } from './same-value.ts'
import type { ReplayedEvents } from './replayed-events.ts'

export interface ReplayContext {
  readonly ledger: Ledger
  readonly comparison: Comparison
  readonly graceMs: number
  /** Told for each end that the code is given, of children too. */
  readonly onTurn: (step: string) => void
  readonly trace: ReplayedEvents | undefined
}

export interface RunReplay {
  readonly outcome: Outcome | undefined
  readonly divergences: readonly ReplayDivergence[]
  readonly path: readonly PathStep[]
  readonly steps: number
}

export interface Given {
  /** As the parent's code gives it to its child run. */
  readonly input?: unknown
  /** Superstep from which a graph starts, instead of its input. */
  readonly fromSuperstep?: number | undefined
}

/** Goes through a run again with its code. `events` are all of its events, loaded once. */
export function replayRun(
  context: ReplayContext,
  program: Program,
  events: readonly ClewEvent[],
  runId: string,
  given: Given = {},
): Promise<RunReplay> {
  return program.kind === 'graph'
    ? replayGraph(context, program, events, runId, given)
    : replayFunction(context, program, events, runId, given)
}

async function replayChild(
  context: ReplayContext,
  program: Program,
  runId: string,
  input: unknown,
): Promise<ChildReplay | null> {
  const events = await loadRun(context.ledger, runId)
  if (events.length === 0) return null
  const { outcome, divergences } = await replayRun(context, program, events, runId, { input })
  return { end: toChildEnd(outcome), divergences }
}

function toChildEnd(outcome: Outcome | undefined): ChildEnd {
  if (!outcome) return { status: 'paused', pauses: [], dueAt: undefined, awaits: [] }
  return 'output' in outcome
    ? { status: 'completed', output: outcome.output, restored: false }
    : { status: 'failed', error: outcome.error }
}

async function replayFunction(
  context: ReplayContext,
  program: Program,
  events: readonly ClewEvent[],
  runId: string,
  { input = mutableCopy(recordedInput(events)) }: Given,
): Promise<RunReplay> {
  const record = indexRecord(events, {
    runId,
    started: events[0] as ClewEvent,
    isGraph: false,
    bodies: 'run',
  })
  const machine = machineFor(context, program, record, () => undefined)
  const gone = await machine.go(program.code(machine.caller, openingOf(context, runId, input)))
  return toReplay([{ record, gone }])
}

const openingOf = ({ ledger }: ReplayContext, runId: string, input: unknown) => ({
  runId,
  // Known to a thread, the graph would remember where it stands for the next live turn.
  threadId: null,
  input,
  from: undefined as unknown,
  events: [] as readonly ClewEvent[],
  ledger,
  listener: {},
})

function machineFor(
  context: ReplayContext,
  program: Program,
  record: RunRecord,
  inputOf: (call: RecordedCall) => unknown,
): ReturnType<typeof createReplayMachine> {
  const { threadId, seed } = isOwn(record.started, 'system.workflow_started') ? record.started.payload : {}
  const { ledger, comparison, graceMs, onTurn, trace } = context
  const machine = createReplayMachine({
    runId: record.runId,
    threadId: threadId ?? null,
    seed: seed ?? record.runId,
    record,
    ledger,
    comparison,
    isGraph: program.kind === 'graph',
    graceMs,
    replayChild: (child, link) => replayChild(context, child, link.runId, link.input),
    inputOf,
    onTurn,
    trace,
  })
  openTape(machine.caller, program.tape, ledger, { isReplay: true })
  return machine
}

const toReplay = (
  parts: readonly { readonly record: RunRecord; readonly gone: ReplayPass }[],
): RunReplay => ({
  outcome: parts.at(-1)?.gone.outcome,
  divergences: parts.flatMap(({ gone }) => gone.divergences),
  path: parts.flatMap(({ record, gone }) => alignPaths(record, gone.made, gone.divergences.length === 0)),
  steps: parts.reduce((sum, { gone }) => sum + gone.made.length, 0),
})

/** Part of a graph's record: from its start, or from a resume with another state. */
interface Part {
  readonly opening: ClewEvent
  readonly events: readonly ClewEvent[]
}

/**
 * A graph's run is code that began once for its input and once more for each edit of its state. What a fork shares with its
 * source was not run by it, and is not run here.
 */
function partsOf(events: readonly ClewEvent[], runId: string, fromSuperstep: number | undefined): Part[] {
  const places: number[] = []
  const forkedAt = events.findLastIndex(
    ({ eventType, correlationId }) => eventType === 'system.workflow_forked' && correlationId === runId,
  )
  if (fromSuperstep !== undefined) places.push(placeOfSuperstep(events, runId, fromSuperstep))
  else if (forkedAt > 0 && events[forkedAt + 1]?.eventType !== 'execution.checkpoint')
    places.push(events.findLastIndex((event, at) => at < forkedAt && checkpointPayload(event) !== undefined))
  const first = Math.max(forkedAt, places[0] ?? -1)
  let checkpointAt = places[0] ?? 0
  for (const [at, event] of events.entries()) {
    if (at <= first || event.correlationId !== runId) continue
    const { eventType } = event
    if (eventType === 'execution.checkpoint') places.push(at)
    // From the last checkpoint on the code was taken up anew, with what it may differ from.
    else if (eventType === 'system.divergence_accepted') places.push(checkpointAt)
    if (checkpointPayload(event)) checkpointAt = at
  }
  return places.map((at, n) => ({
    opening: events[at] as ClewEvent,
    events: events.slice(at + 1, endOfPart(events, places[n + 1])),
  }))
}

/** A part goes up to the edit after it; one that was taken up anew at a checkpoint, up to that. */
function endOfPart(events: readonly ClewEvent[], next: number | undefined): number | undefined {
  if (next === undefined) return undefined
  return events[next]?.eventType === 'execution.checkpoint' ? next : next + 1
}

function placeOfSuperstep(events: readonly ClewEvent[], runId: string, superstep: number): number {
  const at = events.findLastIndex((event) => checkpointPayload(event)?.superstep === superstep)
  if (at >= 0) return at
  throw new ClewError(
    'not_found',
    `Run ${runId} has no superstep ${superstep}`,
    'See `clew state` for those it has.',
    { runId, superstep },
  )
}

async function replayGraph(
  context: ReplayContext,
  program: Program,
  events: readonly ClewEvent[],
  runId: string,
  given: Given,
): Promise<RunReplay> {
  const started = events[0] as ClewEvent
  const parts = partsOf(events, runId, given.fromSuperstep)
  if (parts.length === 0)
    throw new ClewError(
      'not_resumable',
      `Run ${runId} has no checkpoint to begin with`,
      'It was not recorded by a graph, or its record is not complete; see `clew verify`.',
      { runId },
    )
  const gone: { record: RunRecord; gone: ReplayPass }[] = []
  for (const part of parts) {
    const { from, was } = await openPart(context, program, events, runId, part, given)
    const record = indexRecord(part.events, { runId, started, isGraph: true, bodies: 'run' })
    const acceptedSeq = acceptedIn(part.events)
    const machine = machineFor(context, program, record, (call) => inputOf(part, was, call))
    const opening = {
      ...openingOf(context, runId, null),
      from,
      events: part.events.filter((event) => isGiven(event, runId) || event.ledger.seq <= acceptedSeq),
      limitSupersteps: limitFor(part, from),
    }
    gone.push({ record, gone: await machine.go(program.code(machine.caller, opening)) })
  }
  return toReplay(gone)
}

/** Ends that the code was given when it was resumed, or that belong to the source of a fork: it does not reach them by itself. */
const isGiven = (event: ClewEvent, runId: string): boolean =>
  event.correlationId !== runId ||
  (isOwn(event, 'execution.step_completed') &&
    event.payload.restored === true &&
    event.payload.name !== undefined)

interface Opened {
  /** State from which the code starts in this replay. */
  readonly from: SuperstepState
  /** State from which it started according to the record. */
  readonly was: SuperstepState
}

/** From the input by the graph as it is now, so that another beginning is seen; elsewhere as a resume would. */
async function openPart(
  { ledger }: ReplayContext,
  program: Program,
  events: readonly ClewEvent[],
  runId: string,
  { opening }: Part,
  given: Given,
): Promise<Opened> {
  const restored = await program.restore?.(ledger, runId, [opening], { isReplay: true })
  const was = (restored as { from: SuperstepState }).from
  const journal = openRunAppender({ ledger, runId, epoch: 0, onStale: () => {} })
  if (opening.eventId !== journal.idOf('execution.checkpoint', 'input')) return { from: was, was }
  const started = events[0] as ClewEvent
  const previous = await program.readPrevious?.(ledger, started)
  const input = given.input === undefined ? mutableCopy(recordedInput(events)) : given.input
  const begin = { runId, threadId: null, input, previous, journal, cause: started.eventId }
  return { from: program.open?.(begin).from as SuperstepState, was }
}

const lastSuperstep = ({ events }: Part, { superstep }: SuperstepState): number =>
  events.reduce((most, event) => Math.max(most, checkpointPayload(event)?.superstep ?? 0), superstep)

/** The limit of one invocation is not recorded: that it was reached is. */
function limitFor(part: Part, from: SuperstepState): (own: number) => number {
  const last = lastSuperstep(part, from)
  const failed = part.events.findLast((event) => isOwn(event, 'system.workflow_failed'))
  const isLimited = failed?.payload.error?.code === 'recursion_limit'
  return (limit) => (isLimited ? last : Math.max(limit, last + 1))
}

/** Recorded input of a node: the state before its superstep, or the input sent to it. */
function inputOf(
  { opening, events }: Part,
  { graph, superstep }: SuperstepState,
  call: RecordedCall,
): unknown {
  const builder = createStateBuilder()
  const { state, versions } = graph
  const whole = { superstep, next: [], state, versions }
  let tasks: unknown
  builder.apply({ ...opening, eventType: 'execution.checkpoint', payload: whole })
  const before = superstepIn(call.stepId) - 1
  for (const event of events) {
    if (builder.superstepWith(event) > before) break
    builder.apply(event)
    tasks = checkpointPayload(event)?.tasks ?? tasks
  }
  const index = /@s\d+\.i(\d+)$/.exec(call.stepId)?.[1]
  if (index !== undefined) return (tasks as { input?: unknown }[] | undefined)?.[Number(index)]?.input
  return builder.view()?.state
}
