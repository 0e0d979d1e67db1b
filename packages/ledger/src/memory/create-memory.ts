import { checkCount, checkLimit } from '../check-options.ts'
import type { Codecs } from '../event/codecs.ts'
import type { EventInput } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { isObject, type JsonValue } from '../json.ts'
import { collectText } from '../search/extract.ts'
import { highlight } from '../search/highlight.ts'
import { buildContext } from './build-context.ts'
import { checkKey, checkNamespace, checkPut, checkScope } from './check-put.ts'
import type { LedgerMemory, MemoryName } from './ledger-memory.ts'
import { assertWords, parseWords } from './parse-words.ts'
import type { MemoryPolicy } from './policy.ts'
import { promoteItems } from './promote.ts'
import { rankRows } from './rank.ts'
import { ask, toItems } from './read-items.ts'
import { createSpellings } from './spellings.ts'
import { forgottenEvent, sweepItems, type SweepParts } from './sweep.ts'
import { exportItems, importItems } from './transfer-items.ts'
import {
  assertVersion,
  findOwn,
  findPlace,
  type ItemPlace,
  otherSeqs,
  readRow,
  toReceipt,
  writeIf,
} from './write-item.ts'

export interface LedgerMemoryParts extends Omit<SweepParts, 'spellings'> {
  readonly codecs: Codecs
  readonly policy: MemoryPolicy
}

export function createLedgerMemory(given: LedgerMemoryParts): LedgerMemory {
  const parts = { ...given, spellings: createSpellings(given.identities) }
  const { ports, policy, identities } = parts

  const placeOf = (name: MemoryName): Promise<ItemPlace> =>
    findPlace(parts, {
      ...checkScope(name),
      namespace: checkNamespace(name.namespace),
      key: checkKey(name.key),
    })

  const put: LedgerMemory['put'] = async (input, { ifVersion, eventId, runId } = {}) => {
    checkCount('ifVersion', ifVersion)
    const { layer, value, tags, subjects, expiresAt } = checkPut(input, ports.now())
    const place = await placeOf(input)
    const toEvent = (replaces: readonly number[]): EventInput => ({
      eventType: 'execution.memory_written',
      correlationId: place.memoryRun,
      eventId,
      source: { origin: runId === undefined ? 'system' : 'agent', runtime: 'clew' },
      payload: {
        layer,
        namespace: place.namespace,
        key: place.key,
        value,
        ...(tags.length > 0 && { tags: tags.map((tag) => identities.identity(tag).stored) }),
        ...(expiresAt !== null && { expiresAt }),
        ...(subjects.length > 0 && { subjects }),
        ...(runId !== undefined && { runId }),
        ...(replaces.length > 0 && { replaces }),
      },
    })
    const before = await findOwn(parts, place.memoryRun, eventId)
    if (before) return toReceipt(place, before)
    if (ifVersion === undefined) {
      const [written] = await parts.append([toEvent(await otherSeqs(parts, place))])
      return toReceipt(place, written as NonNullable<typeof written>)
    }
    const written = await writeIf(parts, place, async (row) => {
      assertVersion(row, ifVersion, place)
      return toEvent(await otherSeqs(parts, place))
    })
    return toReceipt(place, written as NonNullable<typeof written>)
  }

  return {
    put,
    async get(name) {
      const { row } = await readRow(parts, await placeOf(name))
      const [item] = row ? await toItems(parts, [row]) : []
      return item ?? null
    },
    async list({ limit = 50, cursor, ...wanted } = {}) {
      checkLimit(limit)
      const after = cursor === undefined ? undefined : parseCursor(cursor)
      const { index, filter } = await ask(parts, wanted)
      const rows = await index.list({ ...filter, after, limit: limit + 1 })
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      return {
        items: await toItems(parts, shown),
        nextCursor: last && rows.length > limit ? formatCursor(last) : null,
      }
    },
    async search(query, { limit = 20, ...wanted } = {}) {
      checkLimit(limit)
      const words = parseWords(query)
      assertWords(words)
      const { index, filter } = await ask(parts, wanted)
      const ranked = (await rankRows(index, filter, words)).slice(0, limit)
      const positions = ranked.map(({ position }) => position)
      const rows = await index.list({ ...filter, positions, limit })
      const byPosition = new Map(rows.map((row) => [row.position, row]))
      const best = ranked.flatMap(({ position }) => byPosition.get(position) ?? [])
      const scores = new Map(ranked.map(({ position, score }) => [byPosition.get(position)?.eventId, score]))
      return (await toItems(parts, best)).map((item) => {
        const texts = {
          name: [item.namespace, item.key, ...item.tags].join(' \n'),
          data: collectText(item.value),
          error: '',
          message: '',
        }
        const marked = highlight(texts, [...words.all, ...words.words]) ?? null
        return { item, score: scores.get(item.provenance.eventId) ?? 0, highlight: marked }
      })
    },
    async forget(name, { ifVersion, eventId, runId, reason = 'asked' } = {}) {
      checkCount('ifVersion', ifVersion)
      const place = await placeOf(name)
      const before = await findOwn(parts, place.memoryRun, eventId)
      if (before) return toReceipt(place, before)
      const { row, others } = await readRow(parts, place)
      assertVersion(row, ifVersion, place)
      if (!row) return null
      const [written] = await parts.append([
        {
          ...forgottenEvent(
            parts,
            [row, ...others.filter(({ memoryRun }) => memoryRun === row.memoryRun)],
            place,
            reason,
            runId,
          ),
          eventId,
        },
      ])
      // A scope that was renamed may have an older item of that name.
      for (const other of others)
        if (other.memoryRun !== row.memoryRun)
          await parts.append([forgottenEvent(parts, [other], place, reason, runId)])
      return toReceipt(place, written as NonNullable<typeof written>)
    },
    promote: (options = {}) => promoteItems(parts, policy.promote, options),
    sweep: (options = {}) => sweepItems(parts, policy.retention, options),
    context: (options) => buildContext(parts, options),
    export: (filter = {}) => exportItems(parts, filter),
    import: (stream) => importItems({ ...parts, put }, stream),
  }
}

interface Cursor {
  readonly memoryRun: string
  readonly namespace: string
  readonly key: string
}

const formatCursor = ({ memoryRun, namespace, key }: Cursor): string =>
  encodeURIComponent(JSON.stringify({ memoryRun, namespace, key }))

function parseCursor(cursor: string): Cursor {
  try {
    const parsed = JSON.parse(decodeURIComponent(cursor)) as JsonValue
    if (
      isObject(parsed) &&
      ['memoryRun', 'namespace', 'key'].every((name) => typeof parsed[name] === 'string')
    )
      return parsed as unknown as Cursor
  } catch {
    // Refused below, like every other text that no listing returned.
  }
  throw new ClewError(
    'bad_option',
    'The cursor is not one that a listing gave',
    'Use nextCursor of the page before, or none.',
    { option: 'cursor' },
  )
}
