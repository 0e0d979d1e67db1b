import {
  memoryRunId,
  type MemoryChange,
  type MemoryIndex,
  type MemoryRow,
  type MemoryWords,
  type Phrase,
  type RowFilter,
  type ScopeFilter,
} from '@clew/ledger'
import type { Database, Row, Sql } from './sql.ts'
import { type IndexedWords, quoted, wordsVector } from './words-vector.ts'

const COLUMNS = `m.position, s.book, m.namespace, m.key, m.seq, m.born_seq, m.created_at, m.updated_at, m.expires_at,
  m.tags, m.subjects, m.event_id, m.run_id, m.bytes, m.tokens`
const ITEMS = 'memory_scopes s JOIN memory_items m ON m.scope = s.id'
/** Replaces the final `/` in the upper bound of an id range: `0` is the next character. */
const AFTER_SLASH = '0'

const INSERT = `INSERT INTO memory_items (position, scope, namespace, key, seq, born_seq, created_at, updated_at, expires_at,
    tags, subjects, event_id, run_id, bytes, tokens, words, texts)
  SELECT position, $2, namespace, key, seq, "bornSeq", "createdAt", "updatedAt", "expiresAt", tags, subjects, "eventId", "runId",
    bytes, tokens, words::tsvector, texts
  FROM json_to_recordset($1::json) r (position bigint, namespace text, key text, seq bigint, "bornSeq" bigint,
    "createdAt" text, "updatedAt" text, "expiresAt" text, tags text[], subjects text[], "eventId" text, "runId" text,
    bytes bigint, tokens bigint, words text, texts text)
  WHERE EXISTS (SELECT FROM payloads p WHERE p.position = r.position)`

type Put = (value: unknown) => string

function inScopes(
  { workspace, memoryRuns, layers }: ScopeFilter,
  column: string,
  owner: string,
  put: Put,
): string[] {
  const ranges = layers.map((layer) => {
    const from = memoryRunId({ layer, scope: '' })
    return `(${column} >= ${put(from)} AND ${column} < ${put(from.slice(0, -1) + AFTER_SLASH)})`
  })
  const where = [`${owner}.workspace = ${put(workspace)}`, `(${ranges.join(' OR ') || 'false'})`]
  if (memoryRuns) where.push(`${column} = ANY (${put([...memoryRuns])}::text[])`)
  return where
}

function inRows(filter: RowFilter, put: Put): string[] {
  const where = inScopes(filter, 's.book', 's', put)
  if (filter.nowMs !== null)
    where.push(`(m.expires_at IS NULL OR m.expires_at > ${put(new Date(filter.nowMs).toISOString())})`)
  if (filter.namespaces) {
    const each = filter.namespaces.map(
      (namespace) =>
        `(m.namespace = ${put(namespace)} OR (m.namespace >= ${put(`${namespace}/`)} AND m.namespace < ${put(namespace + AFTER_SLASH)}))`,
    )
    where.push(`(${each.join(' OR ') || 'false'})`)
  }
  for (const names of filter.tags ?? []) where.push(`m.tags && ${put([...names])}::text[]`)
  return where
}

/** A phrase in fields of one label, or in all of them. */
const phraseText = ({ tokens, prefix }: Phrase, label = ''): string => {
  const lexemes = tokens.map((token, at) => {
    const marks = `${prefix && at === tokens.length - 1 ? '*' : ''}${label}`
    return `${quoted(token)}${marks === '' ? '' : `:${marks}`}`
  })
  return `(${lexemes.join(' <-> ')})`
}

function holds(phrase: Phrase, put: Put): string {
  const found = `m.words @@ ${put(phraseText(phrase))}::tsquery`
  if (phrase.tokens.length === 1) return found
  const inText = ` ${phrase.tokens.join(' ')}${phrase.prefix ? '' : ' '}`
  return `(${found} OR coalesce(strpos(m.texts, ${put(inText)}), 0) > 0)`
}

/** A deletion of payloads locks the run too: it waits for a running fold, and later folds find no payload. */
const LOCK_RUN = 'SELECT FROM runs WHERE workspace = $1 AND run_id = $2 FOR KEY SHARE'
const ADD_SCOPE =
  'INSERT INTO memory_scopes (workspace, book, seq, version) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING'
const LOCK_SCOPE = 'SELECT id, seq, version FROM memory_scopes WHERE workspace = $1 AND book = $2 FOR UPDATE'
const MOVE_SCOPE = 'UPDATE memory_scopes SET seq = $2, version = $3 WHERE id = $1'
const DROP_ALL = 'DELETE FROM memory_items WHERE scope = $1'
const DROP = 'DELETE FROM memory_items WHERE position = ANY ($1::bigint[])'

async function apply(
  sql: Sql,
  { workspace, memoryRun, fromSeq, toSeq, version, gone, rows }: MemoryChange,
): Promise<boolean> {
  await sql.query({ text: LOCK_RUN, values: [workspace, memoryRun] })
  await sql.query({ text: ADD_SCOPE, values: [workspace, memoryRun] })
  const found = await sql.query({ text: LOCK_SCOPE, values: [workspace, memoryRun] })
  const { id, seq, version: folded } = found.rows[0] as Row
  if ((folded === version ? seq : 0) !== fromSeq) return false
  await sql.query(fromSeq === 0 ? { text: DROP_ALL, values: [id] } : { text: DROP, values: [gone] })
  const items = rows.map(({ words, ...row }) => ({ ...row, ...vectorOf(words) }))
  if (items.length > 0) await sql.query({ text: INSERT, values: [JSON.stringify(items), id] })
  await sql.query({ text: MOVE_SCOPE, values: [id, toSeq, version] })
  return true
}

