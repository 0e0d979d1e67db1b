import {
  type ClewEvent,
  fromWire,
  type StepSkeleton,
  transcriptFold,
  type TranscriptEntry,
  type WireEvent,
} from '@clew/ledger'
import { type Client, runPath, useClient } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

/** Events are read in stretches of this many: a screen of steps takes one or two. */
const STRETCH = 200
/** Time until unused entries are evicted, so that scrolling through a long run does not fill the memory. */
const KEPT_MS = 30_000

/** Transcript entries of one step, from its own events; null until they are read, or while `enabled` is false. */
export function useStepEntries(
  runId: string,
  { startedSeq, endedSeq }: StepSkeleton,
  lastSeq: number,
  enabled: boolean,
): readonly TranscriptEntry[] | null {
  const began = useStretch(runId, startedSeq, lastSeq, enabled)
  const ended = useStretch(runId, endedSeq ?? startedSeq, lastSeq, enabled)
  return useMemo(() => {
    if (!began || !ended) return null
    let told = transcriptFold.begin()
    for (const seq of new Set([startedSeq, endedSeq ?? startedSeq])) {
      const event = began.get(seq) ?? ended.get(seq)
      if (event) told = transcriptFold.apply(told, event)
    }
    return transcriptFold.view(told).entries
  }, [began, ended, startedSeq, endedSeq])
}

function useStretch(
  runId: string,
  seq: number,
  lastSeq: number,
  enabled: boolean,
): ReadonlyMap<number, ClewEvent> | undefined {
  const client = useClient()
  const afterSeq = Math.floor((seq - 1) / STRETCH) * STRETCH
  const upToSeq = Math.min(afterSeq + STRETCH, Math.max(lastSeq, seq))
  return useQuery({
    queryKey: ['stretch', runId, afterSeq, upToSeq],
    queryFn: ({ signal }) => readStretch(client, runId, afterSeq, upToSeq, signal),
    enabled,
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
  }).data
}

async function readStretch(
  client: Client,
  runId: string,
  afterSeq: number,
  upToSeq: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, ClewEvent>> {
  const found = new Map<number, ClewEvent>()
  for (let at = afterSeq; at < upToSeq; ) {
    const query = { afterSeq: at, limit: upToSeq - at }
    const { events } = await client.get<{ events: WireEvent[] }>(`${runPath(runId)}/events`, query, signal)
    for (const wire of events) found.set(wire.ledger.seq, fromWire(wire))
    // A page of large events has fewer than the requested number.
    at = events.at(-1)?.ledger.seq ?? upToSeq
  }
  return found
}
