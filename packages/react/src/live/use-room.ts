import type { TraceMessage } from '@clew/trace'
import { useEffect, useRef, useState } from 'react'
import type { LinkState } from '../client/follow.ts'
import { useClient } from '../client/provider.tsx'
import { useLatest } from '../client/use-latest.ts'
import { roomsOf } from './rooms.ts'

interface RoomMerge<State, Fetched> {
  readonly empty: State
  merge(state: State, incoming: TraceMessage | Fetched): State
  /** `known` is the state at the time of the call; `empty` at first. */
  fetch(signal: AbortSignal, known: State): Promise<Fetched>
}

interface RoomState<State> {
  readonly state: State
  readonly link: LinkState
  readonly isLoading: boolean
  readonly error: unknown
}

/** Messages are rendered in batches of this duration. */
const GATHER_MS = 33

/**
 * Subscribe, then bootstrap (T3): listens, joins, fetches once, merges whatever comes in whatever order. After a
 * reconnect it joins and fetches again, and what is shown stays until then.
 */
export function useRoom<State, Fetched>(
  room: string | null,
  parts: RoomMerge<State, Fetched>,
): RoomState<State> & { readonly add: (incoming: Fetched) => void } {
  const client = useClient()
  const begin = {
    room,
    state: parts.empty,
    link: 'connecting' as const,
    isLoading: room !== null,
    error: null,
  }
  const [shown, setShown] = useState<RoomState<State> & { readonly room: string | null }>(begin)
  const merged = useRef(parts.empty)
  const fetchNow = useLatest((signal: AbortSignal) => parts.fetch(signal, merged.current))
  const add = useLatest(
    (incoming: readonly (TraceMessage | Fetched)[], more: Partial<RoomState<State>> = {}) => {
      const before = merged.current
      const state = incoming.reduce(parts.merge, before)
      merged.current = state
      // Most messages on a page do not concern this room.
      if (state !== before || Object.keys(more).length > 0) setShown((last) => ({ ...last, ...more, state }))
    },
  )
  const restart = useLatest(() => {
    merged.current = parts.empty
    setShown({ room, state: parts.empty, link: 'connecting', isLoading: true, error: null })
  })
  const later = useRef<((incoming: Fetched) => void) | undefined>(undefined)

  useEffect(() => {
    if (room === null) return undefined
    const gone = new AbortController()
    let waiting: TraceMessage[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    restart()
    later.current = (incoming) => add([incoming])

    function flush(): void {
      timer = undefined
      const incoming = waiting
      waiting = []
      add(incoming)
    }
    async function bootstrap(): Promise<void> {
      try {
        const fetched = await fetchNow(gone.signal)
        if (!gone.signal.aborted) add([fetched], { isLoading: false, error: null })
      } catch (error) {
        if (!gone.signal.aborted) setShown((before) => ({ ...before, isLoading: false, error }))
      }
    }
    const leave = roomsOf(client).enter(room, {
      onTold(told) {
        waiting.push(told)
        timer ??= setTimeout(flush, GATHER_MS)
      },
      onJoined: () => void bootstrap(),
      onState: (link) => setShown((before) => (before.link === link ? before : { ...before, link })),
    })
    return () => {
      gone.abort()
      clearTimeout(timer)
      leave()
    }
  }, [client, room])

  const { state, link, isLoading, error } = shown.room === room ? shown : begin
  return { state, link, isLoading, error, add: (incoming) => later.current?.(incoming) }
}
