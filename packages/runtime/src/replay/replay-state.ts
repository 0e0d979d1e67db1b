import { findChanges, type Ledger } from '@clew/ledger'
import type { Cursor, FirstDivergence } from '../machine/cursor.ts'
import type { MachineState } from '../machine/machine-state.ts'
import type { Program } from '../machine/program.ts'
import type { RecordedCall, RunRecord } from '../machine/record.ts'
import type { ChildEnd, ChildLink, Outcome, Step } from '../machine/step.ts'
import type { DivergenceKind, ReplayDivergence } from './report.ts'
import type { ReplayedEvents } from './replayed-events.ts'
import type { Comparison } from './same-value.ts'

export interface ReplayMachineOptions {
  readonly runId: string
  readonly threadId: string | null
  readonly seed: string
  readonly record: RunRecord
  readonly ledger: Ledger
  readonly comparison: Comparison
  readonly isGraph: boolean
  /** How long code at rest may be busy with something of its own. */
  readonly graceMs: number
  /** Null when the record has no such run. */
  readonly replayChild: (program: Program, link: ChildLink) => Promise<ChildReplay | null>
  /** Recorded input of a node. */
  readonly inputOf: (call: RecordedCall) => unknown
  readonly onTurn: (step: string) => void
  /** Gathers what the code did, when the caller asked for it. */
  readonly trace: ReplayedEvents | undefined
}

export interface ChildReplay {
  readonly end: ChildEnd
  readonly divergences: readonly ReplayDivergence[]
}

/** State of one pass of a replay, next to the state of the machine. */
export interface ReplayState {
  readonly core: MachineState
  readonly options: ReplayMachineOptions
  readonly record: RunRecord
  /** The cursor for code that does what the record says. */
  readonly strict: () => Cursor
  /** All calls, in the order in which the code made them. */
  readonly made: Step[]
  /** Ends of a fork's source whose turn was over when the code asked for them. */
  readonly belated: Step[]
  readonly divergences: ReplayDivergence[]
  firstDivergence: (FirstDivergence & { readonly found?: ReplayDivergence | undefined }) | undefined
  /** Calls inside the first diverging step equal the recorded calls inside the expected one. */
  isRenamed: boolean
  /** The code and the record have parted. */
  readonly isLenient: boolean
  part(firstDivergence: NonNullable<ReplayState['firstDivergence']>): void
  /** A divergence that can be named at once. */
  diverge(kind: DivergenceKind, place: DivergencePlace, expected: unknown, received: unknown): void
}

export interface DivergencePlace {
  readonly step: string | null
  readonly stepId: string | null
  readonly seq: number | null
  readonly childRunId?: string | undefined
}

/** Place of a divergence of the run itself. */
export const RUN = { step: null, stepId: null } as const

/** No reader looks at more of them. */
const MAX_DIVERGENCES = 100

export function createReplayState(core: MachineState, options: ReplayMachineOptions): ReplayState {
  const { comparison, record } = options
  const state: ReplayState = {
    core,
    options,
    record,
    strict: () => core.cursor as Cursor,
    made: [],
    belated: [],
    divergences: [],
    firstDivergence: undefined,
    isRenamed: false,
    get isLenient() {
      return state.firstDivergence !== undefined
    },
    part(firstDivergence) {
      state.firstDivergence ??= firstDivergence
      core.notify()
    },
    diverge(kind, place, expected, received) {
      const [was, now] = [comparison.shown(expected), comparison.shown(received)]
      const part = kind === 'output' ? 'output' : 'input'
      const changes =
        kind === 'input' || kind === 'output'
          ? comparison.changes(was, now, { part, step: place.step })
          : findChanges(was, now)
      const found = { kind, ...place, expected: was, received: now, changes }
      if (!state.firstDivergence) state.part({ step: undefined, expected: undefined, found })
      else if (state.divergences.length < MAX_DIVERGENCES) state.divergences.push(found)
    },
  }
  return state
}

export const placeOf = ({ name, stepId, attempts }: RecordedCall): DivergencePlace => ({
  step: name,
  stepId,
  seq: attempts[0]?.start.ledger.seq ?? null,
})

/** Description of the event that woke the code. */
export function reasonOf({ record }: ReplayState, eventId: string | null): string {
  if (eventId === record.started.eventId) return 'when the run begins'
  for (const { stepId, attempts } of record.calls)
    for (const { start, end } of attempts) {
      if (end?.eventId === eventId && end !== start) return `when ${stepId} has ended`
      if (start.eventId === eventId) return `when ${stepId} ${end === start ? 'has ended' : 'begins'}`
    }
  return 'for another reason'
}

/** State of a call in a replay, next to its step. */
export interface ReplayedCall {
  readonly name: string
  readonly kind: string
  /** The call comes after the end of an incomplete record. */
  isBeyond: boolean
  /** Outcome of the body or child run in this replay. */
  outcome: Outcome | undefined
  /** Its child run: being replayed, with no end in its record, or not in the ledger. */
  child: 'none' | 'working' | 'unfinished' | 'lost'
  decision: string | readonly string[] | null
}
