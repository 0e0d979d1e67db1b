import { isOpenStep, type Ledger, type RunSummary, stepTypeOf } from '@clew/ledger'
import { relayProgress, type RoomMessage, type RoomAddress, STREAM_PROGRESS, streamRoom } from '@clew/trace'

/** Messages about what is running in a room, for clients that join. */
export async function readRunning(
  ledger: Ledger,
  { kind, id }: RoomAddress,
): Promise<readonly RoomMessage[]> {
  if (kind === 'session') return readProgress(ledger, id)
  const { runs } = await ledger.listRuns({ threadId: id, status: 'running', limit: 10 })
  return (await Promise.all(runs.map((run) => readStep(ledger, run)))).flat()
}

async function readProgress(ledger: Ledger, sessionId: string): Promise<RoomMessage[]> {
  const streamId = (await ledger.getRun(sessionId))?.session?.streamId
  if (streamId === undefined) return []
  const { notes } = await ledger.progress.read({ runId: sessionId })
  return notes.flatMap((note) => relayProgress(note, { workspaceId: ledger.workspace, streamId }))
}

/** Which step a running session is at. */
async function readStep(ledger: Ledger, { runId, session, events }: RunSummary): Promise<RoomMessage[]> {
  if (!session) return []
  const { streamId, persona, generation } = session
  const steps = await ledger.getSkeleton(runId)
  const at = steps.findLastIndex(isOpenStep)
  const step = steps[at]
  if (!step) return []
  const payload = {
    workspaceId: ledger.workspace,
    sessionId: runId,
    streamId,
    persona,
    stepId: step.stepId,
    stepNumber: at + 1,
    stepType: stepTypeOf(step.kind, step.nodeName),
    seq: events,
    generation,
    at: step.createdAt,
  }
  return [{ name: STREAM_PROGRESS, payload, room: streamRoom(ledger.workspace, streamId) }]
}
