import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { onStop, openNotes, readNotes, refusalOf } from './notes.ts'

/** `node follower.ts URL NOTES`: notes the position of every event it reads; continues after the last one noted. */
const [, , url = '', file = ''] = process.argv
const note = openNotes(file)
const over = new AbortController()
onStop(() => over.abort())
let last = readNotes(file).reduce(
  (most, each) => ('followed' in each ? (each.followed.at(-1) ?? most) : most),
  0,
)

async function follow(): Promise<void> {
  const ledger = await openLedger(url, { waitMs: 4000 })
  try {
    for await (const { ledger: place } of ledger.follow({ afterPosition: last, signal: over.signal })) {
      note({ followed: [place.position] })
      last = place.position
    }
  } finally {
    await ledger.close()
  }
}

while (!over.signal.aborted)
  try {
    await follow()
  } catch (error) {
    try {
      note(refusalOf(error))
    } catch {
      note({ failed: String(error) })
      process.exit(1)
    }
    await sleep(50)
  }
process.exit()
