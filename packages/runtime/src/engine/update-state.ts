import { ClewError, type ClewEvent, isOwn, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'
import { requestStop } from '../lifecycle/request-stop.ts'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import { assertMode } from '../run/mode.ts'
import type { RunOptions } from '../run/run-options.ts'
import { carryEnds, completedTasks } from './restored-ends.ts'
import type { ForkPoint } from './cut.ts'
import { editStanding, type StateEdit } from './edit-state.ts'
import { editDraft, restDrafts } from './fork-drafts.ts'
import { forkGraph } from './fork-graph.ts'
import type { GraphParts } from './graph-parts.ts'
import { underLease } from './under-lease.ts'
import { checkpointPayload, loadGraphRun, toStanding, toTaskEnd } from './graph-program.ts'
import { assertChoice, type CheckpointChoice, findHead, type GraphPlace, readState } from './state-views.ts'
import type { SuperstepState } from './supersteps.ts'
import { attemptOf, isStepEvent, type StepEvent, stepIdOf } from '../machine/record.ts'

export interface UpdateOptions extends CheckpointChoice, Pick<RunOptions, 'onBusy' | 'signal'> {
  /** Continue as if this node had written the update. */
  readonly asNode?: string | undefined
  readonly by?: string | undefined
}

export interface UpdatedState {
  readonly checkpointId: string
  /** Another one than before where the update made a fork: of an older checkpoint, or of a run that had ended. */
  readonly runId: string
  readonly threadId: string | null
  readonly superstep: number
  readonly next: readonly string[]
  readonly isFork: boolean
  readonly warnings: readonly string[]
}

/**
 * Changes the state of a thread from outside. On the newest checkpoint of a run that has not ended it does so in place;
 * everywhere else it makes a fork, which is then the thread's newest run. Either way `invoke(null)` goes on from there.
 */
export async function updateState(
  parts: GraphParts,
  place: GraphPlace,
  update: Readonly<Record<string, unknown>>,
  options: UpdateOptions = {},
): Promise<UpdatedState> {
  const { ledger, definition } = parts
  assertMode(ledger, 'write')
  assertChoice(options)
  const run = await findHead(ledger, place)
  if (!run) throw nothingThere(place)
  const view = await readState(ledger, definition.channels, place, options)
  if (!view) throw nothingThere(place, options)
  const { asNode, by } = options
  const edit = { update, asNode }
  if (isTerminal(run.status) || view.checkpointId !== run.checkpoint?.id) {
    const at: ForkPoint = { checkpointId: view.checkpointId }
    const source = { runId: view.runId, at, by, onBusy: options.onBusy, signal: options.signal }
    const { runId, warnings } = await forkGraph(parts, { ...source, ...edit })
    return done(ledger, parts, runId, true, warnings)
  }
  await underLease(parts, run.runId, run.threadId, options, async (journal, epoch) => {
    const drafts = await inPlace(parts, run, edit, by, journal)
    await ledger.append(drafts.events, { expectedSeq: drafts.lastSeq, epoch })
  })
  return done(ledger, parts, run.runId, false, [])
}

async function done(
  ledger: Ledger,
  { definition }: GraphParts,
  runId: string,
  isFork: boolean,
  warnings: readonly string[],
): Promise<UpdatedState> {
  const view = await readState(ledger, definition.channels, { runId })
  if (!view) throw nothingThere({ runId })
  const { checkpointId, threadId, superstep, next } = view
  return { checkpointId, runId, threadId, superstep, next, isFork, warnings }
}

async function inPlace(
  { ledger, definition }: GraphParts,
  run: RunSummary,
  edit: StateEdit,
  by: string | undefined,
  journal: RunAppender,
): Promise<{ events: readonly EventDraft[]; lastSeq: number }> {
  const { runId } = run
  const current = await ledger.getRun(runId)
  const events = await loadGraphRun(ledger, runId)
  const carrier = events.find((each) => checkpointPayload(each) !== undefined)
  const folded = carrier && (await ledger.getStateAt(runId, carrier.ledger.seq, { restored: true }))
  if (
    !carrier ||
    !folded ||
    !current ||
    isTerminal(current.status) ||
    current.checkpoint?.id !== run.checkpoint?.id
  )
    throw new ClewError(
      'conflict',
      `Run ${runId} has gone on since its state was looked at`,
      'Look at it again and decide anew; nothing was changed.',
      { runId },
    )
  const at = toStanding(definition.channels, carrier, folded, ledger)
  const ended = completedTasks(events, at)
  const completed = ended.map(({ task, end }) => ({ task, end: toTaskEnd(end.payload) }))
  const edited = await editStanding(definition, at, edit, { ledger, completed })
  const asked = edit.asNode === undefined ? askedBefore(events) : []
  const standing: SuperstepState = {
    ...edited.standing,
    passed: [...new Set([...edited.standing.passed, ...asked])],
  }
  const carried = edit.asNode === undefined ? ended : []
  const open = openSteps(events)
  await stopChildren(ledger, open)
  const last = events.at(-1) as ClewEvent
  const reason = 'the state was updated'
  const stops = open.map((start) => {
    const [stepId, attempt] = [stepIdOf(start), attemptOf(start)]
    return journal.draft('execution.step_stopped', [stepId, attempt], last.eventId, {
      stepId,
      attempt,
      reason,
    })
  })
  const checkpoint = editDraft(journal, { ...edited, standing }, last.eventId, { by, asNode: edit.asNode })
  const rest = restDrafts(journal, standing, checkpoint.eventId)
  return {
    events: [...stops, checkpoint, ...carryEnds(journal, carried, standing, checkpoint.eventId), ...rest],
    lastSeq: last.ledger.seq,
  }
}

const ENDS: ReadonlySet<string> = new Set([
  'execution.step_completed',
  'execution.step_failed',
  'execution.step_stopped',
  'execution.step_interrupted',
])

/** Steps of the superstep under way that have not ended, innermost first. */
function openSteps(events: readonly ClewEvent[]): StepEvent[] {
  const open = new Map<string, StepEvent>()
  for (const event of events) {
    if (!isStepEvent(event)) continue
    const { stepId, attempt } = event.payload
    if (event.eventType === 'execution.step_started') open.set(`${attempt} ${stepId}`, event)
    else if (ENDS.has(event.eventType)) open.delete(`${attempt} ${stepId}`)
  }
  return [...open.values()].toReversed()
}

/** Stops the child runs of the superstep that the update discards. */
async function stopChildren(ledger: Ledger, open: readonly StepEvent[]): Promise<void> {
  for (const { payload } of open) {
    const { childRunId } = payload
    const child = childRunId !== undefined ? await ledger.getRun(childRunId) : null
    if (child && !isTerminal(child.status))
      await requestStop(ledger, child.runId, { reason: 'the state of its parent was updated' })
  }
}

/** Nodes whose `interruptBefore` paused at this checkpoint: an edit of the state answers it. */
const askedBefore = (events: readonly ClewEvent[]): string[] =>
  events
    .filter((event) => isOwn(event, 'execution.step_started'))
    .filter(({ payload }) => payload.name === 'interrupt before')
    .flatMap(({ payload }) => (payload.input as { nodes?: string[] } | undefined)?.nodes ?? [])

function nothingThere(place: GraphPlace, { superstep, checkpointId }: CheckpointChoice = {}): ClewError {
  const where = 'runId' in place ? `Run ${place.runId}` : `Thread ${place.threadId}`
  const what =
    checkpointId === undefined
      ? superstep === undefined
        ? 'state'
        : `superstep ${superstep}`
      : `checkpoint ${checkpointId}`
  return new ClewError(
    'not_found',
    `${where} has no ${what}`,
    'Begin with invoke(input); nothing was changed.',
    {
      ...place,
    },
  )
}
