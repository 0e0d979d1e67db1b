import type { Ledger } from '@clew/ledger'
import { findChanges } from '@clew/ledger'
import { quiet } from '../machine/machine-state.ts'
import { createPieces, type ResponseChunks } from '../machine/response-chunks.ts'
import type { Program } from '../machine/program.ts'
import { clockKey } from '../machine/record.ts'
import { isClosed, openScope, type Scope } from '../machine/scope.ts'
import type { ChildEnd, ChildLink, Outcome } from '../machine/step.ts'
import type { RecordedCall, RecordedRun, RecordedScope } from './recorded-run.ts'
import type { ReplayStep } from './replay-step.ts'
import type { ReplayDivergence, DivergenceKind } from './report.ts'
import type { Comparison } from './same-value.ts'
import type { Trace } from './trace.ts'

export interface ReplayMachineOptions {
  readonly runId: string
  readonly threadId: string | null
  readonly seed: string
  readonly record: RecordedRun
  readonly ledger: Ledger
  readonly comparison: Comparison
  readonly isGraph: boolean
  /** How long code at rest may be busy with something of its own. */
  readonly graceMs: number
  /** Null when the record has no such run. */
  readonly replayChild: (program: Program, link: ChildLink) => Promise<ChildReplay | null>
  /** What a node was given, as the record has it. */
  readonly inputOf: (call: RecordedCall) => unknown
  readonly onTurn: (step: string) => void
  /** Where what the code did is gathered, if somebody wants it. */
  readonly trace: Trace | undefined
}

export interface ChildReplay {
  readonly end: ChildEnd
  readonly divergences: readonly ReplayDivergence[]
}

/** The first divergence, of which only what the code does next tells the kind. */
export interface Parting {
  /** What the code asked for; undefined when it did not ask for what was due. */
  readonly step: ReplayStep | undefined
  /** What the record has at that place. */
  readonly expected: RecordedCall | undefined
  readonly found: ReplayDivergence | undefined
}

/** What the parts of one replay have in common. */
export interface ReplayCore {
  readonly options: ReplayMachineOptions
  readonly record: RecordedRun
  readonly root: Scope
  readonly pieces: ResponseChunks
  /** All calls, in the order in which the code made them. */
  readonly made: ReplayStep[]
  /** Calls whose end the code has not been given. */
  readonly open: Set<ReplayStep>
  /** Calls that the record has the code make before it is woken again. */
  readonly owed: Set<RecordedCall>
  /** Ends of a fork's source whose turn was over when the code asked for them. */
  readonly belated: ReplayStep[]
  /**
   * Calls that the record does not have, made before the run was taken up again. They may have been lost with the process:
   * the next one begins them when it has given all that the record has, and the code may come to its end before that. A
   * later call that the record does have shows that they were not.
   */
  readonly doubtful: ReplayStep[]
  readonly divergences: ReplayDivergence[]
  readonly controller: AbortController
  parting: Parting | undefined
  /** What the code asks for inside the step at which the paths part is what the record has inside the expected one. */
  isRenamed: boolean
  /** The event that woke the code last; while a body is being entered, its start. */
  cause: string
  /** How often the code has been woken. */
  wakes: number
  /** Seq of the end that it was given last. */
  givenSeq: number
  /** The code is acting on what woke it, and not on something of its own. */
  isWoken: boolean
  ended: Outcome | undefined
  isOver: boolean
  /** Child runs under way. */
  working: number
  ticks: number
  readonly isLenient: boolean
  /** The code has been woken by this event. */
  wake(eventId: string): void
  /** What is asked for after this event is owed from now on. */
  expect(eventId: string): void
  part(parting: Parting): void
  /** A divergence that can be named at once. */
  diverge(kind: DivergenceKind, place: DivergencePlace, expected: unknown, received: unknown): void
  /** Something happened: whoever waits looks again. */
  tick(): void
  /** Waits for the code to do something of its own; false when it does nothing any more. */
  stirs(graceMs: number): Promise<boolean>
  scopeOf(scope: Pick<Scope, 'path' | 'attempt'>): RecordedScope | undefined
  /** The first call of a scope that the code has not made. */
  nextIn(scope: RecordedScope | undefined): RecordedCall | undefined
}

export interface DivergencePlace {
  readonly step: string | null
  readonly stepId: string | null
  readonly seq: number | null
  readonly childRunId?: string | undefined
}

