import type { SQLInputValue } from 'node:sqlite'
import {
  systemRunRange,
  createTags,
  indexedTokens,
  MEMORY_RUN_KIND,
  memoryRunId,
  type MemoryChange,
  type MemoryIndex,
  type MemoryRow,
  type MemoryScope,
  parseMemoryRunId,
  type Phrase,
  type Ports,
  type RowFilter,
  type ScopeFilter,
} from '@clew/ledger'
import type { Connection } from './connection.ts'
import { createPrepared } from './prepared.ts'

const COLUMNS = `m.position, s.book, m.namespace, m.key, m.seq, m.born_seq, m.created_at, m.updated_at, m.expires_at,
  m.tags, m.subjects, m.event_id, m.run_id, m.bytes, m.tokens`
const ITEMS = 'memory_scopes s CROSS JOIN memory_items m ON m.scope = s.id'
/** Replaces the final `/` in the upper bound of a layer's id range: `0` is the next character. */
const LAYER_END = '0'

interface Clause {
  readonly where: string[]
  readonly values: SQLInputValue[]
}

/** Rows of memory items (M1–M3), in the file of the ledger. */
export function createMemory(
  { db, readSnapshot, write }: Connection,
  ports: Pick<Ports, 'sha256'>,
): MemoryIndex {
  const prepared = createPrepared(db)
  const tags = createTags(ports.sha256)
  const scopeTag = (workspace: string, memoryRun: string): string =>
    tags.tag('run', `${workspace}\n${memoryRun}`)
  const layerTag = (workspace: string, layer: string): string =>
    tags.tag('workspace', `${workspace}\n${layer}`)

  /** Condition on the name of a memory run in `column`. */
  function inScopes({ workspace, memoryRuns, layers }: ScopeFilter, column: string, owner: string): Clause {
    const values: SQLInputValue[] = [workspace]
    const ranges = layers.map((layer) => {
      const from = memoryRunId({ layer, scope: '' })
      values.push(from, from.slice(0, -1) + LAYER_END)
      return `(${column} >= ? AND ${column} < ?)`
    })
    const where = [`${owner}.workspace = ?`, `(${ranges.join(' OR ') || '0'})`]
    if (memoryRuns) {
      where.push(`${column} IN (SELECT value FROM json_each(?))`)
      values.push(JSON.stringify(memoryRuns))
    }
    return { where, values }
  }

  function inRows(filter: RowFilter): Clause {
    const { where, values } = inScopes(filter, 's.book', 's')
    if (filter.nowMs !== null) {
      where.push('(m.expires_at IS NULL OR m.expires_at > ?)')
      values.push(new Date(filter.nowMs).toISOString())
    }
    if (filter.namespaces) {
      const each = filter.namespaces.map((namespace) => {
        // The namespaces below it: from the `/` after its name to the character after `/`.
        values.push(namespace, `${namespace}/`, `${namespace}0`)
        return '(m.namespace = ? OR (m.namespace >= ? AND m.namespace < ?))'
      })
      where.push(`(${each.join(' OR ') || '0'})`)
    }
    for (const names of filter.tags ?? []) {
      const marks = names.map(() => '?').join(', ')
      where.push(`EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE t.value IN (${marks}))`)
      values.push(...names)
    }
    return { where, values }
  }

  const findScope = () =>
    prepared('SELECT id, seq, version FROM memory_scopes WHERE workspace = ? AND book = ?')
  const insertScope = () =>
    prepared('INSERT INTO memory_scopes (workspace, book, seq, version) VALUES (?, ?, ?, ?)')
  const moveScope = () => prepared('UPDATE memory_scopes SET seq = ?, version = ? WHERE id = ?')
  const dropRow = () => prepared('DELETE FROM memory_items WHERE position = ?')
  const dropRows = () => prepared('DELETE FROM memory_items WHERE scope = ?')
  const insertRow = () =>
    prepared(`INSERT INTO memory_items (position, scope, namespace, key, seq, born_seq, created_at, updated_at,
    expires_at, tags, subjects, event_id, run_id, bytes, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const hasPayload = () => prepared('SELECT 1 FROM payloads WHERE position = ?')
  const insertWords = () =>
    prepared('INSERT INTO memory_words (rowid, place, named, name, text) VALUES (?, ?, ?, ?, ?)')
  const wordsAt = () =>
    prepared('SELECT rowid AS position, place, named, name, text FROM memory_words WHERE rowid = ?')
  function insert(scope: number, workspace: string, row: MemoryChange['rows'][number]): void {
    const { position, namespace, key, seq, bornSeq, createdAt, updatedAt, expiresAt, eventId, runId } = row
    // The item was read before this transaction began, and may have been erased or pruned since.
    if (!hasPayload().get(position)) return
    insertRow().run(
      position,
      scope,
      namespace,
      key,
      seq,
      bornSeq,
      createdAt,
      updatedAt,
      expiresAt,
      JSON.stringify(row.tags),
      JSON.stringify(row.subjects),
      eventId,
      runId,
      row.bytes,
      row.tokens,
    )
    insertWords().run(...wordsRow(workspace, row))
  }
  function wordsRow(workspace: string, row: MemoryChange['rows'][number]): [number, ...string[]] {
    const { layer } = parseMemoryRunId(row.memoryRun) as MemoryScope
    const place = `${scopeTag(workspace, row.memoryRun)} ${layerTag(workspace, layer)}`
    const named = indexedTokens(row.words.name).map(inName).join(' ')
    return [row.position, place, named, row.words.name, row.words.text]
  }

  return {
    behind(filter) {
      const { from, to } = systemRunRange(MEMORY_RUN_KIND)
      const { where, values } = inScopes(filter, 'r.run_id', 'r')
      const sql = `SELECT r.run_id AS book, r.seq, CASE WHEN s.version = ? THEN s.seq ELSE 0 END AS folded
        FROM runs r LEFT JOIN memory_scopes s ON s.workspace = r.workspace AND s.book = r.run_id
        WHERE r.run_id >= ? AND r.run_id < ? AND ${where.join(' AND ')}
          AND r.seq > coalesce(CASE WHEN s.version = ? THEN s.seq END, 0)`
      const { version } = filter
      return readSnapshot(() =>
        prepared(sql)
          .all(version, from, to, ...values, version)
          .map((row) => ({
            memoryRun: row['book'] as string,
            seq: row['seq'] as number,
            foldedSeq: row['folded'] as number,
          })),
      )
    },
    apply: ({ workspace, memoryRun, fromSeq, toSeq, version, gone, rows }) =>
      write(() => {
        const scope = findScope().get(workspace, memoryRun)
        const folded = scope?.['version'] === version ? (scope['seq'] as number) : 0
        if (folded !== fromSeq) return false
        const id = scope
          ? (scope['id'] as number)
          : Number(insertScope().run(workspace, memoryRun, toSeq, version).lastInsertRowid)
        if (scope) {
          if (fromSeq === 0) dropRows().run(id)
          moveScope().run(toSeq, version, id)
        }
        for (const position of gone) dropRow().run(position)
        for (const row of rows) insert(id, workspace, row)
        return true
      }),
    list(query) {
      const { names, positions, order = 'name', after, before, limit } = query
      const { where, values } = inRows(query)
      const add = (condition: string, ...given: SQLInputValue[]): void => {
        where.push(condition)
        values.push(...given)
      }
      if (names) {
        const each = names.map(() => '(m.namespace = ? AND m.key = ?)').join(' OR ')
        add(`(${each || '0'})`, ...names.flatMap(({ namespace, key }) => [namespace, key]))
      }
      if (positions) add('m.position IN (SELECT value FROM json_each(?))', JSON.stringify(positions))
      if (after) add('(s.book, m.namespace, m.key) > (?, ?, ?)', after.memoryRun, after.namespace, after.key)
      if (before !== undefined) add('m.position < ?', before)
      const orderBy = order === 'name' ? 's.book, m.namespace, m.key' : 'm.position DESC'
      const sql = `SELECT ${COLUMNS} FROM ${ITEMS} WHERE ${where.join(' AND ')} ORDER BY ${orderBy} LIMIT ?`
      return readSnapshot(() =>
        prepared(sql)
          .all(...values, limit)
          .map(toRow),
      )
    },
    differing: (workspace, rows) =>
      readSnapshot(() =>
        rows
          .filter((row) => {
            const stored = Object.values(wordsAt().get(row.position) ?? {})
            return JSON.stringify(stored) !== JSON.stringify(wordsRow(workspace, row))
          })
          .map(({ position }) => position),
      ),
    find(filter) {
      const { workspace, memoryRuns, layers, all, names = [], none, limit } = filter
      const places = memoryRuns
        ? memoryRuns.map((memoryRun) => scopeTag(workspace, memoryRun))
        : layers.map((layer) => layerTag(workspace, layer))
      if (places.length === 0) return Promise.resolve([])
      const wanted = [
        `(${places.map((tag) => `place : ${tag}`).join(' OR ')})`,
        ...all.map((phrase) => phraseText('{name text}', phrase)),
        ...names.map((phrase) => phraseText('named', { ...phrase, tokens: phrase.tokens.map(inName) })),
      ]
      const unwanted = none.map((phrase) => phraseText('{name text}', phrase))
      const match = `(${wanted.join(' AND ')})${unwanted.length > 0 ? ` NOT (${unwanted.join(' OR ')})` : ''}`
      const { where, values } = inRows(filter)
      const sql = `SELECT m.position, m.updated_at FROM memory_words w CROSS JOIN memory_items m ON m.position = w.rowid
          CROSS JOIN memory_scopes s ON s.id = m.scope
          WHERE memory_words MATCH ? AND ${where.join(' AND ')} ORDER BY w.rowid DESC LIMIT ?`
      return readSnapshot(() =>
        prepared(sql)
          .all(match, ...values, limit)
          .map((row) => ({ position: row['position'] as number, updatedAt: row['updated_at'] as string })),
      )
    },
    sizes(filter) {
      const { where, values } = inScopes(filter, 's.book', 's')
      const sql = `SELECT s.book, count(*) AS items, sum(m.bytes) AS bytes FROM ${ITEMS}
        WHERE ${where.join(' AND ')} GROUP BY s.id ORDER BY s.book`
      return readSnapshot(() =>
        prepared(sql)
          .all(...values)
          .map((row) => ({
            memoryRun: row['book'] as string,
            items: row['items'] as number,
            bytes: row['bytes'] as number,
          })),
      )
    },
    clear: (workspace) =>
      write(() => {
        prepared(
          'DELETE FROM memory_items WHERE scope IN (SELECT id FROM memory_scopes WHERE workspace = ?)',
        ).run(workspace)
        prepared('DELETE FROM memory_scopes WHERE workspace = ?').run(workspace)
      }),
  }
}

/**
 * Marks a word of a name, so that a search in names does not read all texts that hold the word. The mark counts as a
 * letter for the tokenizer, and no word begins with it.
 */
const inName = (token: string): string => `\uE000${token}`

/** Words hold letters and digits only, so no word can end the quotation. */
const phraseText = (columns: string, { tokens, prefix }: Phrase): string =>
  `${columns} : "${tokens.join(' ')}"${prefix ? ' *' : ''}`

const toRow = (row: Record<string, unknown>): MemoryRow => ({
  position: row['position'] as number,
  memoryRun: row['book'] as string,
  seq: row['seq'] as number,
  bornSeq: row['born_seq'] as number,
  createdAt: row['created_at'] as string,
  updatedAt: row['updated_at'] as string,
  namespace: row['namespace'] as string,
  key: row['key'] as string,
  tags: JSON.parse(row['tags'] as string) as string[],
  subjects: JSON.parse(row['subjects'] as string) as string[],
  expiresAt: row['expires_at'] as string | null,
  eventId: row['event_id'] as string,
  runId: row['run_id'] as string | null,
  bytes: row['bytes'] as number,
  tokens: row['tokens'] as number,
})
