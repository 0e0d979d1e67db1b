import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, type StepError } from '../index.ts'
import { setLongTimeout } from './long-timeout.ts'

const DAY_MS = 86_400_000

describe('R3 times of more than 24.8 days', () => {
  it('R3 a timer goes off at its time and not before, and can be cleared at any time', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const fired: number[] = []
    const handles = new Map<number, ReturnType<typeof setTimeout>>()
    for (const days of [1, 24, 25, 60, 400])
      setLongTimeout(
        () => fired.push(days),
        days * DAY_MS,
        (timer) => handles.set(days, timer),
      )
    vi.advanceTimersByTime(24.5 * DAY_MS)
    expect(fired).toEqual([1, 24])
    vi.advanceTimersByTime(36 * DAY_MS)
    expect(fired).toEqual([1, 24, 25, 60])
    clearTimeout(handles.get(400))
    vi.advanceTimersByTime(1000 * DAY_MS)
    expect(fired).toEqual([1, 24, 25, 60])
  })

  it('R3 R6 steps, questions and budgets can be given them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const ledger = createMemoryWorld().open()
    const slow = agent('slow', async (run) => {
      await run.step('work', null, () => new Promise((resolve) => void setImmediate(resolve)), {
        timeoutMs: 60 * DAY_MS,
      })
      return run
        .interrupt({ question: 'Well?', timeoutMs: 60 * DAY_MS })
        .catch((error: StepError) => error.code)
    })
    const first = await slow.start(ledger, null, { budget: { timeMs: 60 * DAY_MS } })
    expect([first.status, first.dueAt]).toEqual(['paused', new Date(Date.now() + 60 * DAY_MS).toISOString()])
    vi.setSystemTime(Date.now() + 59 * DAY_MS)
    await expect(slow.resume(ledger, first.runId)).rejects.toMatchObject({ code: 'not_resumable' })
    vi.setSystemTime(Date.now() + DAY_MS)
    expect((await slow.resume(ledger, first.runId)).output).toBe('denied')
  })
})
