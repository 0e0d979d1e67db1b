import type { WireEnvelope } from './wire.ts'
import { ClewError } from '../errors.ts'
import { isObject } from '../json.ts'

/** CloudEvents 1.0 in JSON, with its Correlation extension (E5). */
export interface CloudEvent {
  specversion: '1.0'
  id: string
  source: string
  type: string
  time: string
  subject: string
  datacontenttype: 'application/json'
  correlationid: string
  causationid?: string
  data: unknown
}

const SOURCE = /^clew:(agent|system|ui|integration)\/(.*)$/s

export function toCloudEvent(event: WireEnvelope): CloudEvent {
  return {
    specversion: '1.0',
    id: event.event_id,
    source: `clew:${event.source.origin}/${encodeURIComponent(event.source.runtime)}`,
    type: event.event_type,
    time: event.timestamp,
    subject: event.correlation_id,
    datacontenttype: 'application/json',
    correlationid: event.correlation_id,
    ...(event.causation_id !== null && { causationid: event.causation_id }),
    data: event.payload,
  }
}

/** The envelope of a CloudEvent; one from elsewhere keeps its source as the runtime's name. */
export function fromCloudEvent(event: unknown): WireEnvelope {
  if (!isObject(event) || event['specversion'] !== '1.0') throw refusal('specversion', '"1.0"')
  const text = (field: string): string => {
    const value = event[field]
    if (typeof value !== 'string') throw refusal(field, 'a string')
    return value
  }
  const source = text('source')
  const own = SOURCE.exec(source)
  const correlation = event['correlationid'] ?? event['subject']
  if (typeof correlation !== 'string') throw refusal('correlationid', 'the id of the run')
  return {
    event_id: text('id'),
    event_type: text('type'),
    timestamp: text('time'),
    source: own
      ? { origin: own[1] as WireEnvelope['source']['origin'], runtime: decodeRuntime(own[2] ?? '') }
      : { origin: 'integration', runtime: source },
    correlation_id: correlation,
    causation_id: typeof event['causationid'] === 'string' ? event['causationid'] : null,
    payload: event['data'] ?? {},
  }
}

function decodeRuntime(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusal('source', 'a URI whose escapes can be read')
  }
}

function refusal(field: string, expected: string): ClewError {
  return new ClewError(
    'bad_envelope',
    `The CloudEvent field ${field} is not usable`,
    `It must be ${expected}; correct it and send the event again, nothing was written.`,
    { field, expected },
  )
}
