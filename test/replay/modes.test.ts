import type { Ledger } from '@clew/ledger'
import { agent, append, last, replay, type ReplayProgress, START, StateGraph } from '@clew/runtime'
import { openLedger } from 'clew'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { researcher } from './changed-agents.ts'
import { watch } from './unchanged-lives.ts'

const open = (): Ledger => createMemoryWorld().open()
const graceMs = 30
const SECRET = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')

async function recorded(ledger: Ledger): Promise<string> {
  return (await researcher(false).start(ledger, { topic: 'owls' }, { runId: 'source' })).runId
}

describe('D1 reconstruct', () => {
  it('D1 D7 tells the run from its record, without its code, and writes nothing', async () => {
    const ledger = open()
    const runId = await recorded(ledger)
    const { ledger: watched } = watch(ledger)
    const report = await replay(null, { ledger: watched, runId, mode: 'reconstruct' })
    expect(report).toMatchObject({ verdict: 'identical', steps: 5, divergences: [], runId: null })
    expect(report.outcome).toEqual({ status: 'completed', output: { said: 'so it is' } })
    expect(report.path.map(({ step }) => step)).toEqual(['plan', 'search', 'read', 'deep', 'model'])
  })

  it('D1 L6 a record that is not whole is not reconstructed', async () => {
    const ledger = open()
    const runId = await recorded(ledger)
    const broken: Ledger = {
      ...ledger,
      verify: async () => ({
        ok: false,
        checked: 1,
        problems: [{ runId, seq: 4, problem: 'payload_changed', detail: '' } as never],
        pruned: [],
      }),
    }
    const replaying = replay(null, { ledger: broken, runId, mode: 'reconstruct' })
    await expect(replaying).rejects.toMatchObject({ code: 'store_corrupt', fields: { seq: 4 } })
  })
})

