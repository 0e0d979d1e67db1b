import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ClewError } from '@clew/ledger'
import { openLedger } from './harness.ts'

/** Holds the lease of a run, says it, and does what it is told, one JSON line per answer: `node lease-child.ts URL RUN THREAD`. */
const [, , url = '', runId = '', threadId = ''] = process.argv
const say = (answer: unknown): void => void writeSync(1, `${JSON.stringify(answer)}\n`)
const ledger = await openLedger(url)
const lease = await ledger.leases.acquire({ workspace: 'default', runId }, threadId)
say(lease)

const step = {
  eventType: 'execution.step_started',
  correlationId: runId,
  payload: { stepId: 's#0', name: 's' },
}
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  write: () => ledger.append([step], { epoch: lease.epoch }),
  renew: () => ledger.leases.renew(lease),
  close: () => ledger.close(),
}
for await (const line of createInterface(process.stdin))
  say(
    await COMMANDS[line]?.().then(
      () => 'ok',
      (error: unknown) => (error instanceof ClewError ? error.code : String(error)),
    ),
  )
