import { recut, redactBody, type Redactor } from '@clew/ledger'
import type { ResponseChunk } from '../machine/response-chunks.ts'
import type { StepError } from '../run/run.ts'
import { decodeText } from './text.ts'

/** The body of a response, as it is recorded. */
export interface BodyRecord {
  /** Milliseconds since the headers were there, and what came then. */
  readonly chunks: readonly (readonly [number, string])[]
  readonly encoding?: 'base64' | undefined
  /** When the headers were there, by the clock of the process. */
  readonly startedAt: number
  /** From which chunk on the code had been woken last by which event; left out while that was the event with the headers. */
  readonly after?: readonly (readonly [number, string])[] | undefined
  /** Reason of an early end: the code cancelled the body, the code itself ended, or the connection failed. */
  readonly ended?: 'cancelled' | 'left' | 'failed' | undefined
  readonly error?: ReturnType<StepError['toJSON']> | undefined
}

/** A chunk as it came. */
export interface Arrival {
  readonly ms: number
  readonly bytes: Uint8Array
  readonly after: string | null
}

export interface BodyEnd {
  readonly ended?: BodyRecord['ended']
  readonly error?: StepError | undefined
}

/** P1: redacted across the borders of chunks, which the ledger would look at one by one. */
export function toBodyRecord(
  arrivals: readonly Arrival[],
  { startedAt, cause, type, end }: { startedAt: number; cause: string | null; type: string; end: BodyEnd },
  redactor: Redactor,
): BodyRecord {
  const bytes = arrivals.map((arrival) => arrival.bytes)
  const texts = decodeText(bytes)
  const kept = texts
    ? redactTexts(texts, type, redactor)
    : bytes.map((each) => Buffer.from(each).toString('base64'))
  const after = placesOf(arrivals, cause)
  const { ended, error } = end
  return {
    chunks: arrivals.map(({ ms }, at) => [ms, kept[at] as string] as const),
    ...(!texts && { encoding: 'base64' }),
    startedAt,
    ...(after.length > 0 && { after }),
    ...(ended && { ended }),
    ...(error && { error: { ...error.toJSON(), message: redactor.text(error.message) } }),
  }
}

function redactTexts(texts: readonly string[], type: string, redactor: Redactor): readonly string[] {
  const changes = redactBody(texts.join(''), type, redactor)
  return changes.length === 0 ? texts : recut(texts, changes)
}

function placesOf(arrivals: readonly Arrival[], cause: string | null): [number, string][] {
  const places: [number, string][] = []
  let last = cause
  for (const [at, { after }] of arrivals.entries()) {
    if (after !== null && after !== last) places.push([at, after])
    last = after
  }
  return places
}

/** A redacted body as the code that asked for it reads it: JSON by its values, anything else as one text. */
export function bodyAsRead({ chunks, encoding }: BodyRecord): unknown {
  if (encoding === 'base64') return null
  const text = chunks.map(([, part]) => part).join('')
  if (!text.includes('[redacted:')) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export const chunkBytes = ({ encoding }: BodyRecord, text: string): Uint8Array<ArrayBuffer> =>
  encoding === 'base64' ? Uint8Array.from(Buffer.from(text, 'base64')) : new TextEncoder().encode(text)

/** Chunks on their way to the code, each at its place; `speed` says whether they also take their time. */
export function piecesOf(
  record: BodyRecord,
  speed: 'at once' | 'original',
  give: (at: number) => void,
): ResponseChunk[] {
  const { chunks, after = [], startedAt } = record
  const now = performance.now()
  let next = 0
  let event: string | null = null
  return chunks.map(([ms], at) => {
    if (after[next]?.[0] === at) event = after[next++]?.[1] ?? null
    return {
      after: event,
      cameAt: startedAt + ms,
      dueAt: speed === 'original' ? now + ms : 0,
      give: () => give(at),
    }
  })
}
