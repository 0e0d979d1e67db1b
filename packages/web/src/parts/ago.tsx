import { formatAgo, formatExact } from '@clew/react'
import { type ReactElement, useSyncExternalStore } from 'react'

const TICK_MS = 5000
let nowMs = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all that says how long ago something was. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // The clock stands still while no component uses it.
  if (timer === undefined) nowMs = Date.now()
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => nowMs)

export function Ago({ at }: { readonly at: string }): ReactElement {
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatAgo(at, useNow())}
    </time>
  )
}
