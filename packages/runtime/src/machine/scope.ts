import type { Tape } from '../tape/tape.ts'
import type { Step } from './step.ts'

/** Scope of calls and their ordinals: the run itself, or the body of one of its steps. */
export interface Scope {
  /** Id of the step whose body it is; empty at the top. */
  readonly path: string
  readonly parent: Scope | null
  /** Attempt of the step whose body it is. */
  readonly attempt: number
  /** The step whose body it is; undefined at the top. */
  readonly step: Step | undefined
  readonly ordinals: Map<string, number>
  readonly steps: Set<Step>
  /** Some of its calls are under way. */
  readonly hasSteps: boolean
  keys: Set<string> | undefined
  readings: number
  draws: number
  /** Statements that its code has made (R13). */
  statements: number
  /** Ways that its code has taken where it was changed (W6), by the id of the patch. */
  patches: Map<string, boolean> | undefined
  closed: boolean
  /** Its body has failed and may be entered again: it is closed as soon as the writes in it have come to their end (R10). */
  isEnding: boolean
  /** Some body around may be entered again: what completed in it is kept for that. */
  readonly isRetried: boolean
  /** Superstep of the node to whose body the scope belongs. */
  superstep: number | undefined
  /** Records what its code fetches (D4); bodies have that of the scope around them. */
  tape: Tape | undefined
}

/** One for each body that is entered, of which most call nothing: a class, so that what they do not need is not made. */
class OpenScope implements Scope {
  readonly path: string
  readonly parent: Scope | null
  readonly attempt: number
  readonly isRetried: boolean
  readonly step: Step | undefined
  superstep: number | undefined
  tape: Tape | undefined
  keys: Set<string> | undefined = undefined
  readings = 0
  draws = 0
  statements = 0
  patches: Map<string, boolean> | undefined = undefined
  closed = false
  isEnding = false
  #ordinals: Map<string, number> | undefined = undefined
  #steps: Set<Step> | undefined = undefined

  constructor(
    path: string,
    parent: Scope | null,
    attempt: number,
    isRetried: boolean,
    step: Step | undefined,
  ) {
    this.path = path
    this.step = step
    this.parent = parent
    this.attempt = attempt
    this.isRetried = isRetried
    this.superstep = parent?.superstep
    this.tape = parent?.tape
  }

  get ordinals(): Map<string, number> {
    this.#ordinals ??= new Map()
    return this.#ordinals
  }

  get steps(): Set<Step> {
    this.#steps ??= new Set()
    return this.#steps
  }

  get hasSteps(): boolean {
    return this.#steps !== undefined && this.#steps.size > 0
  }
}

/** The scope of the run itself. */
export const openRoot = (): Scope => new OpenScope('', null, 1, false, undefined)

/** The scope of a step's body in its present attempt. */
export const openBody = (step: Step): Scope =>
  new OpenScope(
    step.stepId,
    step.scope,
    step.attempt,
    step.scope.isRetried || step.spec.retry !== undefined,
    step,
  )

export function isClosed(scope: Scope): boolean {
  for (let at: Scope | null = scope; at; at = at.parent) if (at.closed) return true
  return false
}

/** Nothing more begins in it, and its code is given nothing more. */
export function isEnding(scope: Scope): boolean {
  for (let at: Scope | null = scope; at; at = at.parent) if (at.closed || at.isEnding) return true
  return false
}

export function isWithin(scope: Scope, around: Scope): boolean {
  for (let at: Scope | null = scope; at; at = at.parent) if (at === around) return true
  return false
}
