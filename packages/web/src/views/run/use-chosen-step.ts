import type { StepSkeleton } from '@clew/ledger'
import { type Client, isRequestError, runPath, type RunView, useClient } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { RunSearch } from '../../url.ts'
import { chosenStep, readStepKey } from './step-key.ts'

/** The step that the address names. One that is not among those that were read yet is asked for by its id. */
export function useChosenStep(runId: string, view: RunView, search: RunSearch): StepSkeleton | undefined {
  const { steps, entries, complete } = view
  const listed = useMemo(
    () => chosenStep(steps, entries, search),
    [steps, entries, search.step, search.event],
  )
  const client = useClient()
  const { step: key } = search
  const { data } = useQuery({
    queryKey: ['step', runId, key],
    queryFn: ({ signal }) => readStep(client, runId, key ?? '', signal),
    enabled: key !== undefined && !listed && !complete,
  })
  return listed ?? (key === undefined ? undefined : (data ?? undefined))
}

async function readStep(
  client: Client,
  runId: string,
  key: string,
  signal: AbortSignal,
): Promise<StepSkeleton | null> {
  for (const { stepId, attempt } of readStepKey(key))
    try {
      const path = `${runPath(runId)}/steps/${encodeURIComponent(stepId)}`
      return (await client.get<{ step: StepSkeleton }>(path, { attempt }, signal)).step
    } catch (error) {
      if (!isRequestError(error) || error.status !== 404) throw error
    }
  return null
}
