/** Secrets go in; none of them is on the disk. Equal ones are still known to be equal. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from 'clew'

const KEY = 'sk-ant-api03-Kx81mQpz7Lr2Vt9Wn4Yc'
const SECRETS = [KEY, 'hunter2-and-more', '4111 1111 1111 1111', 'jane@example.org']

const folder = mkdtempSync(join(tmpdir(), 'clew-redaction-'))
try {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`, {
    redact: {
      policies: ['secrets', 'personal'],
      rules: [{ kind: 'customer', path: '$.arguments.customer' }],
    },
  })
  const runId = 'order-1'
  const call = await ledger.record({
    eventType: 'execution.tool_call',
    correlationId: runId,
    payload: {
      name: 'charge',
      arguments: { customer: 'Jane', card: '4111 1111 1111 1111', mail: 'jane@example.org' },
      headers: { 'x-api-key': KEY },
    },
  })
  const failure = await ledger.record({
    eventType: 'execution.tool_error',
    correlationId: runId,
    payload: { name: 'charge', error: `401 for ${KEY}; tried postgres://shop:hunter2-and-more@db/orders` },
  })
  for await (const event of ledger.read(runId)) console.log(event.eventType, event.payload)

  const first = (call.payload['headers'] as Record<string, string>)['x-api-key'] ?? ''
  assert.match(first, /^\[redacted:anthropic-key:[0-9a-f]{10}\]$/)
  assert.ok(String(failure.payload['error']).includes(first), 'the same key has the same placeholder')
  assert.match(JSON.stringify(call.payload), /"customer":"\[redacted:customer:/)

  for (const file of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, file))
    for (const secret of SECRETS) assert.ok(!bytes.includes(secret), `${file} holds a secret`)
  }
  console.log(`none of ${SECRETS.length} secrets is in ${readdirSync(folder).join(', ')}`)

  // A retry is known by what was handed in, not by what was stored.
  const again = await ledger.record({
    eventId: call.eventId,
    eventType: 'execution.tool_call',
    correlationId: runId,
    payload: {
      name: 'charge',
      arguments: { customer: 'Jane', card: '4111 1111 1111 1111', mail: 'jane@example.org' },
      headers: { 'x-api-key': KEY },
    },
  })
  assert.equal(again.ledger.seq, call.ledger.seq)
  await ledger.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
