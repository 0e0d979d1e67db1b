import { ClewError, type EventInput, type Ledger, recordStopRequest, type RunSummary } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent } from '../run/agent.ts'
import { END, START } from '../graph/definition.ts'
import { append } from '../graph/channels.ts'
import { StateGraph } from '../graph/state-graph.ts'
import { recordAnswers } from '../pause/record-answers.ts'
import { recordFork } from '../fork/record-fork.ts'
import { beginRun } from '../run/start-run.ts'
import { countCrashes } from './crashes.ts'
import { startWorker } from './start-worker.ts'
import type { Worker, WorkerOptions, WorkerNotice } from './worker.ts'

let ledger: Ledger
let workers: Worker[]
let told: WorkerNotice[]
beforeEach(() => {
  ledger = createMemoryWorld().open()
  workers = []
  told = []
})
afterEach(async () => {
  for (const worker of workers) await worker.stop()
  await ledger.close()
})

async function start(options: Omit<WorkerOptions, 'ledger'>): Promise<Worker> {
  const worker = await startWorker({
    ledger,
    sweepMs: 50,
    graceMs: 0,
    onNotice: (notice) => told.push(notice),
    ...options,
  })
  workers.push(worker)
  return worker
}

const statusOf = async (runId: string): Promise<string | undefined> => (await ledger.getRun(runId))?.status
const until = (runId: string, status: string): Promise<void> =>
  vi.waitFor(async () => expect(await statusOf(runId)).toBe(status), { timeout: 60_000, interval: 5 })
const typesOf = async (runId: string): Promise<string[]> =>
  (await Array.fromAsync(ledger.read(runId))).map(({ eventType }) => eventType)

/** A run up to its first rest, by a process that does not stay for the next. */
const begin = (
  of: { program: Parameters<typeof beginRun>[1] },
  runId: string,
  threadId: string | null = null,
) => beginRun(ledger, of.program, null, { runId, threadId })

/** A run whose process died so often, with what it came to in between. */
async function died(runId: string, times: number, between: readonly EventInput[] = [], name = 'asks') {
  const lease = await ledger.leases.acquire({ workspace: 'default', runId })
  const event = (eventType: string, payload = {}): EventInput => ({
    eventType,
    correlationId: runId,
    payload,
  })
  await ledger.append([event('system.workflow_started', { agent: name, seed: 'x' })], { epoch: lease.epoch })
  for (let n = 0; n < times; n++)
    await ledger.append(
      [
        event('system.workflow_resumed'),
        ...between,
        event('system.workflow_interrupted', { reason: 'its owner is dead' }),
      ],
      { epoch: lease.epoch },
    )
  await ledger.leases.release(lease)
}

const asks = agent('asks', async (run) => run.interrupt<string>('Well?'))
const sleeps = agent('sleeps', async (run) => {
  await run.sleep(2100)
  return 'awake'
})

