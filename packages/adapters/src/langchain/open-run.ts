import { setImmediate } from 'node:timers/promises'
import type { ClewEvent, Ledger, Payload, RunSummary } from '@clew/ledger'
import { isObject } from '../foreign.ts'
import { createRecordedRun, createScope, type RecordedRun } from './recorded-run.ts'
import type { SessionTrace } from './session-trace.ts'
import { toRecord } from './to-record.ts'

export interface TopCall {
  readonly lcRunId: string
  readonly name: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly input: unknown
}

export interface RunChoice {
  readonly ledger: Ledger
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  readonly agent?: string | undefined
  readonly session?: SessionTrace | undefined
}

/** Stored as `recordedBy`: the adapter continues only runs that carry it. */
const RECORDER = 'clew/langchain'
/** A cause that is in no ledger at all is not waited for for ever. */
const MAX_TURNS = 10_000

/**
 * The run that a call at the top belongs to: the one that was named, the Clew run around it, the run of the thread that
 * waits for the answer which it brings, or one of its own.
 */
export async function openRun(choice: RunChoice, call: TopCall): Promise<RecordedRun> {
  const { ledger, runId } = choice
  const runtime = call.metadata['ls_integration'] === 'langgraph' ? 'langgraph' : 'langchain'
  if (runId !== undefined) {
    if (await ledger.getRun(runId))
      return createRecordedRun({ ledger, runId, owns: false, runtime, scope: createScope(null, null) })
    return begin(choice, call, runtime, runId, {})
  }
  const around = await findAround(ledger)
  if (around) {
    const { runId: outer, stepId, eventId, isHeld } = around
    // A leased run is written by its owner alone (R9), and a resume would take foreign steps for calls of its own code.
    // So the calls inside it are recorded in a child run.
    if (isHeld)
      return begin(choice, call, runtime, call.lcRunId, {
        parentRunId: outer,
        ...(stepId !== null && { parentStepId: stepId }),
      })
    const scope = createScope(stepId, eventId)
    return createRecordedRun({ ledger, runId: outer, owns: false, runtime, scope })
  }
  const { sessionId } = choice.session ?? {}
  const below = sessionId === undefined ? {} : { parentRunId: sessionId }
  return (await continueRun(choice, call, runtime)) ?? begin(choice, call, runtime, call.lcRunId, below)
}

async function findAround(ledger: Ledger) {
  const event = await findCause(ledger)
  if (!event) return undefined
  const { correlationId: runId, eventId, eventType, payload } = event
  const stepId = payload['stepId']
  const inStep = eventType === 'execution.step_started' && typeof stepId === 'string'
  const leases = await ledger.leases.list()
  const isHeld = leases.some((lease) => lease.workspace === ledger.workspace && lease.runId === runId)
  return { runId, eventId, stepId: inStep ? stepId : null, isHeld }
}

/** The start of a step is not waited for by the runtime, so it may still be on its way to its commit. */
async function findCause(ledger: Ledger): Promise<ClewEvent | null> {
  const cause = ledger.currentCause()
  if (cause === undefined) return null
  for (let turn = 0; ; turn++) {
    const isComing = ledger.waiting > 0 && turn < MAX_TURNS
    const event = await ledger.getEvent(cause)
    if (event || !isComing) return event
    await setImmediate()
  }
}

const threadOf = ({ threadId }: RunChoice, { metadata }: TopCall): string | undefined => {
  const found = threadId ?? metadata['thread_id']
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

async function begin(
  choice: RunChoice,
  call: TopCall,
  runtime: string,
  runId: string,
  below: Payload,
): Promise<RecordedRun> {
  const { ledger, agent = call.name } = choice
  const threadId = threadOf(choice, call)
  const scope = createScope(null, null)
  const run = createRecordedRun({ ledger, runId, owns: true, runtime, scope })
  const started = run.draft({
    type: 'system.workflow_started',
    key: [call.lcRunId],
    cause: ledger.currentCause() ?? null,
    origin: 'system',
    payload: {
      agent,
      ...(threadId !== undefined && { threadId }),
      ...below,
      recordedBy: RECORDER,
      ...(call.input !== undefined && { input: toRecord(call.input) }),
    },
  })
  scope.startId = started.eventId
  await run.append([started])
  return run
}

/** LangGraph answers a question by a new call on the thread: here it is the same run that goes on. */
async function continueRun(
  choice: RunChoice,
  call: TopCall,
  runtime: string,
): Promise<RecordedRun | undefined> {
  const { ledger } = choice
  const threadId = threadOf(choice, call)
  const { input } = call
  const isAnswer = typeof input === 'object' && input !== null && Reflect.get(input, 'lg_name') === 'Command'
  if (threadId === undefined || !isAnswer) return undefined
  const answer: unknown = Reflect.get(input, 'resume')
  if (answer === undefined) return undefined
  const paused = await findPaused(choice, threadId, choice.agent ?? call.name)
  if (!paused) return undefined
  const { runId, pauses } = paused
  const scope = createScope(null, null)
  const past = await ledger.getSkeleton(runId)
  const run = createRecordedRun({ ledger, runId, owns: true, runtime, scope, past })
  const open = new Set(pauses.map(({ pauseId }) => pauseId))
  for await (const { eventId, payload } of ledger.read(runId, { types: ['ui.input_requested'] }))
    if (open.has(String(payload['pauseId']))) run.pauses.set(String(payload['pauseId']), eventId)
  const events = answersTo(pauses, answer).map(({ pauseId, stepId, value }) => {
    const asked = run.pauses.get(pauseId) ?? null
    run.pauses.delete(pauseId)
    return run.draft({
      type: 'ui.input_received',
      // Two that answer one question at once give it one answer (R6), or one of them is refused.
      key: [asked ?? pauseId],
      cause: asked,
      origin: 'ui',
      payload: { pauseId, answer: toRecord(value), ...(stepId !== null && { stepId }) },
    })
  })
  const resumed = run.draft({
    type: 'system.workflow_resumed',
    key: [call.lcRunId],
    cause: events.at(-1)?.eventId ?? null,
    origin: 'system',
    payload: { reason: 'answered' },
  })
  scope.startId = resumed.eventId
  await run.append([...events, resumed])
  return run
}

async function findPaused(
  { ledger }: RunChoice,
  threadId: string,
  agent: string,
): Promise<RunSummary | undefined> {
  const { runs } = await ledger.listRuns({ threadId, status: 'paused', agent, limit: 10 })
  for (const run of runs)
    for await (const { payload } of ledger.read(run.runId, { limit: 1 }))
      if (payload['recordedBy'] === RECORDER) return run
  return undefined
}

/** An answer is for the one question that is open, or names the questions by their ids. */
function answersTo(
  pauses: RunSummary['pauses'],
  answer: unknown,
): { pauseId: string; stepId: string | null; value: unknown }[] {
  const named = isObject(answer) && pauses.some(({ pauseId }) => Object.hasOwn(answer, pauseId))
  const chosen = named ? pauses.filter(({ pauseId }) => Object.hasOwn(answer, pauseId)) : pauses.slice(0, 1)
  return chosen.map(({ pauseId, stepId }) => ({
    pauseId,
    stepId,
    value: named ? answer[pauseId] : answer,
  }))
}
