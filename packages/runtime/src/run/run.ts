import type {
  ClewError,
  ForeignType,
  JsonValue,
  OwnEventType,
  Payload,
  PayloadOf,
  Safety,
  Usage,
} from '@clew/ledger'
import type { Agent } from './agent.ts'
import type { Message } from '../graph/message.ts'
import { isUnstorable } from '../machine/run-appender.ts'
import type { AnswerOf, FromJsonSchema, StandardSchema } from '../options/standard-schema.ts'
import type { IfStorable } from '../options/storable.ts'
import type { Branches, SelectBranch, Selected, SelectOptions } from '../signal/select.ts'
import type { RunMemory } from '../memory/run-memory.ts'

/** Retry of failed attempts. */
export interface RetryPolicy {
  /** Attempts in all; 1 means none is repeated. */
  readonly tries: number
  /** Pause before the second attempt (default 200); each further one is longer by `factor` (default 2). */
  readonly delayMs?: number | undefined
  readonly factor?: number | undefined
  /** No pause is longer (default 30,000). */
  readonly mostMs?: number | undefined
  /** Share of each pause that is drawn by lot, 0 to 1 (default 0.2), so that many runs do not come back at once. */
  readonly jitter?: number | undefined
  /** Says which errors are worth another attempt; default all. */
  readonly when?: ((error: StepError) => boolean) | undefined
}

export interface CachePolicy {
  /** Lifetime of a cached result; default: no limit. */
  readonly ttlMs?: number | undefined
}

export interface StepOptions {
  /** Names this call among those of the same name, in place of its number: for calls whose order may change. */
  readonly key?: string | undefined
  readonly retry?: RetryPolicy | number | undefined
  /** Each attempt gets this long; then its signal aborts and it has failed. */
  readonly timeoutMs?: number | undefined
  /** Give back what an earlier call with the same name and input gave, in any run of this agent. */
  readonly cache?: CachePolicy | boolean | undefined
}

export interface EffectOptions extends StepOptions {
  /**
   * Handling of an effect whose outcome is unknown after a crash (R10): a `read` (default) is repeated with the same
   * idempotency key; other effects are reserved before they are dispatched, and a person decides on their outcome.
   */
  readonly safety?: Safety | undefined
  /**
   * Sending it once more with the same idempotency key does nothing more: an attempt whose time is over, or that a crash
   * caught, is repeated as a read is, and nobody is asked.
   */
  readonly idempotent?: boolean | undefined
  /** Ask before it is dispatched; no answer in time means no. */
  readonly approval?: boolean | Omit<Question, 'options' | 'schema' | 'default'> | undefined
  /** Its result may hold secrets, which are not stored: on resume it runs again instead of blocking the run (P2). */
  readonly refresh?: boolean | undefined
}

export interface Question {
  readonly question: string
  /** The answers that can be given. */
  readonly options?: readonly JsonValue[] | undefined
  /** JSON Schema of the answer; others are refused before anything is written. */
  readonly schema?: JsonValue | undefined
  /** Without an answer in this time, `default` is the answer; without a `default`, the call is denied. */
  readonly timeoutMs?: number | undefined
  readonly default?: JsonValue | undefined
  readonly [detail: string]: unknown
}

/** A question whose schema says the type of its answer: of zod, valibot, arktype, …, or a JSON Schema. */
export type TypedQuestion<Schema> = Pick<Question, 'options' | 'timeoutMs' | 'default'> & {
  readonly question: string
  readonly schema: Schema
  readonly [detail: string]: unknown
}

export interface CallUsage extends Partial<Usage> {
  readonly model?: string | undefined
  readonly cost?: number | undefined
}

/** Reason of the handoff, and further fields for the other agent. */
export interface HandoffDetail {
  readonly reason?: string | undefined
  readonly [detail: string]: JsonValue | undefined
}

/** Argument of an effect's function. */
export interface EffectCall {
  readonly attempt: number
  /** Equal for all attempts of this call, different for another input. Pass it to the service that you call. */
  readonly idempotencyKey: string
  /** Aborts when the attempt times out, when no code awaits it any more, and when the run ends. */
  readonly signal: AbortSignal
  /** Tells what the call used; counted against the budget and billed (V7). `cost` in US dollars, when you know better. */
  usage(usage: CallUsage): void
}

export interface ReceiveOptions {
  readonly timeoutMs?: number | undefined
  /** Names this call among those of the same name, in place of its number. */
  readonly key?: string | undefined
}

export interface ChildOptions extends Pick<StepOptions, 'key' | 'retry' | 'timeoutMs'> {
  /** Default: the name of the agent. */
  readonly name?: string | undefined
}

/** A child run that is not waited for: the call gives its run id at once, and it goes on when its parent ends or is stopped. */
export interface DetachOptions extends Pick<ChildOptions, 'key' | 'name'> {
  readonly detach: true
}

/**
 * Interface of agents and nodes: everything done through it is recorded once and restored on resume. Inputs and results are
 * JSON and values that the ledger has codecs for. Code receives a copy of what was recorded, the first time as on resume: a
 * result of undefined is null, and properties that are undefined are missing.
 */