describe('R9 a worker takes up', () => {
  it('R6 what was answered, once, and hears of it by the doorbell', async () => {
    await asks.start(ledger, null, { runId: 'a' })
    const first = await start({ agents: [asks], sweepMs: 3_600_000 })
    const second = await start({ agents: [asks], sweepMs: 3_600_000 })
    await Promise.all([first.idle(), second.idle()])
    expect(await statusOf('a')).toBe('paused')
    await recordAnswers(ledger, 'a', { answer: 'yes' })
    await until('a', 'completed')
    await Promise.all([first.idle(), second.idle()])
    expect(told.map(({ type }) => type)).toEqual(['taken', 'ended'])
    expect(told).toMatchObject([
      { runId: 'a', agent: 'asks', why: 'pending' },
      { runId: 'a', status: 'completed', error: null },
    ])
    expect((await typesOf('a')).filter((type) => type === 'system.workflow_resumed')).toHaveLength(1)
  })

  it('R7 a fork that waits for its agent, of a function and of a graph', async () => {
    const graph = new StateGraph({ notes: append<string>() })
      .addNode('note', () => ({ notes: ['noted'] }))
      .addEdge(START, 'note')
      .addEdge('note', END)
      .compile({ name: 'graph', checkpointer: ledger })
    await graph.invoke({ notes: ['hello'] }, { runId: 'g' })
    await asks.start(ledger, null, { runId: 'a' })
    await recordFork(ledger, 'a', { newRunId: 'a2' })
    await recordFork(ledger, 'g', { at: { superstep: 0 }, newRunId: 'g2' })
    const worker = await start({ agents: [asks, graph] })
    await worker.idle()
    expect([await statusOf('a2'), await statusOf('g2')]).toEqual(['paused', 'completed'])
    expect((await ledger.getState('g2'))?.state).toEqual({ notes: ['hello', 'noted'] })
  })

  it('R6 a sleeping run when it is due, and holds nothing while it sleeps', async () => {
    const worker = await start({ agents: [sleeps], sweepMs: 3_600_000 })
    await begin(sleeps, 's')
    await worker.idle()
    expect([worker.working, await statusOf('s'), await ledger.leases.list()]).toEqual([0, 'pending', []])
    await until('s', 'completed')
    const run = (await ledger.getRun('s')) as RunSummary
    expect(run.durationMs).toBeGreaterThanOrEqual(2100)
  })

  it('R6 a question whose time is over, with its default answer', async () => {
    const late = agent('late', (run) => run.interrupt({ question: 'Well?', timeoutMs: 30, default: 'no' }))
    await begin(late, 'l')
    await start({ agents: [late] })
    await until('l', 'completed')
  })

  it('R6 a sleep beside an open question, which stays open', async () => {
    const both = agent('both', async (run) => {
      const nap = run.sleep(500).then(() => run.step('after', null, () => 1))
      await Promise.all([run.interrupt('Well?'), nap])
    })
    await begin(both, 'b')
    expect((await ledger.getRun('b'))?.dueAt).not.toBeNull()
    const worker = await start({ agents: [both] })
    await vi.waitFor(async () => expect((await ledger.getRun('b'))?.steps).toBe(3), { timeout: 60_000 })
    await worker.idle()
    expect(await ledger.getRun('b')).toMatchObject({
      status: 'paused',
      dueAt: null,
      pauses: [{ question: { question: 'Well?' } }],
    })
  })

  it('R6 one answer of several, when that is enough to go on', async () => {
    const race = agent('race', (run) => Promise.race([run.interrupt('A?'), run.interrupt('B?')]))
    const { pauses } = await race.start(ledger, null, { runId: 'r' })
    await recordAnswers(ledger, 'r', { pauseId: pauses[1]?.pauseId, answer: 'b' })
    expect(await statusOf('r')).toBe('paused')
    await start({ agents: [race] })
    await until('r', 'completed')
  })

  it('R9 a run whose lease was given up without a word', async () => {
    await died('lost', 0)
    expect(await statusOf('lost')).toBe('running')
    await start({ agents: [asks] })
    await until('lost', 'paused')
  })

  it('R9 a run whose owner fell silent, marked by whoever sweeps', async () => {
    const world = createMemoryWorld()
    ledger = world.open()
    world.turnClock(-61_000)
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'o' })
    const started = { eventType: 'system.workflow_started', correlationId: 'o', payload: { agent: 'asks' } }
    await ledger.append([started], { epoch: lease.epoch })
    const worker = await start({ agents: [asks] })
    await worker.idle()
    world.turnClock(61_000)
    await until('o', 'paused')
    expect(told[0]).toEqual({ type: 'swept', runIds: ['o'] })
  })
})

