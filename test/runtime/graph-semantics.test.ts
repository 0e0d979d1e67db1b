import { isTerminal, type Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { append, END, last, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { liveEveryDeath, liveThrough } from './graph-deaths.ts'
import { createLatch, flawsOf } from './worlds.ts'

/** What has to be the same, however often the process died. */
const stepsOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await ledger.getSteps(runId))
    .filter(({ status }) => status === 'completed')
    .map(({ stepId, superstep, index, inputVersions, decision, values }) =>
      JSON.stringify([stepId, superstep, index, inputVersions, decision, values]),
    )
    .sort()

/** Two branches write one channel, and both lead back into the cycle. */
const cycle =
  (executed: string[] = []) =>
  (ledger: Ledger) =>
    new StateGraph({ n: last(0), out: append<string>() })
      .addNode('inc', ({ n }) => ({ n: n + 1 }))
      .addNode('even', async ({ n }, run) => ({
        out: await run.effect('say', n, (m) => `even ${executed.push(`even ${m}`) && m}`),
      }))
      .addNode('odd', async ({ n }, run) => ({
        out: await run.effect('say', n, (m) => `odd ${executed.push(`odd ${m}`) && m}`),
      }))
      .addGate('more', ({ n }) => n < 4, { true: 'inc', false: END })
      .addEdge(START, 'inc')
      .addConditionalEdges('inc', ({ n }) => (n % 2 === 0 ? 'even' : 'odd'), ['even', 'odd'])
      .addEdge('even', 'more')
      .addEdge('odd', 'more')
      .compile({ name: 'cycle', checkpointer: ledger })

describe('running and resuming', () => {
  it.each([false, true])(
    'R5 values alone cannot resume: cycles, and branches that share an output name, need step history (suspended: %s)',
    async (suspendAlways) => {
      const executed: string[] = []
      const options = { runId: 'cycle', input: { n: 0 }, suspendAlways }
      const { straight, killed } = await liveEveryDeath(cycle(executed), options)
      expect(straight.result.state).toEqual({ n: 4, out: ['odd 1', 'even 2', 'odd 3', 'even 4'] })
      expect(killed.length).toBeGreaterThan(20)
      const expected = await stepsOf(straight.ledger, 'cycle')
      for (const { ledger, result, kill } of killed) {
        expect([kill, result.status, result.state]).toEqual([kill, 'completed', straight.result.state])
        expect([kill, await stepsOf(ledger, 'cycle')]).toEqual([kill, expected])
        expect([kill, await flawsOf(ledger, 'cycle')]).toEqual([kill, []])
      }
    },
  )

  it('R5 rebuild versions by replay: 1 for a seeded input, +1 per production; a resume in mid-cycle goes on from them', async () => {
    const { ledger } = await liveThrough(cycle(), { runId: 'r', input: { n: 0 } }, [
      { append: 7, committed: true },
    ])
    const versions = (await ledger.getSteps('r'))
      .filter(({ nodeName }) => nodeName === 'inc')
      .map(({ inputVersions }) => inputVersions)
    expect(versions).toEqual([{ n: 1 }, { n: 2, out: 1 }, { n: 3, out: 2 }, { n: 4, out: 3 }])
    expect((await ledger.getState('r'))?.versions).toEqual({ n: 5, out: 4 })
  })

  it('R5 continue numbering at max superstep + 1; the index follows the order of declaration, not of completion', async () => {
    const make = (ledger: Ledger) =>
      new StateGraph({ out: append<string>(), n: last(0) })
        .addNode('slow', async () => {
          await new Promise((resolve) => void setTimeout(resolve, 3))
          return { out: 'slow' }
        })
        .addNode('fast', () => ({ out: 'fast' }))
        .addNode('end', ({ n }) => ({ n: n + 1 }))
        .addEdge(START, 'fast')
        .addEdge(START, 'slow')
        .addEdge(['slow', 'fast'], 'end')
        .addConditionalEdges('end', ({ n }) => (n < 2 ? ['slow', 'fast'] : END), ['slow', 'fast', END])
        .compile({ name: 'numbers', checkpointer: ledger })
    const { killed, straight } = await liveEveryDeath(make, { runId: 'r', input: {} })
    for (const { ledger, kill } of [straight, ...killed]) {
      const places = (await ledger.getSteps('r'))
        .filter(({ status }) => status === 'completed')
        .map(({ superstep, index, nodeName }) => `${superstep}.${index} ${nodeName}`)
        .sort()
      const expected = ['1.0 slow', '1.1 fast', '2.0 end', '3.0 slow', '3.1 fast', '4.0 end']
      expect([kill, places]).toEqual([kill, expected])
    }
  })

  it('R5 a gate stores the target names it chose, and a recorded decision is used again, not made again', async () => {
    const asked = new Map<number, number>()
    const make = (ledger: Ledger) =>
      new StateGraph({ n: last(0) })
        .addNode('inc', ({ n }) => ({ n: n + 1 }))
        .addGate(
          'gate',
          ({ n }) => {
            asked.set(n, (asked.get(n) ?? 0) + 1)
            return n < 2
          },
          { true: 'inc', false: END },
        )
        .addEdge(START, 'inc')
        .addEdge('inc', 'gate')
        .compile({ name: 'gate', checkpointer: ledger })
    const straight = await liveThrough(make, { runId: 'r', input: {} }, [])
    const decisions = (await straight.ledger.getSteps('r')).filter(({ kind }) => kind === 'gate')
    expect(decisions.map(({ decision, values }) => [decision, values])).toEqual([
      ['inc', null],
      [END, null],
    ])
    for (let at = 0; at < straight.appends; at++) {
      asked.clear()
      const { ledger } = await liveThrough(make, { runId: 'r', input: {} }, [{ append: at, committed: true }])
      const ended: string[] = []
      for await (const { eventType, payload } of ledger.read('r'))
        if (eventType === 'execution.step_completed') ended.push(String(payload['stepId']))
      expect(ended).toEqual([...new Set(ended)])
      // Only a decision whose end did not reach the ledger is made again.
      expect([...asked.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(1)
    }
  })

  it('R5 run inputs are persisted first: a process that dies right after the start leaves a run that can be resumed', async () => {
    const make = (ledger: Ledger) =>
      new StateGraph({ list: append<string>() })
        .addNode('a', ({ list }) => ({ list: `${list.length}` }))
        .addEdge(START, 'a')
        .compile({ name: 'input', checkpointer: ledger })
    const options = { runId: 'r', input: { list: ['x', 'y'] } }
    const { result, ledger } = await liveThrough(make, options, [{ append: 0, committed: true }])
    expect(result.state.list).toEqual(['x', 'y', '2'])
    for await (const { payload, eventType } of ledger.read('r', { limit: 1 }))
      expect([eventType, payload['input']]).toEqual(['system.workflow_started', { list: ['x', 'y'] }])
    // A resume that does nothing is an error.
    await expect(make(ledger).resume({ runId: 'r' })).rejects.toThrow(/nothing to resume/)
  })

  it('R0 a run that was asked to stop is stopped even if everything finished', async () => {
    const ledger = createMemoryWorld().open()
    const abort = new AbortController()
    const begun = createLatch()
    const graph = new StateGraph({ n: last(0) })
      .addNode('only', async (_state, run) => {
        begun.open()
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
        return { n: 1 }
      })
      .addEdge(START, 'only')
      .compile({ name: 'stop', checkpointer: ledger })
    const running = graph.invoke({}, { runId: 'r', signal: abort.signal })
    await begun.opened
    abort.abort('by hand')
    expect((await running).status).toBe('stopped')
    expect((await ledger.getRun('r'))?.status).toBe('stopped')
  })

  it('R5 crash window in nesting: child completed, parent step missing, the child is restored and not run again', async () => {
    const executed: string[] = []
    const make = (ledger: Ledger) => {
      const inner = new StateGraph({ log: append<string>() })
        .addNode('in', async (_state, run) => {
          await run.effect('once', 1, () => executed.push('in'))
          return { log: 'in' }
        })
        .addEdge(START, 'in')
        .compile({ name: 'inner' })
      return new StateGraph({ log: append<string>() })
        .addNode('first', () => ({ log: 'first' }))
        .addNode('sub', inner)
        .addNode('last', () => ({ log: 'last' }))
        .addEdge(START, 'first')
        .addEdge('first', 'sub')
        .addEdge('sub', 'last')
        .compile({ name: 'outer', checkpointer: ledger })
    }
    const { straight, killed } = await liveEveryDeath(make, { runId: 'r', input: {} })
    let restored = 0
    for (const { ledger, result, kill } of killed) {
      expect([kill, result.state.log]).toEqual([kill, straight.result.state.log])
      expect([kill, await flawsOf(ledger, 'r'), await flawsOf(ledger, 'r/sub@s2')]).toEqual([kill, [], []])
      const sub = (await ledger.getSteps('r')).filter(
        ({ nodeName, status }) => nodeName === 'sub' && status === 'completed',
      )
      expect(sub).toHaveLength(1)
      if (sub[0]?.restored) restored++
    }
    expect(restored).toBeGreaterThan(0)
  })

  it('R5 never restore a failed child: its node fails with the error the child had', async () => {
    let fails = 0
    const make = (ledger: Ledger) => {
      const inner = new StateGraph({ n: last(0) })
        .addNode('in', () => {
          fails++
          throw new Error('inner trouble')
        })
        .addEdge(START, 'in')
        .compile({ name: 'inner' })
      return new StateGraph({ n: last(0) })
        .addNode('sub', inner)
        .addEdge(START, 'sub')
        .compile({ name: 'outer', checkpointer: ledger })
    }
    const { killed } = await liveEveryDeath(make, { runId: 'r', input: {} })
    for (const { result, ledger } of killed) {
      expect([result.status, result.error?.message]).toEqual(['failed', 'inner trouble'])
      expect(await flawsOf(ledger, 'r')).toEqual([])
    }
    expect(fails).toBeGreaterThan(0)
  })

  it('R5 what a node wrote is durable when the node ends: a sibling that ended before the crash is not run again', async () => {
    let fast = 0
    const make = (ledger: Ledger) =>
      new StateGraph({ out: append<string>() })
        .addNode('fast', async (_state, run) => ({ out: await run.effect('x', 1, () => `fast ${++fast}`) }))
        .addNode('slow', async () => {
          await new Promise((resolve) => void setTimeout(resolve, 5))
          return { out: 'slow' }
        })
        .addEdge(START, 'fast')
        .addEdge(START, 'slow')
        .compile({ name: 'durable', checkpointer: ledger })
    const { straight } = await liveEveryDeath(make, { runId: 'r', input: {} })
    for (let at = 0; at < straight.appends; at++) {
      fast = 0
      const { ledger, result } = await liveThrough(make, { runId: 'r', input: {} }, [
        { append: at, committed: true },
      ])
      const done = (await ledger.getSteps('r')).find(
        ({ stepId, status }) => stepId === 'fast@s1/x#0' && status === 'completed',
      )
      expect([result.state.out[0], result.state.out[1]]).toEqual([done?.values, 'slow'])
      expect(fast).toBeLessThanOrEqual(2)
    }
  })

  it('P3 raw exception text leaks secrets into durable records: it is redacted, type and code are kept', async () => {
    const key = `sk-ant-api03-${'a1B2c3D4e5'.repeat(9)}`
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ n: last(0) })
      .addNode('bad', () => {
        throw Object.assign(new TypeError(`401 for ${key}`), { code: 'E_AUTH' })
      })
      .addEdge(START, 'bad')
      .compile({ name: 'leaks', checkpointer: ledger })
    const { runId } = await graph.invoke({})
    const texts: string[] = []
    for await (const event of ledger.read(runId)) texts.push(JSON.stringify(event))
    expect(texts.join('\n')).not.toContain(key)
    expect((await ledger.getRun(runId))?.error).toMatchObject({ name: 'TypeError', code: 'E_AUTH' })
    expect(isTerminal((await ledger.getRun(runId))?.status ?? 'running')).toBe(true)
  })

  it('R4 every checkpoint has a parent: the one before it, or the one that the turn continues', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .addNode('b', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ name: 'parents', checkpointer: ledger })
    await graph.invoke({}, { threadId: 't' })
    await graph.invoke({}, { threadId: 't' })
    const all = await graph.getStateHistory({ threadId: 't' }).toArray()
    expect(all.map(({ superstep, state }) => [superstep, state.n])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [0, 2],
      [1, 3],
      [2, 4],
    ])
    // The first of all begins the thread; the second turn hangs on the end of the first.
    expect(all.map(({ parentId }) => parentId)).toEqual([
      null,
      ...all.slice(0, -1).map(({ checkpointId }) => checkpointId),
    ])
  })
})
