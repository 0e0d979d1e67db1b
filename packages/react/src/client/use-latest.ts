import { useCallback, useInsertionEffect, useRef } from 'react'

/**
 * A function that stays the same and calls the one of the last render: an effect calls it without depending on it.
 * `useEffectEvent` does this from React 19.2 on.
 */
export function useLatest<Args extends readonly unknown[], Result>(
  call: (...args: Args) => Result,
): (...args: Args) => Result {
  const latest = useRef(call)
  // Before all other effects, so that none of them calls that of an earlier render.
  useInsertionEffect(() => {
    latest.current = call
  })
  return useCallback((...args: Args) => latest.current(...args), [])
}
