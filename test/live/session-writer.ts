import type { Ledger, RecordInput } from 'clew'

/** Events of a session, as whoever traces one appends them. */
export const begin = (sessionId: string, streamId: string): RecordInput<'system.workflow_started'> => ({
  eventType: 'system.workflow_started',
  correlationId: sessionId,
  payload: {
    agent: 'owl',
    threadId: streamId,
    session: {
      streamId,
      persona: { id: 'p', name: 'Owl', avatarUrl: null },
      triggerMessageId: 'm1',
      supersedes: null,
    },
  },
})
export const stepBegins = (
  sessionId: string,
  stepId: string,
  kind = 'thinking',
): RecordInput<'execution.step_started'> => ({
  eventType: 'execution.step_started',
  correlationId: sessionId,
  payload: { stepId, name: kind, kind },
})
export const stepEnds = (
  sessionId: string,
  stepId: string,
  content: string,
): RecordInput<'execution.step_completed'> => ({
  eventType: 'execution.step_completed',
  correlationId: sessionId,
  payload: { stepId, output: { content } },
})
export const end = (sessionId: string): RecordInput<'system.workflow_completed'> => ({
  eventType: 'system.workflow_completed',
  correlationId: sessionId,
  payload: {},
})

export const note = (runId: string, stepId: string, version: number, content: string) => ({
  runId,
  stepId,
  attempt: 1,
  stepType: 'thinking',
  version,
  content,
  at: new Date(0).toISOString(),
})

/** A whole session of so many steps, told step by step. */
export async function writeSession(
  ledger: Ledger,
  sessionId: string,
  streamId: string,
  steps: number,
  between: (step: number) => Promise<void> = async () => {},
): Promise<void> {
  await ledger.record(begin(sessionId, streamId))
  for (let i = 1; i <= steps; i++) {
    await ledger.record(stepBegins(sessionId, `thinking#${i}`))
    await ledger.progress.put([note(sessionId, `thinking#${i}`, 1, `thought ${i}`)])
    await between(i)
    await ledger.record(stepEnds(sessionId, `thinking#${i}`, `thought ${i}, all of it`))
  }
  await ledger.record(end(sessionId))
}
