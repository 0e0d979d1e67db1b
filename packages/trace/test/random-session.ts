import { type ClewEvent, foldSteps } from '@clew/ledger'
import fc from 'fast-check'
import { STEP_PROGRESS } from '../src/names.ts'
import type { TraceMessage } from '../src/payloads.ts'
import { relayEvent } from '../src/relay-event.ts'
import { foldSessionState, type SessionState, toSessionView } from '../src/session-state.ts'
import type { SessionDetail } from '../src/session-view.ts'
import { toTraceStep } from '../src/to-trace-step.ts'

type Draft = readonly [eventType: string, payload: Record<string, unknown>]

/** A way through a session: steps that begin, tell and end, deaths, retries, and perhaps an end. */
export interface History {
  readonly events: readonly ClewEvent[]
  /** What its rooms are told, in order, with progress between. */
  readonly told: readonly TraceMessage[]
  /** What a fetch gives after each event. */
  readonly details: readonly SessionDetail[]
}

const move = fc.record({
  what: fc.constantFrom('start', 'start', 'start', 'end', 'end', 'tell', 'tell', 'fail', 'die', 'pause'),
  pick: fc.nat(7),
})
const ending = fc.constantFrom('completed', 'failed', 'stopped', 'superseded', 'interrupted', 'none')

export const histories: fc.Arbitrary<History> = fc
  .tuple(fc.array(move, { maxLength: 14 }), ending)
  .map(([moves, end]) => play(moves, end))

function play(moves: readonly { what: string; pick: number }[], end: string): History {
  const events: ClewEvent[] = []
  const told: TraceMessage[] = []
  const details: SessionDetail[] = []
  const open: { stepId: string; attempt: number; version: number; stepType: string }[] = []
  const notes = new Map<string, { version: number; content: string }>()
  let state: SessionState | null = null
  let generation = 1
  let made = 0

  function add(...[eventType, payload]: Draft): void {
    const event = toEvent(events.length + 1, eventType, payload)
    events.push(event)
    for (const { room: _, ...each } of relayEvent(event, {
      session: state,
      parent: null,
      replies: null,
    }))
      told.push(each)
    state = foldSessionState(state, event)
    details.push(fetched(state as SessionState, events, notes))
  }
  function close(eventType: string): void {
    for (const { stepId, attempt } of open.splice(0)) add(eventType, { stepId, attempt })
  }

  add('system.workflow_started', {
    threadId: 't',
    session: { streamId: 't', persona: { id: 'ada', name: 'Ada' } },
  })
  for (const { what, pick } of moves) {
    const step = open[pick % Math.max(1, open.length)]
    if (what === 'start') {
      const begun = {
        stepId: `s${made++}`,
        attempt: 1,
        version: 0,
        stepType: pick % 2 ? 'thinking' : 'web_search',
      }
      open.push(begun)
      const { stepId, attempt, stepType } = begun
      const input = pick === 3 ? { content: 'first' } : undefined
      add('execution.step_started', {
        stepId,
        attempt,
        name: stepType,
        kind: stepType,
        ...(input && { input }),
      })
    } else if (what === 'tell' && step) {
      const note = { version: ++step.version, content: `text ${step.version}` }
      notes.set(`${step.attempt} ${step.stepId}`, note)
      const { stepId, attempt, stepType } = step
      const payload = {
        workspaceId: 'w',
        sessionId: 'r',
        streamId: 't',
        stepId,
        attempt,
        stepType,
        ...note,
        at: '',
      }
      told.push({ name: STEP_PROGRESS, payload })
      details.push(fetched(state as unknown as SessionState, events, notes))
    } else if ((what === 'end' || what === 'fail') && step) {
      open.splice(open.indexOf(step), 1)
      const { stepId, attempt } = step
      if (what === 'end')
        add('execution.step_completed', { stepId, attempt, output: { content: `of ${stepId}` } })
      else add('execution.step_failed', { stepId, attempt, error: { message: 'no' } })
    } else if (what === 'pause') {
      add('system.workflow_blocked', {})
      add('system.workflow_resumed', { epoch: ++generation })
    } else if (what === 'die') {
      // As the runtime does, whose steps stay open and go on, or as a session outside it.
      if (pick % 2) close('execution.step_interrupted')
      if (pick % 3) add('system.workflow_interrupted', {})
      else {
        close('execution.step_failed')
        add('system.workflow_failed', { error: { message: 'died' } })
      }
      add('system.workflow_resumed', { epoch: ++generation })
    }
  }
  if (end !== 'none') add(`system.workflow_${end}`, {})
  return { events, told, details }
}

function fetched(
  state: SessionState,
  events: readonly ClewEvent[],
  notes: ReadonlyMap<string, { version: number; content: string }>,
): SessionDetail {
  const session = toSessionView(state.summary, { ...state })
  if (!session) throw new Error('no session')
  const steps = foldSteps(events).map((step, index) =>
    toTraceStep(step, index + 1, session.status, notes.get(`${step.attempt} ${step.stepId}`)),
  )
  return { session, steps, persona: session.persona, relatedSessions: [], previousCursor: null }
}

function toEvent(seq: number, eventType: string, payload: Record<string, unknown>): ClewEvent {
  const at = new Date(1_800_000_000_000 + seq * 100).toISOString()
  return {
    eventId: `0198f0aa-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    eventType,
    timestamp: at,
    source: { origin: 'agent', runtime: 'custom' },
    correlationId: 'r',
    causationId: null,
    payload,
    ledger: { workspace: 'w', seq, position: 40 + seq, recordedAt: at, hash: '', schemaVersion: 0 },
  }
}
