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
      const { rows } = await db.query({ name: 'search add', text: ADD, values })
      return rows[0]?.['moved'] === 1
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
