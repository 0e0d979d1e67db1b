import { describe, expect, it } from 'vitest'
import {
  append,
  command,
  END,
  last,
  requestStop,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import { ALL_WORLDS, createLatch, flawsOf, KEPT_WORLDS } from './worlds.ts'

const FAST = { delayMs: 1, jitter: 0 }

describe.each(ALL_WORLDS)('R3 what nodes may do and what becomes of them, %s', (_, open) => {
  const { ledger, how } = open()
  const options = (name: string) => ({ name, checkpointer: ledger })
  const sound = async (runId: string): Promise<void> => {
    if (ledger) expect(await flawsOf(ledger, runId)).toEqual([])
  }

  it('R3 what a try wrote whose time was over is not taken for the write of the next one', async () => {
    const [late, told] = [createLatch(), createLatch()]
    let tries = 0
    const graph = new StateGraph({ n: last(0) })
      .addNode(
        'slow',
        async () => {
          if (++tries > 1) return { n: 2 }
          await late.opened
          return { n: 1 }
        },
        { timeoutMs: 100, retry: { tries: 5, ...FAST } },
      )
      .addEdge(START, 'slow')
      .addConditionalEdges(
        'slow',
        async ({ n }) => {
          // The first try comes to its end between the write of the second and its decision.
          if (n === 1) told.open()
          else late.open()
          await told.opened
          return END
        },
        [END],
      )
      .compile(options('late-write'))
    const { status, state, runId } = await graph.invoke({}, how)
    expect([status, state.n]).toEqual(['completed', 2])
    await sound(runId)
  })

  it('R3 a node is tried again as its policy says, on the same state', async () => {
    let tries = 0
    const graph = new StateGraph({ n: last(0) })
      .addNode(
        'shaky',
        ({ n }) => {
          if (++tries < 3) throw new Error(`try ${tries}`)
          return { n: n + 1 }
        },
        { retry: { tries: 3, ...FAST } },
      )
      .addEdge(START, 'shaky')
      .compile(options('shaky'))
    const { status, state, log, runId } = await graph.invoke({}, how)
    expect([status, state.n, tries]).toEqual(['completed', 1, 3])
    expect(log.steps.map((step) => step.status)).toEqual(['failed', 'failed', 'completed'])
    await sound(runId)
  })

  it('R3 an attempt that takes too long fails with a timeout, its signal aborted', async () => {
    let aborted = false
    const graph = new StateGraph({ n: last(0) })
      .addNode(
        'slow',
        async (_state, run) => {
          await run.effect(
            'wait',
            null,
            (_input, { signal }) =>
              new Promise((resolve) => {
                signal.addEventListener('abort', () => {
                  aborted = true
                  resolve(null)
                })
              }),
          )
          return { n: 1 }
        },
        { timeoutMs: 20 },
      )
      .addEdge(START, 'slow')
      .compile(options('timeout'))
    const { status, error, runId } = await graph.invoke({}, how)
    expect([status, error?.code, aborted]).toEqual(['failed', 'timeout', true])
    await sound(runId)
  })

  it('R3 a failing node lets its siblings finish; the run fails with the first error', async () => {
    const failed = createLatch()
    const ended: string[] = []
    const graph = new StateGraph({ way: append<string>() })
      .addNode('bad', () => {
        failed.open()
        throw Object.assign(new Error('no luck'), { code: 'E_LUCK' })
      })
      .addNode('good', async () => {
        await failed.opened
        await new Promise((resolve) => void setTimeout(resolve, 5))
        ended.push('good')
        return { way: 'good' }
      })
      .addEdge(START, 'bad')
      .addEdge(START, 'good')
      .compile(options('siblings'))
    const { status, error, log, runId } = await graph.invoke({}, how)
    // Given up in the middle, its body is entered again; recorded it is once.
    expect([status, error?.code, [...new Set(ended)]]).toEqual(['failed', 'E_LUCK', ['good']])
    expect(log.steps.map(({ nodeName, status: how }) => `${nodeName} ${how}`)).toEqual([
      'bad failed',
      'good completed',
    ])
    if (ledger)
      expect((await ledger.getSteps(runId)).find(({ nodeName }) => nodeName === 'good')).toMatchObject({
        status: 'completed',
        values: { way: 'good' },
      })
    await sound(runId)
  })

  it('R3 what a sibling wrote survives into the retry of a failing node, and the sibling runs once', async () => {
    let tries = 0
    let siblings = 0
    const graph = new StateGraph({ way: append<string>() })
      .addNode(
        'bad',
        () => {
          if (++tries < 2) throw new Error('not yet')
          return { way: 'bad' }
        },
        { retry: { tries: 2, ...FAST } },
      )
      .addNode('good', () => ({ way: `good ${++siblings}` }))
      .addEdge(START, 'bad')
      .addEdge(START, 'good')
      .compile(options('retry'))
    const { state, runId } = await graph.invoke({}, how)
    expect([state.way, tries, siblings]).toEqual([['bad', 'good 1'], 2, 1])
    await sound(runId)
  })

  it('R3 a graph without an end is stopped by its recursion limit, of compile or of invoke', async () => {
    const builder = new StateGraph({ n: last(0) })
      .addNode('inc', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'inc')
      .addEdge('inc', 'inc')
    const graph = builder.compile({ ...options('endless'), recursionLimit: 7 })
    const first = await graph.invoke({}, how)
    expect([first.status, first.error?.code, first.error?.message]).toEqual([
      'failed',
      'recursion_limit',
      expect.stringMatching(/7 supersteps.*inc/),
    ])
    expect(first.state.n).toBe(7)
    const second = await graph.invoke({}, { ...how, recursionLimit: 3 })
    expect([second.error?.code, second.log.steps.length]).toEqual(['recursion_limit', 3])
    await sound(first.runId)
  })

  it('R3 a node that changes the state it is given fails, and nothing changes', async () => {
    const graph = new StateGraph({ list: append<string>(), deep: last({ a: { b: 1 } }) })
      .addNode('push', ({ list }) => {
        ;(list as string[]).push('smuggled')
      })
      .addEdge(START, 'push')
      .compile(options('frozen'))
    const { status, error, state } = await graph.invoke({ list: 'x' }, how)
    expect([status, error?.code]).toEqual(['failed', 'bad_write'])
    expect(error?.message).toMatch(/tried to change the state .*(not extensible|read only)/)
    expect(state.list).toEqual(['x'])
    const deep = new StateGraph({ deep: last({ a: { b: 1 } }) })
      .addNode('set', (s) => {
        s.deep.a.b = 2
      })
      .addEdge(START, 'set')
      .compile(options('frozen deep'))
    expect((await deep.invoke({}, how)).error?.message).toMatch(/read only/)
  })

  it('R3 a write to what is no channel, and a text, fail the node with what to do', async () => {
    const writing = async (write: unknown) => {
      const graph = new StateGraph({ n: last(0) })
        .addNode('odd', () => write as { n: number })
        .addEdge(START, 'odd')
        .compile(options('odd'))
      return (await graph.invoke({}, how)).error
    }
    expect(await writing({ m: 1 })).toMatchObject({
      code: 'bad_write',
      message: expect.stringMatching(/"m".*channels are: n/),
    })
    expect(await writing('text')).toMatchObject({ code: 'bad_write' })
    expect(await writing({ n: () => 1 })).toMatchObject({
      code: 'bad_value',
      message: expect.stringMatching(/odd\.n/),
    })
  })

  it('R3 a command to a node that is not there fails the node that gave it', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', () => command({ update: { n: 1 }, goto: 'nowhere' }))
      .addEdge(START, 'a')
      .compile(options('nowhere'))
    const { status, error, state, runId } = await graph.invoke({}, how)
    expect([status, error?.code]).toEqual(['failed', 'bad_graph'])
    expect(error?.message).toMatch(/"a".*"nowhere"/)
    expect(state.n).toBe(0)
    await sound(runId)
  })

  it('R3 a budget of steps stops the run before the step that would be too much', async () => {
    const graph = new StateGraph({ n: last(0) })
      .addNode('inc', ({ n }) => ({ n: n + 1 }))
      .addEdge(START, 'inc')
      .addEdge('inc', 'inc')
      .compile(options('budget'))
    const { status, error, log, runId } = await graph.invoke({}, { ...how, budget: { steps: 4 } })
    expect([status, error?.code, log.steps.length]).toEqual(['stopped', 'stopped', 4])
    expect(error?.message).toMatch(/budget/)
    await sound(runId)
  })

  it('R12 an AbortSignal stops the run: nodes are told, and the run is stopped even if they finish', async () => {
    const abort = new AbortController()
    let told = false
    const graph = new StateGraph({ n: last(0) })
      .addNode('work', async (_state, run) => {
        await new Promise<void>((resolve) => {
          run.signal.addEventListener('abort', () => {
            told = true
            resolve()
          })
          abort.abort(new Error('enough'))
        })
        return { n: 1 }
      })
      .addEdge(START, 'work')
      .compile(options('abort'))
    const { status, error, runId } = await graph.invoke({}, { ...how, signal: abort.signal })
    expect([status, told, error?.message]).toEqual(['stopped', true, 'enough'])
    await sound(runId)
  })
})