describe('D1 what-if', () => {
  it('D1 V10 up to a step from the record, then live with other code, compared with its source', async () => {
    const ledger = open()
    const runId = await recorded(ledger)
    const before = (await ledger.getRun(runId))?.events
    const report = await replay(researcher(false, 'other prompt'), {
      ledger,
      runId,
      mode: 'what-if',
      at: { step: 'model' },
      newRunId: 'what-if',
    })
    expect(report).toMatchObject({
      mode: 'what-if',
      verdict: 'diverged',
      runId: 'what-if',
      sourceRunId: runId,
    })
    expect(report.divergences[0]).toMatchObject({ kind: 'input', step: 'model', stepId: 'model#0' })
    expect(report.outcome).toEqual({ status: 'completed', output: { said: 'so it is' } })
    expect(report.comparison?.deltas.steps).toMatchObject({ delta: 0 })
    expect((await ledger.getRun(runId))?.events).toBe(before)
  })

  it('D1 of a graph: another state from a superstep on', async () => {
    const ledger = open()
    const graph = new StateGraph({ n: last(0), log: append<string>() })
      .addNode('a', () => ({ log: 'a' }))
      .addNode('b', ({ n }) => ({ log: `b ${n}` }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({ n: 1 })
    const report = await replay(graph, {
      ledger,
      runId,
      mode: 'what-if',
      at: { superstep: 1 },
      state: { n: 9 },
    })
    expect(report.verdict).toBe('diverged')
    expect(report.outcome).toMatchObject({ status: 'completed', output: { n: 9, log: ['a', 'b 9'] } })
    expect(report.comparison?.state.map(({ path }) => path)).toEqual(['$.n', '$.log[1]'])
  })
})

describe('D1 kept reports', () => {
  it.each([
    ['identical', 'none', null],
    ['diverged', 'renamed', 'search#0'],
  ] as const)('D1 %s: a run of its own that says whose it is; its source gets no event', async (...given) => {
    const [verdict, change, at] = given
    const ledger = open()
    const sourceRunId = await recorded(ledger)
    const before = await Array.fromAsync(ledger.read(sourceRunId))
    const report = await replay(researcher(false, change), {
      ledger,
      runId: sourceRunId,
      keep: { runId: 'kept' },
      graceMs,
    })
    expect(report.runId).toBe('kept')
    expect(await ledger.getRun('kept')).toMatchObject({
      status: 'completed',
      agent: null,
      replay: { mode: 're-execute', verdict, sourceRunId, at },
    })
    expect((await ledger.verify('kept', { projections: true })).problems).toEqual([])
    expect(await Array.fromAsync(ledger.read(sourceRunId))).toEqual(before)
    expect((await ledger.getRun(sourceRunId))?.replay).toBeNull()
    const again = replay(researcher(false), { ledger, runId: sourceRunId, keep: { runId: 'kept' } })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
  })

  it('D1 keep: true makes an id', async () => {
    const ledger = open()
    const { runId } = await replay(researcher(false), { ledger, runId: await recorded(ledger), keep: true })
    expect((await ledger.getRun(String(runId)))?.replay?.verdict).toBe('identical')
  })
})

describe('D1 refused', () => {
  it('R11 a ledger on which replaying is switched off', async () => {
    const ledger = await openLedger('memory:', { mode: { replay: false } })
    await expect(replay(researcher(false), { ledger, runId: 'any' })).rejects.toMatchObject({
      code: 'switched_off',
    })
    await ledger.close()
  })

  it('D1 no such run, a run of another agent, one that no runtime recorded, and no code', async () => {
    const ledger = open()
    const runId = await recorded(ledger)
    const other = agent('other', () => 1)
    await expect(replay(other, { ledger, runId: 'none' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(replay(other, { ledger, runId })).rejects.toThrow('is one of researcher, not of other')
    await ledger.record({ eventType: 'execution.message', correlationId: 'told', payload: { content: 'hi' } })
    await expect(replay(other, { ledger, runId: 'told' })).rejects.toThrow('was not recorded by an agent')
    await expect(replay(null, { ledger, runId })).rejects.toMatchObject({ code: 'bad_option' })
  })
})

describe('D2 what may differ', () => {
  const asks = (id: () => string) =>
    agent('asks', async (run) => {
      const plan = await run.step('plan', { id: id() }, () => ({ steps: [{ at: id(), what: 'look' }] }))
      return { plan, made: id() }
    })

  it('D2 paths that are declared volatile: for all, or by the name of the step; nothing else', async () => {
    const ledger = open()
    let n = 0
    const target = asks(() => `${++n}`)
    const { runId } = await target.start(ledger, null)
    const verdicts = async (volatile?: Parameters<typeof replay>[1]['volatile']) =>
      (await replay(target, { ledger, runId, volatile, graceMs })).divergences.map(({ kind }) => kind)
    expect(await verdicts(['input.id', 'output.steps[*].at', 'output.made'])).toEqual([])
    expect(await verdicts({ plan: ['input.id', 'output.**'], '*': ['output.made'] })).toEqual([])
    expect(await verdicts(['input.id', 'output.steps[*].at'])).toEqual(['output'])
    expect((await verdicts({ other: ['input.id'] }))[0]).toBe('input')
    await expect(verdicts(['requestId'])).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('D2 a volatile path is no change when something else differs', async () => {
    const ledger = open()
    let n = 0
    const asking = (topic: string) =>
      agent('ask', async (run) => {
        const id = `${++n}`
        return run.step('plan', { id, topic, list: [{ at: id, what: topic }] }, () => ({ id, topic }))
      })
    const { runId } = await asking('owls').start(ledger, null)
    const volatile = ['input.id', 'input.list[*].at', 'output.id']
    const { divergences } = await replay(asking('ducks'), { ledger, runId, volatile, graceMs })
    expect(divergences[0]?.changes.map(({ path }) => path)).toEqual(['$.topic', '$.list[0].what'])
    const byName = { plan: ['input.id', 'input.list'] }
    const named = await replay(asking('ducks'), { ledger, runId, volatile: byName, graceMs })
    expect(named.divergences[0]?.changes.map(({ path }) => path)).toEqual(['$.topic'])
  })

  it('D2 P2 a recorded placeholder matches any text in its place, and is handed on as it is', async () => {
    const ledger = open()
    const keys = (secret: string) =>
      agent('keys', async (run) => {
        const { key } = await run.effect('login', { password: 'x', token: secret }, () => ({ key: secret }))
        return run.effect('use', { header: `Bearer ${key}`, other: secret }, () => 'fine')
      })
    const { runId } = await keys(SECRET).start(ledger, null)
    const report = await replay(keys(SECRET), { ledger, runId, graceMs })
    expect([report.verdict, report.outcome]).toEqual(['identical', { status: 'completed', output: 'fine' }])
    // Another secret than the one that was recorded is a text in its place, too.
    expect((await replay(keys(SECRET.replace('a1', 'z9')), { ledger, runId, graceMs })).verdict).toBe(
      'identical',
    )
    const plain = await replay(keys('none'), { ledger, runId, graceMs })
    expect(plain.verdict).toBe('identical')
  })

  it('D2 P3 what was received is shown without its secrets', async () => {
    const ledger = open()
    const says = (text: string) => agent('says', (run) => run.effect('say', { text }, () => 1))
    const { runId } = await says('hello').start(ledger, null)
    const report = await replay(says(`my key is ${SECRET}`), { ledger, runId, graceMs })
    expect(report.divergences[0]?.kind).toBe('input')
    expect(JSON.stringify(report)).not.toContain(SECRET)
  })

  it('D2 P5 an erased payload is named, and nothing is made up for it', async () => {
    const ledger = open()
    const runId = await recorded(ledger)
    const read: Ledger['read'] = async function* (...args) {
      for await (const event of ledger.read(...args)) {
        const isLost =
          event.eventType === 'execution.step_completed' && event.payload['stepId'] === 'search#0'
        const { stepId, attempt } = event.payload
        yield isLost
          ? { ...event, payload: { stepId, attempt }, ledger: { ...event.ledger, erased: true } }
          : event
      }
    }
    const { divergences, outcome } = await replay(researcher(false), {
      ledger: { ...ledger, read },
      runId,
      graceMs,
    })
    expect(divergences[0]).toMatchObject({ kind: 'redacted', stepId: 'search#0', seq: 5 })
    expect(outcome.status).toBe('unfinished')
  })
})

describe('D1 progress', () => {
  it('D1 is told for each end that the code is given', async () => {
    const ledger = open()
    const told: ReplayProgress[] = []
    const runId = await recorded(ledger)
    await replay(researcher(false), { ledger, runId, onProgress: (progress) => told.push(progress) })
    expect(told.map(({ done, step }) => `${done} ${step}`)).toEqual([
      '1 plan',
      '2 search',
      '3 read',
      '4 deep',
      '5 model',
    ])
    expect(new Set(told.map(({ total }) => total))).toEqual(new Set([5]))
  })
})
