import type { Pause, SignalWait } from '@clew/ledger'
import type { Scope } from './scope.ts'
import type { Step, WaitingPause } from './step.ts'

/** Waits no longer than this stay in memory; longer ones give the run up and come back (R6). */
const SHORT_WAIT_MS = 2000

/** The steps that wait for the outside: with questions, for signals, or until a time. */
export interface Waits {
  readonly size: number
  readonly steps: Iterable<Step>
  add(
    step: Step,
    pauses: readonly WaitingPause[],
    dueAt: number | undefined,
    awaits?: readonly SignalWait[],
  ): void
  /** True when it waited. */
  delete(step: Step): boolean
  /** One whose time has come. */
  due(nowMs: number): Step | undefined
  /** When the first of those is due that are sat out in memory. */
  readonly soonest: number | undefined
  /** False while some body is busy with something of its own. */
  isAtRest(root: Scope): boolean
  /** Pauses, signals and time that the whole run waits for; undefined while a part of it is running. */
  whole(root: Scope, nowMs: number): Waiting | undefined
}

export interface Waiting {
  readonly steps: readonly Step[]
  readonly pauses: readonly Pause[]
  readonly dueAt: number | undefined
  readonly awaits: readonly SignalWait[]
}

export function createWaits(): Waits {
  const steps = new Set<Step>()

  const isDue = ({ pauses, dueAt }: Step, nowMs: number): boolean =>
    pauses.length === 0 && dueAt !== undefined && dueAt <= nowMs

  /** False while some body may be busy with something of its own: nothing it waits for is recorded as waiting. */
  function isAllWaiting(scope: Scope): boolean {
    for (const step of scope.steps) {
      if (!step.open || steps.has(step)) continue
      if (!step.body || !step.body.hasSteps || !isAllWaiting(step.body)) return false
    }
    return true
  }

  return {
    get size() {
      return steps.size
    },
    steps,
    add(step, pauses, dueAt, awaits = []) {
      step.pauses = pauses
      step.dueAt = dueAt
      step.awaits = awaits
      steps.add(step)
    },
    delete: (step) => steps.delete(step),
    isAtRest: isAllWaiting,
    due(nowMs) {
      for (const step of steps) if (isDue(step, nowMs)) return step
      return undefined
    },
    get soonest() {
      let due: number | undefined
      for (const { dueAt, pauses } of steps)
        if (dueAt !== undefined && pauses.length === 0 && (due === undefined || dueAt < due)) due = dueAt
      return due
    },
    whole(root, nowMs) {
      if (!isAllWaiting(root)) return undefined
      const pauses = [...steps].flatMap((step) => step.pauses)
      const times = [...steps].flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]))
      const dueAt = times.length === 0 ? undefined : Math.min(...times)
      const isShort = pauses.length === 0 && dueAt !== undefined && dueAt - nowMs <= SHORT_WAIT_MS
      const awaits = [...steps].flatMap((step) => step.awaits)
      return isShort ? undefined : { steps: [...steps], pauses, dueAt, awaits }
    },
  }
}
