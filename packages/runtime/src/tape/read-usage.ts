import { normaliseUsage } from '@clew/ledger'
import type { CallUsage } from '../run/run.ts'
import type { BodyRecord } from './body-record.ts'

/**
 * V7: what a model call on the tape used, as the makers of models say it in the answer: at its top, or in a stream bit by
 * bit, where later numbers take the place of earlier ones. Undefined for any other response.
 */
export function readUsage({ chunks, encoding }: BodyRecord, type: string): CallUsage | undefined {
  if (encoding !== undefined || !/json|event-stream/.test(type)) return undefined
  const text = chunks.map(([, chunk]) => chunk).join('')
  if (!NAMES.test(text)) return undefined
  const counts: Record<string, unknown> = {}
  let model: string | undefined
  for (const value of /event-stream/.test(type) ? dataOf(text) : jsonOf(text))
    for (const place of placesIn(value)) {
      for (const [name, count] of Object.entries(objectIn(place['usage'] ?? place['usageMetadata']) ?? {}))
        if (count !== null) counts[name] = count
      model = textIn(place['model']) ?? textIn(place['modelVersion']) ?? model
    }
  const usage = normaliseUsage(counts)
  // Others count what was used as well, but not of a model.
  return usage && model !== undefined ? { ...usage, model } : undefined
}

const NAMES = /"usage(?:Metadata)?"\s*:/

/** The value itself, and what events of a stream say it in: `message` at its start, `response` at its end. */
function placesIn(value: unknown): Record<string, unknown>[] {
  const whole = objectIn(value)
  if (!whole) return []
  return [whole, objectIn(whole['message']), objectIn(whole['response'])].filter((each) => each !== undefined)
}

const objectIn = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const dataOf = (text: string): unknown[] =>
  text.split(/\r\n|\r|\n/).flatMap((line) => (line.startsWith('data:') ? parsed(line.slice(5)) : []))

/** One value, or one on each line. */
function jsonOf(text: string): unknown[] {
  const whole = parsed(text)
  return whole.length > 0 ? whole : text.split('\n').flatMap((line) => parsed(line))
}

function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    // The mark at the end of a stream, or a line that was cut off.
    return []
  }
}
