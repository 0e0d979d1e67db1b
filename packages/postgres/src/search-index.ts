import { createTags, type Ports, type SearchIndex, type SearchMatch } from '@clew/ledger'
import { compileSearch, indexWords, shown, toolFilters } from './search-query.ts'
import type { Database, Sql } from './sql.ts'

const ADD = `WITH moved AS (
    UPDATE search_state SET position = $1, version = $2 WHERE position = $3 RETURNING 1
  ), tools AS (
    INSERT INTO search_tools (tag, name)
    SELECT tag, name FROM unnest($4::text[], $5::text[]) t (tag, name) WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT DO NOTHING
  ), added AS (
    INSERT INTO search_words (position, words, texts)
    SELECT d.position, d.words::tsvector, d.texts
    FROM unnest($6::bigint[], $7::text[], $8::text[]) d (position, words, texts)
    WHERE EXISTS (SELECT FROM moved)
  )
  SELECT count(*)::integer AS moved FROM moved`

// What stands in the index of erased events: their tags, without that of a tool.
const BLANK = `UPDATE search_words w SET texts = NULL, words = (SELECT coalesce(array_to_tsvector(array_agg(u.lexeme)), ''::tsvector)
    FROM unnest(w.words) u WHERE starts_with(u.lexeme, '#') AND NOT starts_with(u.lexeme, '#tool'))
  FROM erasures x WHERE x.position = w.position AND w.position > $1 AND w.position <= $2
    AND (w.texts IS NOT NULL OR EXISTS (SELECT FROM unnest(w.words) u
      WHERE NOT starts_with(u.lexeme, '#') OR starts_with(u.lexeme, '#tool')))`
const LOCK = 'SELECT position FROM search_state FOR UPDATE'

interface IndexParts {
  readonly db: Database
  readonly reading: Sql
  readonly ports: Pick<Ports, 'sha256'>
}

/** Search by `tsvector`: in the ledger's database, filled by a consumer, emptied and filled again at any time. */
export function createSearchIndex({ db, reading, ports }: IndexParts): SearchIndex {
  const tags = createTags(ports.sha256, '#')

  async function tagsOf(beginning: string): Promise<string[]> {
    const text = 'SELECT tag FROM search_tools WHERE starts_with(name, $1)'
    const { rows } = await reading.query({ text, values: [shown(beginning)] })
    return rows.map((row) => row['tag'] as string)
  }

  return {
    async state() {
      const { rows } = await reading.query({ text: 'SELECT position, version FROM search_state' })
      return { position: Number(rows[0]?.['position'] ?? 0), version: Number(rows[0]?.['version'] ?? 0) }
    },
    async add({ from, position, version, documents }) {
      const tools = [...new Set(documents.flatMap(({ tool }) => (tool === null ? [] : [tool])))]
      const entries = documents.map((document) => indexWords(document, tags))
      const values = [
        position,
        version,
        from,
        tools.map((tool) => tags.tag('tool', tool)),
        tools.map(shown),
        documents.map((document) => document.position),
        entries.map((entry) => entry.words),
        entries.map((entry) => entry.texts),
      ]
      return db.transact(async (sql) => {
        const { rows } = await sql.query({ name: 'search add', text: ADD, values })
        if (rows[0]?.['moved'] !== 1) return false
        // They were read before this began, and some may have been erased since.
        await sql.query({ name: 'search blank', text: BLANK, values: [from, position] })
        return true
      })
    },
    /** Whoever is adding ends first, or sees what is erased. */
    blank: () =>
      db.transact(async (sql) => {
        const { rows } = await sql.query({ text: LOCK })
        const values = [0, Number(rows[0]?.['position'] ?? 0)]
        const { rowCount } = await sql.query({ name: 'search blank', text: BLANK, values })
        return rowCount ?? 0
      }),
    async remove(documents) {
      const positions = documents.map(({ position }) => position)
      await db.query({
        text: 'DELETE FROM search_words WHERE position = ANY ($1::bigint[])',
        values: [positions],
      })
    },
    async find(given) {
      const tools = await toolFilters(given, tags, tagsOf)
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
        // Whoever fills it waits here, and finds that it stands elsewhere.
        await sql.query({ text: 'UPDATE search_state SET position = 0, version = 0' })
        await sql.query({ text: 'TRUNCATE search_words, search_tools' })
      })
    },
  }
}
