import { openSync, writeSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { type ClewEvent, ClewError, type EventInput, type Ledger } from '@clew/ledger'
import { openLedger } from 'clew'
import { armCrash, type CrashPoint } from './crash-points.ts'
import type { Line } from './oracle.ts'

/**
 * `node writer.ts DATABASE LINES ROUND`: writes to the ledger until it is killed. It notes what it sends before each
 * call, and what was acknowledged after the answer; both are in the file before it continues.
 */
const [, , database = '', lines = '', round = ''] = process.argv
const crash = armCrash(process.env['CLEW_CRASH_AT'] as CrashPoint, Number(process.env['CLEW_CRASH_AFTER']))
const CALLS = 220
const out = openSync(lines, 'a')
const say = (line: Line): void => void writeSync(out, `${JSON.stringify(line)}\n`)

let made = 0
/** Last seq of each run as acknowledged: what a fork may start from. */
const heads = new Map<string, number>()
const messages: string[] = []

function event(
  runId: string,
  eventType = 'execution.note',
  payload: Record<string, unknown> = {},
): EventInput & { eventId: string } {
  const key = `${round}-${made++}`
  return { eventId: randomUUID(), eventType, correlationId: runId, payload: { key, ...payload } }
}

async function send(
  ledger: Ledger,
  events: (EventInput & { eventId: string })[],
  epoch?: number,
): Promise<void> {
  say({ intent: events, epoch })
  const answers = await ledger.append(events, { epoch })
  crash.beforeAck()
  for (const answer of answers) acknowledge(answer)
}

function acknowledge({ eventId, correlationId, ledger: { seq, hash, position } }: ClewEvent): void {
  heads.set(correlationId, seq)
  say({ ack: { eventId, runId: correlationId, seq, hash, position } })
}

async function main(): Promise<void> {
  const ledger = await openLedger(`sqlite:${database}`)
  // The writer before this one was killed while it held this lease.
  const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'leased' }, 'thread')
  say({ ready: true })
  for (let n = 0; n < CALLS; n++) {
    const runId = `run-${n % 3}`
    switch (n % 8) {
      case 0:
        await send(ledger, [event(runId)])
        break
      case 1:
        await Promise.all([0, 1, 2, 3, 4, 5].map((i) => send(ledger, [event(`run-${i % 3}`)])))
        break
      case 2:
        await send(ledger, [event('run-0'), event('run-1'), event(`new-${round}-${n}`), event('run-2')])
        break
      case 3:
        messages.push(`message ${n} ${'word '.repeat(60)}`)
        await send(ledger, [event(runId, 'execution.message', { role: 'user', content: [...messages] })])
        break
      case 4:
        await send(ledger, [event(runId, 'execution.step_started', { stepId: `s-${round}#${n}`, name: 's' })])
        await send(ledger, [
          event(runId, 'execution.step_completed', { stepId: `s-${round}#${n}`, output: messages }),
        ])
        break
      case 5: {
        const sourceSeq = heads.get(runId)
        const fork = { sourceRunId: runId, sourceSeq: 1 + Math.floor(Math.random() * (sourceSeq ?? 1)) }
        if (sourceSeq !== undefined)
          await send(ledger, [event(`fork-${round}-${n}`, 'system.workflow_forked', fork)])
        break
      }
      case 6:
        await ledger.leases.renew(lease)
        await send(
          ledger,
          [event('leased', 'execution.step_started', { stepId: `l-${round}#${n}`, name: 'l' })],
          lease.epoch,
        )
        break
      default:
        await send(ledger, [event(runId, 'integration.call', { large: `${n}`.repeat(9000) })])
    }
  }
}

await main().catch((error: unknown) => {
  say({ failed: error instanceof ClewError ? `${error.code} ${error.message}` : String(error) })
  process.exitCode = 1
})
