import {
  auditFold,
  type ClewEvent,
  complianceFold,
  type Fold,
  taskGraphFold,
  timelineFold,
  transcriptFold,
} from 'clew'
import { type Figure, median, micros, prose, rate, seconds } from '../measure.ts'

const EVENTS = 100_000
const ROUNDS = 3

const AT = Date.parse('2026-11-15T08:00:00Z')
const idOf = (seq: number): string => `0198f0aa-0000-7000-8000-${String(seq).padStart(12, '0')}`

/** An agent in a loop: it thinks, calls a tool, reads the result; every step a sibling of all the others. */
function makeEvents(): ClewEvent[] {
  const events: ClewEvent[] = []
  const add = (eventType: string, payload: Record<string, unknown>): void => {
    const seq = events.length + 1
    const timestamp = new Date(AT + seq).toISOString()
    events.push({
      eventId: idOf(seq),
      eventType,
      timestamp,
      source: { origin: 'agent', runtime: 'clew' },
      correlationId: 'run-1',
      causationId: seq === 1 ? null : idOf(seq - 1),
      payload,
      ledger: { workspace: 'default', seq, position: seq, recordedAt: timestamp, hash: '', schemaVersion: 0 },
    })
  }
  add('system.workflow_started', { agent: 'research' })
  for (let turn = 0; events.length < EVENTS - 1; turn++) {
    const stepId = `turn#${turn}`
    const tool = { toolCallId: `call-${turn}`, name: `tool-${turn % 20}`, stepId }
    add('execution.step_started', { stepId, name: 'turn', kind: 'model', safety: 'read' })
    add('execution.reasoning', { stepId, content: prose(120, turn % 997) })
    add('execution.message', { role: 'assistant', stepId, content: prose(300, turn % 991) })
    add('execution.tool_call', { ...tool, arguments: { query: prose(40, turn % 983) } })
    add('execution.tool_result', {
      ...tool,
      result: { text: prose(200, turn % 977), key: '[redacted:api-key:0f]' },
    })
    add('system.access', { action: 'read', by: 'ann', target: 'run-1' })
    add('execution.step_completed', { stepId, output: turn, decision: 'turn' })
  }
  return events.slice(0, EVENTS)
}

async function measure<State, View>(fold: Fold<State, View>, events: readonly ClewEvent[]): Promise<Figure> {
  const whole: number[] = []
  const last: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    let state = fold.begin()
    whole.push(
      await seconds(() => {
        for (const event of events) state = fold.apply(state, event)
        fold.view(state)
      }),
    )
    const more = events.slice(-1000).map((event) => ({ ...event, eventId: `${event.eventId}-again` }))
    last.push(
      await seconds(() => {
        for (const event of more) state = fold.apply(state, event)
      }),
    )
  }
  const took = median(whole)
  return {
    name: `${fold.name} of 100,000 events`,
    ours: `${took.toFixed(2)} s (${rate(EVENTS, took)})`,
    beside: `one event more ${micros(median(last), 1000)}`,
    ratio: took,
    most: 1,
    unit: 's',
  }
}

/** Each view of a long run, from its first event, and what an event costs from then on. */
export async function foldFigures(): Promise<Figure[]> {
  const events = makeEvents()
  return [
    await measure(transcriptFold, events),
    await measure(timelineFold, events),
    await measure(taskGraphFold, events),
    await measure(auditFold, events),
    await measure(complianceFold, events),
  ]
}
