import { ClewError, type Ledger } from '@clew/ledger'
import { agent, type StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'

describe('durability', () => {
  /** Appends that are answered only when told to, in order; what was done when each was sent. */
  function createSlow(): { ledger: Ledger; seen: string[]; done: string[] } {
    const inner = createMemoryWorld().open()
    const seen: string[] = []
    const done: string[] = []
    const ledger: Ledger = {
      ...inner,
      async append(events, options) {
        const stored = await inner.append(events, options)
        await new Promise((resolve) => void setTimeout(resolve, 15))
        seen.push(
          ...events.map(
            ({ eventType, payload }) =>
              `${eventType.split('.')[1]} ${(payload?.['stepId'] as string | undefined) ?? ''} after ${done.join('')}`,
          ),
        )
        return stored
      },
    }
    return { ledger, seen, done }
  }

  const program = (done: string[], durability: 'sync' | 'group' | 'async') =>
    agent(
      'line',
      async (run) => {
        for (const name of ['a', 'b']) await run.effect(name, null, () => void done.push(name))
        await run.effect('w', null, () => void done.push('w'), { safety: 'write' })
      },
      { durability },
    )

  it('R10 sync: the start of any effect is committed before it is dispatched', async () => {
    const { ledger, seen, done } = createSlow()
    await program(done, 'sync').start(ledger, null)
    expect(seen.filter((line) => line.startsWith('step_started'))).toEqual([
      'step_started a#0 after ',
      'step_started b#0 after a',
      'step_started w#0 after ab',
    ])
  })

  it('R10 group: a read is dispatched at once, its end committed before code sees it; a write is reserved first', async () => {
    const { ledger, seen, done } = createSlow()
    await program(done, 'group').start(ledger, null)
    expect(seen.filter((line) => line.startsWith('step_started'))).toEqual([
      'step_started a#0 after a',
      'step_started b#0 after ab',
      'step_started w#0 after ab',
    ])
    expect(seen).toContain('step_completed a#0 after a')
  })

  it('R10 async: the next read starts before the last commit; a write waits for everything before it', async () => {
    const { ledger, seen, done } = createSlow()
    const { status, checkpointOk, checkpointErrors } = await program(done, 'async').start(ledger, null)
    expect([status, checkpointOk, checkpointErrors]).toEqual(['completed', true, []])
    expect(seen).toContain('step_completed a#0 after ab')
    expect(seen).toContain('step_started w#0 after ab')
  })

  it('R10 with async durability a run may end with gaps: the result says checkpointOk and lists errors; a resume fills them', async () => {
    const inner = createMemoryWorld().open()
    const done: string[] = []
    const reads = agent(
      'reads',
      async (run, pause: boolean) => {
        for (const name of ['a', 'b', 'c']) await run.effect(name, null, () => done.push(name))
        if (pause) await run.interrupt('Go on?')
        return 'ended'
      },
      { durability: 'async' },
    )
    const gappy: Ledger = {
      ...inner,
      append: (events, options) =>
        events.some(
          ({ eventType, payload }) =>
            eventType === 'execution.step_completed' && payload?.['stepId'] === 'b#0',
        )
          ? Promise.reject(new ClewError('store_full', 'The disk is full', 'Make room.'))
          : inner.append(events, options),
    }
    const ended = await reads.start(gappy, false)
    expect([ended.status, ended.output, ended.checkpointOk]).toEqual(['completed', 'ended', false])
    expect(ended.checkpointErrors).toMatchObject([{ code: 'store_full' }])
    const paused = await reads.start(gappy, true)
    expect([paused.status, paused.checkpointOk]).toEqual(['paused', false])
    done.length = 0
    expect((await reads.resume(inner, paused.runId, { answer: 1 })).output).toBe('ended')
    expect(done).toEqual(['b'])
  })

  it('R10 async: a critical action needs all that led to it on record', async () => {
    const inner = createMemoryWorld().open()
    const done: string[] = []
    const gappy: Ledger = {
      ...inner,
      append: (events, options) =>
        events.some(
          ({ eventType, payload }) =>
            eventType === 'execution.step_completed' && payload?.['stepId'] === 'a#0',
        )
          ? Promise.reject(new ClewError('store_full', 'The disk is full', 'Make room.'))
          : inner.append(events, options),
    }
    await expect(program(done, 'async').start(gappy, null)).rejects.toMatchObject({ code: 'store_full' })
    expect(done).not.toContain('w')
  })

  it('R3 a value that cannot be stored never reaches the code, also when it need not wait for commits', async () => {
    const ledger = createMemoryWorld().open()
    const careless = agent(
      'careless',
      (run) => run.step('out', null, () => ({ fn: () => 1 })).catch((error: StepError) => error.code),
      { durability: 'async' },
    )
    const { output, checkpointOk } = await careless.start(ledger, null)
    expect([output, checkpointOk]).toEqual(['bad_value', true])
  })

  it('R11 writing and resuming are switched one by one', async () => {
    const world = createMemoryWorld()
    const ledger = world.open()
    const asking = agent('asking', (run) => run.interrupt('Well?'))
    const { runId } = await asking.start(ledger, null)
    const reading: Ledger = { ...ledger, mode: { write: true, resume: false, replay: true } }
    await expect(asking.resume(reading, runId, { answer: 1 })).rejects.toMatchObject({ code: 'switched_off' })
    const silent: Ledger = { ...ledger, mode: { write: false, resume: true, replay: true } }
    await expect(asking.start(silent, null)).rejects.toMatchObject({ code: 'switched_off' })
  })
})
