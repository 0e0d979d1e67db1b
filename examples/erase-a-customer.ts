/** A customer's data: recorded, found, remembered, held for a court, erased, and the proof that it is gone. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, headSigner, openLedger, verifyCertificate } from 'clew'

const CUSTOMER = 'customer-7711'
const SAID = 'My name is Wilhelmina Featherstonehaugh, and the kettle exploded'
const folder = mkdtempSync(join(tmpdir(), 'clew-erase-'))

const filesWith = (text: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((file) => file.isFile() && readFileSync(join(folder, file.name)).includes(text))
    .map(({ name }) => name)

const desk = agent('desk', async (run, input: { said: string }) => {
  const answer = await run.effect(
    'answer',
    { said: input.said },
    ({ said }) => `We are sorry to hear: ${said}`,
  )
  return { answer }
})

try {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`, {
    memory: { promote: [{ from: 'session', to: 'long', scope: 'user', when: { tags: ['complaint'] } }] },
  })

  // Record: the customer's id is said when the run begins.
  const about = { threadId: 'chat-1', subjects: [CUSTOMER] }
  const { runId } = await desk.start(ledger, { said: SAID }, about)
  const other = await desk.start(ledger, { said: 'Where is my teapot?' }, { subjects: ['customer-8'] })
  const [first] = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
  assert.ok(first)

  // Remember, and promote by the declared policy.
  await ledger.causedBy(first, () =>
    ledger.memory.put(
      {
        layer: 'session',
        scope: 'chat-1',
        namespace: 'facts',
        key: 'kettle',
        value: SAID,
        tags: ['complaint'],
      },
      { runId },
    ),
  )
  const { promoted } = await ledger.memory.promote()
  assert.equal(promoted.length, 1)
  assert.deepEqual(promoted[0]?.to, { layer: 'long', scope: `user:${CUSTOMER}` })

  // Search.
  assert.deepEqual(
    (await ledger.search('kettle exploded agent:desk')).hits.map(({ run }) => run.runId),
    [runId],
  )
  assert.equal((await ledger.memory.search('kettle')).length, 2)
  console.log(`recorded, found and remembered: ${filesWith('Featherstonehaugh').join(', ')} hold it`)

  // Hold: a court wants it kept, so it cannot be erased.
  const hold = await ledger.hold({ subject: CUSTOMER }, { reason: 'case 12/26', by: 'legal' })
  await assert.rejects(ledger.erase({ subject: CUSTOMER }), { code: 'held' })
  await ledger.release(hold.holdId, { by: 'legal' })

  // Erase.
  const signer = headSigner(join(folder, 'signing.pem'))
  const report = await ledger.erase({ subject: CUSTOMER }, { by: 'dpo', reason: 'letter of 3 May', signer })
  console.log(`erased ${report.events} events, ${report.memory} of them memory`)
  assert.ok(report.events > 5 && report.memory >= 2)

  // Prove: nobody finds it, no file holds it, the chain is whole, and the ledger says who did it and why.
  assert.equal((await ledger.search('kettle exploded')).hits.length, 0)
  assert.equal((await ledger.memory.search('kettle')).length, 0)
  for await (const event of ledger.read(runId))
    assert.deepEqual([event.payload, event.ledger.erased], [{}, true])
  // Ids are part of the chain and of the holds that were set: they should be numbers like this one, not names.
  for (const text of ['Featherstonehaugh', 'kettle']) assert.deepEqual(filesWith(text), [])
  const { ok, problems } = await ledger.verify(undefined, { projections: true })
  assert.ok(ok, JSON.stringify(problems))
  assert.equal((await ledger.getRun(other.runId))?.agent, 'desk', 'others are as they were')
  const { entries } = await ledger.compliance()
  const deeds = entries.map(({ who, action }) => `${who}: ${action}`)
  assert.deepEqual(deeds, ['legal: hold', 'legal: release', 'dpo: erased'])
  assert.ok(report.certificate && (await verifyCertificate(report.certificate)))
  assert.ok(
    !(await verifyCertificate({ ...report.certificate, events: 1 })),
    'a changed certificate is found out',
  )
  console.log(`no file holds it, ${entries.length} deeds in the compliance log, certificate signed`)
  await ledger.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
