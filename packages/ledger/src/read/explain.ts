import { missingRun } from '../check-options.ts'
import { shortText } from '../diff/changes.ts'
import type { Divergence } from '../diff/compare.ts'
import { diffRuns, type RunDiff } from '../diff/diff-runs.ts'
import { parsed } from '../diff/items.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from '../fold/fields.ts'
import type { RunStatus, RunSummary } from '../fold/run-summary.ts'
import { foldSteps, type StepRecord } from '../fold/steps.ts'
import type { Ledger } from '../ledger.ts'
import { inHappenedOrder } from '../fold/happened-order.ts'
import { openCase } from '../suspects/case.ts'
import { findSuspects, type Suspect } from '../suspects/find-suspects.ts'
import { findLastGood, type LastGoodRun, type MatchedBy, readRunFacts, type RunOutcome } from './last-good.ts'

/** Why an explanation looks at this place. */
export type ExplainedBecause = 'failed' | 'paused' | 'running' | 'last'

/** The step, or outside of steps the event, that an explanation is about; values as short text. */
export interface ExplainedPlace {
  readonly because: ExplainedBecause
  readonly stepId: string | null
  readonly name: string
  readonly kind: string
  readonly attempt: number
  readonly seq: number
  readonly eventId: string
  readonly input: string | null
  readonly output: string | null
  readonly error: string | null
}

export interface ExplainedCause {
  readonly seq: number
  readonly eventId: string
  readonly eventType: string
  readonly label: string
}

export interface Explanation {
  readonly run: RunSummary
  /** Null for a run without events of its own that could be looked at. */
  readonly place: ExplainedPlace | null
  /** From the nearest cause back to the first; long chains keep both ends. */
  readonly causes: readonly ExplainedCause[]
  readonly omittedCauses: number
  /** Trigger: a user's message or answer, or the input of the run. */
  readonly origin: (ExplainedCause & { readonly by: 'person' | 'input' | 'event' }) | null
  /** False: the events name no causes, so the nearest human action before is taken. */
  readonly causesRecorded: boolean
  /** How it turned out by a score or by its metadata; null if neither says so. */
  readonly outcome: RunOutcome | null
  /** Events that may be the cause, the likeliest first; none if nothing looks wrong. */
  readonly suspects: readonly Suspect[]
  /** Events of a long run that were not looked at; 0 if all were. */
  readonly unreadEvents: number
  /**
   * The newest good run of the same task or input, else of the same thread or agent; good is one that completed and of which
   * no outcome says otherwise.
   */
  readonly lastGood: {
    readonly runId: string
    readonly matched: MatchedBy
    readonly startedAt: string
    readonly same: boolean
    readonly first: Divergence | null
    /** Null with `first` where one of the runs is too long to be compared here. */
    readonly deltas: RunDiff['deltas'] | null
  } | null
}

export interface ExplainOptions {
  /** Called with the number of events read. */
  readonly onProgress?: ((done: number) => void) | undefined
}

type Reads = Pick<Ledger, 'getRun' | 'read' | 'getState' | 'getStateAt' | 'listRuns' | 'causes'>

const SHOWN_CAUSES = 10

/** Of longer runs the beginning and the end are looked at: an explanation is read while somebody waits. */
const MAX_EVENTS = 4000
const FIRST_EVENTS = 500
const PROGRESS_EVENTS = 500

