import { canonicalText } from '../hash/canonical.ts'
import type { Codecs } from '../event/codecs.ts'
import { ClewError } from '../errors.ts'
import { isObject, type JsonValue } from '../json.ts'
import { splitLines } from '../transfer/transfer.ts'
import type { MemoryInput } from './check-put.ts'
import type { MemoryFilter, MemoryImportReport } from './ledger-memory.ts'
import type { MemoryScope } from './item.ts'
import { ask, toItem } from './read-items.ts'
import { checkScope } from './check-put.ts'
import type { MemoryParts } from './catch-up-memory.ts'
import { findPlace, readRow } from './write-item.ts'

const PAGE = 200

/** One item a line, by layer, scope, namespace and key; values that JSON lacks are tagged, as they are stored. */
export async function* exportItems(parts: MemoryParts, given: MemoryFilter): AsyncGenerator<string> {
  const { store, reader, workspace } = parts
  const { index, filter } = await ask(parts, given)
  for (let after: { memoryRun: string; namespace: string; key: string } | undefined; ; ) {
    const rows = await index.list({ ...filter, after, limit: PAGE })
    const stored = await store.findEvents({ workspace, positions: rows.map((row) => row.position) })
    const values = new Map(
      (await reader.toPlainEvents(stored)).map((event) => [event.ledger.position, event]),
    )
    for (const row of rows) {
      const event = values.get(row.position)
      if (event && !event.ledger.erased) yield `${JSON.stringify(toItem(row, event.payload.value ?? null))}\n`
    }
    after = rows.at(-1)
    if (rows.length < PAGE) return
  }
}

interface ImportParts extends MemoryParts {
  readonly codecs: Codecs
  readonly put: (input: MemoryInput) => Promise<unknown>
}

/**
 * Writes the items of an export, but those that are there with the same value and those that have expired: so an import
 * that was cut off is simply done again.
 */
export async function importItems(
  parts: ImportParts,
  stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<MemoryImportReport> {
  parts.assertOpen()
  let report: MemoryImportReport = { written: 0, unchanged: 0, expired: 0 }
  let line = 0
  let open: Promise<keyof MemoryImportReport>[] = []
  const settle = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(open)
    open = []
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason
      report = { ...report, [outcome.value]: report[outcome.value] + 1 }
    }
  }
  for await (const text of splitLines(stream)) {
    line++
    if (text.trim() === '') continue
    open.push(importLine(parts, text, line))
    if (open.length >= PAGE) await settle()
  }
  await settle()
  return report
}

async function importLine(parts: ImportParts, text: string, line: number): Promise<keyof MemoryImportReport> {
  const { ports, codecs, put } = parts
  try {
    const { version: _, provenance: _by, createdAt: _born, updatedAt: _at, ...given } = parseItem(text, line)
    const expiresAt = given['expiresAt'] ?? undefined
    if (typeof expiresAt === 'string' && Date.parse(expiresAt) <= ports.now()) return 'expired'
    const input = {
      ...given,
      expiresAt,
      value: codecs.decode((given['value'] ?? null) as JsonValue),
    } as MemoryInput
    if (await isThere(parts, input, given)) return 'unchanged'
    await put(input)
    return 'written'
  } catch (cause) {
    if (!(cause instanceof ClewError) || cause.fields['line'] !== undefined) throw cause
    const message = cause.message.slice(0, -cause.hint.length - 2)
    throw new ClewError(cause.code, `Line ${line}: ${message}`, cause.hint, { ...cause.fields, line }, cause)
  }
}

function parseItem(text: string, line: number): Record<string, unknown> {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (cause) {
    throw broken(line, 'is not JSON', cause)
  }
  if (!isObject(data) || data['layer'] === undefined) throw broken(line, 'is no item of memory')
  return data
}

function broken(line: number, what: string, cause?: unknown): ClewError {
  return new ClewError(
    'broken_import',
    `Line ${line} ${what}`,
    'Import what `clew memory export` wrote, one item a line; lines before it may be written already.',
    { line },
    cause,
  )
}

async function isThere(
  parts: ImportParts,
  input: MemoryInput,
  given: Record<string, unknown>,
): Promise<boolean> {
  const scope: MemoryScope = checkScope(input)
  const { row } = await readRow(
    parts,
    await findPlace(parts, { ...scope, namespace: input.namespace, key: input.key }),
  )
  if (!row) return false
  const stored = await parts.store.findEvents({
    workspace: parts.workspace,
    positions: [row.position],
  })
  const [event] = await parts.reader.toPlainEvents(stored)
  const sameOf = ({
    value = null,
    tags = [],
    expiresAt = null,
    subjects = [],
  }: Record<string, unknown>): string => canonicalText({ value, tags, expiresAt, subjects } as JsonValue)
  return event !== undefined && sameOf(event.payload) === sameOf(given)
}
