import type { Cursor } from './cursor.ts'
import type { RecordedAttempt, RecordedCall } from './record.ts'
import type { Scope } from './scope.ts'
import type { Completed, Outcome, Step, Work } from './step.ts'

export type BodyWork = Work & { readonly kind: 'compute' | 'node' | 'gate' }

/**
 * Differences between running, resuming and replaying. All else, from the call of the code to the end that it is given, is
 * the same lines: see machine.ts. The journal is the fourth port: a run appender, or none.
 */
export interface Ports<Rest> {
  readonly bodies: BodiesPort
  readonly outside: OutsidePort
  readonly time: TimePort
  begin(): void
  /** Why the machine stops here; undefined while it goes on. */
  rests(): Promise<Rest | undefined>
  /** The record is used up, or there is none. `woken`: the code was given something. */
  beyond(): Promise<{ readonly rest: Rest } | 'woken' | 'again'>
  /** The code has come to rest. */
  flush(): void
  /** The machine is over, whatever came of it. */
  over(): void
}

/** Bodies, child runs included: a resume gives recorded ends back, a replay runs them again and compares. */
export interface BodiesPort {
  /** Bodies with a recorded end run again. */
  readonly areRun: boolean
  /** True if calls of the body have its start as their cause. */
  causesCalls(step: Step): boolean
  /** The attempt that the code is in: the last recorded one, or the first where all are gone through. */
  attemptOf(call: RecordedCall): RecordedAttempt
  /** A body has come to its end in this attempt. */
  concluded(step: Step, attempt: number, outcome: Outcome): void
  /** Outcome for the code in the turn of a recorded end; undefined while it is not known. */
  endOf(step: Step, tried: RecordedAttempt): Outcome | undefined | Promise<Outcome | undefined>
  /** The turn is of an attempt that another one has taken the place of. */
  isPast(step: Step, tried: RecordedAttempt): boolean
  /** The turn of another attempt has come; true when it was entered, or is passed by. */
  enterAgain(step: Step, tried: RecordedAttempt): boolean
  /** The code did not make this call: its end is next, or (`isOwed`) it was made before the code was woken again. */
  missed(call: RecordedCall, isOwed: boolean): void
  /** The body has not come to the end that the record has of it. */
  unfinished(step: Step, tried: RecordedAttempt, isEnd: boolean): void
}

/** The world: it is reached, or what it gave is given back, or it is refused. */
export interface OutsidePort {
  /** Why the code of a scope is given nothing any more. */
  turnAway(scope: Scope): Promise<Completed> | undefined
  /** Called for each call of the code, before it is handled. */
  made(step: Step): void
  /** A call that the record does not have. */
  begin(step: Step): void
  /** A call that the shared prefix of a fork has otherwise. */
  beginAgain(step: Step, call: RecordedCall): void
  /** A recorded call without a last word: it is in flight, waits for its next attempt, or is a child run. */
  takeOver(step: Step, call: RecordedCall): void
  /** Gives the step the result of an earlier attempt of the enclosing body that contains redacted text. */
  giveAgain(step: Step, outcome: Outcome): void
  /** A recorded end whose turn was over when the code asked for it. */
  giveLate(step: Step, call: RecordedCall): void
  /** Recorded chunks of a response may be handed out before the end of the call. */
  mayForetell(step: Step, output: unknown): boolean
  /** The code did not ask for the call whose end is next. True: it was given something else in its place. */
  stalled(call: RecordedCall): boolean
  /** The code was given this end. */
  delivered(step: Step, outcome: Outcome, eventId: string | null): void
}

export interface TimePort {
  /** How long code at rest may be busy with something of its own. */
  graceMs(): number
  /** Ends an attempt when its time is over. */
  limit(step: Step, onOver: (outcome: Outcome) => void): void
}

/** Functions of the machine that the ports use. */
export interface MachineParts {
  enter(step: Step, work: BodyWork): void
  deliver(step: Step, outcome: Outcome, eventId: string | null): void
  /** Waits until something happens; false when nothing does. */
  stirs(graceMs: number): Promise<boolean>
  /** Resolves at the next thing that happens, or after a while. */
  notified(ms?: number): Promise<void>
  readonly cursor: Cursor | undefined
}
