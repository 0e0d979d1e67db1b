import type { Ledger } from 'clew'
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

  it('V7 counts tokens once where the callback handler records the calls', async () => {
    const callbacks = [new ClewCallbackHandler({ ledger })]
    await counting(new ClewSaver(ledger)).invoke(ask('owls'), { ...thread('t'), callbacks })
    const { total } = await ledger.cost({ by: 'model' })
    expect([total.modelCalls, total.inputTokens, total.outputTokens]).toEqual([2, 40, 6])
  })
})
