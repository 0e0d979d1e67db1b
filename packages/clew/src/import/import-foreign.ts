import { createHash } from 'node:crypto'
import { createAg2Mapper } from '@clew/adapters/ag2'
import { mapChat, readChats } from '@clew/adapters/openai-chat'
import { ClewError, type ErrorCode, type EventInput, type JsonValue, type Ledger } from '@clew/ledger'
import type { ForeignReport, Refusal } from '../operations/import.ts'
import { readRecords } from './read-records.ts'
import { runNames } from './run-names.ts'

export interface ImportFile {
  /** As it was named; undefined for the standard input. */
  readonly name: string | undefined
  readonly body: AsyncIterable<string | Uint8Array>
}

export interface ForeignOptions {
  readonly format: 'openai-chat' | 'ag2'
  readonly runId?: string | undefined
  readonly agent?: string | undefined
  readonly onProgress?: ((events: number) => void) | undefined
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'broken_import',
  'bad_envelope',
  'bad_payload',
  'bad_value',
  'too_large',
  'conflict',
  'busy',
  'stale_epoch',
])
const SHOWN = 100
const BATCH = 1000
const IN_FLIGHT = 8

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Foreign records as runs. What cannot be read is passed by and reported; event ids come from the record, so that an
 * import that was cut short is simply done again.
 */
export async function importForeign(
  ledger: Ledger,
  files: readonly ImportFile[],
  { format, runId, agent, onProgress }: ForeignOptions,
): Promise<ForeignReport> {
  const lastPosition = await ledger.newestPosition()
  const at = new Date().toISOString()
  const runs = new Set<string>()
  const refused: Refusal[] = []
  const writing = new Set<Promise<void>>()
  let refusedTotal = 0
  let events = 0
  let passed = 0
  let failure: unknown

  /** Collects a refused record and continues; an error of the store ends the import. */
  function refuse(error: unknown, file: ImportFile, line: number | null): void {
    if (!(error instanceof ClewError) || !REFUSALS.has(error.code)) throw error
    refusedTotal++
    if (refused.length >= SHOWN) return
    const { field } = error.fields
    refused.push({
      file: file.name ?? '-',
      line,
      field: typeof field === 'string' ? field : null,
      reason: error.message,
    })
  }

  async function append(batch: readonly EventInput[], file: ImportFile, line: number | null): Promise<void> {
    try {
      for (let from = 0; from < batch.length; from += BATCH) {
        const stored = await ledger.append(batch.slice(from, from + BATCH))
        events += stored.length
        for (const { ledger: place, correlationId } of stored) {
          if (place.position <= lastPosition) passed++
          runs.add(correlationId)
        }
        onProgress?.(events)
      }
    } catch (error) {
      refuse(error, file, line)
    }
  }

  /** Several runs in parallel, so that their commits are one (L5). */
  async function write(batch: readonly EventInput[], file: ImportFile, line: number): Promise<void> {
    const done: Promise<void> = append(batch, file, line)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => writing.delete(done))
    writing.add(done)
    if (writing.size >= IN_FLIGHT) await Promise.race(writing)
    if (failure !== undefined) throw failure as Error
  }

  async function importChats(file: ImportFile, name: string | undefined): Promise<void> {
    const found = async (value: JsonValue, line: number, only: boolean): Promise<void> => {
      try {
        const chats = readChats(value)
        for (const [nth, chat] of chats.entries()) {
          const number = chats.length > 1 ? (only ? nth + 1 : `${line}.${nth + 1}`) : line
          const base = name ?? `chat-${sha256(JSON.stringify(chat)).slice(0, 12)}`
          const own = name === undefined || (only && chats.length === 1) ? base : `${base}-${number}`
          await write(mapChat(chat, { sha256, runId: own, agent, at }), file, line)
        }
      } catch (error) {
        refuse(error, file, line)
      }
    }
    // A document is one chat and has the name of its file; the lines of a file are numbered, however many there are.
    const document = file.name === undefined || /\.json$/i.test(file.name)
    let first: { value: JsonValue; line: number } | undefined
    let records = 0
    for await (const record of readRecords(file.body)) {
      records++
      if (document && records === 1 && 'value' in record) {
        first = record
        continue
      }
      if (first) await found(first.value, first.line, false)
      first = undefined
      if ('broken' in record) refuse(record.broken, file, record.line)
      else await found(record.value, record.line, false)
    }
    if (first) await found(first.value, first.line, true)
  }

  async function importAg2(file: ImportFile, name: string): Promise<void> {
    let count = 1
    let mapper = createAg2Mapper({ sha256, runId: name, agent, at })
    let batch: EventInput[] = []
    const flush = async (line: number): Promise<void> => {
      const ready = batch
      batch = []
      await append(ready, file, line)
    }
    for await (const record of readRecords(file.body)) {
      const { line } = record
      if ('broken' in record) {
        refuse(record.broken, file, line)
        continue
      }
      for (const native of eventsOf(record.value)) {
        if (mapper.ended) {
          await flush(line)
          mapper = createAg2Mapper({ sha256, runId: `${name}-${++count}`, agent, at })
        }
        try {
          batch.push(...mapper.push(native))
        } catch (error) {
          refuse(error, file, line)
        }
        if (batch.length >= BATCH) await flush(line)
      }
    }
    await flush(0)
  }

  const names = runNames(files.map((file) => file.name ?? 'stdin'))
  for (const [index, file] of files.entries()) {
    const own = files.length === 1 || runId === undefined ? runId : `${runId}-${names[index]}`
    const name = own ?? (file.name === undefined && format === 'openai-chat' ? undefined : names[index])
    try {
      if (format === 'ag2') await importAg2(file, name ?? 'ag2')
      else await importChats(file, name)
    } catch (error) {
      refuse(error, file, null)
    }
  }
  await Promise.all(writing)
  if (failure !== undefined) throw failure as Error
  return { files: files.length, runs: runs.size, events, passed, refused, refusedTotal }
}

/** A line is an event, a list of them, or an object that has one. */
function eventsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  const inside = typeof value === 'object' && value !== null ? value['events'] : undefined
  return Array.isArray(inside) ? inside : [value]
}