/** More than these nobody reads. */
const MAX_DIVERGENCES = 100

export function createReplayCore(options: ReplayMachineOptions): ReplayCore {
  const { record, comparison } = options
  let notify = (): void => {}
  const rouse = (wake: number): void =>
    void setTimeout(() => {
      if (core.wakes === wake) core.isWoken = false
    })
  const tapeGraceMs = (): number => (core.isLenient ? 0 : (core.root.tape?.graceMs ?? 0))
  const core: ReplayCore = {
    options,
    record,
    root: openScope('', null, 1, false),
    pieces: createPieces(),
    made: [],
    open: new Set(),
    owed: new Set(),
    belated: [],
    doubtful: [],
    divergences: [],
    controller: new AbortController(),
    parting: undefined,
    isRenamed: false,
    cause: record.started.eventId,
    wakes: 0,
    givenSeq: 0,
    isWoken: true,
    ended: undefined,
    isOver: false,
    working: 0,
    ticks: 0,
    get isLenient() {
      return core.parting !== undefined
    },
    wake(eventId) {
      core.cause = eventId
      core.isWoken = true
      core.wakes++
      // A library's own timer may go off before the code counts as at rest: what it asks for then has another reason.
      if (core.root.tape) rouse(core.wakes)
      core.expect(eventId)
    },
    expect(eventId) {
      const owed = record.byCause.get(eventId)
      if (owed) for (const call of owed) if (!call.step) core.owed.add(call)
    },
    part(parting) {
      core.parting ??= parting
      core.tick()
    },
    diverge(kind, place, expected, received) {
      const [was, now] = [comparison.shown(expected), comparison.shown(received)]
      const part = kind === 'output' ? 'output' : 'input'
      const changes =
        kind === 'input' || kind === 'output'
          ? comparison.changes(was, now, { part, step: place.step })
          : findChanges(was, now)
      const found = { kind, ...place, expected: was, received: now, changes }
      if (!core.parting) core.part({ step: undefined, expected: undefined, found })
      else if (core.divergences.length < MAX_DIVERGENCES) core.divergences.push(found)
    },
    tick() {
      core.ticks++
      notify()
    },
    async stirs(graceMs) {
      const before = core.ticks
      // A child run takes as long as it takes.
      while (core.ticks === before) {
        const isQuick = await new Promise<boolean>((resolve) => {
          const timer =
            core.working > 0 ? undefined : setTimeout(() => resolve(false), Math.max(graceMs, tapeGraceMs()))
          notify = () => {
            clearTimeout(timer)
            resolve(true)
          }
        })
        notify = () => {}
        if (!isQuick) break
      }
      await quiet()
      return core.ticks !== before
    },
    scopeOf: ({ path, attempt }) => record.scopes.get(clockKey(path, attempt)),
    nextIn(scope) {
      if (!scope) return undefined
      const { calls } = scope
      for (; scope.at < calls.length; scope.at++) {
        const call = calls[scope.at] as RecordedCall
        if (!call.step && !call.isEarlier) return call
      }
      return undefined
    },
  }
  return core
}

export const placeOf = ({ name, stepId, attempts }: RecordedCall): DivergencePlace => ({
  step: name,
  stepId,
  seq: attempts[0]?.start.ledger.seq ?? null,
})

/** Where a recorded call is made: the scope that was entered, `over` when it was left, undefined when it was not entered yet. */
export function scopeFor(
  core: ReplayCore,
  { parent, parentAttempt }: RecordedCall,
): Scope | 'over' | undefined {
  if (!parent) return core.root
  const { step } = parent
  if (!step) return scopeFor(core, parent) === 'over' ? 'over' : undefined
  const { body } = step
  if (isClosed(step.scope) || step.isOver) return 'over'
  if (!body || body.attempt < parentAttempt) return undefined
  return body.attempt > parentAttempt || body.closed ? 'over' : body
}

/** What woke the code, in words. */
export function reasonOf({ record }: ReplayCore, eventId: string): string {
  if (eventId === record.started.eventId) return 'when the run begins'
  for (const { stepId, attempts } of record.calls)
    for (const { start, end } of attempts) {
      if (end?.eventId === eventId && end !== start) return `when ${stepId} has ended`
      if (start.eventId === eventId) return `when ${stepId} ${end === start ? 'has ended' : 'begins'}`
    }
  return 'for another reason'
}