const vectorOf = ({ name, text }: MemoryWords): IndexedWords =>
  wordsVector(
    [
      ['A', name],
      ['D', text],
    ],
    [],
  )

/** Rows of memory items (M1–M3). */
export function createMemory(db: Database, reading: Sql): MemoryIndex {
  async function read(make: (put: Put) => string): Promise<Row[]> {
    const values: unknown[] = []
    const text = make((value) => `$${values.push(value)}`)
    return (await reading.query({ text, values })).rows
  }

  return {
    async behind(filter) {
      const rows = await read((put) => {
        const version = put(filter.version)
        const folded = `CASE WHEN s.version = ${version} THEN s.seq ELSE 0 END`
        return `SELECT r.run_id AS book, r.seq, coalesce(${folded}, 0) AS folded
          FROM runs r LEFT JOIN memory_scopes s ON s.workspace = r.workspace AND s.book = r.run_id
          WHERE ${inScopes(filter, 'r.run_id', 'r', put).join(' AND ')} AND r.seq > coalesce(${folded}, 0)`
      })
      return rows.map((row) => ({
        memoryRun: row['book'] as string,
        seq: Number(row['seq']),
        foldedSeq: Number(row['folded']),
      }))
    },
    apply: (change) => db.transact((sql) => apply(sql, change)),
    async list(query) {
      const { names, positions, order = 'name', after, before, limit } = query
      const rows = await read((put) => {
        const where = inRows(query, put)
        if (names)
          where.push(`(m.namespace, m.key) IN (SELECT * FROM unnest(
            ${put(names.map((each) => each.namespace))}::text[], ${put(names.map((each) => each.key))}::text[]))`)
        if (positions) where.push(`m.position = ANY (${put(positions)}::bigint[])`)
        if (after)
          where.push(
            `(s.book, m.namespace, m.key) > (${put(after.memoryRun)}, ${put(after.namespace)}, ${put(after.key)})`,
          )
        if (before !== undefined) where.push(`m.position < ${put(before)}`)
        const orderBy = order === 'name' ? 's.book, m.namespace, m.key' : 'm.position DESC'
        return `SELECT ${COLUMNS} FROM ${ITEMS} WHERE ${where.join(' AND ')} ORDER BY ${orderBy} LIMIT ${put(limit)}`
      })
      return rows.map(toRow)
    },
    async differing(_, rows) {
      const vectors = rows.map(({ words }) => vectorOf(words))
      const found = await read(
        (put) => `SELECT r.position FROM unnest(${put(rows.map(({ position }) => position))}::bigint[],
            ${put(vectors.map(({ words }) => words))}::text[], ${put(vectors.map(({ texts }) => texts))}::text[]) r (position, words, texts)
          LEFT JOIN memory_items m ON m.position = r.position
          WHERE m.words IS DISTINCT FROM r.words::tsvector OR m.texts IS DISTINCT FROM r.texts`,
      )
      return found.map((row) => Number(row['position']))
    },
    async find({ all, names = [], none, ...filter }) {
      const rows = await read((put) => {
        const where = [
          ...inRows(filter, put),
          ...all.map((phrase) => holds(phrase, put)),
          ...names.map((phrase) => `m.words @@ ${put(phraseText(phrase, 'A'))}::tsquery`),
          ...none.map((phrase) => `NOT ${holds(phrase, put)}`),
        ]
        return `SELECT m.position, m.updated_at FROM ${ITEMS} WHERE ${where.join(' AND ')}
          ORDER BY m.position DESC LIMIT ${put(filter.limit)}`
      })
      return rows.map((row) => ({
        position: Number(row['position']),
        updatedAt: row['updated_at'] as string,
      }))
    },
    async sizes(filter) {
      const rows = await read(
        (put) => `SELECT s.book, count(*) AS items, sum(m.bytes)::bigint AS bytes FROM ${ITEMS}
          WHERE ${inScopes(filter, 's.book', 's', put).join(' AND ')} GROUP BY s.book ORDER BY s.book`,
      )
      return rows.map((row) => ({
        memoryRun: row['book'] as string,
        items: Number(row['items']),
        bytes: Number(row['bytes']),
      }))
    },
    async clear(workspace) {
      await db.transact(async (sql) => {
        const text = 'SELECT id FROM memory_scopes WHERE workspace = $1 ORDER BY id FOR UPDATE'
        const ids = (await sql.query({ text, values: [workspace] })).rows.map((row) => row['id'])
        await sql.query({ text: 'DELETE FROM memory_items WHERE scope = ANY ($1::bigint[])', values: [ids] })
        await sql.query({ text: 'DELETE FROM memory_scopes WHERE id = ANY ($1::bigint[])', values: [ids] })
      })
    },
  }
}

const toRow = (row: Row): MemoryRow => ({
  position: Number(row['position']),
  memoryRun: row['book'] as string,
  seq: Number(row['seq']),
  bornSeq: Number(row['born_seq']),
  createdAt: row['created_at'] as string,
  updatedAt: row['updated_at'] as string,
  namespace: row['namespace'] as string,
  key: row['key'] as string,
  tags: row['tags'] as string[],
  subjects: row['subjects'] as string[],
  expiresAt: row['expires_at'] as string | null,
  eventId: row['event_id'] as string,
  runId: row['run_id'] as string | null,
  bytes: Number(row['bytes']),
  tokens: Number(row['tokens']),
})
