import type { JsonObject, Slots } from '@clew/ledger'
import type { Sql } from './sql.ts'

const LIST = `SELECT name, value, version FROM slots WHERE workspace = $1 AND starts_with(name, $2) ORDER BY name`
const INSERT =
  'INSERT INTO slots (workspace, name, value, version) VALUES ($1, $2, $3, 1) ON CONFLICT DO NOTHING'
const UPDATE = `UPDATE slots SET value = $3, version = version + 1 WHERE workspace = $1 AND name = $2 AND version = $4`

/** Compare-and-set on the version of the row. */
export function createSlots(sql: Sql, reading: Sql): Slots {
  return {
    async list(workspace, prefix) {
      const { rows } = await reading.query({ name: 'slot list', text: LIST, values: [workspace, prefix] })
      return rows.map((row) => ({
        workspace,
        name: row['name'] as string,
        value: JSON.parse(row['value'] as string) as JsonObject,
        version: row['version'] as number,
      }))
    },
    async put(slot, version) {
      const values = [slot.workspace, slot.name, JSON.stringify(slot.value)]
      const { rowCount } = await sql.query(
        version === 0
          ? { name: 'slot insert', text: INSERT, values }
          : { name: 'slot update', text: UPDATE, values: [...values, version] },
      )
      return rowCount === 0 ? null : { ...slot, version: version + 1 }
    },
  }
}
