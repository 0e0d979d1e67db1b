import type { JsonValue } from '@clew/ledger'
import type { Outcome, StepError } from './record.ts'

/** A durable function: ordinary code that may die anywhere and be gone through again. */
export interface Agent {
  readonly name: string
  readonly fn: (run: Run, input: JsonValue) => Promise<JsonValue>
}

export type Safety = 'read' | 'write' | 'destructive' | 'external'
export type EffectFn = (
  input: JsonValue,
  call: { attempt: number; idempotencyKey: string },
) => Promise<JsonValue>

/** What a durable function is given. Between two of these calls it awaits nothing else. */
export interface Run {
  step(
    name: string,
    input: JsonValue,
    fn: (run: Run, input: JsonValue) => Promise<JsonValue>,
    options?: { tries?: number | undefined },
  ): Promise<JsonValue>
  effect(
    name: string,
    input: JsonValue,
    fn: EffectFn,
    options?: { key?: string | undefined; safety?: Safety | undefined; tries?: number | undefined },
  ): Promise<JsonValue>
  interrupt(question: JsonValue): Promise<JsonValue>
  child(name: string, agent: Agent, input: JsonValue): Promise<JsonValue>
  handoff(agent: Agent, input: JsonValue, reason: string): Promise<JsonValue>
  now(): number
  random(): number
  uuid(): string
}

/** Mistakes planted on purpose: the property must find each of them. */
export type Fault =
  | 'global-ordinals'
  | 'completion-order-ignored'
  | 'used-before-recorded'
  | 'attempts-forgotten'
  | 'woken-all-at-once'
  | 'losers-left-open'
  | 'pause-before-question'
  | 'digest-ignored'
  | 'cause-ignored'
  | 'clock-read-again'

export interface Pause {
  readonly pauseId: string
  readonly question: JsonValue
}
export type RunResult =
  | { readonly status: 'completed'; readonly output: JsonValue }
  | { readonly status: 'failed'; readonly error: StepError }
  | { readonly status: 'paused'; readonly pauses: readonly Pause[] }
  | { readonly status: 'blocked'; readonly divergence: Divergence }

export interface Divergence {
  readonly kind: 'order' | 'kind' | 'input' | 'output' | 'missing' | 'extra' | 'unfinished'
  readonly stepId: string | null
  readonly expected: unknown
  readonly received: unknown
}

export interface Replayed {
  readonly verdict: 'identical' | 'diverged'
  readonly divergence: Divergence | undefined
  readonly outcome: Outcome | undefined
}
