import {
  ClewError,
  isTerminal,
  type LastCheckpoint,
  type Ledger,
  type RunSummary,
  type StepRecord,
} from '@clew/ledger'
import { readSessionSteps, type SessionPage } from './read-session-steps.ts'
import type { SessionDetail, SessionView } from './session-view.ts'
import { toSessionView } from './session-state.ts'
import { toTraceStep } from './to-trace-step.ts'

/** Sessions of a stream that are looked through for related ones, newest first. */
const LOOKED_THROUGH = 200

/** The session endpoint's answer: the run's own steps, so `getSteps` and this give the same records (T1). */
export async function readSession(
  ledger: Ledger,
  sessionId: string,
  page: SessionPage = {},
): Promise<SessionDetail> {
  // Progress first: a step that ends in between is then read as ended, and its text goes.
  const { notes } = await ledger.progress.read({ runId: sessionId })
  const run = await ledger.getRun(sessionId)
  // A kept replay has no steps of its own: it went through those of its source.
  const summary = run?.replay ? await ledger.getRun(run.replay.sourceRunId) : run
  const session = run && (await viewOf(ledger, asSession(run, summary)))
  if (!summary || !session)
    throw new ClewError('not_found', `There is no session ${sessionId}`, 'Name one of this workspace.', {
      sessionId,
    })
  const progress = new Map(notes.map((note) => [`${note.attempt} ${note.stepId}`, note]))
  const { steps, firstNumber, previousCursor } = await readSessionSteps(ledger, summary, page)
  const checkpoint = session.checkpoint ?? (await lastEnd(ledger, summary, steps))
  return {
    session: { ...session, checkpoint },
    steps: steps.map((step, index) =>
      toTraceStep(step, firstNumber + index, summary.status, progress.get(`${step.attempt} ${step.stepId}`)),
    ),
    persona: session.persona,
    // They came with the first page.
    relatedSessions: page.before === undefined ? await readRelated(ledger, session) : [],
    previousCursor,
  }
}

/** The checkpoint of a function is the end of its last step (R7); null where no function runs. */
async function lastEnd(
  ledger: Ledger,
  { runId, status }: RunSummary,
  steps: readonly StepRecord[],
): Promise<LastCheckpoint | null> {
  const [started] = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
  const { seed, structureHash } = started?.payload ?? {}
  if (typeof seed !== 'string' || structureHash !== undefined) return null
  const ended = steps.filter((step) => step.status === 'completed')
  const last = ended.toSorted((a, b) => (a.endedSeq ?? 0) - (b.endedSeq ?? 0)).at(-1)
  if (!last?.endedSeq) return null
  const { endedSeq: seq, superstep } = last
  for await (const { eventId: id, timestamp: createdAt } of ledger.read(runId, {
    afterSeq: seq - 1,
    limit: 1,
  }))
    return { id, superstep, seq, baseSeq: 1, createdAt, resumable: !isTerminal(status) }
  return null
}

/** A kept replay of a session is shown in place of that session's answer; it supersedes none. */
function asSession(run: RunSummary, source: RunSummary | null): RunSummary {
  if (!run.replay || !source?.session) return run
  const session = { ...source.session, supersedes: null, currentStepType: null }
  return { ...run, steps: source.steps, session }
}

/** View of a session with the position of its first event, which a summary lacks; null for a run that is no session. */
export async function viewOf(ledger: Ledger, summary: RunSummary): Promise<SessionView | null> {
  if (!summary.session) return null
  const { runId, forkedFrom, events } = summary
  const shared = forkedFrom?.seq ?? 0
  let position = 0
  for await (const event of ledger.read(runId, { afterSeq: shared, limit: 1 }))
    position = event.ledger.position
  return toSessionView(summary, { workspaceId: ledger.workspace, position, seq: shared + events })
}

/** On the same message, or superseding one another. */
async function readRelated(ledger: Ledger, of: SessionView): Promise<SessionView[]> {
  const { runs } = await ledger.listRuns({ threadId: of.streamId, limit: LOOKED_THROUGH })
  const others = runs.filter(({ runId, session }) => session && runId !== of.sessionId)
  const line = new Set([of.sessionId, ...(of.supersedes === null ? [] : [of.supersedes])])
  // Newest first: a superseding session comes before the one it supersedes, so the line is walked until nothing
  // changes.
  for (let size = 0; size !== line.size; ) {
    size = line.size
    for (const { runId, session } of others) {
      const before = session?.supersedes ?? null
      if (before !== null && (line.has(before) || line.has(runId))) line.add(runId).add(before)
    }
  }
  const related = others.filter(
    ({ runId, session }) =>
      line.has(runId) || (of.triggerMessageId !== null && session?.triggerMessageId === of.triggerMessageId),
  )
  return (await Promise.all(related.map((run) => viewOf(ledger, run)))).filter((view) => view !== null)
}
