import { type Ledger, TraceEmitter } from 'clew'
import { ClewCallbackHandler } from 'clew/langchain'
import { ClewSaver } from 'clew/langgraph'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { thread } from './graphs.ts'
import { counting } from './react-agent.ts'
import { createStore, STORES, type TestStore } from './stores.ts'

const ask = (content: string) => ({ messages: [{ role: 'user', content }] })

describe.each(STORES)('A4 a prebuilt agent on %s', (name) => {
  let store: TestStore
  let ledger: Ledger
  beforeEach(async () => {
    store = await createStore(name)
    ledger = await store.open()
  })
  afterEach(() => store.drop())

  it.each(['sync', 'async'] as const)(
    'V3 V7 shows its messages, tools and tokens from the state alone (%s)',
    async (durability) => {
      const config = { ...thread('t'), durability }
      await counting(new ClewSaver(ledger, { agent: 'counter' })).invoke(ask('owls'), config)
      await counting(new ClewSaver(await store.open(), { agent: 'counter' })).invoke(ask('mice'), config)
      const runs = (await ledger.listRuns()).runs.toReversed()
      expect(
        runs.map(({ agent, status, messages, toolCalls, modelCalls, inputTokens, outputTokens }) => [
          agent,
          status,
          messages,
          toolCalls,
          modelCalls,
          inputTokens,
          outputTokens,
        ]),
      ).toEqual([
        ['counter', 'completed', 4, 1, 2, 40, 6],
        ['counter', 'completed', 4, 1, 2, 120, 6],
      ])
      const told = []
      for (const { runId } of runs)
        for (const entry of (await ledger.transcript(runId)).entries) {
          if (entry.kind === 'message') told.push(`${entry.role}: ${String(entry.content)}`)
          if (entry.kind === 'tool_call')
            told.push(`${entry.name}(${JSON.stringify(entry.arguments)}) = ${String(entry.outcome?.result)}`)
        }
      expect(told).toEqual([
        'user: owls',
        'count({"what":"owls"}) = three owls',
        'assistant: There are three owls.',
        'user: mice',
        'count({"what":"mice"}) = three mice',
        'assistant: There are three mice.',
      ])
      const { total, groups } = await ledger.cost({ by: 'model' })
      expect(groups.map(({ key }) => key)).toEqual(['gpt-4o-mini'])
      expect([total.modelCalls, total.inputTokens, total.complete]).toEqual([4, 160, true])
      expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    },
  )

  it.each(['sync', 'async'] as const)(
    'A4 one answer is one run: the saver and the callbacks of a session tell one run, each thing once (%s)',
    async (durability) => {
      const emitter = new TraceEmitter({ ledger })
      const session = await emitter.forSession({ streamId: 'barn', sessionId: 's1' })
      const config = { ...thread('t'), durability, callbacks: [new ClewCallbackHandler({ ledger, session })] }
      await counting(new ClewSaver(ledger)).invoke(ask('owls'), config)
      await session.notifyCompleted()
      const { runs } = await ledger.listRuns()
      expect(runs.map(({ runId }) => runId.replace(/^lg-.*/, 'lg')).toSorted()).toEqual(['lg', 's1'])
      const run = runs.find(({ runId }) => runId !== 's1')
      expect(run).toMatchObject({
        parentRunId: 's1',
        agent: 'counter',
        status: 'completed',
        messages: 4,
        toolCalls: 1,
        modelCalls: 2,
      })
      const steps = await ledger.getSteps(run?.runId ?? '')
      expect(
        steps
          .filter(({ kind }) => kind !== 'chain')
          .map(({ nodeName, kind, status, parentStepId }) => {
            const [inside] = parentStepId?.split('/') ?? []
            return [nodeName, kind, status, ...(inside === undefined ? [] : [`in ${inside}`])].join(' ')
          }),
      ).toEqual([
        'ScriptedModel model completed in agent@s2',
        'agent node completed',
        'count tool completed in tools@s3',
        'tools node completed',
        'ScriptedModel model completed in agent@s4',
        'agent node completed',
      ])
      const told = (await ledger.transcript(run?.runId ?? '')).entries.flatMap((entry) =>
        entry.kind === 'message'
          ? [`${entry.role}: ${String(entry.content)}`]
          : entry.kind === 'tool_call'
            ? [`${entry.name} = ${String(entry.outcome?.result)}`]
            : [],
      )
      expect(told).toEqual(['user: owls', 'count = three owls', 'assistant: There are three owls.'])
      const { total } = await ledger.cost({ by: 'model' })
      expect([total.modelCalls, total.inputTokens, total.outputTokens]).toEqual([2, 40, 6])
      // Every event has a cause, up to the start of the session.
      const [begun] = await Array.fromAsync(ledger.read('s1', { limit: 1 }))
      const events = await Array.fromAsync(ledger.read(run?.runId ?? ''))
      const byId = new Map(events.map((event) => [event.eventId, event]))
      for (const event of events) {
        let first = event
        for (let cause = byId.get(event.causationId ?? ''); cause; cause = byId.get(first.causationId ?? ''))
          first = cause
        expect([event.eventType, first.causationId]).toEqual([event.eventType, begun?.eventId])
      }
      expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    },
  )

  it('A4 each turn tells its own run, also from another process, and with durability exit nothing waits', async () => {
    for (const what of ['owls', 'mice', 'bats']) {
      const own = await store.open()
      const callbacks = [new ClewCallbackHandler({ ledger: own, raiseError: true })]
      await counting(new ClewSaver(own)).invoke(ask(what), { ...thread('t'), callbacks })
    }
    const callbacks = [new ClewCallbackHandler({ ledger, raiseError: true })]
    const saver = new ClewSaver(ledger)
    for (const what of ['hens', 'rats'])
      await counting(saver).invoke(ask(what), { ...thread('t'), callbacks })
    const { runs } = await ledger.listRuns()
    expect(runs.map(({ status, steps }) => [status, steps])).toEqual(
      Array.from({ length: 5 }, () => ['completed', runs[0]?.steps]),
    )
    const { total } = await ledger.cost({ by: 'model' })
    expect(total.modelCalls).toBe(10)
    await counting(saver).invoke(ask('cats'), { ...thread('late'), callbacks, durability: 'exit' })
    const late = (await ledger.listRuns({ threadId: 'late' })).runs
    expect(late.map(({ status, modelCalls }) => `${status} ${modelCalls}`).toSorted()).toEqual([
      'completed 0',
      'completed 2',
    ])
  })

  it('T1 L6 a graph inside of a session is caused by it, and nobody ends the session but who began it', async () => {
    const emitter = new TraceEmitter({ ledger })
    const session = await emitter.forSession({ streamId: 'barn', sessionId: 's1' })
    const [begun] = await Array.fromAsync(ledger.read(session.sessionId, { limit: 1 }))
    const callbacks = [new ClewCallbackHandler({ ledger, session })]
    await ledger.causedBy(begun?.eventId ?? '', () =>
      counting(new ClewSaver(ledger)).invoke(ask('owls'), { ...thread('t'), callbacks }),
    )
    const graph = (await ledger.listRuns({ threadId: 't' })).runs.find(({ runId }) => runId.startsWith('lg-'))
    const [started] = await Array.fromAsync(ledger.read(graph?.runId ?? '', { limit: 1 }))
    expect(started?.causationId).toBe(begun?.eventId)
    expect((await ledger.getRun(session.sessionId))?.status).toBe('running')
    await session.notifyCompleted()
    expect((await ledger.getRun(session.sessionId))?.status).toBe('completed')
    const { total } = await ledger.cost({ by: 'model' })
    expect([total.modelCalls, total.inputTokens]).toEqual([2, 40])
  })

  it('V7 counts tokens once where the callback handler records the calls', async () => {
    const callbacks = [new ClewCallbackHandler({ ledger })]
    await counting(new ClewSaver(ledger)).invoke(ask('owls'), { ...thread('t'), callbacks })
    const { total } = await ledger.cost({ by: 'model' })
    expect([total.modelCalls, total.inputTokens, total.outputTokens]).toEqual([2, 40, 6])
  })
})
