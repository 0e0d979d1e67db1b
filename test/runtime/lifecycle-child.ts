import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ClewError, type Ledger } from '@clew/ledger'
import { type RunLease, leaseRun } from '../../packages/runtime/src/lifecycle/lease-run.ts'
import { startSweeper } from '../../packages/runtime/src/lifecycle/start-sweeper.ts'
import { sweep } from '../../packages/runtime/src/lifecycle/sweep.ts'
import { openLedger } from '../../packages/sqlite/test/harness.ts'

/** Another process that owns runs: `node lifecycle-child.ts COMMAND FILE RUN THREAD`, one JSON line per answer. */
const [, , command = '', file = '', runId = '', threadId = ''] = process.argv
const ledger = openLedger(file)
const say = (answer: unknown): void => void writeSync(1, `${JSON.stringify(answer)}\n`)
const codeOf = (error: unknown): string => (error instanceof ClewError ? error.code : String(error))
// Rare enough that a process is hardly ever stopped in the middle of a write.
const PACE = { beatMs: 500, pollMs: 20 }
let made = 0

async function write(on: Ledger, hold: RunLease): Promise<string> {
  const payload = { stepId: `s#${made++}`, name: 's' }
  try {
    await on.append([{ eventType: 'execution.step_started', correlationId: runId, payload }], {
      epoch: hold.epoch,
    })
    return 'ok'
  } catch (error) {
    return codeOf(error)
  }
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds the run, tells when its signal aborts, and writes when told to; `stop` ends it as asked. */
  async hold() {
    const hold = await leaseRun(ledger, { runId, threadId, pace: PACE })
    hold.signal.addEventListener('abort', () => say({ aborted: codeOf(hold.signal.reason) }))
    const started = { eventType: 'system.workflow_started', correlationId: runId, payload: { threadId } }
    await ledger.append([started], { epoch: hold.epoch })
    say({ epoch: hold.epoch })
    for await (const line of createInterface(process.stdin)) {
      if (line === 'write') say(await write(ledger, hold))
      if (line !== 'stop') continue
      const stopped = { eventType: 'system.workflow_stopped', correlationId: runId }
      await ledger.append([stopped], { epoch: hold.epoch })
      await hold.release()
      say('stopped')
    }
  },

  /** Holds a run and runs a sweeper, and has nothing else to do. */
  async idle() {
    await leaseRun(ledger, { runId, threadId })
    startSweeper(ledger)
    say('idle')
  },

  /** Sweeps when told to. */
  async sweep() {
    say('ready')
    for await (const _ of createInterface(process.stdin)) say(await sweep(ledger))
  },

  /** Waits for the thread, writes one event under it, and lets go. */
  async turn() {
    const hold = await leaseRun(ledger, { runId, threadId, onBusy: 'wait', pace: PACE })
    const answer = await write(ledger, hold)
    await hold.release()
    await ledger.close()
    say(answer)
  },
}

await COMMANDS[command]?.()
