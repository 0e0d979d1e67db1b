import type { OwnEvent } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { isErased } from '../fold/fields.ts'
import { isoText } from '../event/iso-text.ts'
import { collectText } from '../search/extract.ts'
import { indexText } from '../search/tokens.ts'
import { estimateTokens } from './estimate-tokens.ts'
import type { MemoryRow, MemoryWords } from './item.ts'
import { isNamespace, isPlainName } from './names.ts'

/** Raised when the same events would give other rows: those of an older version are made again. */
export const MEMORY_VERSION = 1

/** The last time whose text sorts as the time does; what expires later does not. */
export const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

export const MEMORY_TYPES = [
  'execution.memory_written',
  'execution.memory_promoted',
  'execution.memory_forgotten',
] as const

export const nameOf = ({ namespace, key }: { readonly namespace: string; readonly key: string }): string =>
  `${namespace}\n${key}`

/** The name an event is about; undefined for one that is no event of memory, has no usable name, or was erased. */
export function subjectOf(event: ClewEvent): { namespace: string; key: string } | undefined {
  const { namespace, key } = asMemoryEvent(event)?.payload ?? {}
  if (namespace === undefined || key === undefined) return undefined
  return isNamespace(namespace) && isPlainName(key) ? { namespace, key } : undefined
}

type MemoryEvent = OwnEvent<(typeof MEMORY_TYPES)[number]>

const asMemoryEvent = (event: ClewEvent): MemoryEvent | undefined =>
  (MEMORY_TYPES as readonly string[]).includes(event.eventType) && !isErased(event)
    ? (event as MemoryEvent)
    : undefined

/**
 * M1–M3 as a fold: one event of a memory run, into what it remembers by `nameOf`. A write stands until the next write of its name, or until an event forgets it; that
 * one names the version it saw, so that a write which came between is not lost. Time plays no part but in one thing:
 * what is written where something had expired is not a change of it. An event may take the place of writes under other
 * names of the same item (`replaces`): names are recorded in another form when redaction rules change.
 */
export function foldMemory(rows: Map<string, MemoryRow>, event: ClewEvent): void {
  const own = asMemoryEvent(event)
  const subject = subjectOf(event)
  if (!own || !subject) return
  const name = nameOf(subject)
  const replaced = replacedBy(event)
  let before = rows.get(name)
  if (replaced.length > 0)
    for (const [other, row] of rows)
      if (replaced.includes(row.seq) && other !== name) {
        rows.delete(other)
        before ??= row
      }
  if (own.eventType === 'execution.memory_forgotten') {
    const { version = Number.POSITIVE_INFINITY } = own.payload
    if (before && before.seq <= version) rows.delete(name)
    return
  }
  const standing = before && !isExpired(before, event.ledger.recordedAt) ? before : undefined
  rows.set(name, toRow(own, subject, standing))
}

/** Seqs of the writes whose place an event takes. */
export const replacedBy = (event: ClewEvent): readonly number[] =>
  asMemoryEvent(event)?.payload.replaces ?? []

export const isExpired = ({ expiresAt }: Pick<MemoryRow, 'expiresAt'>, at: string): boolean =>
  expiresAt !== null && expiresAt <= at

function toRow(
  { payload, eventId, correlationId, ledger }: MemoryEvent,
  { namespace, key }: { namespace: string; key: string },
  before: MemoryRow | undefined,
): MemoryRow {
  const { value = null, tags, expiresAt } = payload
  const json = JSON.stringify(value)
  return {
    position: ledger.position,
    memoryRun: correlationId,
    seq: ledger.seq,
    bornSeq: before?.bornSeq ?? ledger.seq,
    createdAt: before?.createdAt ?? ledger.recordedAt,
    updatedAt: ledger.recordedAt,
    namespace,
    key,
    tags: plainNames(tags),
    expiresAt: timeOf(expiresAt),
    ...writtenFor({ payload }),
    eventId,
    bytes: json.length,
    tokens: estimateTokens(json),
  }
}

/** The people an event of memory is about, and the run in which it was written. */
export const writtenFor = ({
  payload: { subjects, runId },
}: Pick<ClewEvent, 'payload'>): Pick<MemoryRow, 'subjects' | 'runId'> => ({
  subjects: plainNames(subjects),
  runId: plainNames([runId])[0] ?? null,
})

/** Searchable text of the item that an event writes. */
export const wordsOf = ({ namespace, key, tags }: MemoryRow, { payload }: ClewEvent): MemoryWords => ({
  name: indexText([namespace, key, ...tags].join(' \n')),
  text: indexText(collectText(payload.value)),
})

const plainNames = (given: unknown): string[] =>
  Array.isArray(given)
    ? given.filter((each): each is string => typeof each === 'string' && isPlainName(each))
    : []

function timeOf(given: string | undefined): string | null {
  const ms = given === undefined ? Number.NaN : Date.parse(given)
  return Number.isNaN(ms) || ms > LAST_MS ? null : isoText(ms)
}

/**
 * P5: to the events of one memory run that are to be erased, all others about the same items. An item of which one write goes
 * must go whole: else what it held before would come back with the next fold.
 */
export function expandToWholeItems(
  events: readonly ClewEvent[],
  erasedSeqs: ReadonlySet<number>,
): ClewEvent[] {
  const names = new Set<string>()
  const bySeq = new Map(events.map((event) => [event.ledger.seq, event]))
  const subjectsOf = (event: ClewEvent): string[] =>
    [event, ...replacedBy(event).map((seq) => bySeq.get(seq))].flatMap((each) => {
      const subject = each && subjectOf(each)
      return subject ? [nameOf(subject)] : []
    })
  for (const event of events)
    if (erasedSeqs.has(event.ledger.seq)) for (const name of subjectsOf(event)) names.add(name)
  // An item that was renamed is followed both ways, until nothing more is found.
  for (let size = -1; size !== names.size; ) {
    size = names.size
    for (const event of events) {
      const own = replacedBy(event).length > 0 ? subjectsOf(event) : []
      if (own.some((name) => names.has(name))) for (const name of own) names.add(name)
    }
  }
  return events.filter((event) => {
    const subject = subjectOf(event)
    return erasedSeqs.has(event.ledger.seq) || (subject !== undefined && names.has(nameOf(subject)))
  })
}
