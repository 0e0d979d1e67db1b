import { agent } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { eventsOf, KEPT_WORLDS } from './worlds.ts'

describe.each(KEPT_WORLDS)('R10 the safety that an effect declares, %s', (_, open) => {
  const { ledger, how } = open()

  it('R10 is recorded with its start, and so is that nothing was declared', async () => {
    const caller = agent(
      'caller',
      async (run) => {
        await run.effect('look', null, () => 1)
        for (const safety of ['read', 'write', 'destructive', 'external'] as const)
          await run.effect(safety, null, () => 1, { safety })
        await run.memory.get({ layer: 'short', namespace: 'n', key: 'k' })
        await fetch('data:,x')
        await run.step('own', null, () => 1)
      },
      { recordFetch: true },
    )
    const { runId, status } = await caller.start(ledger, null, how)
    expect(status).toBe('completed')
    const starts = (await eventsOf(ledger, runId)).filter(
      ({ eventType }) => eventType === 'execution.step_started',
    )
    expect(starts.map(({ payload }) => [payload['name'], payload['safety']])).toEqual([
      ['look', 'undeclared'],
      ['read', 'read'],
      ['write', 'write'],
      ['destructive', 'destructive'],
      ['external', 'external'],
      ['memory.get', 'read'],
      ['fetch', 'undeclared'],
      ['fetch body', 'undeclared'],
      ['own', undefined],
    ])
    const { entries } = await ledger.audit(runId)
    expect(entries.filter(({ action }) => action === 'effect_begun').map(({ safety }) => safety)).toEqual([
      'write',
      'destructive',
      'external',
    ])
  })

  it('R10 an effect that declares nothing is repeated after a crash, as a read is', async () => {
    let performed = 0
    const left = new AbortController()
    const caller = agent('caller', (run) =>
      run.effect('look', null, async () => {
        if (++performed > 1) return 'found'
        left.abort()
        return new Promise<string>(() => {})
      }),
    )
    const first = await caller.start(ledger, null, { ...how, shutdown: { signal: left.signal, graceMs: 0 } })
    expect(first.status).toBe('interrupted')
    const { status, output } = await caller.resume(ledger, first.runId, how)
    expect([status, output, performed]).toEqual(['completed', 'found', 2])
  })
})
