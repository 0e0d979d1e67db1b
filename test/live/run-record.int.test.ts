import type { EventInput, Payload } from '@clew/ledger'
import { type Client, createClient, runPath } from '../../packages/react/src/client/client.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRunRecord, type RunRecord } from '../../packages/react/src/run/run-record.ts'
import { serve, type Served } from '../server/served.ts'

const of = (eventType: string, payload: Payload): EventInput => ({ eventType, correlationId: 'r', payload })

describe('a run that is followed', () => {
  let served: Served
  let record: RunRecord | undefined
  let summaries = 0
  /** Counts how often the summary is read. */
  function open(): RunRecord {
    const client = createClient({ url: served.server.url.replace(/\/$/, '') })
    const counting: Client = {
      ...client,
      get: (path, query, signal) => {
        if (path === runPath('r')) summaries++
        return client.get(path, query, signal)
      },
    }
    record = openRunRecord(counting, 'r')
    return record
  }
  const step = (at: number): EventInput[] => [
    of('execution.step_started', { stepId: `ask#${at}`, name: 'ask' }),
    of('execution.message', { stepId: `ask#${at}`, role: 'assistant', content: 'Yes' }),
    of('execution.step_completed', { stepId: `ask#${at}`, usage: { inputTokens: 3, outputTokens: 1 } }),
  ]

  beforeEach(async () => {
    summaries = 0
    served = await serve()
    await served.ledger.append([of('system.workflow_started', { agent: 'owl' }), ...step(0)])
  })
  afterEach(async () => {
    record?.close()
    await served.close()
  })

  it('U1 changes its header with the events: the summary is read again only when the run starts or stops', async () => {
    const { ledger } = served
    const { get } = open()
    await expect.poll(() => get().link).toBe('live')
    const atFirst = summaries
    for (let at = 1; at <= 40; at++) {
      await ledger.append(step(at))
      await expect.poll(() => get().run?.steps, { interval: 5 }).toBe(at + 1)
    }
    expect(get().run).toEqual(await ledger.getRun('r'))
    expect(get().run).toMatchObject({ status: 'running', inputTokens: 41 * 3, messages: 41 })
    expect(summaries).toBe(atFirst)
    await ledger.append([of('system.workflow_completed', {})])
    await expect.poll(() => get().run?.status).toBe('completed')
    await expect.poll(() => summaries).toBe(atFirst + 1)
    expect(get().run).toEqual(await ledger.getRun('r'))
    expect(get().steps).toEqual(await ledger.getSkeleton('r'))
    await ledger.append([of('system.tagged', { set: { env: 'prod' } })])
    await expect.poll(() => get().run?.tags).toEqual({ env: 'prod' })
    expect(get().run).toEqual(await ledger.getRun('r'))
  })
})
