import type { Scope } from '../machine/scope.ts'
import type { CallSpec, Completed, Outcome } from '../machine/step.ts'
import type { StepError } from '../run.ts'
import type { RecordedCall } from './recorded-run.ts'

/** A call that the code made in a replay. */
export interface ReplayStep {
  readonly stepId: string
  readonly name: string
  readonly kind: string
  /** What it is called with; nothing any more when it is over, or a long run would keep all of it. */
  spec: CallSpec
  readonly scope: Scope
  resolve: (end: Completed) => void
  reject: (error: StepError) => void
  /** What the record has of it; undefined for a call that it does not have. */
  recorded: RecordedCall | undefined
  /** Asked for as recorded, or with something else than the record has. */
  isSame: boolean
  /** It lies behind the end of the record, which stops in the middle. */
  isBeyond: boolean
  /** Which of the recorded attempts is under way. */
  at: number
  body: Scope | undefined
  /** How often the code had been woken when the body was entered. */
  enteredAt: number
  /** What its body, or its child run, came to this time. */
  outcome: Outcome | undefined
  /** Its child run: being replayed, with no end in its record, or not in the ledger. */
  child: 'none' | 'working' | 'unfinished' | 'lost'
  /** The code has its end, or never gets one. */
  isOver: boolean
  decision: string | readonly string[] | null
  abort: AbortController | undefined
}

const OVER: CallSpec = { name: '', isInputKept: false, work: { kind: 'sleep', ms: 0 } }
const nothing = (): void => {}

/** Lets go of what only its code needed. */
export function release(step: ReplayStep): void {
  step.isOver = true
  step.spec = OVER
  step.resolve = nothing
  step.reject = nothing
  step.body = undefined
  step.outcome = undefined
}