/** The failed or last step of a run, what led there, what may be the cause, and what the last good run did differently. */
export async function explainRun(
  ledger: Reads,
  runId: string,
  nowMs: number,
  { onProgress }: ExplainOptions = {},
): Promise<Explanation> {
  const run = await ledger.getRun(runId)
  if (!run) throw missingRun(runId)
  let read = 0
  const onEvent = (): void => {
    if (++read % PROGRESS_EVENTS === 0) onProgress?.(read)
  }
  const recorded = await readEnds(ledger, run, onEvent)
  const events = inHappenedOrder(recorded)
  const found = findPlace(events, run.status)
  const chain = found ? await ledger.causes(found.event.eventId) : []
  const hasCauses = chain.length > 0
  const before = found ? events.slice(0, events.indexOf(found.event)) : []
  const origin = hasCauses ? findOrigin(chain) : before.findLast((event) => isHuman(event) || isInput(event))
  const causes = hasCauses ? chain : origin ? [origin] : []
  const facts = await readRunFacts(ledger, run)
  const lastGood = await findLastGood(ledger, run, facts)
  const isComparable =
    lastGood !== null && lengthOf(run) <= MAX_EVENTS && lengthOf(lastGood.run) <= MAX_EVENTS
  const good = isComparable
    ? { runId: lastGood.run.runId, events: inHappenedOrder(await readEnds(ledger, lastGood.run, onEvent)) }
    : null
  const isFailure = found?.place.because === 'failed' && found.step !== null
  const opened = openCase(run, events, isFailure ? found.step : null, facts.outcome, nowMs)
  const kept =
    causes.length <= SHOWN_CAUSES ? causes : [...causes.slice(0, SHOWN_CAUSES - 2), ...causes.slice(-2)]
  return {
    run,
    place: found?.place ?? null,
    causes: kept.map(toCause),
    omittedCauses: causes.length - kept.length,
    origin: origin
      ? { ...toCause(origin), by: isHuman(origin) ? 'person' : isInput(origin) ? 'input' : 'event' }
      : null,
    causesRecorded: hasCauses,
    outcome: facts.outcome,
    suspects: findSuspects(opened, good, lastGood?.matched === 'task' || lastGood?.matched === 'input'),
    unreadEvents: lengthOf(run) - recorded.length,
    lastGood: lastGood && (await compareLastGood(ledger, run, lastGood, isComparable)),
  }
}

/** Events of a run, those that it shares with its source included. */
const lengthOf = ({ events, forkedFrom }: RunSummary): number => events + (forkedFrom?.seq ?? 0)

/** All events, or of a long run the first and the last ones. */
async function readEnds(ledger: Reads, run: RunSummary, onEvent: () => void): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  const take = async (options: { afterSeq?: number; limit?: number }): Promise<void> => {
    for await (const event of ledger.read(run.runId, options)) {
      events.push(event)
      onEvent()
    }
  }
  const length = lengthOf(run)
  if (length <= MAX_EVENTS) await take({})
  else {
    await take({ limit: FIRST_EVENTS })
    await take({ afterSeq: length - (MAX_EVENTS - FIRST_EVENTS) })
  }
  return events
}

/** The nearest human action wins over the input of the run: it came later. */
function findOrigin(chain: readonly ClewEvent[]): ClewEvent | undefined {
  return chain.find(isHuman) ?? chain.find(isInput) ?? chain.at(-1)
}

const isInput = (event: ClewEvent): boolean =>
  event.eventType === 'system.workflow_started' || event.eventType === 'system.workflow_forked'
const isHuman = ({ eventType, payload: { role } }: ClewEvent): boolean =>
  eventType === 'ui.input_received' ||
  eventType === 'ui.message_created' ||
  (eventType === 'execution.message' && role === 'user')

function findPlace(
  events: readonly ClewEvent[],
  status: RunStatus,
): { place: ExplainedPlace; event: ClewEvent; step: StepRecord | null } | undefined {
  const steps = foldSteps(events)
  const bySeq = new Map(events.map((event) => [event.ledger.seq, event]))
  const [step, because] = chooseStep(steps)
  const toolError = lastToolError(events, status)
  if (step && (because === 'failed' || !toolError)) {
    const started = bySeq.get(step.startedSeq) as ClewEvent
    const event = bySeq.get(step.endedSeq ?? step.startedSeq) ?? started
    return { event, place: fromStep(step, because, started, event), step }
  }
  const last = events.findLast((each) => each.eventType.startsWith('execution.')) ?? events.at(-1)
  const event = toolError ?? last
  return event && { event, place: fromEvent(event, toolError ? 'failed' : 'last', events), step: null }
}

