import { statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { MAX_NOTES, NOTE_TTL_MS, type ReadNotesOptions, type RunKey, type StoredNote } from '@clew/ledger'
import { transact } from './transact.ts'

/** Raised when the table below changes; a file of another schema is emptied. */
const SCHEMA = 1
/** Number of outdated notes deleted with every put. */
const SWEPT = 8

/** One opened file of notes. */
export interface ProgressFile {
  readonly inode: number
  /** Changes with every commit by others; another file under the same name has others. */
  mark(): string
  put(notes: readonly StoredNote[], nowMs: number): void
  read(options: ReadNotesOptions): { readonly notes: StoredNote[]; readonly cursor: string }
  clear(key: RunKey, stepId: string | undefined): void
  close(): void
}

/** Nothing in it has to survive the machine, so it has no fsync and its journal is in memory. */
export function openProgressFile(path: string, readOnly: boolean, born: number): ProgressFile {
  const db = new DatabaseSync(path, { readOnly, timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON')
    if (!readOnly) create(db, born)
    return useFile(db, statSync(path).ino)
  } catch (error) {
    db.close()
    throw error
  }
}

function create(db: DatabaseSync, born: number): void {
  transact(db, () => {
    if (db.prepare('PRAGMA user_version').get()?.['user_version'] === SCHEMA) return
    db.exec(`DROP TABLE IF EXISTS notes;
      CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, workspace TEXT, run_id TEXT, step_id TEXT,
        attempt INTEGER, step_type TEXT, version INTEGER, at TEXT, body TEXT, put_ms INTEGER,
        UNIQUE (workspace, run_id, step_id, attempt));
      PRAGMA application_id = ${born};
      PRAGMA user_version = ${SCHEMA}`)
  })
}

function useFile(db: DatabaseSync, inode: number): ProgressFile {
  const born = String(db.prepare('PRAGMA application_id').get()?.['application_id'])
  const dataVersion = db.prepare('PRAGMA data_version')
  const find = db.prepare(
    'SELECT id, version FROM notes WHERE workspace = ? AND run_id = ? AND step_id = ? AND attempt = ?',
  )
  const drop = db.prepare('DELETE FROM notes WHERE id = ?')
  const insert = db.prepare(
    `INSERT INTO notes (workspace, run_id, step_id, attempt, step_type, version, at, body, put_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // Rows lie in the order of their last change.
  const sweepOld = db.prepare(
    `DELETE FROM notes WHERE id IN (SELECT id FROM notes ORDER BY id LIMIT ${SWEPT}) AND put_ms <= ?`,
  )
  const sweepMany = db.prepare(
    `DELETE FROM notes WHERE id <= (SELECT id FROM notes ORDER BY id DESC LIMIT 1 OFFSET ${MAX_NOTES})`,
  )
  const read = db.prepare(
    `SELECT * FROM notes WHERE id > :after AND (:workspace IS NULL OR workspace = :workspace)
       AND (:run IS NULL OR run_id = :run) ORDER BY id LIMIT :limit`,
  )
  const last = db.prepare('SELECT max(id) AS id FROM notes')
  const clear = db.prepare(
    'DELETE FROM notes WHERE workspace = ? AND run_id = ? AND (? IS NULL OR step_id = ?)',
  )

  function putOne(note: StoredNote, nowMs: number): void {
    const { workspace, runId, stepId, attempt, stepType, version, at, body } = note
    const key: SQLInputValue[] = [workspace, runId, stepId, attempt]
    const before = find.get(...key)
    if (before && (before['version'] as number) >= version) return
    if (before) drop.run(before['id'] as number)
    insert.run(...key, stepType, version, at, body, nowMs)
  }

  return {
    inode,
    mark: () => `${born} ${dataVersion.get()?.['data_version'] as number}`,
    put(notes, nowMs) {
      transact(db, () => {
        for (const note of notes) putOne(note, nowMs)
        sweepOld.run(nowMs - NOTE_TTL_MS)
        sweepMany.run()
      })
    },
    read({ workspace = null, runId = null, after = '', limit }) {
      const [file, id] = after.split('.')
      const from = file === born ? Number(id) : 0
      // Asked for first: what others put in between comes again rather than never.
      const newest = Number(last.get()?.['id'] ?? 0)
      const rows = read.all({ after: from, workspace, run: runId, limit })
      const end = Number(rows.at(-1)?.['id'] ?? 0)
      return {
        notes: rows.map(toNote),
        cursor: `${born}.${rows.length === limit ? end : Math.max(from, newest, end)}`,
      }
    },
    clear({ workspace, runId }, stepId) {
      clear.run(workspace, runId, stepId ?? null, stepId ?? null)
    },
    close: () => db.close(),
  }
}

const toNote = (row: Record<string, unknown>): StoredNote => ({
  workspace: row['workspace'] as string,
  runId: row['run_id'] as string,
  stepId: row['step_id'] as string,
  attempt: row['attempt'] as number,
  stepType: row['step_type'] as string,
  version: row['version'] as number,
  at: row['at'] as string,
  body: row['body'] as string,
})
