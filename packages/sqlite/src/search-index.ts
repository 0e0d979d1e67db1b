import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import {
  createTags,
  FIELD_WEIGHTS,
  type IndexState,
  type Phrase,
  type Ports,
  SEARCH_FIELDS,
  type SearchDocument,
  type SearchIndex,
  type SearchMatch,
} from '@clew/ledger'
import type { Connection } from './connection.ts'
import { resultOf } from './errors.ts'
import { makeFile } from './make-file.ts'
import { isAtRest, type OpenDatabaseOptions } from './open-database.ts'
import { compileSearch, expandTools, phrasesText } from './search-query.ts'
import { transact } from './transact.ts'

/** Raised when the tables below change; an index of another schema is thrown away and filled again. */
const SCHEMA = 3
const COLUMNS = ['tags', ...SEARCH_FIELDS]
const NAMES = COLUMNS.join(', ')
const INSERT = `INSERT INTO words (rowid, ${NAMES}) VALUES (?${', ?'.repeat(COLUMNS.length)})`
const NO_WORDS = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, ''])) as SearchDocument['fields']
/** Events of a range that are there, and whether they have a payload. */
const PRESENT = `SELECT e.position, p.position IS NOT NULL AS has_payload FROM ledger.events e
  LEFT JOIN ledger.payloads p ON p.position = e.position WHERE e.position > ? AND e.position <= ?`
/** Indexed events of a list that are there without a payload. */
const WORDLESS = `SELECT e.position, r.workspace, r.run_id, e.event_type FROM ledger.events e JOIN ledger.runs r ON r.id = e.run
  WHERE e.position IN (SELECT value FROM json_each(?)) AND e.position <= (SELECT position FROM state)
    AND NOT EXISTS (SELECT 1 FROM ledger.payloads p WHERE p.position = e.position)`
const DROP_WORDS = `DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(?) j
  WHERE NOT EXISTS (SELECT 1 FROM ledger.payloads p WHERE p.position = j.value))`
const WEIGHTS = ['0', ...SEARCH_FIELDS.map((field) => String(FIELD_WEIGHTS[field]))].join(', ')
/** Matches whose relevance is weighed exactly; older ones count as much as the least of them. */
const WEIGHED = 2000
const PROBED = 200
/** Rows that one transaction removes: FTS5 takes some milliseconds for each, during which the event loop waits. */
const REMOVED = 20
const TELLING = 100_000

const CREATE = `
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER, version INTEGER, anchor BLOB);
  INSERT INTO state VALUES (1, 0, 0, NULL);
  CREATE TABLE tools (name TEXT PRIMARY KEY);
  CREATE VIRTUAL TABLE words USING fts5(${NAMES}, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0");
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
  PRAGMA user_version = ${SCHEMA};`

/**
 * The search index in a file of its own: its transactions never meet those of the ledger, and it can be deleted and
 * filled again at any time. It keeps the searched texts, so that a row can be removed when its event has lost them. The
 * ledger is attached to it for reading only.
 */
