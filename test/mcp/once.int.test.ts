import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlledRuns } from '../../packages/clew/test/controlled-runs.ts'
import { connectStdio, type McpClient } from './mcp-client.ts'

interface Outcome {
  readonly run: { readonly runId: string; readonly status: string; readonly events: number }
  readonly output?: unknown
  readonly repeated?: boolean
}

const runs = createControlledRuns()
const ARGS = ['--store', runs.store, '--agent', './agents.ts', '--approvals']
/** A process of its own: what was done is known from the ledger alone. */
const connect = (): Promise<McpClient> =>
  connectStdio(runs.folder, [...ARGS, '--allow', 'start,score,replay,resume'])

let first: McpClient
let second: McpClient
beforeAll(async () => {
  await runs.started('trip', 'trip-1', { to: 'Oslo' })
  ;[first, second] = await Promise.all([connect(), connect()])
})
afterAll(async () => {
  await Promise.all([first.client.close(), second.client.close()])
  runs.remove()
})

const eventsOf = async (runId: string): Promise<number> =>
  (await first.json<Outcome>('get_run', { runId })).run.events

describe('A7 the same call again, from another process', () => {
  it('answers a question once; the run goes on with it', async () => {
    const given = { runId: 'trip-1', answer: 'yes', reason: 'ann said so', idempotency_key: 'answer-1' }
    const said = await first.json<Outcome>('answer', given)
    expect(said.run.runId).toBe('trip-1')
    const events = await eventsOf('trip-1')
    const again = await second.call('answer', given)
    expect([again.isError, again.text]).toEqual([false, expect.stringContaining('done by an earlier call')])
    expect(await eventsOf('trip-1')).toBe(events)
    const conflict = await second.call('answer', { ...given, answer: 'no' })
    expect([conflict.isError, conflict.text]).toEqual([true, expect.stringContaining('error conflict')])

    const done = await first.json<Outcome>('resume', { runId: 'trip-1', reason: 'it was answered' })
    expect(done).toMatchObject({ run: { status: 'completed' }, output: { booked: 'HAT136', to: 'Oslo' } })
    const audit = await runs.clew('compliance', '--json')
    expect(audit.stdout).toMatch(/"target": ?"trip-1"/)
    expect(audit.stdout).toMatch(/"who": ?"tester"/)
  })

  it('submits one run', async () => {
    const given = { agent: 'trip', input: { to: 'Rome' }, reason: 'to try', idempotency_key: 'start-1' }
    const made = (await first.json<Outcome>('start', given)).run.runId
    expect((await second.json<Outcome>('start', given)).run.runId).toBe(made)
    const again = await second.call('start', given)
    expect([again.isError, again.text]).toEqual([false, expect.stringContaining(`\n${made}  `)])
    const listed = await first.json<{ runs: { runId: string }[] }>('list_runs', { agent: 'trip' })
    expect(listed.runs.map(({ runId }) => runId).toSorted()).toEqual([made, 'trip-1'].toSorted())
  })

  it('scores once, and says how the run is now', async () => {
    const given = {
      runId: 'trip-1',
      name: 'success',
      value: true,
      reason: 'right',
      idempotency_key: 'score-1',
    }
    expect((await first.call('score', given)).text).toContain('success true by tester')
    const events = await eventsOf('trip-1')
    const again = await second.call('score', given)
    expect([again.isError, again.text]).toEqual([false, expect.stringContaining('done by an earlier call')])
    const { run } = await second.json<{ run: { scores: unknown } }>('score', given)
    expect(run.scores).toMatchObject([{ name: 'success', value: true }])
    expect(await eventsOf('trip-1')).toBe(events)
  })

  it('makes one run of a what-if; a replay that makes none is told again with its verdict', async () => {
    const plain = { runId: 'trip-1', reason: 'to prove it', idempotency_key: 'replay-1' }
    for (const client of [first, second])
      expect((await client.call('replay', plain)).text).toContain('identical: 1 identical, 0 diverged')

    const given = { ...plain, mode: 'what-if', at: 'choose', idempotency_key: 'what-if-1' }
    const made = await first.json<{ runs: { report: { runId: string } }[] }>('replay', given)
    const runId = made.runs[0]?.report.runId ?? ''
    const again = await second.call('replay', given)
    expect([again.isError, again.text]).toEqual([false, expect.stringContaining(`\n${runId}  `)])
    const { runs: listed } = await first.json<{ runs: { forkedFrom: { runId: string } | null }[] }>(
      'list_runs',
    )
    expect(listed.filter(({ forkedFrom }) => forkedFrom?.runId === 'trip-1')).toHaveLength(1)
  })
})
