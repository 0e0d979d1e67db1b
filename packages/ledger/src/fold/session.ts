import type { ClewEvent } from '../envelope.ts'
import { isObject } from '../json.ts'
import { kindOfStep } from './begins-step.ts'
import { textOf } from './fields.ts'

/** Who answers in a stream. */
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
  /** Of the step that began last, while the run is at work. */
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
])

/** T6: `thinking`, `web_search`, … or what the agent's author calls it. */
export const stepTypeOf = (kind: string, name: string): string => (HOW.has(kind) ? name : kind)

/** A fork answers where its source does, as long as it stays in that thread; it takes nobody's place. */
export const forkSession = (source: RunSession | null, threadId: string | null): RunSession | null =>
  source && source.streamId === threadId
    ? { ...source, supersedes: null, generation: 1, currentStepType: null }
    : null

/** What one event does to the session of a run; null for a run that is none. */
export function foldSession(
  session: RunSession | null,
  { eventType, payload }: ClewEvent,
  begins: boolean,
): RunSession | null {
  if (eventType === 'system.workflow_started') return session ?? toSession(payload)
  if (!session) return null
  if (begins) {
    const name = textOf(payload['name']) ?? textOf(payload['stepId']) ?? ''
    return { ...session, currentStepType: stepTypeOf(kindOfStep(payload) ?? 'step', name) }
  }
  if (eventType === 'system.workflow_resumed')
    return { ...session, generation: session.generation + 1, currentStepType: null }
  return session.currentStepType !== null && RESTS.has(eventType)
    ? { ...session, currentStepType: null }
    : session
}

const RESTS: ReadonlySet<string> = new Set([
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
  'system.workflow_superseded',
  'system.workflow_interrupted',
  'system.workflow_blocked',
  'system.workflow_paused',
])

function toSession(payload: ClewEvent['payload']): RunSession | null {
  const given = payload['session']
  if (!isObject(given)) return null
  const streamId = textOf(given['streamId'])
  if (streamId === null) return null
  return {
    streamId,
    persona: toPersona(given['persona']),
    triggerMessageId: textOf(given['triggerMessageId']),
    supersedes: textOf(given['supersedes']),
    generation: 1,
    currentStepType: null,
  }
}

function toPersona(given: unknown): Persona | null {
  if (!isObject(given)) return null
  const id = textOf(given['id'])
  if (id === null) return null
  return { id, name: textOf(given['name']) ?? id, avatarUrl: textOf(given['avatarUrl']) }
}
