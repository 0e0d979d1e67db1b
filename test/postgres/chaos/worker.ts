import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Ledger } from '@clew/ledger'
import { agent, startWorker } from 'clew'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { createDice } from './dice.ts'
import { onStop, openNotes, refusalOf } from './notes.ts'

/**
 * `node worker.ts URL NOTES WHO SEED SWEEP_MS NEW`: starts runs until SIGTERM, NEW at a time, and resumes those that
 * dead workers left. Effects are noted when they are carried out.
 */
const [, , url = '', file = '', who = '', seed = '', sweepMs = '', fresh = ''] = process.argv
const note = openNotes(file)
const dice = createDice(Number(seed))
let isOver = false

const PARTS = 4
const errand = agent('errand', async (run, n: number) => {
  let sum = 0
  for (let part = 0; part < PARTS; part++)
    sum += await run.effect('part', { n, part }, async (_, { attempt }) => {
      note({ outside: `${run.runId} ${part}`, attempt })
      await sleep(dice.between(10, 120))
      return part * n
    })
  return run.step('double', { sum }, () => 2 * sum)
})

async function open(): Promise<Ledger> {
  for (;;)
    try {
      return await openLedger(url)
    } catch (error) {
      note(refusalOf(error))
      await sleep(50)
    }
}

const ledger = await open()
const worker = await startWorker({
  ledger,
  agents: [errand],
  sweepMs: Number(sweepMs),
  graceMs: 300,
  // Processes are killed at random here, which is not the fault of a run.
  maxCrashes: 1000,
})
onStop(() => {
  isOver = true
  void worker.stop()
})

/** A run that meets a fault is left for the sweep of a worker. */
async function begin(lane: number): Promise<void> {
  for (let n = 0; !isOver; n++)
    try {
      await errand.start(ledger, n, { runId: `errand-${who}-${process.pid}-${lane}-${n}` })
    } catch (error) {
      if (error instanceof ClewError && error.code === 'stale_epoch')
        note({ stale: String(error.fields['runId']) })
      else note(refusalOf(error))
      await sleep(50)
    }
}

try {
  await Promise.all(Array.from({ length: Number(fresh) }, (_, lane) => begin(lane)))
  await worker.ended
  await ledger.close()
} catch (error) {
  note({ failed: String(error) })
  process.exitCode = 1
}
process.exit()
