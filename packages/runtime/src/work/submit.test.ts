import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { append } from '../graph/channels.ts'
import { END, START } from '../graph/definition.ts'
import { StateGraph } from '../graph/state-graph.ts'
import { replay } from '../replay/replay.ts'
import { fork } from '../fork/fork.ts'
import { agent } from '../run/agent.ts'
import { signal } from '../signal/signal.ts'
import { startWorker } from '../worker/start-worker.ts'
import type { Worker, WorkerOptions } from '../worker/worker.ts'
import { openRunHandle } from './run-handle.ts'
import { submitRun } from './submit-run.ts'

let ledger: Ledger
let workers: Worker[]
beforeEach(() => {
  ledger = createMemoryWorld().open()
  workers = []
})
afterEach(async () => {
  for (const worker of workers) await worker.stop()
  await ledger.close()
})

async function work(agents: WorkerOptions['agents']): Promise<Worker> {
  const worker = await startWorker({ ledger, sweepMs: 50, graceMs: 0, agents })
  workers.push(worker)
  return worker
}

const typesOf = async (runId: string): Promise<string[]> =>
  (await Array.fromAsync(ledger.read(runId))).map(({ eventType }) => eventType)

const double = agent('double', async (run, input: { n: number }) =>
  run.step('twice', input, ({ n }) => 2 * n),
)

const counter = new StateGraph({ items: append<string>() })
  .addNode('add', async ({ items }) => ({ items: [`after ${items.length}`] }))
  .addEdge(START, 'add')
  .addEdge('add', END)
  .compile({ name: 'counter' })

