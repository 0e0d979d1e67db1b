import { ClewError, type JsonValue } from '@clew/ledger'
import type { Question, Run } from '../run/run.ts'
import { currentCall, runIn } from './call-context.ts'
import type { Scope } from './scope.ts'

/** Call whose code is running: a scope, or an effect in it, which has no run of its own. */
export interface CurrentCall {
  readonly scope: Scope
  readonly run: Run | undefined
  /** Step id of the effect. */
  readonly effect?: string | undefined
}

/** `cause` is that of what its code records; default that of the code around. */
export function bindCall<T>(place: CurrentCall, work: () => T, cause?: string): T {
  const result = runIn(place, cause, work)
  const { tape } = place.scope
  return tape && place.effect === undefined ? tape.leave(place.scope, result) : result
}

/** As code that belongs to no run. */
export const outsidePlaces = <T>(work: () => T): T => runIn(undefined, undefined, work)

/**
 * A call belongs to the code whose run is used. Made from elsewhere in the same run it works once, and is missed on
 * resume, when that code is given its result and not run again. Code that has lost its context is let pass.
 */
export function assertHere(scope: Scope, method: string, name?: string): void {
  const place = currentCall()
  if (!place || (place.scope === scope && place.effect === undefined)) return
  if (topOf(place.scope) !== topOf(scope)) return
  const call = `run.${method}(${name === undefined ? '' : `'${name}'`})`
  if (place.effect !== undefined) throw inEffect(call, place.effect)
  const [own, other] = [nameOf(scope), nameOf(place.scope)]
  throw new ClewError(
    'bad_option',
    `${call} was called with the run of ${own} inside ${other}`,
    'Use the run given to the function: (input, run) => …; with another one the call would be missed on resume.',
    { runOf: scope.path, calledIn: place.scope.path },
  )
}

const inEffect = (call: string, effect: string): ClewError =>
  new ClewError(
    'bad_option',
    `${call} was called inside the effect ${effect}`,
    'Effects are leaves: make the call before or after it, or turn the effect into a step that makes both.',
    { calledIn: effect },
  )

const nameOf = ({ path }: Scope): string => (path === '' ? 'the agent' : `step ${path}`)

export function topOf(scope: Scope): Scope {
  let top = scope
  while (top.parent) top = top.parent
  return top
}

/** Asks in the agent or node that is running, wherever in it the call stands; see `run.interrupt`. */
export function interrupt<Answer = JsonValue>(question: Question | string): Promise<Answer> {
  const place = currentCall()
  if (place?.effect !== undefined) throw inEffect('interrupt()', place.effect)
  if (place?.run) return place.run.interrupt(question)
  throw new ClewError(
    'bad_option',
    'interrupt() was called outside a run',
    'Call it in an agent or a node, not after the run has ended.',
  )
}
