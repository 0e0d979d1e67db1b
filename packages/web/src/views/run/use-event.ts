import { type ClewEvent, fromWire, type WireEvent } from '@clew/ledger'
import { runPath, useClient } from '@clew/react'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'

/** One event of a run; it never changes, unless it is erased. */
export function useEvent(runId: string, seq: number | null | undefined): UseQueryResult<ClewEvent | null> {
  const client = useClient()
  return useQuery({
    queryKey: ['event', runId, seq],
    enabled: typeof seq === 'number',
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { afterSeq: (seq ?? 1) - 1, limit: 1 }
      const { events } = await client.get<{ events: WireEvent[] }>(`${runPath(runId)}/events`, query, signal)
      const [found] = events
      return found && found.ledger.seq === seq ? fromWire(found) : null
    },
  })
}
