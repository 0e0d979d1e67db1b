import { checkWire } from './envelope.ts'
import { ClewError } from './errors.ts'
import { isObject } from './json.ts'
import type { PayloadReader } from './payload-reader.ts'
import type { Preparer } from './prepare.ts'
import type { PreparedEvent, SealedPlace, StoredEvent } from './store.ts'
import { toWirePlace } from './wire.ts'

/** One line of an export (L11): the envelope, and under `ledger` all that its hash needs. */
export async function formatLine(stored: StoredEvent, reader: PayloadReader): Promise<string> {
  const { body } = stored
  const envelope = JSON.stringify({
    event_id: stored.eventId,
    event_type: stored.eventType,
    timestamp: stored.timestamp,
    source: { origin: stored.origin, runtime: stored.runtime },
    correlation_id: stored.correlationId,
    causation_id: stored.causationId,
  })
  const payload =
    body === null ? '{}' : body.startsWith('{') ? body : JSON.stringify(await reader.toJson(stored))
  const { erased, ...where } = stored
  const place = {
    ...toWirePlace(where),
    ...(erased && { erased }),
    payload_hash: stored.payloadHash,
    salt: stored.salt,
  }
  return `${envelope.slice(0, -1)},"payload":${payload},"ledger":${JSON.stringify(place)}}`
}

/** A parsed line: a new fact when it has no place, else the very event that stood elsewhere. */
export function parseLine(text: string, line: number, preparer: Preparer, rehash: boolean): PreparedEvent {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (cause) {
    throw broken(line, 'is not JSON', cause)
  }
  if (!isObject(data)) throw broken(line, 'is not an event')
  try {
    const checked = checkWire(data)
    const place = data['ledger']
    if (rehash || place === undefined) return preparer.prepare(checked)
    const { sealed, salt, payloadHash } = parsePlace(place, line)
    return salt === null
      ? preparer.prepareErased(checked, sealed, payloadHash)
      : preparer.prepareSealed(checked, sealed, salt)
  } catch (cause) {
    if (cause instanceof ClewError && cause.fields['line'] === undefined)
      throw new ClewError(
        cause.code,
        `Line ${line}: ${cause.message.slice(0, -cause.hint.length - 2)}`,
        cause.hint,
        { ...cause.fields, line },
        cause,
      )
    throw cause
  }
}

interface ParsedPlace {
  readonly sealed: SealedPlace
  /** Null for an erased payload, and only then. */
  readonly salt: string | null
  readonly payloadHash: string
}

function parsePlace(place: unknown, line: number): ParsedPlace {
  if (!isObject(place)) throw broken(line, 'has a `ledger` that is not an object')
  const { seq, recorded_at, hash, schema_version, payload_hash, salt, erased } = place
  if (typeof seq !== 'number' || typeof schema_version !== 'number')
    throw broken(line, 'lacks ledger.seq or ledger.schema_version')
  if (typeof recorded_at !== 'string' || typeof hash !== 'string')
    throw broken(line, 'lacks ledger.recorded_at or ledger.hash')
  if (typeof payload_hash !== 'string' || (typeof salt !== 'string' && erased !== true))
    throw broken(line, 'lacks ledger.payload_hash or ledger.salt, as an event read over HTTP does')
  return {
    sealed: { seq, recordedAt: recorded_at, hash, schemaVersion: schema_version },
    salt: erased === true ? null : (salt as string),
    payloadHash: payload_hash,
  }
}

function broken(line: number, what: string, cause?: unknown): ClewError {
  return new ClewError(
    'broken_import',
    `Line ${line} ${what}`,
    'Import a file made by `clew export`, or events with the fields of the envelope, one per line.',
    { line },
    cause,
  )
}

/** Lines of a byte or text stream, whatever its chunks. */
export async function* splitLines(
  stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of stream) {
    const text = rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
    const lines = text.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
