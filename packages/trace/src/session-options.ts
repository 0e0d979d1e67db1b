import { ClewError, type ClewEvent, type Persona, type RunError } from '@clew/ledger'
import type { Content } from './payloads.ts'
import type { StepSource, StepType } from './step-types.ts'

export interface ForSessionOptions {
  /** Default: the workspace of the ledger, or the one given to the emitter. */
  readonly workspaceId?: string | undefined
  readonly streamId: string
  /** Client-made; a session that failed or was interrupted goes on under its id, with the next step number. */
  readonly sessionId: string
  readonly persona?: string | GivenPersona | undefined
  readonly triggerMessageId?: string | null | undefined
  /** The session whose place it takes; one that is still at work ends as superseded. */
  readonly supersedes?: string | null | undefined
  /** The event that led to it; default: the message that it answers. */
  readonly causedBy?: ClewEvent | string | undefined
}

export interface GivenPersona {
  readonly id: string
  readonly name?: string | undefined
  readonly avatarUrl?: string | null | undefined
}

export interface StartStepOptions {
  readonly stepType: StepType
  /** Client-made; made here when left out. */
  readonly stepId?: string | undefined
  readonly parentStepId?: string | null | undefined
  /** Input, such as a query. */
  readonly content?: Content | undefined
}

export interface StepCompletion {
  readonly content?: Content | undefined
  readonly sources?: readonly GivenSource[] | undefined
  readonly messageId?: string | null | undefined
}

export type GivenSource = { readonly type: string } & {
  readonly [K in Exclude<keyof StepSource, 'type'>]?: string | null | undefined
}

export type GivenError = Error | string | { readonly [K in keyof RunError]?: string | null | undefined }

export function toPersona(given: ForSessionOptions['persona']): Persona | null {
  if (given === undefined) return null
  const { id, name = id, avatarUrl = null } = typeof given === 'string' ? { id: given } : given
  return { id, name, avatarUrl }
}

/** Recorded fields of an error: name, code and message. */
export function toErrorPayload(given: GivenError): Record<string, string> {
  if (typeof given === 'string') return { message: given }
  const { name, message } = given
  const code: unknown = Reflect.get(given, 'code')
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
  }
}

export function toOutput({ content, sources, messageId }: StepCompletion): Record<string, unknown> {
  return {
    content: content ?? null,
    ...(sources && sources.length > 0 && { sources }),
    ...(messageId !== undefined && messageId !== null && { messageId }),
  }
}

export const overStep = (stepId: string, sessionId: string): ClewError =>
  new ClewError('ended', `Step ${stepId} of session ${sessionId} has ended`, 'Start another step.', {
    sessionId,
    stepId,
  })

export const overSession = (sessionId: string): ClewError =>
  new ClewError('ended', `Session ${sessionId} has ended`, 'Begin another with forSession.', { sessionId })
