import { ClewError, type JsonValue, splitLines } from '@clew/ledger'

/** One JSON value of a file and the line it begins in; or why there is none. */
export type FoundRecord =
  | { readonly line: number; readonly value: JsonValue }
  | { readonly line: number; readonly broken: ClewError }

const MAX_CHARS = 256 * 1024 * 1024

/**
 * The JSON values of a file, whatever its layout: one per line (constant memory), or one value over many lines. A
 * broken line is reported and the next is read; a broken document is one failure.
 */
export async function* readRecords(
  body: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<FoundRecord> {
  let line = 0
  let document: { from: number; lines: string[]; chars: number } | undefined
  let begun = false
  for await (const text of splitLines(body)) {
    line++
    if (document) {
      document.lines.push(text)
      document.chars += text.length
      if (document.chars > MAX_CHARS) throw tooLarge(document.from)
      continue
    }
    if (text.trim() === '') continue
    if (text.length > MAX_CHARS) throw tooLarge(line)
    const value = parse(text)
    if (value !== undefined) yield { line, value }
    else if (!begun && /[[{,:]\s*$/.test(text)) document = { from: line, lines: [text], chars: text.length }
    else yield { line, broken: notJson(line) }
    begun = true
  }
  if (!document) return
  const whole = document.lines.join('\n')
  const value = parse(whole)
  yield value === undefined
    ? { line: document.from, broken: notJson(document.from) }
    : { line: document.from, value }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

// V8's message about invalid JSON quotes a piece of it, so it is not passed on as cause (P3).
const notJson = (line: number): ClewError =>
  new ClewError(
    'broken_import',
    line === 1 ? 'The text is not JSON' : 'The line is not JSON',
    'Write one JSON value per line, or one for the whole file.',
    { line },
  )

const tooLarge = (line: number): ClewError =>
  new ClewError(
    'too_large',
    `The JSON that begins in line ${line} has more than ${MAX_CHARS} characters`,
    'Write its parts one per line (NDJSON), which can be of any number.',
    { line },
  )
