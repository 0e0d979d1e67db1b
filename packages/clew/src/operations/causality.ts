import { type ClewEvent, ClewError, type Ledger } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'

const eventReference = z.object({
  runId: z.string(),
  seq: z.int(),
  eventId: z.string(),
  eventType: z.string(),
  timestamp: z.string(),
  causationId: z.string().nullable(),
  /** Subject in a word: the step, tool, role or agent. */
  about: z.string().nullable(),
})
const input = z.object({
  eventId: z.string().min(1).describe('id of the event'),
  limit: z.int().min(1).max(10_000).default(200).describe('how many at most'),
})
const output = z.object({
  event: eventReference,
  events: z.array(eventReference),
  /** Events that were left out. */
  more: z.int().min(0),
  /** The cause that the farthest event names, though no such event has arrived. */
  missingCause: z.string().nullable(),
})
const cli = {
  group: 'Look',
  arguments: [
    {
      word: 'event',
      field: 'eventId',
      required: true,
      about: 'id of the event, its first characters, or run:seq',
    },
  ],
  options: { limit: '--limit <count>' },
} as const

export const causes = answering({
  name: 'causes',
  summary: 'Show the events that led to an event',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/events/{eventId}/causes' },
  mcp: { tool: 'causes' },
  input,
  output,
  example: { command: 'clew causes demo-3f9a1c:17', input: { eventId: 'demo-3f9a1c:17' } },
  cli,
  async run(ledger, { eventId, limit }) {
    const event = await findEvent(ledger, eventId)
    const found = await ledger.causes(event.eventId)
    const last = found.at(-1) ?? event
    const known = new Set([event.eventId, ...found.map((each) => each.eventId)])
    const missing = last.causationId !== null && !known.has(last.causationId)
    return { ...page(event, found, limit), missingCause: missing ? last.causationId : null }
  },
})

export const effects = answering({
  name: 'effects',
  summary: 'Show the events that an event led to',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/events/{eventId}/effects' },
  mcp: { tool: 'effects' },
  input,
  output,
  example: { command: 'clew effects demo-3f9a1c:2', input: { eventId: 'demo-3f9a1c:2' } },
  cli,
  async run(ledger, { eventId, limit }) {
    const event = await findEvent(ledger, eventId)
    return { ...page(event, await ledger.effects(event.eventId), limit), missingCause: null }
  },
})

type Reference = z.output<typeof eventReference>

function page(
  event: ClewEvent,
  found: readonly ClewEvent[],
  limit: number,
): { event: Reference; events: Reference[]; more: number } {
  return {
    event: toReference(event),
    events: found.slice(0, limit).map(toReference),
    more: Math.max(0, found.length - limit),
  }
}

const ABOUT = ['stepId', 'name', 'role', 'agent', 'service', 'pauseId']

function toReference(event: ClewEvent): Reference {
  const { eventId, eventType, timestamp, correlationId, causationId, ledger, payload } = event
  const key = ABOUT.find((each) => typeof payload[each] === 'string')
  const about = key === undefined ? null : String(payload[key]).slice(0, 200)
  return { runId: correlationId, seq: ledger.seq, eventId, eventType, timestamp, causationId, about }
}

/** The event with this id, or at `run:seq`. */
export async function findEvent(ledger: Ledger, given: string): Promise<ClewEvent> {
  const [, runId, seq] = /^(.+):(\d{1,15})$/s.exec(given) ?? []
  if (runId !== undefined)
    for await (const event of ledger.read(runId, { afterSeq: Math.max(0, Number(seq) - 1), limit: 1 }))
      if (event.ledger.seq === Number(seq)) return event
  const found = await ledger.getEvent(given)
  if (found) return found
  const shown = given.slice(0, 80)
  throw new ClewError(
    'not_found',
    `There is no event ${shown} in workspace ${ledger.workspace}`,
    '`clew events <run> --full` shows ids; run:seq works, too.',
    { eventId: shown },
  )
}
