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
const SCHEMA = 2
const COLUMNS = ['tags', ...SEARCH_FIELDS]
const NAMES = COLUMNS.join(', ')
const PLACES = ', ?'.repeat(COLUMNS.length)
const WEIGHTS = ['0', ...SEARCH_FIELDS.map((field) => String(FIELD_WEIGHTS[field]))].join(', ')
/** Matches whose relevance is weighed exactly; older ones count as much as the least of them. */
const WEIGHED = 2000
const PROBED = 200
const TELLING = 100_000

const CREATE = `
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER, version INTEGER, anchor BLOB);
  INSERT INTO state VALUES (1, 0, 0, NULL);
  CREATE TABLE tools (name TEXT PRIMARY KEY);
  CREATE TABLE blanks (position INTEGER PRIMARY KEY);
  CREATE VIRTUAL TABLE words USING fts5(${COLUMNS.join(', ')}, content = '', prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0");
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
  PRAGMA user_version = ${SCHEMA};`

/**
 * The search index in a file of its own: its transactions never meet those of the ledger, and it can be thrown away
 * and filled again at any time. It holds words, no texts. The ledger is attached to it for reading only.
 */
export function createSearchIndex(
  { file, retry }: Connection,
  ports: Pick<Ports, 'sha256'>,
  { readOnly = false }: OpenDatabaseOptions,
): {
  readonly index: SearchIndex
  /** The file of the index, where there is one. */
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
      // Damaged, or no database: replaced, since the ledger has all that it held.
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

  /** If the ledger has another event at the position of the index, the index belongs to another ledger: version -1. */
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

  /** Retention may have deleted the event at the position of the index; it never deletes the newest event. */
  const isPruned = (db: DatabaseSync, position: number): boolean =>
    db
      .prepare(
        'SELECT 1 FROM ledger.events WHERE position > ? AND EXISTS (SELECT 1 FROM ledger.seals) LIMIT 1',
      )
      .get(position) !== undefined

  const rowOf = (document: SearchDocument): (string | number)[] => [
    document.position,
    tags.of(document).join(' '),
    ...SEARCH_FIELDS.map((field) => document.fields[field]),
  ]

  /** Deletes a row. A contentless table needs its former words for that, and a second time does harm. */
  function dropRow(db: DatabaseSync, before: SearchDocument): void {
    db.prepare(`INSERT INTO words (words, rowid, ${NAMES}) VALUES ('delete', ?${PLACES})`).run(
      ...rowOf(before),
    )
    db.prepare('INSERT INTO blanks VALUES (?)').run(before.position)
  }

  function blankRow(db: DatabaseSync, before: SearchDocument, after = withoutWords(before)): void {
    dropRow(db, before)
    db.prepare(`INSERT INTO words (rowid, ${NAMES}) VALUES (?${PLACES})`).run(...rowOf(after))
  }

  const index: SearchIndex = {
    state: () => use(readState, { position: 0, version: 0 }),
    add: ({ from, position, version, documents }) =>
      change((db) => {
        const moved = db
          .prepare(
            `UPDATE state SET position = ?, version = ?,
               anchor = (SELECT hash FROM ledger.events WHERE position = ?) WHERE position = ?`,
          )
          .run(position, version, position, from)
        if (Number(moved.changes) === 0) return false
        const insert = db.prepare(`INSERT INTO words (rowid, ${NAMES}) VALUES (?${PLACES})`)
        const addTool = db.prepare('INSERT OR IGNORE INTO tools VALUES (?)')
        for (const tool of new Set(documents.map((document) => document.tool)))
          if (tool !== null) addTool.run(tool)
        for (const document of documents) insert.run(...rowOf(document))
        // The documents were read before this transaction began, and some may have been erased since.
        const gone = new Set(findErased(db, from, position))
        for (const document of documents) if (gone.has(document.position)) blankRow(db, document)
        return true
      }, false),
    blank: (erased, version) =>
      change((db) => {
        const { position, version: made } = readState(db)
        const isBlank = db.prepare('SELECT 1 FROM blanks WHERE position = ?')
        let rows = 0
        for (const { before, after } of made === version ? erased : [])
          if (before.position <= position && !isBlank.get(before.position)) {
            blankRow(db, before, after)
            rows++
          }
        // A process that was killed before this had the texts, without which words cannot be deleted.
        const isStale = findErased(db, 0, position, 1).length > 0
        if (isStale) recreate(db)
        return isStale ? position : rows
      }, 0),
    remove: (documents, version) =>
      change((db) => {
        const { position, version: made } = readState(db)
        const isBlank = db.prepare('SELECT 1 FROM blanks WHERE position = ?')
        for (const document of made === version ? documents : [])
          if (document.position <= position && !isBlank.get(document.position)) dropRow(db, document)
      }, undefined),
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
        // Only single words are weighed: for a phrase, bm25 would search the whole index.
        if (wanted.limit === 1) return matches
        const words = wanted.query.all.filter((phrase) => phrase.tokens.length === 1 && isTelling(db, phrase))
        return words.length === 0 ? matches : withRelevance(db, matches, phrasesText(words))
      }, []),
    clear: () => change(recreate, undefined),
  }

  return {
    index,
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
  transact(db, () => {
    if (version() !== SCHEMA) recreate(db)
  })
}

function recreate(db: DatabaseSync): void {
  for (const table of ['words', 'state', 'tools', 'blanks']) db.exec(`DROP TABLE IF EXISTS ${table}`)
  db.exec(CREATE)
}

/** Erased events of a range whose words may still be in the index. */
function findErased(db: DatabaseSync, after: number, upTo: number, limit = -1): number[] {
  const statement = db.prepare(
    `SELECT position FROM ledger.erasures WHERE position > ? AND position <= ?
       AND position NOT IN (SELECT position FROM blanks) LIMIT ?`,
  )
  return statement.all(after, upTo, limit).map((row) => row['position'] as number)
}

const withoutWords = (document: SearchDocument): SearchDocument => ({
  ...document,
  tool: null,
  fields: Object.fromEntries(SEARCH_FIELDS.map((field) => [field, ''])) as SearchDocument['fields'],
})

/** False for a word that very many events hold: it tells nothing, and counting it takes long. Estimated from the newest events. */
function isTelling(db: DatabaseSync, word: Phrase): boolean {
  const newest = db.prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ${PROBED}`)
  const rows = newest.all(phrasesText([word]))
  if (rows.length < PROBED) return true
  const [first, last] = [rows[0]?.['rowid'] as number, rows.at(-1)?.['rowid'] as number]
  return (PROBED * first) / (first - last + 1) <= TELLING
}

/** Adds relevance to matches. Apart from finding, since bm25 counts every word of the expression, also tags, in the whole index. */
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
