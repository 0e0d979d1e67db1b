import {
  ClewError,
  type ClewEvent,
  type FieldsOf,
  findPlaceholderPlaces,
  isOwn,
  isTerminal,
  type Ledger,
  type RunState,
  type RunSummary,
  type StateOperation,
  readBeginning,
} from '@clew/ledger'
import { findCheckpoint } from '../checkpointer/read-checkpoints.ts'
import type { PruneStates } from '../checkpointer/retention.ts'
import type { Channels } from '../graph/channel.ts'
import { type GraphDefinition, START } from '../graph/definition.ts'
import { resolveOperations } from '../graph/digests.ts'
import { initialsFor, mergeWrites, prepareWrite, type State, type StepWrite } from '../graph/merge-writes.ts'
import { type Joins, planNext, type Task } from '../graph/plan.ts'
import type { Budget } from '../machine/budget.ts'
import type { Caller, Durability } from '../machine/machine-types.ts'
import { type RedactedText, textsFrom } from '../machine/placeholders.ts'
import type { Begin, Opening, Previous, Program } from '../machine/program.ts'
import type { TapeRules } from '../tape/tape-options.ts'
import { findThreadHead } from './find-thread-head.ts'
import { advance, afterWhole, type GraphState, openState } from './graph-state.ts'
import type { TaskEnd } from './run-node.ts'
import { checkpointFields, runSupersteps, type SuperstepState, stepIdOfTask } from './supersteps.ts'
import { recallHead, rememberHead } from './thread-heads.ts'
import { type StepEvent, stepIdOf } from '../machine/record.ts'

export interface GraphProgramOptions {
  readonly name: string
  readonly version?: string | undefined
  readonly definition: GraphDefinition
  readonly structureHash: string
  /** Signature by node: its recorded ends are reused in a changed graph if the signature is the same (R7). */
  readonly signatures: Readonly<Record<string, string>>
  readonly durability: Durability | undefined
  readonly budget?: Budget | undefined
  readonly tape?: TapeRules | undefined
  readonly prune?: PruneStates | undefined
  readonly interruptBefore: readonly string[]
  readonly interruptAfter: readonly string[]
  readonly recursionLimit: number
}

/** Options of one invocation. */
export interface GraphRunOptions {
  readonly recursionLimit?: number | undefined
  /** After a failed turn, continue with the state that it left. */
  readonly afterFailure?: 'continue' | undefined
}

/** Supersteps between two looks at what a retention no longer keeps; the last one of a run looks too. */
const PRUNE_EVERY = 64
/** A thread goes back through at most this many turns before a whole state is written. */
const MAX_DEPTH = 128

