import type { Ledger } from '@clew/ledger'
import { agent, replay } from '@clew/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createControl } from '../control/create-control.ts'
import { agentSet } from '../control/load-agents.ts'
import { openLedger } from '../open-ledger.ts'
import { chooseRuns, replayOne, summarise } from './replay-runs.ts'

const inner = agent('inner', (run, n: number) => run.effect('count', { n }, ({ n }) => n + 1))
const outer = agent('outer', (run, n: number) => run.child(inner, n))
const agents = agentSet(
  [inner, outer].map((each) => ({
    name: each.name,
    kind: 'function' as const,
    resume: () => Promise.reject(new Error('not asked for')),
    fork: () => Promise.reject(new Error('not asked for')),
    replay: (ledger, runId, request) => replay(each, { ledger, runId, ...request }),
  })),
  'the test',
)

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
  await outer.start(ledger, 1, { runId: 'outer-1' })
  await inner.map(ledger, [1, 2], { runId: 'map-1' })
  await agent('other', () => 1).start(ledger, null, { runId: 'other-1' })
  await ledger.record({ eventType: 'execution.message', correlationId: 'loose' })
})
afterEach(() => ledger.close())

it('D5 runs are chosen that can be replayed on their own, and it is told what is left out', async () => {
  const control = createControl(ledger, { agents })
  const { runs, left } = await chooseRuns(ledger, control, { mode: 're-execute' })
  expect(runs.map(({ runId }) => runId).toSorted()).toEqual(['map-1', 'outer-1'])
  expect(left.toSorted((a, b) => a.reason.localeCompare(b.reason))).toEqual([
    { reason: 'of no agent', runs: 1 },
    { reason: 'of other, which is not here', runs: 1 },
  ])
  const some = await chooseRuns(ledger, control, { mode: 're-execute', agent: 'outer', limit: 1 })
  expect(some.runs).toHaveLength(1)
  await expect(chooseRuns(ledger, createControl(ledger), { mode: 're-execute' })).rejects.toThrow(
    'No run can be replayed: all matching runs are of',
  )
  await expect(chooseRuns(ledger, control, { mode: 're-execute', agent: 'nobody' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

it('D5 what is wrong with one run is told beside the others', async () => {
  const control = createControl(ledger, { agents })
  const done = [
    await replayOne(control, { runId: 'outer-1', agent: 'outer' }, {}),
    await replayOne(control, { runId: 'map-1', agent: 'inner map' }, {}),
    await replayOne(control, { runId: 'other-1', agent: 'other' }, {}),
  ]
  expect(summarise(done)).toMatchObject({ verdict: 'diverged', identical: 2, diverged: 0, failed: 1 })
  expect(done[0]?.report?.path).toEqual([])
  expect(done[2]).toMatchObject({ report: null, error: expect.stringContaining('none of that name') })
  await expect(replayOne(control, { runId: 'outer-1', agent: 'outer' }, { mode: 'what-if' })).rejects.toThrow(
    'one run at a time',
  )
})
