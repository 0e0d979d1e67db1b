import { describe, expect, it } from 'vitest'
import { append, interrupt, last, type Run, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { flawsOf, KEPT_WORLDS } from './worlds.ts'

describe.each(KEPT_WORLDS)('R6 pauses of a graph, %s', (_, open) => {
  const { ledger, how } = open()
  let runs = 0
  const nextRun = () => ({ ...how, runId: `run-${++runs}` })
  const sound = async (runId: string): Promise<void> => expect(await flawsOf(ledger, runId)).toEqual([])

  /** a → b → c, each noting that it ran. */
  const line = (options: { interruptBefore?: string[]; interruptAfter?: string[] }) => {
    const ran: string[] = []
    const node = (name: string) => () => {
      ran.push(name)
      return { way: name }
    }
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', node('a'))
      .addNode('b', node('b'))
      .addNode('c', node('c'))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'c')
      .compile({ name: 'line', checkpointer: ledger, ...options })
    return { graph, ran }
  }

  it('R6 interruptBefore pauses before the node and does not fire again for the node that is being resumed', async () => {
    const { graph, ran } = line({ interruptBefore: ['b'] })
    const paused = await graph.invoke({}, nextRun())
    expect([paused.status, ran, paused.state.way]).toEqual(['paused', ['a'], ['a']])
    expect(paused.pause?.question).toMatchObject({ interrupt: 'before', nodes: ['b'] })
    expect((await ledger.getState(paused.runId))?.next).toEqual(['b'])
    const done = await graph.resume({ runId: paused.runId }, how)
    expect([done.status, ran]).toEqual(['completed', ['a', 'b', 'c']])
    await sound(done.runId)
  })

  it('R6 interruptAfter pauses after the node, once, and goes on with its successor', async () => {
    const { graph, ran } = line({ interruptAfter: ['a', 'b'] })
    const first = await graph.invoke({}, nextRun())
    expect([first.status, ran, first.state.way]).toEqual(['paused', ['a'], ['a']])
    expect(first.pause?.question).toMatchObject({ interrupt: 'after', nodes: ['a'] })
    const second = await graph.resume({ runId: first.runId }, how)
    expect([second.status, ran]).toEqual(['paused', ['a', 'b']])
    const done = await graph.resume({ runId: first.runId }, how)
    expect([done.status, ran, done.divergence]).toEqual(['completed', ['a', 'b', 'c'], null])
    await sound(done.runId)
  })

  it('R6 interruptAfter on the last node does not pause: nothing would follow', async () => {
    const { graph } = line({ interruptAfter: ['c'] })
    expect((await graph.invoke({}, nextRun())).status).toBe('completed')
  })

  it('R6 interruptBefore and interruptAfter of the same superstep both ask', async () => {
    const { graph, ran } = line({ interruptAfter: ['a'], interruptBefore: ['b'] })
    const { runId } = await graph.invoke({}, nextRun())
    const second = await graph.resume({ runId }, how)
    expect([second.status, ran, second.pause?.question]).toMatchObject([
      'paused',
      ['a'],
      { interrupt: 'before' },
    ])
    expect((await graph.resume({ runId }, how)).status).toBe('completed')
    await sound(runId)
  })

  it('R6 invoke(null) goes on from the last checkpoint of the thread', async () => {
    const { graph, ran } = line({ interruptBefore: ['c'] })
    const threadId = `null-${++runs}`
    await graph.invoke({}, { ...how, threadId })
    const done = await graph.invoke(null, { ...how, threadId })
    expect([done.status, ran]).toEqual(['completed', ['a', 'b', 'c']])
  })

  it('R6 an interrupt inside a node resumes in the node, with the answer; what the body had done is not repeated', async () => {
    const effects: string[] = []
    const after: unknown[] = []
    const graph = new StateGraph({ way: append<unknown>() })
      .addNode('ask', async (_state, run) => {
        await run.effect('before', 1, () => effects.push('before'))
        const answer = await interrupt({ question: 'Go?', options: ['yes', 'no'] })
        after.push(answer)
        await run.effect('after', answer, () => effects.push('after'))
        return { way: answer }
      })
      .addNode('next', () => ({ way: 'next' }))
      .addEdge(START, 'ask')
      .addEdge('ask', 'next')
      .compile({ name: 'inside', checkpointer: ledger })
    const { runId, status, pause } = await graph.invoke({}, nextRun())
    expect([status, pause?.question, effects]).toMatchObject(['paused', { question: 'Go?' }, ['before']])
    await expect(graph.resume({ runId }, { ...how, answer: 'perhaps' })).rejects.toMatchObject({
      code: 'bad_answer',
    })
    const done = await graph.resume({ runId }, { ...how, answer: 'yes' })
    expect([done.status, done.state.way]).toEqual(['completed', ['yes', 'next']])
    expect([effects, [...new Set(after)]]).toEqual([['before', 'after'], ['yes']])
    await expect(graph.resume({ runId }, { ...how, answer: 'yes' })).rejects.toMatchObject({
      code: 'not_resumable',
    })
    await sound(runId)
  })

  it('R6 two interrupts in one node: each answer reaches its own call, each effect happens once', async () => {
    const effects: string[] = []
    const body = async (_state: unknown, run: Run): Promise<{ way: string }> => {
      await run.effect('a', 1, () => effects.push('a'))
      const first = await run.interrupt<string>('first?')
      await run.effect('b', first, () => effects.push('b'))
      const second = await run.interrupt<string>('second?')
      await run.effect('c', second, () => effects.push('c'))
      return { way: `${first} ${second}` }
    }
    const graph = new StateGraph({ way: append<string>() })
      .addNode('ask', body)
      .addEdge(START, 'ask')
      .compile({ name: 'two', checkpointer: ledger })
    const { runId, pause } = await graph.invoke({}, nextRun())
    const second = await graph.resume({ runId }, { ...how, answer: '1' })
    expect([second.status, second.pause?.question]).toEqual(['paused', { question: 'second?' }])
    expect(second.pause?.pauseId).not.toBe(pause?.pauseId)
    const done = await graph.resume({ runId }, { ...how, answer: '2' })
    expect([done.state.way, effects]).toEqual([['1 2'], ['a', 'b', 'c']])
    await sound(runId)
  })

  const two = (name: string) => {
    const ran: string[] = []
    const graph = new StateGraph({ way: append<string>() })
      .addNode('x', async () => ({ way: await interrupt<string>('x?') }))
      .addNode('y', async () => ({ way: await interrupt<string>('y?') }))
      .addNode('z', () => {
        ran.push('z')
        return { way: 'z' }
      })
      .addNode('end', ({ way }) => ({ way: `end ${way.length}` }))
      .addEdge(START, 'x')
      .addEdge(START, 'y')
      .addEdge(START, 'z')
      .addEdge(['x', 'y', 'z'], 'end')
      .compile({ name, checkpointer: ledger })
    return { graph, ran }
  }
  const idOf = (pauses: readonly { question: unknown; pauseId: string }[], question: string): string =>
    pauses.find((pause) => (pause.question as { question: string }).question === question)?.pauseId ?? ''

  it('R6 two nodes that ask in one superstep are answered one by one, in any order; siblings are not cancelled', async () => {
    const { graph, ran } = two('one by one')
    const paused = await graph.invoke({}, nextRun())
    const { runId } = paused
    expect([paused.pauses.length, ran]).toEqual([2, ['z']])
    await expect(graph.resume({ runId }, { ...how, answer: '?' })).rejects.toThrow(/2 open questions/)
    const half = await graph.resume({ runId }, { ...how, answer: 'Y', pauseId: idOf(paused.pauses, 'y?') })
    expect([half.status, half.pauses.length]).toEqual(['paused', 1])
    const done = await graph.resume({ runId }, { ...how, answer: 'X' })
    expect([done.status, done.state.way, ran]).toEqual(['completed', ['X', 'Y', 'z', 'end 3'], ['z']])
    await sound(runId)
  })

  it('R6 two nodes that ask in one superstep are answered together', async () => {
    const { graph, ran } = two('together')
    const { runId, pauses } = await graph.invoke({}, nextRun())
    const answers = { [idOf(pauses, 'x?')]: 'X', [idOf(pauses, 'y?')]: 'Y' }
    const done = await graph.resume({ runId }, { ...how, answers })
    expect([done.status, done.state.way, ran]).toEqual(['completed', ['X', 'Y', 'z', 'end 3'], ['z']])
    await sound(runId)
  })

  it('R6 no reader ever sees paused without the question', async () => {
    const { graph } = two('visible')
    const { runId } = nextRun()
    await graph.invoke({}, { ...how, runId })
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'paused', pauses: [{}, {}] })
    // The question stands before the pause in the record, so no prefix has one without the other.
    const told: string[] = []
    for await (const { eventType } of ledger.read(runId)) told.push(eventType)
    const paused = told.indexOf('system.workflow_paused')
    expect(told.slice(paused - 2, paused + 1)).toEqual([
      'ui.input_requested',
      'ui.input_requested',
      'system.workflow_paused',
    ])
  })

  it('R6 a pause with a time-out takes its default answer when somebody takes the run up', async () => {
    const graph = new StateGraph({ way: last('') })
      .addNode('ask', async () => ({
        way: await interrupt<string>({ question: '?', timeoutMs: 1, default: 'nobody' }),
      }))
      .addEdge(START, 'ask')
      .compile({ name: 'late', checkpointer: ledger })
    const { runId, status } = await graph.invoke({}, nextRun())
    await new Promise((resolve) => void setTimeout(resolve, 5))
    const done = status === 'completed' ? await ledger.getState(runId) : await graph.resume({ runId }, how)
    expect(done?.state['way' as never]).toBe('nobody')
  })

  it('R6 an approval inside a node is denied by default, and its effect is not dispatched', async () => {
    let sent = 0
    const graph = new StateGraph({ way: last('') })
      .addNode('send', async (_state, run) => {
        await run.effect('mail', 'x', () => ++sent, { safety: 'external', approval: true })
        return { way: 'sent' }
      })
      .addEdge(START, 'send')
      .compile({ name: 'approval', checkpointer: ledger })
    const { runId } = await graph.invoke({}, nextRun())
    const denied = await graph.resume({ runId }, { ...how, answer: 'deny' })
    expect([denied.status, denied.error?.code, sent]).toEqual(['failed', 'denied', 0])
    const again = await graph.invoke({}, nextRun())
    expect((await graph.resume({ runId: again.runId }, { ...how, answer: 'approve' })).state.way).toBe('sent')
    expect(sent).toBe(1)
  })
})

describe('R6 without a ledger', () => {
  it('R6 an interrupt is an error that says what to do', async () => {
    const graph = new StateGraph({ way: last('') })
      .addNode('ask', async () => ({ way: await interrupt<string>('?') }))
      .addEdge(START, 'ask')
      .compile({ name: 'none' })
    const { status, error } = await graph.invoke({})
    expect([status, error?.message]).toEqual(['failed', expect.stringMatching(/cannot pause.*checkpointer/)])
    await expect(graph.resume({ runId: 'x' })).rejects.toThrow(/checkpointer/)
    const before = new StateGraph({ way: last('') }).addNode('a', () => ({})).addEdge(START, 'a')
    const halted = await before.compile({ interruptBefore: ['a'] }).invoke({})
    expect([halted.status, halted.error?.message]).toEqual(['failed', expect.stringMatching(/cannot pause/)])
  })
})