describe('R9 a worker leaves alone', () => {
  it('R9 runs of agents that it does not have, child runs, and what it is not allowed to', async () => {
    const inner = agent('inner', (run) => run.interrupt('Well?'))
    const outer = agent('outer', (run) => run.child(inner, null))
    await outer.start(ledger, null, { runId: 'o' })
    await asks.start(ledger, null, { runId: 'a' })
    await recordAnswers(ledger, 'a', { answer: 'yes' })
    await recordAnswers(ledger, 'o', { answer: 'yes' })
    await (await start({ agents: [inner, sleeps] })).idle()
    expect([await statusOf('a'), await statusOf('o'), told]).toEqual(['pending', 'pending', []])
    for (const off of ['resume', 'write']) {
      const closed = { ...ledger, mode: { ...ledger.mode, [off]: false } }
      await expect(startWorker({ ledger: closed, agents: [asks] })).rejects.toMatchObject({
        code: 'switched_off',
      })
    }
    await expect(startWorker({ ledger, agents: [asks, agent('asks', () => 1)] })).rejects.toMatchObject({
      code: 'ambiguous',
    })
    await expect(startWorker({ ledger, agents: [] })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(startWorker({ ledger, agents: [asks], concurrency: 0 })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })

  it('D2 a run that is blocked, and one that cannot be gone on with here is not tried without end', async () => {
    let isOld = true
    const changed = agent('changed', async (run) => {
      await run.step(isOld ? 'old' : 'new', null, () => 1)
      await run.interrupt('Well?')
    })
    await changed.start(ledger, null, { runId: 'c' })
    isOld = false
    await recordAnswers(ledger, 'c', { answer: 'yes' })
    const graph = (second: string) =>
      new StateGraph({ notes: append<string>() })
        .addNode('first', () => ({ notes: ['one'] }))
        .addNode(second, () => ({ notes: ['two'] }))
        .addEdge(START, 'first')
        .addEdge('first', second)
        .addEdge(second, END)
        .compile({ name: 'graph', checkpointer: ledger, interruptBefore: [second] })
    await graph('then').invoke({ notes: [] }, { runId: 'g' })
    await recordFork(ledger, 'g', { newRunId: 'g2' })
    const worker = await start({ agents: [changed, graph('other')] })
    await until('c', 'blocked')
    await worker.idle()
    const takes = (id: string) => told.filter((each) => each.type === 'taken' && each.runId === id).length
    expect([takes('c'), takes('g2') < 4]).toEqual([1, true])
    expect(told.find(({ type }) => type === 'postponed')).toMatchObject({ runId: 'g2', error: /has changed/ })
    expect(await ledger.leases.list()).toEqual([])
  })

  it('R9 what waits, although the store could not be reached when the worker began and as it ended', async () => {
    await begin(asks, 'r')
    await recordAnswers(ledger, 'r', { answer: 'yes' })
    let isAway = true
    const unreachable = () => new ClewError('store_unreachable', 'It is away', 'Wait.')
    const leases: Ledger['leases'] = {
      ...ledger.leases,
      async acquire(...args) {
        if (isAway) throw unreachable()
        return ledger.leases.acquire(...args)
      },
      async release(lease) {
        if (isAway) throw unreachable()
        return ledger.leases.release(lease)
      },
    }
    const worker = await startWorker({
      ledger: { ...ledger, leases },
      agents: [asks],
      sweepMs: 50,
      onNotice: (notice) => told.push(notice),
    })
    await vi.waitFor(
      () => expect(told).toContainEqual({ type: 'failed', error: expect.stringContaining('It is away') }),
      { timeout: 60_000 },
    )
    isAway = false
    await until('r', 'completed')
    await worker.idle()
    isAway = true
    await worker.stop()
    isAway = false
  })

  it('R9 what was asked to stop: it is stopped, not gone on with', async () => {
    await asks.start(ledger, null, { runId: 'a' })
    await recordAnswers(ledger, 'a', { answer: 'yes' })
    await recordStopRequest(ledger, 'a', { reason: 'enough', by: 'ann' })
    await (await start({ agents: [asks] })).idle()
    expect((await typesOf('a')).slice(-2)).toEqual(['execution.step_stopped', 'system.workflow_stopped'])
  })
})

describe('R9 several workers', () => {
  it('R9 take no more than they may, and each run once; runs of one thread one after the other', async () => {
    let [most, now] = [0, 0]
    const { promise: three, resolve: openThree } = Promise.withResolvers<void>()
    const threads = new Set<string>()
    const flaws: string[] = []
    const busy = agent('busy', async (run) => {
      await run.interrupt('Well?')
      await run.effect('work', null, async () => {
        most = Math.max(most, ++now)
        const thread = String(run.threadId)
        if (threads.has(thread)) flaws.push(`two runs of ${thread}`)
        threads.add(thread)
        if (now === 3) openThree()
        await three
        await new Promise((resolve) => setTimeout(resolve, 20))
        threads.delete(thread)
        now--
      })
    })
    for (let n = 0; n < 24; n++) {
      await busy.start(ledger, null, { runId: `r${n}`, threadId: `t${n % 12}` })
      await recordAnswers(ledger, `r${n}`, { answer: 'yes' })
    }
    const two = [
      await start({ agents: [busy], concurrency: 3 }),
      await start({ agents: [busy], concurrency: 2 }),
    ]
    await vi.waitFor(
      async () => expect((await ledger.listRuns({ status: 'completed' })).runs).toHaveLength(24),
      { timeout: 60_000 },
    )
    await Promise.all(two.map((worker) => worker.idle()))
    expect([flaws, most <= 5, most > 2]).toEqual([[], true, true])
    expect(told.filter(({ type }) => type === 'taken')).toHaveLength(24)
  })

  it.each([
    ['within the grace: it is kept', 10_000, 1],
    ['after the grace: it is done again, as after a crash', 0, 2],
  ])('R10 a step in flight when a worker is stopped ends %s', async (_, graceMs, times) => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    let done = 0
    const long = agent('long', async (run) => {
      await run.interrupt('Well?')
      const one = await run.effect('read', null, async () => {
        done++
        begun.resolve()
        await ended.promise
        return 1
      })
      return run.step('after', { one }, () => done)
    })
    await long.start(ledger, null, { runId: 'l' })
    await recordAnswers(ledger, 'l', { answer: 'yes' })
    const worker = await start({ agents: [long], graceMs })
    await begun.promise
    const stopped = worker.stop()
    if (graceMs > 0) ended.resolve()
    await stopped
    expect([await statusOf('l'), await ledger.leases.list()]).toEqual(['interrupted', []])
    expect(told.at(-1)).toMatchObject({ type: 'ended', status: 'interrupted' })
    expect(await typesOf('l')).not.toContain('execution.step_failed')
    ended.resolve()
    await start({ agents: [long] })
    await until('l', 'completed')
    expect(done).toBe(times)
  })
})

describe('R9 a run that takes its process down', () => {
  it('R9 is blocked after so many deaths without progress, and people can see why', async () => {
    await died('poison', 5)
    await died('unlucky', 4)
    await (await start({ agents: [asks] })).idle()
    expect([await statusOf('poison'), await statusOf('unlucky')]).toEqual(['blocked', 'paused'])
    expect(told).toContainEqual({ type: 'blocked', runId: 'poison', agent: 'asks', crashes: 5 })
    const [last] = (await Array.fromAsync(ledger.read('poison'))).slice(-1)
    expect(last?.payload).toEqual({ reason: expect.stringMatching(/died 5 times without/) })
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    // Somebody looked at it: from there on it counts anew.
    expect((await asks.resume(ledger, 'poison')).status).toBe('paused')
  })

  it('R9 counts only deaths in a row that left nothing behind', async () => {
    const step = (runId: string): EventInput[] => [
      { eventType: 'execution.step_started', correlationId: runId, payload: { stepId: 's#0', name: 's' } },
      { eventType: 'execution.step_completed', correlationId: runId, payload: { stepId: 's#0' } },
    ]
    await died('moves', 6, step('moves'))
    await died('left', 3, [
      { eventType: 'system.workflow_interrupted', correlationId: 'left', payload: { reason: 'handed over' } },
    ])
    await died('long', 70)
    const count = async (runId: string, most = 1000) =>
      countCrashes(ledger, (await ledger.getRun(runId)) as RunSummary, most)
    expect([await count('moves'), await count('left'), await count('long'), await count('long', 5)]).toEqual([
      1, 3, 70, 5,
    ])
  })

  it('R9 is not a parent whose child run comes further', async () => {
    const inner = agent('inner', async (run) => {
      await run.step('one', null, () => 1)
      await run.interrupt('Well?')
    })
    const outer = agent('outer', (run) => run.child(inner, null))
    const { pause } = await outer.start(ledger, null, { runId: 'o' })
    await recordAnswers(ledger, 'o', { pauseId: pause?.pauseId, answer: 'yes' })
    const lease = await ledger.leases.acquire({ workspace: 'default', runId: 'o' })
    const event = (eventType: string): EventInput => ({ eventType, correlationId: 'o', payload: {} })
    const dies = [event('system.workflow_resumed'), event('system.workflow_interrupted')]
    await ledger.append([...dies, ...dies], { epoch: lease.epoch })
    const run = (await ledger.getRun('o')) as RunSummary
    expect(await countCrashes(ledger, run, 5)).toBe(2)
    await ledger.append([
      {
        eventType: 'execution.step_completed',
        correlationId: 'o/inner#0',
        payload: { stepId: 'x#0', name: 'x' },
      },
    ])
    expect(await countCrashes(ledger, run, 5)).toBe(0)
    await ledger.leases.release(lease)
  })

  it('R9 is kept apart from other suspects: those who died beside it get their turn', async () => {
    const inHand = new Set<string>()
    const apart = agent('apart', async (run) => {
      await run.effect('work', null, async () => {
        inHand.add(run.runId)
        expect(inHand.size).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 20))
        inHand.delete(run.runId)
      })
    })
    for (const runId of ['a', 'b', 'c']) await died(runId, 2, [], 'apart')
    await start({ agents: [apart] })
    await vi.waitFor(
      async () => expect((await ledger.listRuns({ status: 'completed' })).runs).toHaveLength(3),
      { timeout: 60_000 },
    )
  })
})
