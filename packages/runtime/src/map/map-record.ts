import type { ClewEvent, Ledger, OwnEventType, Pause, RunError, RunStatus } from '@clew/ledger'
import type { DraftPayload, EventDraft, RunAppender } from '../machine/run-appender.ts'
import type { MapResult } from './map-result.ts'
import type { StoredItem } from './match-items.ts'

/** A child run that an earlier take of a map began. */
export interface StoredChild extends StoredItem {
  readonly parentRunId: string
  /** Place of the item it was begun for. */
  readonly index: number
  readonly stepId: string
  readonly attempt: number
  readonly startId: string
  /** The map's own record has its end. */
  readonly isEnded: boolean
  readonly pauses: readonly Pause[]
  readonly error: RunError | null
}

/** Child runs that a map has begun, in order; null if the map's run does not exist. */
export async function storedChildren(
  ledger: Ledger,
  mapRunId: string | null,
): Promise<{ children: StoredChild[]; events: ClewEvent[] } | null> {
  if (mapRunId === null) return null
  const events: ClewEvent[] = []
  for await (const event of ledger.read(mapRunId)) events.push(event)
  if (events.length === 0) return null
  const children: StoredChild[] = []
  const signatures = new Map(
    events.map(({ eventId, payload: { signature } }) => [eventId, textOf(signature)] as const),
  )
  for (const step of await ledger.getSteps(mapRunId)) {
    if (step.childRunId === null) continue
    const run = await ledger.getRun(step.childRunId)
    children.push({
      parentRunId: mapRunId,
      index: step.index,
      stepId: step.stepId,
      attempt: step.attempt,
      startId: step.spanId,
      signature: signatures.get(step.spanId),
      digest: step.inputDigest ?? '',
      runId: step.childRunId,
      // Without a run of its own the child was never begun: it can be, under the same id.
      status: run?.status ?? 'interrupted',
      isEnded: step.endedSeq !== null,
      pauses: run?.pauses ?? [],
      error: run?.error ?? null,
    })
  }
  return { children, events }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The end of a map, or that it waits. */
export function endDrafts(
  journal: RunAppender,
  { status, items }: MapResult,
  signal: AbortSignal,
  epoch: number,
  cause: string,
): EventDraft[] {
  const life = <T extends OwnEventType>(
    type: T,
    payload: DraftPayload<T>,
    ...ids: number[]
  ): EventDraft[] => [journal.draft(type, ids, cause, payload)]
  const failed = items.filter((item) => item.status === 'failed').length
  const ends: Partial<Record<RunStatus, () => EventDraft[]>> = {
    completed: () => life('system.workflow_completed', {}),
    partial: () => life('system.workflow_completed', { status: 'partial' }),
    failed: () =>
      life('system.workflow_failed', {
        error: {
          name: 'MapError',
          code: 'items_failed',
          message: `${failed} of ${items.length} items failed`,
        },
      }),
    stopped: () => life('system.workflow_stopped', { reason: reasonOf(signal, failed) }),
    blocked: () => life('system.workflow_blocked', { reason: 'an item is blocked' }, epoch),
  }
  const waits = (): EventDraft[] =>
    life(
      'system.workflow_paused',
      { pauseIds: items.flatMap(({ pauses }) => pauses.map(({ pauseId }) => pauseId)) },
      epoch,
    )
  return (ends[status] ?? waits)()
}

function reasonOf(signal: AbortSignal, failed: number): string {
  if (!signal.aborted) return failed > 0 ? 'an item failed' : 'an item was stopped'
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : 'cancelled'
}
