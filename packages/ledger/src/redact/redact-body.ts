import type { JsonValue } from '../json.ts'
import { alignRedacted, type TextChange } from './align-redacted.ts'
import type { Redactor } from './redact.ts'

const LINE = /^(data: ?)?([[{].*[\]}])\s*$/

/**
 * Redacts a body by its content: JSON as a value, so that rules for keys and paths apply; lines of JSON, as models
 * stream them, each by itself and in the text that they spell together; everything else as text.
 */
export function redactBody(text: string, type: string, redactor: Redactor): readonly TextChange[] {
  if (/[/+]json\b/i.test(type)) {
    const changed = redactJson(text, redactor)
    if (changed !== undefined) return [{ start: 0, end: text.length, text: changed }]
  }
  const changes = isLines(type) ? redactLines(text, redactor) : []
  if (changes.length > 0) return changes
  const clean = redactor.text(text)
  return clean === text ? [] : alignRedacted(text, clean)
}

const isLines = (type: string): boolean => /event-stream|ndjson|jsonl|json-seq/i.test(type)

/** The new text if something in it was redacted. */
function redactJson(text: string, redactor: Redactor): string | undefined {
  const value = parse(text)
  if (value === undefined) return undefined
  const { value: clean, redacted } = redactor.value(value)
  return redacted === 0 ? undefined : redactor.text(JSON.stringify(clean))
}

interface Line {
  readonly start: number
  readonly end: number
  readonly lead: string
  readonly value: JsonValue
}

function redactLines(text: string, redactor: Redactor): TextChange[] {
  const lines = linesOf(text)
  const spelled = redactSpelled(
    lines.map(({ value }) => value),
    redactor,
  )
  const changes = lines.flatMap(({ start, end, lead, value }, at): TextChange[] => {
    const { value: clean, redacted } = redactor.value(spelled[at] as JsonValue)
    if (redacted === 0 && clean === value) return []
    return [{ start, end, text: lead + redactor.text(JSON.stringify(clean)) }]
  })
  // A secret that stands in no line of JSON, or across them.
  const whole = applyChanges(text, changes)
  const clean = redactor.text(whole)
  return clean === whole ? changes : [{ start: 0, end: text.length, text: clean }]
}

function linesOf(text: string): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    const line = text.slice(start, end)
    const [, lead = '', json] = LINE.exec(line) ?? []
    const value = json === undefined ? undefined : parse(json)
    if (value !== undefined && json !== undefined)
      lines.push({ start, end: start + lead.length + json.length, lead, value })
    start = end + 1
  }
  return lines
}

/**
 * Streamed words are split over several events, at the same place of each: these strings are also redacted joined. A secret
 * found in them is replaced by a placeholder in the event where it ends.
 */
function redactSpelled(values: readonly JsonValue[], redactor: Redactor): readonly JsonValue[] {
  const spelled = new Map<string, { at: number; path: readonly (string | number)[]; text: string }[]>()
  for (const [at, value] of values.entries())
    visitStrings(value, [], (path, text) => {
      const key = JSON.stringify(path)
      const pieces = spelled.get(key)
      if (pieces) pieces.push({ at, path, text })
      else spelled.set(key, [{ at, path, text }])
    })
  const next = [...values]
  for (const pieces of spelled.values()) {
    // Fields that are equal in each event, such as an id or a type, are no part of a streamed word.
    if (pieces.every(({ text }) => text === pieces[0]?.text)) continue
    const whole = pieces.map(({ text }) => text).join('')
    const clean = redactor.text(whole)
    if (clean === whole) continue
    const texts = recut(
      pieces.map(({ text }) => text),
      alignRedacted(whole, clean),
    )
    for (const [index, { at, path }] of pieces.entries())
      next[at] = withString(next[at] as JsonValue, path, texts[index] as string)
  }
  return next
}

function visitStrings(
  value: JsonValue,
  path: readonly (string | number)[],
  visit: (path: readonly (string | number)[], text: string) => void,
): void {
  if (typeof value === 'string') return visit(path, value)
  if (Array.isArray(value)) for (const [at, item] of value.entries()) visitStrings(item, [...path, at], visit)
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) visitStrings(item, [...path, key], visit)
}

function withString(value: JsonValue, path: readonly (string | number)[], text: string): JsonValue {
  const [step, ...rest] = path
  if (step === undefined) return text
  if (Array.isArray(value))
    return value.map((item, at) => (at === step ? withString(item, rest, text) : item))
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonValue>).map(([key, item]) => [
      key,
      key === step ? withString(item, rest, text) : item,
    ]),
  )
}

/** A JSON text, or undefined. */
function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    // Text like any other.
    return undefined
  }
}

function applyChanges(text: string, changes: readonly TextChange[]): string {
  return recut([text], changes)[0] as string
}

/**
 * The pieces with the changes made. What replaces a part of the text goes to the piece in which that part ends, so together
 * they give the changed whole, and each piece has what it had as far as that is the same.
 */
export function recut(pieces: readonly string[], changes: readonly TextChange[]): string[] {
  const text = pieces.join('')
  const out: string[] = []
  let [at, change, begin] = [0, 0, 0]
  for (const [index, piece] of pieces.entries()) {
    const end = index === pieces.length - 1 ? text.length : begin + piece.length
    let cut = ''
    for (let next = changes[change]; next && next.end <= end; next = changes[++change]) {
      cut += text.slice(at, next.start) + next.text
      at = next.end
    }
    const open = changes[change]
    const until = Math.max(at, open && open.start < end ? open.start : end)
    out.push(cut + text.slice(at, until))
    at = until
    begin = end
  }
  return out
}