export function createGraphProgram(options: GraphProgramOptions, run: GraphRunOptions = {}): Program {
  const { definition, structureHash } = options
  const { channels } = definition
  const hasStartBranch = definition.branches.some(({ from }) => from === START)

  /** The state with the input merged in, and what is ready first. */
  function accept(
    before: GraphState,
    input: unknown,
    ledger: Ledger | undefined,
    nextId: () => string,
  ): { graph: GraphState; tasks: readonly Task[]; joins: Joins; operations: readonly StateOperation[] } {
    const from = { node: 'input', nextId, isInput: true }
    const writes: StepWrite[] =
      input === undefined || input === null
        ? []
        : [{ stepId: START, node: 'input', write: prepareWrite(channels, input, from) }]
    const merged = mergeWrites(channels, before.state, writes, { nextId })
    const { tasks, joins } = hasStartBranch
      ? { tasks: [{ node: START, index: 0 }], joins: {} }
      : planNext(definition, [STARTED], {})
    return {
      graph: advance(channels, before, merged, writes, ledger),
      tasks,
      joins,
      operations: resolveOperations(merged.operations, writes),
    }
  }

  function open({
    input,
    previous,
    journal,
    cause,
    seq = 1,
  }: Begin): ReturnType<NonNullable<Program['open']>> {
    const { ledger } = journal
    let ids = 0
    const nextId = (): string => journal.idOf('message', ids++)
    const head = previous?.head as Head | undefined
    const accepted = accept(head?.graph ?? openState(channels, null, ledger), input, ledger, nextId)
    const redactedTexts =
      previous && head?.redacted ? redactedIn(previous, head.redacted, accepted.graph.state) : []
    const isWhole = head !== undefined && head.depth + 1 >= MAX_DEPTH
    const standing: SuperstepState = {
      superstep: 0,
      graph: isWhole ? afterWhole(accepted.graph) : accepted.graph,
      tasks: accepted.tasks,
      joins: accepted.joins,
      baseSeq: seq + 1,
      depth: isWhole || !head ? 0 : head.depth + 1,
      passed: [],
      after: [],
    }
    const fields = checkpointFields(standing, accepted, accepted.operations, isWhole)
    const initial = initialsFor(channels, head ? (head.recorded ?? head.graph.state) : {})
    if (initial) fields.initial = initial
    const from = previous && !isWhole && { from: { runId: previous.run.runId, seq: previous.seq } }
    const event = journal.draft('execution.checkpoint', ['input'], cause, { ...fields, ...from })
    return { events: [event], from: standing, redactedTexts }
  }

  async function restore(
    ledger: Ledger,
    runId: string,
    events: readonly ClewEvent[],
    { isReplay } = { isReplay: false },
  ): ReturnType<NonNullable<Program['restore']>> {
    const event = events.find((each) => checkpointPayload(each) !== undefined)
    if (!event) throw noCheckpoint(runId)
    const folded = (await ledger.getStateAt(runId, event.ledger.seq, {
      pruned: isReplay,
      restored: true,
    })) as RunState
    const from = toStanding(channels, event, folded, ledger)
    const { state } = from.graph
    const places =
      from.tasks.length === 0 || isReplay ? [] : findPlaceholderPlaces({ state, tasks: from.tasks })
    const whole = places.find(({ isWhole }) => isWhole)
    if (!whole) return { from, redactedTexts: textsFrom('what the run stands at', places) }
    const { path: expected, kind: secretKind } = whole
    return { divergence: { kind: 'redacted', stepId: null, expected, received: null, secretKind } }
  }

  function supersteps(machine: Caller, standing: SuperstepState, opening: Opening): Promise<State> {
    const { ledger, threadId, runId, events, listener, prune, limitSupersteps = (own) => own } = opening
    listener.values?.(standing.graph.state, standing.superstep)
    return runSupersteps(standing, {
      definition,
      machine,
      ledger,
      interruptBefore: new Set(options.interruptBefore),
      interruptAfter: new Set(options.interruptAfter),
      recursionLimit: limitSupersteps(run.recursionLimit ?? options.recursionLimit),
      listener,
      prune,
      recorded: ledger ? recordedEnds(events, standing) : new Map(),
      onStanding: ({ graph, depth, superstep, tasks }, seq) => {
        if (!ledger || !runId) return undefined
        if (threadId && seq !== undefined)
          rememberHead(ledger, structureHash, threadId, { runId, seq, graph, depth })
        const isDue = tasks.length === 0 || superstep % PRUNE_EVERY === 0
        return isDue ? prune?.(ledger, runId) : undefined
      },
    })
  }

  return {
    kind: 'graph',
    name: options.name,
    version: options.version,
    structureHash,
    signatures: options.signatures,
    durability: options.durability,
    budget: options.budget,
    tape: options.tape,
    prune: options.prune,
    load: loadGraphRun,
    findPrevious: (ledger, threadId) =>
      findPrevious(ledger, threadId, structureHash, run, (folded) => openState(channels, folded, ledger)),
    readPrevious: (ledger, started) => readPrevious(ledger, channels, started),
    open,
    restore,
    code: (machine, opening) => async () =>
      opening.ledger
        ? supersteps(machine, opening.from as SuperstepState, opening)
        : freely(machine, opening),
    keptOutput: () => undefined,
    outputOf: async (ledger, runId) => (await ledger.getState(runId, { restored: true }))?.state ?? {},
  }

  /** Without a ledger: nothing is recorded, nothing can be resumed. */
  function freely(machine: Caller, opening: Opening): Promise<State> {
    const nextId = (): string => machine.run.uuid()
    const accepted = accept(openState(channels, null, undefined), opening.input, undefined, nextId)
    return supersteps(
      machine,
      { superstep: 0, baseSeq: 1, depth: 0, passed: [], after: [], ...accepted },
      opening,
    )
  }
}

