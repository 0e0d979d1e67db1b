import { afterEach, beforeEach, expect, it } from 'vitest'
import { foreignType, type Ledger } from '@clew/ledger'
import { createDatabase, type TestDatabase } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'

let database: TestDatabase
let ledger: Ledger
beforeEach(async () => {
  database = await createDatabase()
  ledger = await openLedger(database.url)
})
afterEach(async () => {
  await ledger.close()
  await database.drop()
})

/** What PostgreSQL cannot keep as text, cannot hold in an index, or might take for something else. */
const ODD = [
  'a\u0000b',
  '\ud800',
  '\udfff',
  'x'.repeat(5000),
  `${'x'.repeat(5000)}!`,
  'o\'\\x00"{,}NULL',
  'NULL',
  '',
  '😀\u0001',
]

it('E1 L8 text of any kind reads back as it was, in payloads and in names, and is told apart', async () => {
  for (const [n, odd] of ODD.entries()) {
    const runId = `run-${n}`
    await ledger.append([
      {
        eventType: 'system.workflow_started',
        correlationId: runId,
        payload: { agent: odd, threadId: odd, subjects: [odd], input: { [odd]: odd } },
      },
      { eventType: 'execution.step_started', correlationId: runId, payload: { stepId: odd, name: odd } },
      {
        eventType: 'system.tagged',
        correlationId: runId,
        payload: { set: { [`tag ${odd}`]: odd, [`other ${odd}`]: odd } },
      },
      {
        eventType: 'system.scored',
        correlationId: runId,
        payload: { target: 'run', name: `score ${odd}`, value: odd, by: odd },
      },
    ])
    // From memory, and by a process that must read it first.
    const later = await openLedger(database.url)
    await later.append([
      {
        eventType: 'execution.step_completed',
        correlationId: runId,
        payload: { stepId: odd, output: [odd] },
      },
    ])
    await later.close()
  }
  for (const [n, odd] of ODD.entries()) {
    const [started, begun, , , done] = await Array.fromAsync(ledger.read(`run-${n}`))
    expect(started?.payload).toEqual({ agent: odd, threadId: odd, subjects: [odd], input: { [odd]: odd } })
    expect(begun?.payload).toEqual({ stepId: odd, name: odd })
    expect(done?.payload['output']).toEqual([odd])
    expect(await ledger.getSteps(`run-${n}`)).toMatchObject([
      { stepId: odd, nodeName: odd, status: 'completed' },
    ])
    const named = async (filter: object): Promise<string[]> =>
      (await ledger.listRuns(filter)).runs.map((run) => run.runId)
    expect(await named({ threadId: odd })).toEqual([`run-${n}`])
    expect(await named({ agent: odd })).toEqual([`run-${n}`])
    expect(await named({ tags: { [`tag ${odd}`]: odd } })).toEqual([`run-${n}`])
    expect(await named({ scores: [{ name: `score ${odd}`, op: '=', value: odd }] })).toEqual([`run-${n}`])
  }
  // A filter that reads the summaries of all of these runs.
  expect((await ledger.search('cost:>1', { catchUpMs: 30_000 })).hits).toEqual([])
  expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
})

it('E1 ids as long as an envelope allows fit, of any letters', async () => {
  const runId = '漢'.repeat(512)
  const event = {
    eventType: foreignType('execution.note'),
    correlationId: runId,
    source: { origin: 'agent', runtime: '漢'.repeat(200) },
  } as const
  await ledger.record(event)
  const lease = await ledger.leases.acquire({ workspace: 'default', runId }, '漢'.repeat(4000))
  await ledger.append([event], { epoch: lease.epoch })
  expect((await ledger.getRun(runId))?.events).toBe(2)
})
