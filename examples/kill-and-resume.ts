/** The agent of the README: in another process it is killed in the middle of its work, and it goes on here. */
import { agent, openLedger } from 'clew'
import assert from 'node:assert'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const research = agent('research', async (run, topic: string) => {
  const notes: string[] = []
  for (let page = 1; page <= 5; page++) {
    const note = await run.effect('read', { topic, page }, async () => {
      appendFileSync(`${run.runId}.txt`, `page ${page}\n`) // stands for a call that takes time and costs money
      await setTimeout(200)
      return `${topic}, page ${page}`
    })
    notes.push(note)
  }
  return run.step('write', { notes }, ({ notes }) => notes.join('; '))
})

const ledger = await openLedger('sqlite:./clew.db')
const [, , given] = process.argv
if (given) await research.start(ledger, 'owls', { runId: given })
else {
  const runId = `owls-${Date.now()}`
  const worker = fork(import.meta.filename, [runId])
  for await (const { payload } of ledger.follow({ runId, types: ['execution.step_completed'] }))
    if (payload['stepId'] === 'read#2') break // watched live, from this process: three pages are read
  worker.kill('SIGKILL')
  await once(worker, 'close')

  const { status, output, log } = await research.resume(ledger, runId)
  const calls = readFileSync(`${runId}.txt`, 'utf8').trim().split('\n')
  console.log(`${status}: ${output}\n${log.summary()}\ncalls: ${calls.join(', ')}`)
  for (const page of ['page 1', 'page 2', 'page 3'])
    assert.equal(calls.filter((call) => call === page).length, 1)
}
await ledger.close()