const STARTED = { node: START, index: 0, decision: null, goto: null, sends: [], ended: false } as const

type CheckpointFields = FieldsOf<'execution.checkpoint'>

export function checkpointPayload(event: ClewEvent): CheckpointFields | undefined {
  if (isOwn(event, 'execution.checkpoint')) return event.payload
  return isOwn(event, 'execution.step_completed') ? event.payload.checkpoint : undefined
}

/** Superstep state at the checkpoint that this event carries; `folded` is the channel state there. */
export function toStanding(
  channels: Channels,
  event: ClewEvent,
  folded: RunState,
  ledger: Ledger,
): SuperstepState {
  const payload = checkpointPayload(event) ?? {}
  const names = payload.next ?? []
  const tasks = (payload.tasks as Omit<Task, 'index'>[] | undefined) ?? names.map((node) => ({ node }))
  const isBase =
    payload.state !== undefined || (event.eventType === 'execution.checkpoint' && payload.from !== undefined)
  const baseSeq = isBase ? event.ledger.seq : (payload.baseSeq ?? 1)
  const graph = openState(channels, folded, ledger)
  // About: without this, a run that is taken up often would never write a whole state.
  const supersteps = Math.min(folded.superstep, event.ledger.seq - baseSeq)
  return {
    superstep: folded.superstep,
    graph: { ...graph, since: { ...graph.since, supersteps } },
    folded: graph.state,
    tasks: tasks.map((task, index) => ({ ...task, index })),
    joins: (payload.joins ?? {}) as Joins,
    baseSeq,
    depth: payload.depth ?? 0,
    passed: payload.passed ?? [],
    after: payload.after ?? [],
  }
}

/** Ends that the record has of tasks of the superstep that was under way. */
function recordedEnds(
  events: readonly ClewEvent[],
  { tasks, superstep }: SuperstepState,
): Map<string, TaskEnd> {
  const ids = new Set(tasks.map((task) => stepIdOfTask(task, superstep + 1)))
  const ends = new Map<string, TaskEnd>()
  for (const event of events) {
    if (!isOwn(event, 'execution.step_completed')) continue
    const stepId = stepIdOf(event)
    if (ids.has(stepId)) ends.set(stepId, toTaskEnd(event.payload))
  }
  return ends
}

export function toTaskEnd({ output, decision, goto, sends, ends }: StepEvent['payload']): TaskEnd {
  const names = typeof decision === 'string' ? [decision] : (decision ?? null)
  return {
    write: (output ?? null) as State | null,
    decision: goto === true ? null : names,
    goto: goto === true ? (names ?? []) : null,
    sends: (sends ?? []) as TaskEnd['sends'],
    ends: ends === true,
  }
}

/** The first event, a fork's own first one, and those from the last checkpoint on: the rest is folded into the state. */
export async function loadGraphRun(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  const run = await ledger.getRun(runId)
  const events: ClewEvent[] = []
  const restored = true
  const first = await readBeginning(ledger, runId, { restored })
  if (first) events.push(first)
  const afterSeq = Math.max(first?.ledger.seq ?? 1, (run?.checkpoint?.seq ?? 1) - 1)
  const forkSeq = run?.forkedFrom?.seq
  if (forkSeq !== undefined && forkSeq < afterSeq)
    for await (const event of ledger.read(runId, { afterSeq: forkSeq, limit: 1, restored }))
      events.push(event)
  for await (const event of ledger.read(runId, { afterSeq, restored })) events.push(event)
  return events
}

