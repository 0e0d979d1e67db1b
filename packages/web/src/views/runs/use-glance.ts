import { type ClewEvent, fromWire, type RunSummary, type StepSkeleton, type WireEvent } from '@clew/ledger'
import { runPath, useClient, wordsOf } from '@clew/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'

const STEPS = 60
/** Limit of steps: the first steps of a longer run say nothing about the whole. */
const TOO_MANY = 5000

/** First words of a run's input, which never change. */
export function useFirstWords(runId: string): string | null {
  const client = useClient()
  const { data = null } = useQuery({
    queryKey: ['words', runId],
    queryFn: async ({ signal }) => {
      const { events } = await client.get<{ events: WireEvent[] }>(
        `${runPath(runId)}/events`,
        { limit: 3 },
        signal,
      )
      return firstWords(events.map((event) => fromWire(event)))
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data
}

function firstWords(events: readonly ClewEvent[]): string | null {
  const message = events.find(
    ({ eventType, payload }) => eventType.endsWith('message') && payload.role === 'user',
  )
  const words = wordsOf(message?.payload.content) ?? wordsOf(events[0]?.payload.input)
  return words === null ? null : words.slice(0, 300)
}

/** How long its first steps took, for the sparkline; read again when it has more of them. */
export function useActivity(run: RunSummary): readonly StepSkeleton[] {
  const client = useClient()
  const { data = [] } = useQuery({
    queryKey: ['activity', run.runId, Math.min(run.steps, STEPS)],
    queryFn: async ({ signal }) =>
      (await client.get<{ steps: StepSkeleton[] }>(runPath(run.runId), { steps: STEPS }, signal)).steps,
    enabled: run.steps > 1 && run.steps < TOO_MANY,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  return data
}
