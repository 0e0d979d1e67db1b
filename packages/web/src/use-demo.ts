import { useClient } from '@clew/react'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'

interface DemoState {
  /** The server can let an agent work, so that there is something to look at. */
  readonly canStart: boolean
  /** Chat agents of the demo; null outside the demo. */
  readonly chat: {
    readonly model: string
    readonly personas: readonly {
      readonly id: string
      readonly name: string
      readonly about: string
      readonly example: string
    }[]
    readonly pid: number | null
    readonly deaths: number
  } | null
}

/** The stream of the demo; null in other streams. */
export const DEMO_STREAM = 'field-notes'

export function useDemo(enabled = true): UseQueryResult<DemoState> {
  const client = useClient()
  return useQuery({
    queryKey: ['demo'],
    queryFn: ({ signal }) => client.get<DemoState>('/v1/demo', {}, signal),
    retry: false,
    enabled,
    // While they are dead: until the next process lives.
    refetchInterval: ({ state }) => (state.data?.chat?.pid === null ? 500 : false),
  })
}
