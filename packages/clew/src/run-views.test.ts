import { expect, it } from 'vitest'
import { openLedger } from './open-ledger.ts'
import { readRunTree } from './operations/run-tree.ts'

const event = (correlationId: string, eventType: string, payload: Record<string, unknown> = {}) => ({
  eventType,
  correlationId,
  payload,
})

it('V3 V4 V5 V6 a run that does not exist has empty views', async () => {
  const ledger = await openLedger('memory:')
  expect(await ledger.transcript('nobody')).toMatchObject({ runId: null, status: null, entries: [] })
  expect(await ledger.transcript('nobody', { as: 'openai' })).toEqual([])
  expect(await ledger.timeline('nobody')).toMatchObject({ items: [], durationMs: 0 })
  expect(await ledger.taskGraph('nobody')).toMatchObject({ nodes: [], edges: [] })
  expect(await ledger.audit('nobody')).toMatchObject({ entries: [], events: 0 })
  await ledger.close()
  await expect(ledger.compliance()).rejects.toMatchObject({ code: 'closed' })
})

it('V3 V4 a fork reads as its prefix and its own events', async () => {
  const ledger = await openLedger('memory:')
  await ledger.append([
    event('run-1', 'system.workflow_started', { agent: 'owl' }),
    event('run-1', 'execution.message', { role: 'user', content: 'a' }),
    event('run-1', 'execution.message', { role: 'user', content: 'not shared' }),
  ])
  await ledger.append([
    event('run-2', 'system.workflow_forked', { sourceRunId: 'run-1', sourceSeq: 2 }),
    event('run-2', 'execution.message', { role: 'user', content: 'b' }),
  ])
  const { runId, status, entries } = await ledger.transcript('run-2')
  expect([runId, status]).toEqual(['run-2', 'running'])
  expect(entries.map((entry) => (entry.kind === 'message' ? entry.content : entry.kind))).toEqual([
    'start',
    'a',
    'status',
    'b',
  ])
  expect((await ledger.timeline('run-2')).items.map((item) => item.seq)).toEqual([1, 2, 3, 4])
  await ledger.close()
})

it('V8 pages through the administrative events of its own workspace only, oldest first', async () => {
  const ledger = await openLedger('memory:')
  for (let n = 0; n < 7; n++) {
    await ledger.append([event('work', 'execution.message', { content: n })])
    await ledger.append([event(`audit-${n % 2}`, 'system.access', { action: `export ${n}`, by: 'ann' })])
  }
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await ledger.compliance({ limit: 3, cursor })
    expect(page.entries.length).toBeLessThanOrEqual(3)
    seen.push(...page.entries.map((entry) => entry.action))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `export ${n}`))
  expect(await ledger.compliance({ since: new Date(Date.now() + 60_000) })).toEqual({
    entries: [],
    nextCursor: null,
  })
  await expect(ledger.compliance({ since: 'long ago' })).rejects.toMatchObject({ code: 'bad_option' })
  await expect(ledger.compliance({ cursor: 'x' })).rejects.toMatchObject({ code: 'bad_option' })
  await ledger.close()
})

it('R7 the tree of a run has its child runs and forks, each once, also when they claim each other', async () => {
  const ledger = await openLedger('memory:')
  await ledger.append([
    event('root', 'system.workflow_started', { parentRunId: 'grandchild' }),
    event('child', 'system.workflow_started', { parentRunId: 'root' }),
    event('grandchild', 'system.workflow_started', { parentRunId: 'child' }),
    event('other', 'system.workflow_started'),
  ])
  await ledger.append([event('branch', 'system.workflow_forked', { sourceRunId: 'root', sourceSeq: 1 })])
  const root = await ledger.getRun('root')
  const rows = root ? await readRunTree(ledger, root) : []
  expect(
    rows.map(({ runId, relation, depth, sharedEvents }) => [runId, relation, depth, sharedEvents]),
  ).toEqual([
    ['root', 'root', 0, null],
    ['child', 'child', 1, null],
    ['grandchild', 'child', 2, null],
    ['branch', 'fork', 1, 1],
  ])
  await ledger.close()
})
