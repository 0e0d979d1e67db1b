import { createTags, type Ports, type SearchDocument, type SearchIndex, type SearchMatch } from '@clew/ledger'
import { compileSearch, indexWords, shown, toolFilters } from './search-query.ts'
import type { Database, Sql } from './sql.ts'

/** Locked in a statement of its own, so that the statements after it see what was committed before the lock was granted. */
const LOCK = 'SELECT position FROM search_state FOR UPDATE'
const MOVE = 'UPDATE search_state SET position = $1, version = $2'
const ADD_TOOLS =
  'INSERT INTO search_tools (tag, name) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING'
/** Tags without that of a tool: all that the index has of an event without a payload. */
const tagsOf = (
  words: string,
): string => `(SELECT coalesce(array_to_tsvector(array_agg(u.lexeme)), ''::tsvector)
  FROM unnest(${words}) u WHERE starts_with(u.lexeme, '#') AND NOT starts_with(u.lexeme, '#tool'))`
/** Documents were read before; some of their events may have been erased or pruned since. */
const ADD = `INSERT INTO search_words (position, words, texts)
  SELECT d.position, CASE WHEN p.position IS NULL THEN ${tagsOf('d.words::tsvector')} ELSE d.words::tsvector END,
    CASE WHEN p.position IS NOT NULL THEN d.texts END
  FROM unnest($1::bigint[], $2::text[], $3::text[]) d (position, words, texts)
    JOIN events e ON e.position = d.position LEFT JOIN payloads p ON p.position = d.position`
const REMOVALS = 'DELETE FROM search_removals RETURNING position'
const DROP_PRUNED = `DELETE FROM search_words w WHERE w.position = ANY ($1::bigint[])
  AND NOT EXISTS (SELECT FROM events e WHERE e.position = w.position)`
const DROP_WORDS = `UPDATE search_words w SET texts = NULL, words = ${tagsOf('w.words')} WHERE w.position = ANY ($1::bigint[])
  AND NOT EXISTS (SELECT FROM payloads p WHERE p.position = w.position)`
const DIFFERING = `SELECT d.position FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) d (position, words, texts, tag)
  LEFT JOIN search_words w ON w.position = d.position
  WHERE w.words IS DISTINCT FROM d.words::tsvector OR w.texts IS DISTINCT FROM d.texts
    OR d.tag IS NOT NULL AND NOT EXISTS (SELECT FROM search_tools t WHERE t.tag = d.tag)`

interface IndexParts {
  readonly db: Database
  readonly reading: Sql
  readonly ports: Pick<Ports, 'sha256'>
}

/** Search by `tsvector`: in the ledger's database, filled by a consumer, emptied and filled again at any time. */
export function createSearchIndex({ db, reading, ports }: IndexParts): SearchIndex {
  const tags = createTags(ports.sha256, '#')

  async function toolTags(beginning: string): Promise<string[]> {
    const text = 'SELECT tag FROM search_tools WHERE starts_with(name, $1)'
    const { rows } = await reading.query({ text, values: [shown(beginning)] })
    return rows.map((row) => row['tag'] as string)
  }

  /** Columns of `search_words`. */
  function columnsOf(documents: readonly SearchDocument[]): unknown[][] {
    const entries = documents.map((document) => indexWords(document, tags))
    return [
      documents.map(({ position }) => position),
      entries.map(({ words }) => words),
      entries.map(({ texts }) => texts),
    ]
  }

  return {
    async state() {
      const { rows } = await reading.query({ text: 'SELECT position, version FROM search_state' })
      return { position: Number(rows[0]?.['position'] ?? 0), version: Number(rows[0]?.['version'] ?? 0) }
    },
    async add({ from, position, version, documents }) {
      const tools = [...new Set(documents.flatMap(({ tool }) => (tool === null ? [] : [tool])))]
      const toolNames = [tools.map((tool) => tags.tag('tool', tool)), tools.map(shown)]
      const added = columnsOf(documents)
      return db.transact(async (sql) => {
        if ((await sql.query({ text: LOCK })).rows[0]?.['position'] !== from) return false
        await sql.query({ text: MOVE, values: [position, version] })
        if (tools.length > 0) await sql.query({ name: 'search tools', text: ADD_TOOLS, values: toolNames })
        if (documents.length > 0) await sql.query({ name: 'search add', text: ADD, values: added })
        await removeWords(sql)
        return true
      })
    },
    async differing(documents) {
      const toolTags = documents.map(({ tool }) => (tool === null ? null : tags.tag('tool', tool)))
      const { rows } = await reading.query({ text: DIFFERING, values: [...columnsOf(documents), toolTags] })
      return rows.map((row) => Number(row['position']))
    },
    async find(given) {
      const tools = await toolFilters(given, tags, toolTags)
      const { rows } = await reading.query(compileSearch(given, tags, tools))
      return rows.map(
        (row): SearchMatch => ({
          position: Number(row['position']),
          runId: row['run_id'] as string,
          seq: Number(row['seq']),
          recordedAt: row['recorded_at'] as string,
          relevance: Number(row['relevance']),
        }),
      )
    },
    async clear() {
      await db.transact(async (sql) => {
        // A concurrent indexer waits here and then finds a new position.
        await sql.query({ text: 'UPDATE search_state SET position = 0, version = 0' })
        await sql.query({ text: 'TRUNCATE search_words, search_tools' })
      })
    },
  }
}

/** Removes the words of deleted payloads. Events that are still there keep their tags, as in a new index. */
async function removeWords(sql: Sql): Promise<void> {
  const { rows } = await sql.query({ name: 'search removals', text: REMOVALS })
  if (rows.length === 0) return
  const values = [rows.map((row) => row['position'])]
  await sql.query({ text: DROP_PRUNED, values })
  await sql.query({ text: DROP_WORDS, values })
}
