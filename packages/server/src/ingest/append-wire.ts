import { ClewError, type ClewEvent, type JsonObject, toWire, type WireEvent } from '@clew/ledger'
import { errorBody } from '../error-answer.ts'
import type { Call } from '../route.ts'
import { assertOwnRun } from './own-runs.ts'

/** Result of one item: its place, or with `full` the event as it is stored; else the reason of its refusal. */
export type ItemResult =
  | { readonly eventId: string; readonly runId: string; readonly seq: number; readonly position: number }
  | WireEvent
  | ReturnType<typeof errorBody>

export const placeOf = ({ eventId, correlationId, ledger }: ClewEvent): ItemResult => ({
  eventId,
  runId: correlationId,
  seq: ledger.seq,
  position: ledger.position,
})

interface Given {
  readonly events: readonly unknown[]
  readonly options: { readonly expectedSeq?: number; readonly epoch?: number }
}

/** Limit of events per transaction, which blocks other writers. */
const MAX_EVENTS = 10_000

/** One event, a list of them, or a list with what must hold for it: all of it is written, or nothing (E4). */
export async function appendDocument(call: Call, body: unknown): Promise<ItemResult[]> {
  const { events, options } = readDocument(body)
  if (events.length > MAX_EVENTS)
    throw new ClewError(
      'too_large',
      `The list has ${events.length} events, more than ${MAX_EVENTS}`,
      'Send several lists, or lines (application/x-ndjson); nothing was written.',
      { most: MAX_EVENTS },
    )
  for (const [item, event] of events.entries()) checkRun(call, event, events.length === 1 ? undefined : item)
  return (await call.ledger.appendWire(events, options)).map(isFull(call) ? toWire : placeOf)
}

/** Whether the client asks for the events themselves: those that it wrote, after redaction. */
function isFull({ query }: Call): boolean {
  const text = query.get('full')
  if (text === null || text === 'false') return false
  if (text === 'true' || text === '') return true
  throw new ClewError(
    'bad_option',
    "The query's full is neither true nor false",
    'Correct it, or leave it out; nothing was written.',
    { option: 'full' },
  )
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function checkRun(call: Call, event: unknown, item?: number): void {
  try {
    if (isObject(event)) assertOwnRun(call.principal, event['correlation_id'])
  } catch (error) {
    if (item === undefined || !(error instanceof ClewError)) throw error
    throw new ClewError(
      error.code,
      `Item ${item} of the batch belongs to Clew and cannot be written`,
      error.hint,
      { item },
      error,
    )
  }
}

function readDocument(body: unknown): Given {
  if (Array.isArray(body)) return { events: body, options: {} }
  if (!isObject(body) || body['event_type'] !== undefined || body['events'] === undefined)
    return { events: [body], options: {} }
  const { events, options = {}, ...others } = body
  const [unknown] = Object.keys(others)
  if (!Array.isArray(events) || unknown !== undefined || !isObject(options))
    throw wrong(unknown ?? (Array.isArray(events) ? 'options' : 'events'))
  const { expectedSeq, epoch, ...more } = options
  const [odd] = Object.keys(more)
  if (odd !== undefined) throw wrong(`options.${odd}`)
  return {
    events,
    options: {
      ...(expectedSeq !== undefined && { expectedSeq: expectedSeq as number }),
      ...(epoch !== undefined && { epoch: epoch as number }),
    },
  }
}

const wrong = (option: string): ClewError =>
  new ClewError(
    'bad_option',
    `The field ${option.slice(0, 60)} is unknown in the body, or has a wrong value`,
    'Send an event, a list of events, or { "events": [ … ], "options": { "expectedSeq", "epoch" } }; nothing was written.',
    { option: option.slice(0, 60) },
  )

/**
 * Lines that arrive: each is written or refused by itself, and those that arrive together share a commit (L5). A store
 * that fails ends it.
 */
export async function appendLines(
  call: Call,
  batches: AsyncIterable<readonly string[]>,
): Promise<ItemResult[]> {
  const results: ItemResult[] = []
  for await (const lines of batches)
    results.push(...(await Promise.all(lines.map((line) => appendLine(call, line)))))
  return results
}

async function appendLine(call: Call, line: string): Promise<ItemResult> {
  try {
    const event = parseLine(line)
    checkRun(call, event)
    const [written] = await call.ledger.appendWire([event])
    return (isFull(call) ? toWire : placeOf)(written as ClewEvent)
  } catch (error) {
    return asResult(error)
  }
}

/** A refusal is one item's misfortune; a store that fails, or a defect, is that of the request. */
export function asResult(error: unknown): ReturnType<typeof errorBody> {
  if (!(error instanceof ClewError) || !isRefusal(error)) throw error
  return errorBody(error)
}

export const isRefusal = ({ code }: ClewError): boolean =>
  !code.startsWith('store_') && code !== 'closed' && code !== 'switched_off' && code !== 'newer_store'

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The engine's own words may quote the line, which may hold secrets (P3).
    throw new ClewError('bad_payload', 'The line is not JSON', 'Send one JSON value per line.', {})
  }
}