describe.each(KEPT_WORLDS)('R3 what only a ledger gives, %s', (_, open) => {
  const { ledger, how } = open()

  it('R3 a cached node is given back to any run of the graph with the same input, and says so', async () => {
    let calls = 0
    const graph = new StateGraph({ n: last(0), out: last('') })
      .addNode('dear', ({ n }) => ({ out: `${n} ${++calls}` }), { cache: true })
      .addEdge(START, 'dear')
      .addConditionalEdges('dear', () => END, [END])
      .compile({ name: 'cached', checkpointer: ledger })
    expect((await graph.invoke({ n: 1 }, how)).state.out).toBe('1 1')
    const again = await graph.invoke({ n: 1 }, how)
    expect([again.state.out, again.log.steps[0]?.cached]).toEqual(['1 1', true])
    expect((await graph.invoke({ n: 2 }, how)).state.out).toBe('2 2')
    expect(calls).toBe(2)
    expect(await flawsOf(ledger, again.runId)).toEqual([])
  })

  it('R3 a value that cannot be stored fails its own node with the path, and no checkpoint holds it', async () => {
    const socket = Object.create({ write: () => 0 }) as object
    const ended = createLatch()
    const graph = new StateGraph({ value: last<unknown>(null), way: append<string>() })
      .addNode('bad', () => {
        ended.open()
        return { value: { deep: [socket] } }
      })
      .addNode('good', async () => {
        await ended.opened
        return { way: 'good' }
      })
      .addNode('next', () => ({ way: 'next' }))
      .addEdge(START, 'bad')
      .addEdge(START, 'good')
      .addEdge(['bad', 'good'], 'next')
      .compile({ name: 'unstorable', checkpointer: ledger })
    const { status, error, runId } = await graph.invoke({}, how)
    expect([status, error?.code]).toEqual(['failed', 'bad_value'])
    expect(error?.message).toMatch(/value\.deep\[0\]|deep\[0\]/)
    const steps = await ledger.getSteps(runId)
    expect(steps.map(({ nodeName, status: how }) => `${nodeName} ${how}`).sort()).toEqual([
      'bad failed',
      'good completed',
    ])
    expect((await ledger.getState(runId))?.superstep).toBe(0)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('R3 a stop that is asked for from outside ends the run as stopped, with what it had done', async () => {
    const begun = createLatch()
    const graph = new StateGraph({ n: last(0) })
      .addNode('one', () => ({ n: 1 }))
      .addNode('two', async (_state, run) => {
        begun.open()
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
        throw run.signal.reason
      })
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .compile({ name: 'stoppable', checkpointer: ledger })
    const running = graph.invoke({}, { ...how, runId: 'stop-me' })
    await begun.opened
    await requestStop(ledger, 'stop-me', { reason: 'enough' })
    const { status, state, error } = await running
    expect([status, state.n, error?.message]).toEqual(['stopped', 1, 'enough'])
    expect(await ledger.getRun('stop-me')).toMatchObject({ status: 'stopped', stopRequested: false })
    expect(await flawsOf(ledger, 'stop-me')).toEqual([])
  })
})