/** Finds the last checkpoint of the thread's newest run, which the next turn continues; that run must have ended. */
async function findPrevious(
  ledger: Ledger,
  threadId: string,
  structureHash: string,
  { afterFailure }: GraphRunOptions,
  toGraph: (folded: RunState) => GraphState,
): Promise<Previous | undefined> {
  const run = await findThreadHead(ledger, threadId)
  if (!run?.checkpoint) return undefined
  if (!isTerminal(run.status)) throw unfinished(run)
  if (run.status === 'failed' && afterFailure !== 'continue') throw failedBefore(run)
  const { seq } = run.checkpoint
  const known = recallHead(ledger, structureHash, threadId, run.runId, seq)
  if (known) return { run, seq, head: { graph: known.graph, depth: known.depth } satisfies Head }
  const folded = await ledger.getStateAt(run.runId, seq, { restored: true })
  if (!folded) return undefined
  const event = await ledger.getEvent(run.checkpoint.id)
  const depth = event && checkpointPayload(event)?.depth
  const redacted = Object.keys(folded.state).filter(
    (name) => findPlaceholderPlaces(folded.state[name]).length > 0,
  )
  const head: Head = { graph: toGraph(folded), depth: depth ?? 0, redacted, recorded: folded.state }
  return { run, seq, head }
}

/** A turn that failed left what its supersteps before had written: a next turn would begin on half a state. */
const failedBefore = ({ runId, threadId, status }: RunSummary): ClewError =>
  new ClewError(
    'unfinished',
    `The last run of thread ${threadId ?? ''}, ${runId}, failed`,
    "Go on where it failed with retry({ runId }) or invoke(null, { threadId }); to take new input on the state that it left, invoke(input, { threadId, afterFailure: 'continue' }). The new input was not taken.",
    { runId, threadId, status },
  )

interface Head {
  readonly graph: GraphState
  readonly depth: number
  /** Channels that the record has without their secrets; none where the state itself is still at hand. */
  readonly redacted?: readonly string[]
  /** The state as the record has it: a channel may be new since. */
  readonly recorded?: State
}

/** P2: what the input does not overwrite; a placeholder in place of a whole value is not handed to nodes. */
function redactedIn({ run }: Previous, names: readonly string[], state: State): RedactedText[] {
  const { runId, threadId } = run
  const places = findPlaceholderPlaces(Object.fromEntries(names.map((name) => [name, state[name]])))
  const whole = places.find(({ isWhole }) => isWhole)
  if (!whole) return textsFrom(`the state of run ${runId}`, places)
  const { path, kind } = whole
  throw new ClewError(
    'not_resumable',
    `Thread ${threadId ?? ''} cannot go on from run ${runId}: its state was redacted at ${path} (${kind})`,
    'Give the secret with invoke(input, { threadId, secrets }), give that channel anew in the input, or begin another thread; nothing was written.',
    { runId, threadId, path, kind },
  )
}

/** Reads the checkpoint that a run which has started continues. */
export async function readPrevious(
  ledger: Ledger,
  channels: Channels,
  started: ClewEvent,
): Promise<Previous | undefined> {
  const { runId, seq } = (isOwn(started, 'system.workflow_started') && started.payload.previous) || {}
  const run = runId === undefined ? null : await ledger.getRun(runId)
  const folded =
    run && seq !== undefined
      ? await ledger.getStateAt(run.runId, seq, { pruned: true, restored: true })
      : null
  if (!run || !folded || seq === undefined) return undefined
  const event = folded.checkpointId === null ? null : await findCheckpoint(ledger, folded.checkpointId)
  const depth = (event && checkpointPayload(event)?.depth) ?? 0
  return { run, seq, head: { graph: openState(channels, folded, ledger), depth } }
}

const unfinished = ({ runId, threadId, status, pauses }: RunSummary): ClewError =>
  new ClewError(
    'unfinished',
    `Thread ${threadId ?? ''} has an unfinished run ${runId} (${status})`,
    pauses.length > 0
      ? 'Answer its question with resume, stop it, or fork it; the new input was not taken.'
      : 'Go on with it by invoke(null) or resume, stop it, or fork it; the new input was not taken.',
    { runId, threadId, status },
  )

const noCheckpoint = (runId: string): ClewError =>
  new ClewError(
    'not_resumable',
    `Run ${runId} has no checkpoint to go on from`,
    'It was not recorded by a graph, or its record is not complete; see `clew verify`.',
    { runId },
  )
