import type { ClewEvent } from '../event/envelope.ts'

/**
 * A view of the record as a pure fold: same events, same view, in the page, on the server and on the command line.
 * `apply` may be called for one event at a time as they arrive; the state is never changed in place by callers.
 */
export interface Fold<State, View> {
  readonly name: string
  /** Raised when the same events would give another view, so that stored results of the older one are rebuilt. */
  readonly version: number
  begin(): State
  apply(state: State, event: ClewEvent): State
  view(state: State): View
}

export function foldEvents<State, View>(fold: Fold<State, View>, events: Iterable<ClewEvent>): View {
  let state = fold.begin()
  for (const event of events) state = fold.apply(state, event)
  return fold.view(state)
}