/** A tool that failed and was not made good: no run is explained by an error that it got over. */
function lastToolError(events: readonly ClewEvent[], status: RunStatus): ClewEvent | undefined {
  if (status === 'completed') return undefined
  const last = events.findLast(({ eventType }) =>
    status === 'failed' ? eventType === 'execution.tool_error' : eventType.startsWith('execution.tool_'),
  )
  return last?.eventType === 'execution.tool_error' ? last : undefined
}

/** The innermost step of the last failure; else the one that waits, that runs, or that was the last. */
function chooseStep(steps: readonly StepRecord[]): [StepRecord | undefined, ExplainedBecause] {
  const retried = new Set(
    steps.filter((step) => step.attempt > 1).map((step) => `${step.attempt - 1} ${step.stepId}`),
  )
  const failed = steps.filter(
    (step) => step.status === 'failed' && !retried.has(`${step.attempt} ${step.stepId}`),
  )
  const parents = new Set(failed.map((step) => step.parentStepId))
  const innermost = failed.findLast((step) => !parents.has(step.stepId)) ?? failed.at(-1)
  if (innermost) return [innermost, 'failed']
  const paused = steps.findLast((step) => step.status === 'paused')
  if (paused) return [paused, 'paused']
  const running = steps.findLast((step) => step.status === 'running' || step.status === 'interrupted')
  return running ? [running, 'running'] : [steps.at(-1), 'last']
}

function fromStep(
  step: StepRecord,
  because: ExplainedBecause,
  started: ClewEvent,
  { eventId, ledger }: ClewEvent,
): ExplainedPlace {
  const error =
    step.error && [step.error.name, step.error.code, step.error.message].filter((part) => part !== null)
  return {
    because,
    stepId: step.stepId,
    name: step.nodeName,
    kind: step.kind,
    attempt: step.attempt,
    seq: ledger.seq,
    eventId,
    input: shortText(started.payload.input, 300),
    output: step.status === 'completed' ? shortText(step.values, 300) : null,
    error: error ? error.join(': ').slice(0, 500) : null,
  }
}

function fromEvent(
  event: ClewEvent,
  because: ExplainedBecause,
  events: readonly ClewEvent[],
): ExplainedPlace {
  const { eventType, eventId, ledger } = event
  // An event of any type: what it holds is shown under the usual names.
  const { toolCallId, name, role, stepId, input, result, content, output, error } = event.payload
  const isCall = (each: ClewEvent): boolean =>
    each.eventType === 'execution.tool_call' && each.payload.toolCallId === toolCallId
  const call = typeof toolCallId === 'string' ? events.find(isCall) : undefined
  return {
    because,
    stepId: textOf(stepId),
    name: textOf(name) ?? textOf(call?.payload.name) ?? textOf(role) ?? eventType,
    kind: eventType,
    attempt: 1,
    seq: ledger.seq,
    eventId,
    input: shortText(parsed((call ?? event).payload.arguments ?? input) ?? undefined, 300),
    output: shortText(result ?? content ?? output, 300),
    error: error === undefined ? null : shortText(error, 500),
  }
}

function toCause({ eventId, eventType, payload, ledger }: ClewEvent): ExplainedCause {
  const { answer, content, arguments: given, input, result, output, question, error } = payload
  const first = [answer, content, given, input, result, output, question, error]
    .map(parsed)
    .find((value) => value !== undefined && value !== null && value !== '')
  const name = [payload.name, payload.role, payload.stepId, payload.agent].find(
    (value) => typeof value === 'string',
  )
  const said = first === undefined ? '' : (shortText(first, 160) ?? '')
  return { seq: ledger.seq, eventId, eventType, label: [name, said].filter((part) => part).join(' ') }
}

async function compareLastGood(
  ledger: Reads,
  { runId: id }: RunSummary,
  { run, matched }: LastGoodRun,
  isComparable: boolean,
): Promise<NonNullable<Explanation['lastGood']>> {
  const { runId, startedAt } = run
  if (!isComparable) return { runId, matched, startedAt, same: false, first: null, deltas: null }
  const { same, first, deltas } = await diffRuns(ledger, runId, id)
  return { runId, matched, startedAt, same, first, deltas }
}
