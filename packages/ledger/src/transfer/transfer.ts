import { checkWire } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Preparer } from '../append/prepare.ts'
import type { StoredEvent } from '../store/store.ts'
import type { PreparedEvent, ImportedFields } from '../store/change.ts'
import { toWirePlace } from '../event/wire.ts'

/** One line of an export (L11): the envelope, and under `ledger` all that its hash needs. */
export async function formatLine(
  stored: StoredEvent,
  reader: PayloadReader,
  forkedFrom?: ImportedFields['forkedFrom'] | null,
): Promise<string> {
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
  const { erased, pruned, ...where } = stored
  const place = {
    ...toWirePlace(where),
    ...(erased && { erased }),
    ...(pruned && { pruned }),
    ...(forkedFrom && { forked_from: { run_id: forkedFrom.runId, seq: forkedFrom.seq } }),
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
    throw brokenLine(line, 'is not JSON', cause)
  }
  if (!isObject(data)) throw brokenLine(line, 'is not an event')
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
  readonly sealed: ImportedFields
  /** Null for an erased payload, and only then. */
  readonly salt: string | null
  readonly payloadHash: string
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const DIGEST = /^[0-9a-f]{64}$/
const SALT = /^[0-9a-f]{32}$/

function parsePlace(place: unknown, line: number): ParsedPlace {
  if (!isObject(place)) throw brokenLine(line, 'has a `ledger` that is not an object')
  const { seq, recorded_at, hash, schema_version, payload_hash, salt, erased, pruned } = place
  const source = place['forked_from']
  const text = (field: string, value: unknown, form: RegExp): string => {
    if (typeof value === 'string' && form.test(value)) return value
    throw brokenLine(line, `has no usable ledger.${field}; an event read over HTTP lacks some of them`)
  }
  const whole = (field: string, value: unknown, least: number): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
    throw brokenLine(line, `has no usable ledger.${field}`)
  }
  return {
    sealed: {
      seq: whole('seq', seq, 1),
      recordedAt: text('recorded_at', recorded_at, TIME),
      hash: text('hash', hash, DIGEST),
      schemaVersion: whole('schema_version', schema_version, 0),
      ...(pruned === true && { pruned }),
      ...(isObject(source) && {
        forkedFrom: {
          runId: text('forked_from.run_id', source['run_id'], /^[^]+$/),
          seq: whole('forked_from.seq', source['seq'], 1),
        },
      }),
    },
    // Only an erasure may take the salt away.
    salt: erased === true ? null : text('salt', salt, SALT),
    payloadHash: text('payload_hash', payload_hash, DIGEST),
  }
}

export function brokenLine(line: number, what: string, cause?: unknown): ClewError {
  return new ClewError(
    'broken_import',
    `Line ${line} ${what}`,
    'Import a file made by `clew export`, or events with the fields of the envelope, one per line.',
    { line },
    cause,
  )
}

/** Lines of a byte or text stream, whatever its chunks; a long line is put together once, not with every chunk. */
export async function* splitLines(
  stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  let begun: string[] = []
  for await (const chunk of stream) {
    const parts = (typeof chunk === 'string' ? chunk : decode(chunk)).split('\n')
    begun.push(parts[0] as string)
    for (const part of parts.slice(1)) {
      yield begun.join('')
      line++
      begun = [part]
    }
  }
  const last = begun.join('')
  if (last !== '') yield last

  function decode(bytes: Uint8Array): string {
    try {
      return decoder.decode(bytes, { stream: true })
    } catch (cause) {
      throw brokenLine(line, 'or one soon after it is not UTF-8 text', cause)
    }
  }
}
