import { createHook } from 'node:async_hooks'
import { ClewError } from '@clew/ledger'
import { currentCall } from './call-context.ts'
import { abandonment } from './abandoned.ts'
import { topOf } from './current-run.ts'
import { listen } from './rejections.ts'
import type { Scope } from './scope.ts'
import type { Step } from './step.ts'

/**
 * How code that nobody goes on with comes to its end: its signal aborts and its calls are rejected, so that its `finally`
 * blocks run. Else a client's timer of minutes would keep the process alive.
 */
export interface Unwinding {
  /** The run's own signal: aborts with the one that was handed in, or when the code is given up. */
  readonly signal: AbortSignal
  /** Calls whose promise is not settled. */
  readonly open: Set<Step>
  /** A call that is not begun any more: rejected as soon as the machine is over. */
  refuse(): Promise<never>
  /** The machine is over; the code has ended, or is given up. */
  unwind(hasEnded: boolean): void
}

/** So often may code that was given up call again; what tries again for ever then stays where it is. */
const MAX_REFUSALS = 100

const endless = new WeakSet<Scope>()
/** A timer around a call that never settles would keep the process alive: no code clears it. */
const timers = createHook({
  init(_id, type, _trigger, resource) {
    const scope = type === 'Timeout' ? currentCall()?.scope : undefined
    if (scope && endless.has(topOf(scope))) (resource as NodeJS.Timeout).unref()
  },
})

export function createUnwinding(runId: string, root: Scope, outer: AbortSignal): Unwinding {
  const controller = new AbortController()
  const open = new Set<Step>()
  const over = Promise.withResolvers<never>()
  over.promise.catch(nothing)
  let refusals = 0
  let isOver = false
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    open,
    refuse() {
      if (!isOver) return over.promise
      refusals++
      if (refusals === MAX_REFUSALS) {
        endless.add(root)
        timers.enable()
      } else if (refusals > MAX_REFUSALS) {
        timers.disable()
        return new Promise(nothing)
      }
      return over.promise
    },
    unwind(hasEnded) {
      isOver = true
      const error = abandonment(hasEnded ? ended(runId) : givenUp(runId))
      listen()
      if (!hasEnded) controller.abort(error)
      over.reject(error)
      for (const step of open) step.reject(error)
      open.clear()
    },
  }
}

const nothing = (): void => {}

const givenUp = (runId: string): DOMException =>
  new DOMException(`This code of run ${runId} is given up: nothing more is given to it`, 'AbortError')

const ended = (runId: string): ClewError =>
  new ClewError(
    'ended',
    `Run ${runId} has ended: nothing more is done in it`,
    'Await all calls of the run before its function returns.',
    { runId },
  )
