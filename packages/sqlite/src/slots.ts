import type { JsonObject, Slots } from '@clew/ledger'
import type { Connection } from './connection.ts'

/** Compare-and-set on the version of the row. */
export function createSlots({ db, read, write }: Connection): Slots {
  const sql = {
    list: db.prepare(
      'SELECT * FROM slots WHERE workspace = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name',
    ),
    insert: db.prepare(
      'INSERT INTO slots (workspace, name, value, version) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING',
    ),
    update: db.prepare(
      'UPDATE slots SET value = ?, version = version + 1 WHERE workspace = ? AND name = ? AND version = ?',
    ),
  }
  return {
    list: (workspace, prefix) =>
      read(() =>
        sql.list.all(workspace, prefix).map((row) => ({
          workspace,
          name: row['name'] as string,
          value: JSON.parse(row['value'] as string) as JsonObject,
          version: row['version'] as number,
        })),
      ),
    async put(slot, version) {
      const { workspace, name, value } = slot
      const text = JSON.stringify(value)
      const { changes } = await write(() =>
        version === 0
          ? sql.insert.run(workspace, name, text)
          : sql.update.run(text, workspace, name, version),
      )
      return Number(changes) === 0 ? null : { ...slot, version: version + 1 }
    },
  }
}