export interface Run {
  readonly runId: string
  readonly threadId: string | null
  /** Aborts when the run is stopped, cancelled, or belongs to another process. */
  readonly signal: AbortSignal
  /** Own computation: not repeated on resume, gone through again and compared on replay. It may make calls itself. */
  step<Input, Output>(
    name: string,
    input: Input,
    fn: ((input: Input, run: Run) => Output | Promise<Output>) & IfStorable<Output>,
    options?: StepOptions,
  ): Promise<Output>
  /** Something from outside: never repeated once its result is recorded. */
  effect<Input, Output>(
    name: string,
    input: Input,
    fn: ((input: Input, call: EffectCall) => Output | Promise<Output>) & IfStorable<Output>,
    options?: EffectOptions,
  ): Promise<Output>
  /** Asks and waits for an answer, which costs nothing while it is open. */
  interrupt<Schema extends StandardSchema>(question: TypedQuestion<Schema>): Promise<AnswerOf<Schema>>
  interrupt<const Schema extends { readonly type: string } | { readonly enum: readonly JsonValue[] }>(
    question: TypedQuestion<Schema>,
  ): Promise<FromJsonSchema<Schema>>
  interrupt<Answer = JsonValue>(question: Question | string): Promise<Answer>
  sleep(ms: number): Promise<void>
  /**
   * The next signal of this name, in the order in which they were sent; waits for one, which costs nothing meanwhile. The
   * schema types the payload, and one that does not fit fails the call. Over its time it fails with the code `timeout`.
   */
  receive<Schema extends StandardSchema>(
    name: string,
    schema: Schema,
    options?: ReceiveOptions,
  ): Promise<AnswerOf<Schema>>
  receive<const Schema extends { readonly type: string } | { readonly enum: readonly JsonValue[] }>(
    name: string,
    schema: Schema,
    options?: ReceiveOptions,
  ): Promise<FromJsonSchema<Schema>>
  receive<Payload = JsonValue>(name: string, schema?: undefined, options?: ReceiveOptions): Promise<Payload>
  /**
   * Waits for the first of several: a signal, a timer, an effect. It is recorded which one came first; the others are
   * stopped, and a signal that did not win stays for the next `receive`.
   */
  select<Named extends Readonly<Record<string, SelectBranch<unknown>>>>(
    branches: (on: Branches) => Named,
    options?: SelectOptions,
  ): Promise<Selected<Named>>
  /** Another agent as a run of its own. */
  child<Input, Output>(agent: Agent<Input, Output>, input: Input, options: DetachOptions): Promise<string>
  child<Input, Output>(agent: Agent<Input, Output>, input: Input, options?: ChildOptions): Promise<Output>
  /**
   * Which way to take where the code was changed: true for the new one, which is recorded, false where the record shows that
   * the run went past this point before the change. The same on resume, on replay and in forks.
   */
  patched(id: string): boolean
  /** The time, recorded. */
  now(): number
  random(): number
  uuid(): string
  /** Memory of the run, its thread, its agent and the workspace; each call is an effect. */
  readonly memory: RunMemory
  /**
   * Says a message, as the assistant if no role is given: recorded, once, with what woke the code as its cause (R13). Each
   * of these gives the id of its event at once; what the run records next stands behind it.
   */
  say(message: string | Message | Omit<Message, 'role'>): string
  /** Hands the conversation over to another agent. */
  handoff(to: string, detail?: HandoffDetail): string
  /** Chooses something, and says why. */
  decide(choice: JsonValue, why?: string): string
  /** Gives a structured result before the end. */
  output(value: JsonValue): string
  /** Sets tags of the run, by which runs are listed; null removes one. */
  tag(tags: Readonly<Record<string, string | null>>): string
  /** Records an event of a type of your own, or of an own type that is not the run's. */
  record<Type extends OwnEventType | ForeignType>(
    eventType: Type,
    payload?: Type extends OwnEventType ? PayloadOf<Type> : Payload,
  ): string
  /** Tells those who stream this run; nothing of it is stored. */
  emit(data: unknown): void
  /** A piece of text as a model speaks it, for those who stream `messages`; nothing of it is stored. */
  token(text: string): void
}

/** The only error that code sees from a step: made from what is recorded, so the same live, on resume and on replay. */
export class StepError extends Error {
  override readonly name: string
  readonly code: string
  readonly stepId: string | null

  constructor(
    error: {
      name?: string | null | undefined
      code?: string | null | undefined
      message?: string | null | undefined
    },
    stepId: string | null,
    cause?: unknown,
  ) {
    super(error.message ?? 'failed', cause === undefined ? undefined : { cause })
    this.name = error.name ?? 'Error'
    this.code = error.code ?? 'thrown'
    this.stepId = stepId
  }

  toJSON(): { name: string; code: string; message: string } {
    return { name: this.name, code: this.code, message: this.message }
  }
}

const MAX_STACK_FRAMES = 30
const MAX_STACK_CHARS = 4000

/** Innermost stack frames of an error, for the record. Undefined for an error of another step. */
export function stackOf({ cause }: StepError): string | undefined {
  if (!(cause instanceof Error) || cause instanceof StepError) return undefined
  const { stack } = cause
  // The message is recorded separately.
  const at = typeof stack === 'string' ? stack.indexOf('\n    at ') : -1
  if (at < 0) return undefined
  return (stack as string)
    .slice(at + 1)
    .split('\n', MAX_STACK_FRAMES)
    .join('\n')
    .slice(0, MAX_STACK_CHARS)
}

/** Error message without the parts that are only true for a caller of `append`. */
const plainMessage = ({ message, hint }: ClewError): string =>
  message
    .slice(0, message.endsWith(hint) ? -hint.length - 2 : undefined)
    .replace(/^Item \d+ of the batch: /, '')

/** Converts a thrown value to the recorded error; the original stays available as `cause` in this process. */
export function toStepError(thrown: unknown, stepId: string | null): StepError {
  if (thrown instanceof StepError) return thrown
  if (!(thrown instanceof Error)) return new StepError({ message: String(thrown) }, stepId, thrown)
  const code: unknown = Reflect.get(thrown, 'code')
  const { name } = thrown
  const message = isUnstorable(thrown) ? plainMessage(thrown) : thrown.message
  return new StepError({ name, message, ...(typeof code === 'string' && { code }) }, stepId, thrown)
}
