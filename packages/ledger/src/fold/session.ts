import type { ErasableEvent, PayloadOf } from '../catalogue/catalogue.ts'
import { kindOfStep } from './begins-step.ts'

/** Author of answers in a stream. */
export interface Persona {
  readonly id: string
  readonly name: string
  readonly avatarUrl: string | null
}

/** A run seen from the chat side (T1): an agent answering in a stream. */
export interface RunSession {
  readonly streamId: string
  readonly persona: Persona | null
  readonly triggerMessageId: string | null
  /** The session that this one takes the place of. */
  readonly supersedes: string | null
  /** Rises when the run is taken up again. */
  readonly generation: number
  /** Type of the step that started last, while the run is working. */
  readonly currentStepType: string | null
}

/** Kinds that say how a step is run, not what it does: its name does. */
const HOW: ReadonlySet<string> = new Set([
  'step',
  'compute',
  'effect',
  'node',
  'gate',
  'child',
  'interrupt',
  'sleep',
  'receive',
])

/** T6: `thinking`, `web_search`, … or what the agent's author calls it. */
export const stepTypeOf = (kind: string, name: string): string => (HOW.has(kind) ? name : kind)

/** A fork answers the same message as its source, as long as it stays in that thread; it supersedes no session. */
export const forkSession = (source: RunSession | null, threadId: string | null): RunSession | null =>
  source && source.streamId === threadId
    ? { ...source, supersedes: null, generation: 1, currentStepType: null }
    : null

/** Applies one event to the session of a run; null for a run without a session. */
export function foldSession(
  session: RunSession | null,
  event: ErasableEvent,
  begins: boolean,
): RunSession | null {
  if (event.eventType === 'system.workflow_started' || event.eventType === 'system.workflow_submitted')
    return session ?? toSession(event.payload)
  if (!session) return null
  if (
    begins &&
    (event.eventType === 'execution.step_started' || event.eventType === 'execution.step_completed')
  ) {
    const { name, stepId } = event.payload
    return {
      ...session,
      currentStepType: stepTypeOf(kindOfStep(event.payload) ?? 'step', name ?? stepId ?? ''),
    }
  }
  if (event.eventType === 'system.workflow_resumed')
    return { ...session, generation: session.generation + 1, currentStepType: null }
  return session.currentStepType !== null && RESTS.has(event.eventType)
    ? { ...session, currentStepType: null }
    : session
}

const RESTS: ReadonlySet<string> = new Set([
  'execution.completed',
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
  'system.workflow_superseded',
  'system.workflow_interrupted',
  'system.workflow_blocked',
  'system.workflow_paused',
])

function toSession({
  session,
}: Pick<ErasableEvent<'system.workflow_started'>['payload'], 'session'>): RunSession | null {
  if (!session) return null
  const { streamId, persona, triggerMessageId = null, supersedes = null } = session
  return {
    streamId,
    persona: persona ? toPersona(persona) : null,
    triggerMessageId,
    supersedes,
    generation: 1,
    currentStepType: null,
  }
}

function toPersona({ id, name = id, avatarUrl = null }: GivenPersona): Persona {
  return { id, name, avatarUrl }
}

type GivenPersona = NonNullable<NonNullable<PayloadOf<'system.workflow_started'>['session']>['persona']>
