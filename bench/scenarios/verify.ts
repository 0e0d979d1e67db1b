import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openLedger } from 'clew'
import { type Figure, inTempFolder, prose, rate, seconds, sideBySide } from '../measure.ts'

const EVENTS = 100_000

/** The floor reads the same rows and hashes what is in them, and compares nothing. */
function readAndHash(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare(
    `SELECT e.*, p.salt, p.body FROM events e JOIN payloads p ON p.position = e.position
     WHERE e.run = ? ORDER BY e.seq`,
  )
  for (const { id } of db.prepare('SELECT id FROM runs').all())
    for (const row of rows.iterate(id as number)) {
      hash('sha256', row['body'] as string)
      hash('sha256', row['salt'] as Uint8Array)
      hash('sha256', `${String(row['event_id'])}${String(row['timestamp'])}${String(row['recorded_at'])}`)
    }
  db.close()
}

export async function verifyFigures(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'verify.db')
    const ledger = await openLedger(`sqlite:${path}`)
    for (let i = 0; i < EVENTS; i += 100)
      await ledger.append(
        Array.from({ length: 100 }, (_, j) => ({
          eventType: 'execution.message',
          correlationId: `run-${i % 10_000}`,
          payload: { role: 'assistant', content: prose(300, (i + j) % 997), index: i + j },
        })),
      )
    const { ours, floor } = await sideBySide(
      3,
      () =>
        seconds(async () => {
          const { ok, checked } = await ledger.verify()
          if (!ok || checked !== EVENTS) throw new Error('verification of a sound ledger failed')
        }),
      () => seconds(() => readAndHash(path)),
    )
    await ledger.close()
    return [
      {
        name: 'verify',
        ours: rate(EVENTS, ours),
        beside: `bare rows read and hashed ${rate(EVENTS, floor)}`,
        ratio: floor / ours,
        least: 0.5,
      },
    ]
  })
}