describe('W1 a submitted run', () => {
  it('W1 fails at its first claim if its graph does not take its input, and its thread goes on', async () => {
    await submitRun(ledger, 'counter', 'hi', { runId: 'wrong', threadId: 't' })
    await submitRun(ledger, 'counter', { items: ['x'] }, { runId: 'right', threadId: 't' })
    await work([counter])
    const failed = await openRunHandle(ledger, 'wrong').result()
    expect([failed.status, failed.error?.code]).toEqual(['failed', 'bad_write'])
    expect(await openRunHandle(ledger, 'right').result()).toMatchObject({ status: 'completed' })
    expect((await ledger.verify()).ok).toBe(true)
  })

  it('W3 begins behind a signal that comes between its claim and its start', async () => {
    await double.submit(ledger, { n: 4 }, { runId: 'a' })
    let isSent = false
    const slow = new Proxy(ledger, {
      get(target, name) {
        if (name !== 'append') return Reflect.get(target, name)
        const append: Ledger['append'] = async (events, options) => {
          if (!isSent) await signal(ledger, 'a', 'note', 1)
          isSent = true
          return ledger.append(events, options)
        }
        return append
      },
    })
    expect(await double.resume(slow, 'a')).toMatchObject({ status: 'completed', output: 8 })
    expect((await typesOf('a')).slice(0, 3)).toEqual([
      'system.workflow_submitted',
      'system.signal_received',
      'system.workflow_started',
    ])
    expect((await replay(double, { ledger, runId: 'a' })).verdict).toBe('identical')
  })

  it('W1 refuses a wait that is no time', async () => {
    const run = await double.submit(ledger, { n: 1 }, { runId: 'a' })
    for (const waitMs of [-1, Number.NaN, 'x' as never])
      await expect(run.result({ waitMs })).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('W1 waits until a worker has it, and its handle gives the result', async () => {
    const run = await double.submit(ledger, { n: 4 }, { runId: 'a', tags: { customer: 'acme' } })
    expect(run.id).toBe('a')
    expect(await ledger.getRun('a')).toMatchObject({ status: 'pending', agent: 'double', queue: 'default' })
    const early = await run.result({ waitMs: 0 })
    expect([early.status, early.output]).toEqual(['pending', undefined])
    await work([double])
    expect(await run.result()).toMatchObject({ status: 'completed', output: 8, runId: 'a' })
    expect((await typesOf('a')).slice(0, 2)).toEqual(['system.workflow_submitted', 'system.workflow_started'])
    expect(await ledger.getRun('a', { values: true })).toMatchObject({
      input: { n: 4 },
      output: 8,
      tags: { customer: 'acme' },
    })
    expect((await ledger.verify('a')).problems).toEqual([])
  })

  it('W1 stores its input once', async () => {
    await double.submit(ledger, { n: 1 }, { runId: 'a' })
    await work([double])
    await double.result(ledger, 'a')
    const inputs = (await Array.fromAsync(ledger.read('a'))).filter(
      ({ eventType, payload }) => eventType.startsWith('system.workflow') && payload['input'] !== undefined,
    )
    expect(inputs.map(({ eventType }) => eventType)).toEqual(['system.workflow_submitted'])
  })

  it('W1 R5 resumes, replays and forks like one that was started', async () => {
    const asks = agent('asks', async (run, input: { topic: string }) => {
      const first = await run.step('first', input, ({ topic }) => `about ${topic}`)
      return `${first}: ${await run.interrupt<string>('Well?')}`
    })
    await asks.submit(ledger, { topic: 'owls' }, { runId: 'a' })
    await work([asks])
    expect((await asks.result(ledger, 'a')).status).toBe('paused')
    expect((await asks.resume(ledger, 'a', { answer: 'yes' })).output).toBe('about owls: yes')
    expect(await replay(asks, { ledger, runId: 'a' })).toMatchObject({ verdict: 'identical' })
    const forked = await fork(asks, { ledger, runId: 'a', input: { topic: 'cats' }, newRunId: 'b' })
    expect(forked.output).toBe('about cats: yes')
    expect(await ledger.getRun('a', { values: true })).toMatchObject({ input: { topic: 'owls' } })
  })

  it('W1 goes through a graph, turn by turn on its thread, and each waits for the one before', async () => {
    const graph = counter.withCheckpointer(ledger)
    const first = await graph.submit({ items: ['one'] }, { threadId: 't', runId: 'a' })
    const second = await graph.submit({ items: ['two'] }, { threadId: 't', runId: 'b' })
    await work([counter])
    expect((await first.result()).state).toEqual({ items: ['one', 'after 1'] })
    expect((await second.result()).state).toEqual({ items: ['one', 'after 1', 'two', 'after 3'] })
    expect(await replay(graph, { ledger, runId: 'b' })).toMatchObject({ verdict: 'identical' })
    const other = await graph.fork({ runId: 'b', input: { items: ['three'] }, newRunId: 'c' })
    expect(other.state).toEqual({ items: ['one', 'after 1', 'three', 'after 3'] })
    for (const runId of ['a', 'b', 'c']) expect((await ledger.verify(runId)).problems).toEqual([])
  })

  it('W1 is recorded without the code, by name', async () => {
    await submitRun(ledger, 'double', { n: 3 }, { runId: 'a' })
    await work([double])
    expect(await openRunHandle(ledger, 'a').result()).toMatchObject({ status: 'completed', output: 6 })
    const types = (await Array.fromAsync(openRunHandle(ledger, 'a').follow())).map(
      ({ eventType }) => eventType,
    )
    expect(types.at(-1)).toBe('system.workflow_completed')
  })

  it('W1 is not begun before its time, and stopped at once while it waits', async () => {
    const later = await double.submit(ledger, { n: 1 }, { runId: 'later', delayMs: 3_600_000 })
    await double.submit(ledger, { n: 1 }, { runId: 'now' })
    const worker = await work([double])
    await double.result(ledger, 'now')
    await worker.idle()
    expect(await typesOf('later')).toEqual(['system.workflow_submitted'])
    expect((await later.stop({ reason: 'no need' })).status).toBe('stopped')
    expect((await later.result()).status).toBe('stopped')
    await double.submit(ledger, { n: 2 }, { runId: 'soon', at: new Date(Date.now() + 50) })
    expect((await double.result(ledger, 'soon')).output).toBe(4)
  })

  it('W2 L4 submitted again is the same run, with other times too; another input is a conflict', async () => {
    await double.submit(ledger, { n: 1 }, { runId: 'a', deadlineMs: 60_000 })
    await double.submit(ledger, { n: 1 }, { runId: 'a', deadlineMs: 90_000 })
    expect(await typesOf('a')).toEqual(['system.workflow_submitted'])
    await expect(double.submit(ledger, { n: 2 }, { runId: 'a' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(submitRun(ledger, 'other', { n: 1 }, { runId: 'a' })).rejects.toMatchObject({
      code: 'conflict',
    })
    const [one, two] = [
      await double.submit(ledger, { n: 1 }, { dedupe: 'invoice 7' }),
      await double.submit(ledger, { n: 1 }, { dedupe: 'invoice 7' }),
    ]
    expect(one.id).toBe(two.id)
    await expect(double.submit(ledger, { n: 2 }, { dedupe: 'invoice 7' })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('W1 refuses what it does not know, with a name that is near', async () => {
    await expect(double.submit(ledger, { n: 1 }, { dellayMs: 5 } as never)).rejects.toThrow('delayMs')
    await expect(double.submit(ledger, { n: 1 }, { delayMs: -1 })).rejects.toMatchObject({
      code: 'bad_option',
    })
    await expect(double.submit(ledger, { n: 1 }, { priority: 0.5 })).rejects.toMatchObject({
      code: 'bad_option',
    })
    await expect(double.submit(ledger, { n: 1 }, { delayMs: 1, at: '2030-01-01' })).rejects.toMatchObject({
      code: 'bad_option',
    })
    expect((await ledger.listRuns()).runs).toEqual([])
  })
})

describe('W2 get or do', () => {
  it('W2 starts a run, and gives its recorded result to every later call', async () => {
    let calls = 0
    const counts = agent('counts', async (run) => run.effect('count', {}, () => ++calls))
    expect(await counts.run(ledger, null, { runId: 'a' })).toMatchObject({ status: 'completed', output: 1 })
    expect(await counts.run(ledger, null, { runId: 'a' })).toMatchObject({ status: 'completed', output: 1 })
    expect(calls).toBe(1)
    await expect(counts.run(ledger, { other: true }, { runId: 'a' })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('W2 of many calls at once one works, and all get its result', async () => {
    let calls = 0
    const counts = agent('counts', async (run) => run.effect('count', {}, () => ++calls))
    const results = await Promise.all([1, 2, 3, 4].map(() => counts.run(ledger, { n: 1 }, { runId: 'a' })))
    expect(results.map(({ output }) => output)).toEqual([1, 1, 1, 1])
    expect(calls).toBe(1)
  })

  it('W2 begins a submitted run, and goes on with one that was interrupted', async () => {
    await double.submit(ledger, { n: 5 }, { runId: 'a' })
    expect(await double.run(ledger, { n: 5 }, { runId: 'a' })).toMatchObject({ output: 10 })
  })

  it('W2 gives a paused run as it is, also one that pauses while the call waits for it', async () => {
    let go = (): void => {}
    const asks = agent('asks', async (run) => {
      await run.step('wait', {}, () => new Promise<null>((resolve) => (go = () => resolve(null))))
      return run.interrupt<string>('Well?')
    })
    const first = asks.start(ledger, null, { runId: 'a' })
    await vi.waitFor(async () => expect((await ledger.getRun('a'))?.steps).toBe(1), { timeout: 60_000 })
    const second = asks.run(ledger, null, { runId: 'a' })
    go()
    expect((await first).status).toBe('paused')
    expect((await second).status).toBe('paused')
    expect((await asks.run(ledger, null, { runId: 'a' })).status).toBe('paused')
  })

  it('W2 gives the recorded error of a failed run, and tries it again if asked to', async () => {
    let isBroken = true
    const flaky = agent('flaky', async (run) =>
      run.effect('call', {}, () => {
        if (isBroken) throw new Error('not now')
        return 'fine'
      }),
    )
    expect((await flaky.run(ledger, null, { runId: 'a' })).status).toBe('failed')
    const again = await flaky.run(ledger, null, { runId: 'a' })
    expect([again.status, again.error?.message]).toEqual(['failed', 'not now'])
    isBroken = false
    expect(await flaky.run(ledger, null, { runId: 'a', retry: true })).toMatchObject({ output: 'fine' })
    isBroken = true
    expect(await flaky.run(ledger, null, { runId: 'a', retry: true })).toMatchObject({ output: 'fine' })
  })
})
