import { type ClewEvent, checkpointOf, type Highlight, type Ledger, type SearchOptions } from '@clew/ledger'
import { CHECKPOINT_TYPES } from './read-checkpoints.ts'

/** A place in a run where a node's name, an error or a value fits, with the checkpoint that holds it first. */
export interface StateHit {
  readonly runId: string
  readonly threadId: string | null
  readonly seq: number
  readonly eventType: string
  readonly nodeName: string | null
  readonly stepId: string | null
  /** Null where the run never came to a checkpoint after it. */
  readonly checkpointId: string | null
  readonly superstep: number | null
  readonly highlight: Highlight | null
}

/** Node names, errors and values of states, best and newest first. */
export async function searchStates(
  ledger: Ledger,
  query: string,
  options: SearchOptions = {},
): Promise<StateHit[]> {
  const { hits } = await ledger.search(query, options)
  const found: StateHit[] = []
  for (const { run, events } of hits)
    for (const { eventId, highlight } of events) {
      const event = await ledger.getEvent(eventId)
      if (!event) continue
      found.push({ ...(await placeOf(ledger, run.runId, event)), threadId: run.threadId, highlight })
    }
  return found
}

async function placeOf(
  ledger: Ledger,
  runId: string,
  { eventType, payload, ledger: { seq } }: ClewEvent,
): Promise<Omit<StateHit, 'threadId' | 'highlight'>> {
  const stepId = typeof payload.stepId === 'string' ? payload.stepId : null
  const nodeName = stepId === null ? null : (stepId.split(/[@#/]/, 1)[0] ?? null)
  const base = { runId, seq, eventType, nodeName, stepId }
  for await (const event of ledger.read(runId, { afterSeq: seq - 1, types: CHECKPOINT_TYPES })) {
    const checkpoint = checkpointOf(event)
    if (checkpoint) return { ...base, checkpointId: checkpoint.id, superstep: checkpoint.superstep ?? null }
  }
  return { ...base, checkpointId: null, superstep: null }
}
