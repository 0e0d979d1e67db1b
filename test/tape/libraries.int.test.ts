import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { said } from './lives.ts'
import { type Library, loadTalk } from './model-agents.ts'
import { startModelServer } from './model-server.ts'

const LIBRARIES: readonly Library[] = ['openai', 'anthropic', 'ai']
const TALKS = LIBRARIES.flatMap((library) => [true, false].map((isStreamed) => ({ library, isStreamed })))

describe.each(TALKS)('$library, streamed: $isStreamed', ({ library, isStreamed }) => {
  it('D4 talks with tools on tape, and again from the record with the server gone', async () => {
    await using server = await startModelServer()
    const ledger = createMemoryWorld().open()
    const talk = { url: server.url, isStreamed }
    const asking = await loadTalk(library, true)
    const paused = await asking.start(ledger, talk)
    expect(said(paused)).toEqual(['paused', undefined])
    expect(server.seen.length).toBe(2)
    await server.close()
    const { output, ...ended } = await asking.resume(ledger, paused.runId, { answer: 'yes' })
    expect(said({ output, ...ended })).toEqual(['completed', undefined])
    expect(output?.pieces.join('')).toBe('The owl sees 7 mice at night.')
    if (isStreamed) expect(output?.pieces.length).toBe(8)
    expect(output?.tools).toEqual(['7 mice in the barn'])
    expect(output?.tokens).toBeGreaterThan(0)
    const names = (await ledger.getSteps(paused.runId)).map(({ nodeName }) => nodeName)
    expect(names.filter((name) => name === 'fetch').length).toBe(2)
    expect(names.filter((name) => name === 'count mice').length).toBe(1)
    // V7: two calls, each counted once, also by a life that was only given their answers.
    expect(await ledger.getRun(paused.runId)).toMatchObject({
      modelCalls: 2,
      inputTokens: 24,
      outputTokens: 16,
    })
    // V3: told as the conversation that it was.
    const chat = await ledger.transcript(paused.runId, { as: 'openai' })
    expect(chat.map(({ role, tool_calls: calls }) => calls?.[0]?.function.name ?? role)).toEqual([
      'user',
      'count_mice',
      'tool',
      'assistant',
      'assistant',
      'user',
    ])
    expect(chat[3]?.content).toBe('The owl sees 7 mice at night.')
    const { entries } = await ledger.transcript(paused.runId)
    expect(entries.flatMap((entry) => (entry.kind === 'message' && entry.model) || [])).toEqual([
      'small-model',
    ])
  })

  it('R5 goes on after each step in another process', async () => {
    await using server = await startModelServer()
    const ledger = createMemoryWorld().open()
    const result = await (await loadTalk(library)).start(
      ledger,
      { url: server.url, isStreamed },
      { suspendAlways: true },
    )
    expect(said(result)).toEqual(['completed', undefined])
    expect(result.output?.pieces.join('')).toBe('The owl sees 7 mice at night.')
    expect(result.output?.tools).toEqual(['7 mice in the barn'])
  })

  it('D4 what it tries again by itself are further requests on the same tape', async () => {
    await using server = await startModelServer([529, 429])
    const ledger = createMemoryWorld().open()
    const paused = await (await loadTalk(library, true)).start(ledger, { url: server.url, isStreamed })
    expect(said(paused)).toEqual(['paused', undefined])
    expect(server.seen.length).toBe(4)
    await server.close()
    const ended = await (await loadTalk(library, true)).resume(ledger, paused.runId, { answer: 'yes' })
    expect(said(ended)).toEqual(['completed', undefined])
    expect(ended.output?.pieces.join('')).toBe('The owl sees 7 mice at night.')
  })
})
