import { isoText } from '../event/iso-text.ts'
import { findPhrase } from '../search/highlight.ts'
import type { Phrase } from '../search/search-index.ts'
import { indexedTokens } from '../search/tokens.ts'
import type { StoreCore } from '../store/store.ts'
import { isExpired, nameOf } from './fold.ts'
import { MEMORY_RUN_KIND, type MemoryRow, type MemoryWords, parseMemoryRunId } from './item.ts'
import type { FindRows, MemoryIndex, RowFilter, ScopeFilter } from './memory-index.ts'
import { compareNames, isWithin } from './names.ts'

interface FoldedRun {
  readonly seq: number
  readonly version: number
  readonly rows: Map<string, MemoryRow>
}

/**
 * Default index of memory: rows in the memory of this process, scanned by every query. A ledger that is opened
 * read-only uses it too.
 */
export function foldedMemory(core: Pick<StoreCore, 'findRuns' | 'findEvents'>): MemoryIndex {
  const workspaces = new Map<string, Map<string, FoldedRun>>()
  const words = new WeakMap<MemoryRow, Tokens>()

  const runsIn = (workspace: string): Map<string, FoldedRun> => {
    const memoryRuns = workspaces.get(workspace) ?? new Map<string, FoldedRun>()
    workspaces.set(workspace, memoryRuns)
    return memoryRuns
  }

  function isAsked(memoryRun: string, { memoryRuns, layers }: Omit<ScopeFilter, 'workspace'>): boolean {
    const scope = parseMemoryRunId(memoryRun)
    return (
      scope !== undefined &&
      layers.includes(scope.layer) &&
      (memoryRuns === undefined || memoryRuns.includes(memoryRun))
    )
  }

  const runsAsked = (filter: ScopeFilter): [string, FoldedRun][] =>
    [...runsIn(filter.workspace)].filter(([memoryRun]) => isAsked(memoryRun, filter))

  function rowsIn(filter: RowFilter): MemoryRow[] {
    const { namespaces, tags = [], nowMs } = filter
    const now = nowMs === null ? null : isoText(nowMs)
    return runsAsked(filter)
      .flatMap(([, { rows }]) => [...rows.values()])
      .filter(
        (row) =>
          (now === null || !isExpired(row, now)) &&
          (namespaces === undefined || namespaces.some((above) => isWithin(row.namespace, above))) &&
          tags.every((names) => names.some((tag) => row.tags.includes(tag))),
      )
  }

  /** Without rows whose event was erased or pruned. */
  async function current(workspace: string, rows: readonly MemoryRow[]): Promise<MemoryRow[]> {
    const positions = rows.map(({ position }) => position)
    const events = await core.findEvents({ workspace, positions })
    const there = new Set(events.filter(({ erased }) => !erased).map(({ position }) => position))
    return rows.filter(({ position }) => there.has(position))
  }

  function fits(row: MemoryRow, { all, names = [], none }: FindRows): boolean {
    const { name = [], text = [] } = words.get(row) ?? {}
    const has = (phrase: Phrase): boolean => findPhrase(name, phrase) >= 0 || findPhrase(text, phrase) >= 0
    return all.every(has) && names.every((phrase) => findPhrase(name, phrase) >= 0) && !none.some(has)
  }

  const newestFirst = (rows: MemoryRow[]): MemoryRow[] => rows.sort((a, b) => b.position - a.position)

  return {
    async behind(filter) {
      const { workspace, memoryRuns: ids, version } = filter
      const { runs } = await core.findRuns({ workspace, ids, systemRun: MEMORY_RUN_KIND, deleted: true })
      return runs.flatMap(({ summary: { runId: memoryRun }, seq }) => {
        if (!isAsked(memoryRun, filter)) return []
        const known = runsIn(workspace).get(memoryRun)
        const foldedSeq = known?.version === version ? known.seq : 0
        return seq > foldedSeq ? [{ memoryRun, seq, foldedSeq }] : []
      })
    },
    async apply({ workspace, memoryRun, fromSeq, toSeq, version, gone, rows: added }) {
      const memoryRuns = runsIn(workspace)
      const known = memoryRuns.get(memoryRun)
      if ((known?.version === version ? known.seq : 0) !== fromSeq) return false
      const rows = fromSeq === 0 || !known ? new Map<string, MemoryRow>() : known.rows
      const positions = new Set(gone)
      for (const [name, row] of rows) if (positions.has(row.position)) rows.delete(name)
      for (const { words: own, ...row } of added) {
        rows.set(nameOf(row), row)
        words.set(row, tokensOf(own))
      }
      memoryRuns.set(memoryRun, { seq: toSeq, version, rows })
      return true
    },
    async list(query) {
      const { names, positions, order = 'name', after, before = Number.MAX_SAFE_INTEGER, limit } = query
      const [wantedNames, wantedPositions] = [
        names && new Set(names.map(nameOf)),
        positions && new Set(positions),
      ]
      const found = rowsIn(query).filter(
        (row) =>
          (wantedNames?.has(nameOf(row)) ?? true) &&
          (wantedPositions?.has(row.position) ?? true) &&
          row.position < before &&
          (after === undefined || byName(row, after) > 0),
      )
      const rows = await current(query.workspace, found)
      return (order === 'newest' ? newestFirst(rows) : rows.sort(byName)).slice(0, limit)
    },
    differing: async (workspace, given) =>
      given.flatMap(({ words: own, ...row }) => {
        const known = runsIn(workspace).get(row.memoryRun)?.rows.get(nameOf(row))
        const tokens = known && words.get(known)
        return JSON.stringify(tokens) === JSON.stringify(tokensOf(own)) ? [] : [row.position]
      }),
    async find(filter) {
      const found = rowsIn(filter).filter((row) => fits(row, filter))
      return newestFirst(await current(filter.workspace, found))
        .slice(0, filter.limit)
        .map(({ position, updatedAt }) => ({ position, updatedAt }))
    },
    async sizes(filter) {
      const sizes = runsAsked(filter).map(async ([memoryRun, { rows }]) => {
        const held = await current(filter.workspace, [...rows.values()])
        return { memoryRun, items: held.length, bytes: held.reduce((sum, { bytes }) => sum + bytes, 0) }
      })
      return (await Promise.all(sizes)).filter(({ items }) => items > 0)
    },
    async clear(workspace) {
      workspaces.delete(workspace)
    },
  }
}

interface Tokens {
  readonly name: readonly string[]
  readonly text: readonly string[]
}

const tokensOf = ({ name, text }: MemoryWords): Tokens => ({
  name: indexedTokens(name),
  text: indexedTokens(text),
})

type Named = Pick<MemoryRow, 'memoryRun' | 'namespace' | 'key'>

const byName = (a: Named, b: Named): number =>
  compareNames(a.memoryRun, b.memoryRun) ||
  compareNames(a.namespace, b.namespace) ||
  compareNames(a.key, b.key)
