/** A run is recorded; somebody changes one word of a copy of the file; `verify` says where. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openLedger } from 'clew'

const folder = mkdtempSync(join(tmpdir(), 'clew-verify-'))
try {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
  const runId = 'refund-17'
  const say = (role: string, content: string) =>
    ledger.record({ eventType: 'execution.message', correlationId: runId, payload: { role, content } })

  await ledger.record({
    eventType: 'system.workflow_started',
    correlationId: runId,
    payload: { agent: 'support' },
  })
  await say('user', 'Please refund order 17.')
  await say('assistant', 'I have refunded 20 euros.')
  await ledger.record({ eventType: 'system.workflow_completed', correlationId: runId })

  const honest = await ledger.verify()
  console.log(`the ledger: ok ${honest.ok}, ${honest.checked} events checked`)
  assert.equal(honest.ok, true)

  // The database refuses to be changed as it is …
  const copy = join(folder, 'copy.db')
  const original = new DatabaseSync(join(folder, 'clew.db'))
  original.prepare('VACUUM INTO ?').run(copy)
  assert.throws(() => original.exec("UPDATE payloads SET body = replace(body, '20', '200')"), /append-only/)
  original.close()
  await ledger.close()

  // … so the forger takes the triggers away first.
  const forged = new DatabaseSync(copy)
  forged.exec('DROP TRIGGER payloads_never_change')
  forged.exec("UPDATE payloads SET body = replace(body, '20 euros', '200 euros')")
  forged.close()

  const suspect = await openLedger(`sqlite:${copy}`)
  const { ok, problems } = await suspect.verify()
  await suspect.close()
  for (const { runId: run, seq, problem, detail } of problems)
    console.log(`the copy: ${problem}, event ${seq} of ${run}: ${detail}`)
  assert.equal(ok, false)
  assert.deepEqual(
    problems.map(({ seq, problem }) => [seq, problem]),
    [[3, 'changed']],
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
