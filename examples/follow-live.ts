/** One process works, another watches: history first, then live, each event once, also when the worker dies. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from 'clew'

const EVENTS = 200

if (process.argv[2] === 'worker') await work(process.argv[3] ?? '')
else await watch()

/** Says after each commit how far it got; is killed in the middle of it. */
async function work(url: string): Promise<void> {
  const ledger = await openLedger(url)
  for (let n = 1; n <= EVENTS * 10; n++) {
    const event = await ledger.record({
      eventType: 'execution.message',
      correlationId: 'run-1',
      payload: { n },
    })
    process.send?.(event.ledger.seq)
  }
}

async function watch(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-follow-'))
  try {
    const url = `sqlite:${join(folder, 'clew.db')}`
    const ledger = await openLedger(url)
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'run-1' })

    const worker = fork(import.meta.filename, ['worker', url], { execArgv: process.execArgv })
    let acknowledged = 1
    worker.on('message', (seq: number) => (acknowledged = seq))

    const seen: number[] = []
    for await (const event of ledger.follow({ runId: 'run-1' })) {
      seen.push(event.ledger.seq)
      if (seen.length > EVENTS) break
    }
    worker.kill('SIGKILL')
    await once(worker, 'close')

    assert.deepEqual(
      seen,
      Array.from({ length: EVENTS + 1 }, (_, i) => i + 1),
    )
    console.log(`followed ${seen.length} events in order, without a gap or a repeat`)

    // Whatever the worker was told is committed is here, though it was killed.
    const run = await ledger.getRun('run-1')
    const { ok } = await ledger.verify('run-1')
    console.log(
      `acknowledged before the kill: ${acknowledged}; in the ledger: ${run?.events}; verified: ${ok}`,
    )
    assert.ok((run?.events ?? 0) >= acknowledged)
    assert.equal(ok, true)
    await ledger.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
