import type { EventInput, Ledger } from '@clew/ledger'

export type TimedEvent = readonly [atMs: number, eventType: string, payload: EventInput['payload']]

/** Records events at given times; each is caused by the one before it. */
export async function tell(
  ledger: Ledger,
  runId: string,
  startedMs: number,
  story: readonly TimedEvent[],
): Promise<void> {
  let causationId: string | null = null
  const events: EventInput[] = story.map(([atMs, eventType, payload]) => {
    const eventId = crypto.randomUUID()
    const event: EventInput = {
      eventId,
      eventType,
      correlationId: runId,
      causationId,
      timestamp: new Date(startedMs + atMs).toISOString(),
      source: {
        origin: eventType.startsWith('ui.') ? 'ui' : eventType.startsWith('system.') ? 'system' : 'agent',
        runtime: 'clew',
      },
      payload,
    }
    causationId = eventId
    return event
  })
  await ledger.append(events)
}

export const step = (
  stepId: string,
  kind: string,
  fromMs: number,
  toMs: number,
  more: { input?: unknown; output?: unknown; usage?: unknown; model?: string; parentStepId?: string } = {},
): TimedEvent[] => {
  const { input = {}, output = null, usage, model, parentStepId } = more
  const name = stepId.split('/').at(-1)?.split('#')[0] ?? stepId
  return [
    [
      fromMs,
      'execution.step_started',
      { stepId, name, kind, input, ...(parentStepId !== undefined && { parentStepId }) },
    ],
    [
      toMs,
      'execution.step_completed',
      { stepId, output, ...(usage !== undefined && { usage }), ...(model !== undefined && { model }) },
    ],
  ]
}
