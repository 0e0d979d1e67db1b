import { type ClewEvent, type EventInput, foldEvents, type Ledger, timelineFold } from '@clew/ledger'
import { beforeAll, describe, expect, it } from 'vitest'
import { openMemory, readAll } from '../../test/memory-ledger.ts'
import { load, runOf } from '../../test/otlp-exports.ts'
import { fromOtlpLogs, fromOtlpTraces } from './index.ts'

describe('V3 V4 V7 an ingested trace looks like a run', () => {
  let ledger: Ledger
  let events: readonly EventInput[]
  beforeAll(async () => {
    ledger = openMemory()
    events = fromOtlpTraces(load('gen-ai')).events
    await ledger.append(events)
  })

  it('has a summary', async () => {
    expect(await ledger.getRun(runOf(events))).toMatchObject({
      status: 'completed',
      agent: 'Boatman',
      agentVersion: '2.1.0',
      threadId: 'conv_77',
      subjects: ['u-12'],
      steps: 4,
      toolCalls: 1,
      modelCalls: 2,
      inputTokens: 150,
      outputTokens: 30,
    })
  })

  it('reads as a conversation', async () => {
    const { entries } = await ledger.transcript(runOf(events))
    expect(
      entries.map((entry) => {
        if (entry.kind === 'message') return `${entry.role}: ${String(entry.content)}`
        if (entry.kind === 'reasoning') return `(${String(entry.content)})`
        if (entry.kind === 'tool_call')
          return `${entry.name}(${JSON.stringify(entry.arguments)}) = ${JSON.stringify(entry.outcome?.result)}`
        return entry.kind
      }),
    ).toEqual([
      'start',
      'system: Answer briefly.',
      'user: When does the boat leave?',
      '(I must look it up.)',
      'assistant: null',
      'timetable({"pier":4}) = {"leaves":"09:05"}',
      'assistant: At 09:05 from pier 4.',
      'end',
    ])
  })

  it('lies in time as it happened', () => {
    const stored = events.map(
      (event, nth) => ({ ...event, ledger: { seq: nth + 1, position: nth + 1 } }) as ClewEvent,
    )
    const { items, durationMs } = foldEvents(timelineFold, stored)
    const steps = items.filter((item) => item.kind === 'step')
    expect(durationMs).toBe(2000)
    expect(
      steps.map(({ name, stepKind, startMs, endMs, depth }) => [name, stepKind, startMs, endMs, depth]),
    ).toEqual([
      ['invoke_agent Boatman', 'agent', 0, 2000, 0],
      ['chat gpt-4o', 'model', 10, 800, 1],
      ['timetable', 'tool', 810, 1200, 1],
      ['chat gpt-4o', 'model', 1210, 1990, 1],
    ])
    const call = items.find((item) => item.kind === 'call')
    expect(call).toMatchObject({ name: 'timetable', startMs: 810, endMs: 1200, status: 'completed' })
  })

  it('costs what its calls cost, not what the spans around them add up', async () => {
    const { total, groups } = await ledger.cost({ runId: runOf(events) })
    expect(groups.map((group) => group.key)).toEqual(['gpt-4o-2024-08-06'])
    expect(total).toMatchObject({
      modelCalls: 2,
      inputTokens: 150,
      outputTokens: 30,
      cacheReadTokens: 20,
      reasoningTokens: 4,
    })
    const claude = fromOtlpLogs(load('claude-code-logs')).events
    await ledger.append(claude)
    const report = await ledger.cost({ runId: runOf(claude) })
    // Its input is counted without the cache: 2 + 84,562 + 1,200.
    expect(report.total).toMatchObject({ inputTokens: 85_764, amount: 0.0341, modelCalls: 1 })
  })

  it('L4 is the same when the export is sent again', async () => {
    const before = await readAll(ledger, runOf(events))
    await ledger.append(fromOtlpTraces(load('gen-ai')).events)
    expect(await readAll(ledger, runOf(events))).toEqual(before)
    expect(await ledger.verify(runOf(events))).toMatchObject({ ok: true })
  })

  it('A3 all of what is known is taken by the ledger', async () => {
    for (const name of ['openinference', 'ai-sdk', 'traceloop', 'langfuse', 'mixed', 'gen-ai-older'])
      await ledger.append(fromOtlpTraces(load(name)).events)
    await ledger.append(fromOtlpLogs(load('gen-ai-logs')).events)
    const { runs } = await ledger.listRuns({ limit: 20 })
    expect(runs).toHaveLength(9)
  })
})
