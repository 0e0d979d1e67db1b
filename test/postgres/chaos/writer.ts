import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Lease, type Ledger } from '@clew/ledger'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { createDice } from './dice.ts'
import { onStop, openNotes, readNotes, refusalOf, type Sent } from './notes.ts'

/**
 * `node writer.ts URL NOTES EARLIER WHO SEED WAIT_MS`: appends until SIGTERM. It first sends again what the writers that it
 * replaces, whose notes are EARLIER, got no answer for. A refused or lost call is repeated with the same ids until it is answered.
 */
const [, , url = '', file = '', earlier = '', who = '', seed = '', waitMs = ''] = process.argv
const note = openNotes(file)
const dice = createDice(Number(seed))
let isOver = false
onStop(() => {
  isOver = true
})

let made = 0
function event(runId: string, eventType = 'execution.note', payload: Record<string, unknown> = {}): Sent {
  const key = `${who}-${process.pid}-${made++}`
  return { eventId: randomUUID(), eventType, correlationId: runId, payload: { key, ...payload } }
}

async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      note(refusalOf(error))
      await sleep(dice.between(10, 60))
    }
}

async function send(ledger: Ledger, events: readonly Sent[], epoch?: number): Promise<void> {
  note({ intent: events, epoch })
  const answers = await insist(() => ledger.append(events, { epoch }))
  note({
    ack: answers.map(({ eventId, correlationId: runId, ledger: { seq, position, hash } }) => ({
      eventId,
      runId,
      seq,
      position,
      hash,
    })),
  })
}

async function sendAgain(ledger: Ledger): Promise<void> {
  const notes = earlier.split(',').flatMap(readNotes)
  const answered = new Set(notes.flatMap((each) => ('ack' in each ? each.ack.map((one) => one.eventId) : [])))
  for (const each of notes)
    if (
      'intent' in each &&
      each.epoch === undefined &&
      !each.intent.every((one) => answered.has(one.eventId))
    )
      await send(ledger, each.intent)
}

let lease: Lease | undefined
/** Appends under a lease, and acquires it again if it was lost. */
async function sendLeased(ledger: Ledger): Promise<void> {
  const runId = `leased-${who}`
  try {
    lease ??= await insist(() => ledger.leases.acquire({ workspace: 'default', runId }, `thread-${who}`))
    const { epoch } = lease
    const started = event(runId, 'execution.step_started', { stepId: `s#${made}`, name: 's', epoch })
    await send(ledger, [started], epoch)
  } catch (error) {
    if (!(error instanceof ClewError)) throw error
    if (error.code === 'stale_epoch') {
      note({ stale: runId })
      lease = undefined
    } else if (error.code !== 'busy') throw error
  }
}

const list: string[] = []
const WAYS: readonly ((ledger: Ledger) => Promise<unknown>)[] = [
  (ledger) => send(ledger, [event(`run-${who}`)]),
  (ledger) =>
    Promise.all([0, 1, 2, 3, 4, 5].map((n) => send(ledger, [event(n % 3 ? `run-${who}` : 'shared')]))),
  (ledger) =>
    send(
      ledger,
      Array.from({ length: dice.between(5, 40) }, (_, n) =>
        event(['shared', `run-${who}`, `new-${who}-${process.pid}-${made}`][n % 3] as string),
      ),
    ),
  (ledger) => {
    list.push(`line ${made} ${'word '.repeat(40)}`)
    return send(ledger, [event(`run-${who}`, 'execution.message', { role: 'user', content: [...list] })])
  },
  sendLeased,
  sendLeased,
]

async function main(): Promise<void> {
  const ledger = await insist(() => openLedger(url, { waitMs: Number(waitMs) }))
  await sendAgain(ledger)
  while (!isOver) {
    await dice.one(WAYS)(ledger)
    await sleep(dice.between(1, 12))
  }
  await ledger.close()
}

await main().catch((error: unknown) => {
  note({ failed: error instanceof ClewError ? `${error.code} ${error.message}` : String(error) })
  process.exitCode = 1
})
process.exit()