export function createSearchIndex(
  { db: ledger, file, retry, read, write }: Connection,
  ports: Pick<Ports, 'sha256'>,
  { readOnly = false }: OpenDatabaseOptions,
): {
  readonly index: SearchIndex
  /** Whether there is an index, which then must drop the words of deleted payloads. */
  exists(): boolean
  /** The database of the index, if there is one that can be written. */
  database(): DatabaseSync | undefined
  close(): void
} {
  const side = `${file}.search.db`
  const tags = createTags(ports.sha256)
  let opened: DatabaseSync | undefined

  function open(): DatabaseSync | undefined {
    if (opened) return opened
    if (readOnly && !existsSync(side)) return undefined
    try {
      opened = connect()
    } catch (error) {
      // Not a database, damaged, or of a foreign hand: it holds nothing that the ledger has not.
      if (readOnly || ![11, 26].includes(resultOf(error) ?? 0)) throw error
      for (const end of ['', '-wal', '-shm']) rmSync(side + end, { force: true })
      opened = connect()
    }
    return opened
  }

  function connect(): DatabaseSync {
    const atRest = readOnly && isAtRest(side)
    if (!readOnly) makeFile(side, file)
    const db = new DatabaseSync(atRest ? addressOf(side, 'immutable=1') : side, { readOnly, timeout: 1000 })
    try {
      if (!readOnly) prepare(db)
      db.prepare('ATTACH ? AS ledger').run(
        addressOf(file, readOnly && isAtRest(file) ? 'immutable=1' : 'mode=ro').href,
      )
      db.exec('PRAGMA busy_timeout = 0; PRAGMA cache_size = -16000')
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** Runs `work` on the index; `otherwise` is the answer without one. */
  const use = <T>(work: (db: DatabaseSync) => T, otherwise: T): Promise<T> =>
    retry(side, () => {
      const db = open()
      return db ? work(db) : otherwise
    })

  const change = <T>(work: (db: DatabaseSync) => T, otherwise: T): Promise<T> =>
    use((db) => transact(db, () => work(db)), otherwise)

  /** An index that stands where the ledger has another event belongs to another ledger, or to a lost future of it. */
  function readState(db: DatabaseSync): IndexState {
    const row = db.prepare('SELECT position, version, anchor FROM state').get()
    const position = Number(row?.['position'] ?? 0)
    if (position === 0) return { position: 0, version: 0 }
    const there = db.prepare('SELECT hash FROM ledger.events WHERE position = ?').get(position)
    const isOurs = there
      ? Buffer.from(there['hash'] as Uint8Array).equals(Buffer.from(row?.['anchor'] as Uint8Array))
      : isPruned(db, position)
    return { position, version: isOurs ? Number(row?.['version']) : -1 }
  }

  /** Retention may take the event at which the index stands, never the newest one of the ledger. */
  const isPruned = (db: DatabaseSync, position: number): boolean =>
    db
      .prepare(
        'SELECT 1 FROM ledger.events WHERE position > ? AND EXISTS (SELECT 1 FROM ledger.seals) LIMIT 1',
      )
      .get(position) !== undefined

  const rowOf = (document: Omit<SearchDocument, 'seq' | 'recordedAt'>): (string | number)[] => [
    document.position,
    tags.of(document).join(' '),
    ...SEARCH_FIELDS.map((field) => document.fields[field]),
  ]

  const removals = {
    list: ledger.prepare(`SELECT position FROM search_removals LIMIT ${REMOVED}`),
    drop: ledger.prepare('DELETE FROM search_removals WHERE position IN (SELECT value FROM json_each(?))'),
  }

  /**
   * Removes the words of deleted payloads, some at a time. Events that are still there keep a row without words, as
   * they would have in a new index. A kill before the positions are dropped only repeats the work.
   */
  async function removeWords(): Promise<void> {
    for (;;) {
      const rows = await read(() => removals.list.all())
      if (rows.length === 0) return
      const positions = JSON.stringify(rows.map((row) => row['position']))
      await change((db) => {
        db.prepare(DROP_WORDS).run(positions)
        const insert = db.prepare(INSERT)
        for (const row of db.prepare(WORDLESS).all(positions)) insert.run(...wordlessRow(row))
      }, undefined)
      await write(() => removals.drop.run(positions))
    }
  }

  /** Row of an event without a payload. */
  const wordlessRow = (row: Record<string, unknown>): (string | number)[] =>
    rowOf({
      position: row['position'] as number,
      workspace: row['workspace'] as string,
      runId: row['run_id'] as string,
      eventType: row['event_type'] as string,
      tool: null,
      fields: NO_WORDS,
    })

  const index: SearchIndex = {
    state: () => use(readState, { position: 0, version: 0 }),
    async add({ from, position, version, documents }) {
      await removeWords()
      return change((db) => {
        const moved = db
          .prepare(
            `UPDATE state SET position = ?, version = ?,
               anchor = (SELECT hash FROM ledger.events WHERE position = ?) WHERE position = ?`,
          )
          .run(position, version, position, from)
        if (Number(moved.changes) === 0) return false
        const insert = db.prepare(INSERT)
        const addTool = db.prepare('INSERT OR IGNORE INTO tools VALUES (?)')
        // Documents were read before this transaction began; some events may have been erased or pruned since.
        const events = db.prepare(PRESENT).all(from, position)
        const hasPayload = new Map(events.map((row) => [row['position'], row['has_payload'] === 1]))
        for (const document of documents) {
          const isWhole = hasPayload.get(document.position)
          if (isWhole === undefined) continue
          if (isWhole && document.tool !== null) addTool.run(document.tool)
          insert.run(...rowOf(isWhole ? document : { ...document, tool: null, fields: NO_WORDS }))
        }
        return true
      }, false)
    },
    differing: (documents) =>
      use(
        (db) => {
          const words = db.prepare(`SELECT rowid AS position, ${NAMES} FROM words WHERE rowid = ?`)
          const tool = db.prepare('SELECT 1 FROM tools WHERE name = ?')
          return documents
            .filter((document) => {
              const stored = Object.values(words.get(document.position) ?? {})
              const isTool = document.tool === null || tool.get(document.tool) !== undefined
              return !isTool || JSON.stringify(stored) !== JSON.stringify(rowOf(document))
            })
            .map(({ position }) => position)
        },
        documents.map(({ position }) => position),
      ),
    find: (given) =>
      use((db) => {
        const wanted = expandTools(given, (beginning) =>
          db
            .prepare('SELECT name FROM tools WHERE substr(name, 1, length(?1)) = ?1')
            .all(beginning)
            .map((row) => row['name'] as string),
        )
        const { sql, values } = compileSearch(wanted, tags)
        const matches = db
          .prepare(sql)
          .all(...values)
          .map(
            (row): SearchMatch => ({
              position: row['position'] as number,
              runId: row['run_id'] as string,
              seq: row['seq'] as number,
              recordedAt: row['recorded_at'] as string,
              relevance: 0,
            }),
          )
        // Weighing a phrase would look for it in the whole index, so of several words together the newest comes first.
        if (wanted.limit === 1) return matches
        const words = wanted.query.all.filter((phrase) => phrase.tokens.length === 1 && isTelling(db, phrase))
        return words.length === 0 ? matches : withRelevance(db, matches, phrasesText(words))
      }, []),
    clear: () => change(recreate, undefined),
  }

  return {
    index,
    exists: () => existsSync(side),
    database: () => (existsSync(side) && !readOnly ? open() : undefined),
    close() {
      opened?.close()
      opened = undefined
    },
  }
}

const addressOf = (path: string, parameter: string): URL => new URL(`?${parameter}`, pathToFileURL(path))

function prepare(db: DatabaseSync): void {
  const version = (): number => Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216')
  if (version() === SCHEMA) return
  db.exec('BEGIN IMMEDIATE')
  if (version() !== SCHEMA) recreate(db)
  db.exec('COMMIT')
}

function recreate(db: DatabaseSync): void {
  for (const table of ['words', 'state', 'tools']) db.exec(`DROP TABLE IF EXISTS ${table}`)
  db.exec(CREATE)
}

/** False for a word that very many events contain: it is useless for ranking, and counting it takes long. Probes the newest events. */
function isTelling(db: DatabaseSync, word: Phrase): boolean {
  const newest = db.prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ${PROBED}`)
  const rows = newest.all(phrasesText([word]))
  if (rows.length < PROBED) return true
  const [first, last] = [rows[0]?.['rowid'] as number, rows.at(-1)?.['rowid'] as number]
  return (PROBED * first) / (first - last + 1) <= TELLING
}

/** Apart from finding, because weighing counts every word of an expression in the whole index, its tags too. */
function withRelevance(db: DatabaseSync, matches: readonly SearchMatch[], words: string): SearchMatch[] {
  const [first, last] = [matches[0], matches.at(-1)]
  if (!first || !last) return []
  const rows = db
    .prepare(
      `SELECT rowid, bm25(words, ${WEIGHTS}) AS rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
       ORDER BY rowid DESC LIMIT ${WEIGHED}`,
    )
    .all(words, last.position, first.position)
  const ranks = new Map(rows.map((row) => [row['rowid'] as number, -(row['rank'] as number)]))
  let least = Number.POSITIVE_INFINITY
  for (const rank of ranks.values()) least = Math.min(least, rank)
  return matches.map((match) => ({ ...match, relevance: Math.max(1e-9, ranks.get(match.position) ?? least) }))
}
