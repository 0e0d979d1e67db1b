import type { JsonValue } from '@clew/ledger'
import type { Agent, EffectFn, Pause, Safety } from './agent.ts'
import type { Outcome, StepError } from './record.ts'

/** What a call asks for. */
export type Work =
  | {
      readonly kind: 'compute' | 'handoff'
      readonly fn: Agent['fn']
      readonly tries: number
      readonly reason?: string
    }
  | { readonly kind: 'effect'; readonly fn: EffectFn; readonly safety: Safety; readonly tries: number }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'child'; readonly agent: Agent }

/** Where calls are counted: the run itself, or the body of one of its steps. */
export interface Scope {
  readonly path: string
  readonly parent: Scope | null
  readonly agent: string
  /** Seq at which it began: a retry of a body goes on from what was completed before. */
  readonly since: number
  readonly ordinals: Map<string, number>
  readonly keys: Set<string>
  reads: number
  draws: number
  closed: boolean
}

export interface Step {
  readonly stepId: string
  readonly name: string
  readonly key: string | undefined
  readonly ordinal: number
  readonly scope: Scope
  readonly input: JsonValue
  readonly digest: string
  readonly work: Work
  readonly resolve: (output: JsonValue) => void
  readonly reject: (error: StepError) => void
  attempt: number
  failures: number
  startId: string
  /** Started, and its end not yet handed to the ledger. */
  open: boolean
  body: Scope | undefined
  result: Outcome | undefined
  pauses: readonly Pause[]
}

export const openScope = (path: string, parent: Scope | null, agent: string, since: number): Scope => ({
  path,
  parent,
  agent,
  since,
  ordinals: new Map(),
  keys: new Set(),
  reads: 0,
  draws: 0,
  closed: false,
})

export const isClosed = (scope: Scope | null): boolean =>
  scope !== null && (scope.closed || isClosed(scope.parent))
