import {
  type AcquireOptions,
  ClewError,
  findMessageEvent,
  isOpenStep,
  isResumedByCode,
  type Ledger,
  type RunSummary,
  supersedeRun,
  sweepThread,
} from '@clew/ledger'
import type { FoundSession, TakenSession, TakeRequest } from './port.ts'

/**
 * Opens a session for the caller to write to, and its stream (R9: one running session per stream). Dead sessions in
 * the way are ended first. A server that opens one for a remote client names that client as the owner, so that the
 * server's own death is not taken for that of the session.
 */
export async function takeSession(
  ledger: Ledger,
  { sessionId, streamId, supersedes, triggerMessageId = null }: TakeRequest,
  options: AcquireOptions = {},
): Promise<TakenSession> {
  await assertOwn(ledger, sessionId, streamId)
  if (supersedes !== null && supersedes !== sessionId) await supersedeRun(ledger, supersedes, sessionId)
  await sweepThread(ledger, streamId, sessionId)
  const key = { workspace: ledger.workspace, runId: sessionId }
  const lease = await ledger.leases.acquire(key, streamId, options)
  try {
    // Read again under the lease: from here on no other process changes it.
    const run = await assertOwn(ledger, sessionId, streamId)
    const trigger =
      triggerMessageId === null ? null : await findMessageEvent(ledger, streamId, triggerMessageId)
    return { lease, found: run && (await toFound(ledger, run)), triggerEventId: trigger?.eventId ?? null }
  } catch (error) {
    await ledger.leases.release(lease)
    throw error
  }
}

async function toFound(ledger: Ledger, { runId, status, events, steps }: RunSummary): Promise<FoundSession> {
  const openSteps = (await ledger.getSkeleton(runId))
    .filter(isOpenStep)
    .map(({ stepId, attempt }) => ({ stepId, attempt }))
  const [started] = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
  return { status, seq: events, startId: started?.eventId ?? null, stepCount: steps, openSteps }
}

const OVER: ReadonlySet<string> = new Set(['completed', 'partial', 'superseded', 'deleted'])

async function assertOwn(ledger: Ledger, sessionId: string, streamId: string): Promise<RunSummary | null> {
  const run = await ledger.getRun(sessionId)
  if (!run) return null
  if (OVER.has(run.status))
    throw new ClewError(
      'ended',
      `Session ${sessionId} is ${run.status}`,
      'Begin another one, with supersedes if it takes its place; nothing was written.',
      { sessionId, status: run.status },
    )
  if (run.session?.streamId !== streamId)
    throw new ClewError(
      'conflict',
      `${sessionId} is not a session of stream ${streamId}`,
      'Use another session id, or the stream it was begun in; nothing was written.',
      { sessionId, streamId },
    )
  if (await isResumedByCode(ledger, sessionId))
    throw new ClewError(
      'conflict',
      `Session ${sessionId} is a run of the agent ${run.agent ?? ''}, which writes its steps itself`,
      'Resume it with its agent; nothing was written.',
      { sessionId },
    )
  return run
}
