import { setImmediate as breathe } from 'node:timers/promises'
import { createLog } from '@clew/server'
import { type Ledger, openLedger } from 'clew'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFeed } from '../../packages/server/src/live/feed.ts'
import {
  createSharedPages,
  followLedger,
  followRun,
  type LineSource,
} from '../../packages/server/src/live/follow-lines.ts'
import { createTail } from '../../packages/server/src/live/tail.ts'

const log = createLog('silent')

function sourceOf(ledger: Ledger, lines = 4096): LineSource {
  const tail = createTail(createFeed(ledger, log), { lines, characters: 1e6 })
  return { ledger, tail, pages: createSharedPages(ledger) }
}

async function write(ledger: Ledger, runs: readonly number[]): Promise<void> {
  for (const run of runs) {
    await ledger.record({ eventType: 'execution.message', correlationId: `run-${run}`, payload: { run } })
    if (run % 2 === 0) await breathe()
  }
}

describe('following by lines', () => {
  const writes = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 })
  const startAfter = fc.integer({ min: 0, max: 20 })
  const pace = fc.integer({ min: 0, max: 6 })

  it('L7 gives every follower of a run each line once and in order, however slow it is and however short the tail', async () => {
    await fc.assert(
      fc.asyncProperty(writes, writes, startAfter, pace, async (before, during, afterSeq, slow) => {
        const ledger = await openLedger('memory:')
        await write(ledger, [0, ...before])
        const source = sourceOf(ledger, 4)
        const expected = [0, ...before, ...during, 0].filter((run) => run === 0).length
        const following = [0, slow].map(async (turns) => {
          const over = new AbortController()
          const seqs: number[] = []
          if (afterSeq >= expected) return seqs
          for await (const page of followRun(source, { runId: 'run-0', afterSeq }, over.signal)) {
            for (const line of page) seqs.push(line.seq)
            for (let i = 0; i < turns; i++) await breathe()
            if (seqs.at(-1) === expected) over.abort()
          }
          return seqs
        })
        await write(ledger, [...during, 0])
        const wanted = Array.from({ length: Math.max(0, expected - afterSeq) }, (_, i) => afterSeq + i + 1)
        expect(await Promise.all(following)).toEqual([wanted, wanted])
        await ledger.close()
      }),
      { numRuns: 60 },
    )
  })

  it('L7 gives every follower of the workspace each line once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(writes, writes, startAfter, pace, async (before, during, start, slow) => {
        const ledger = await openLedger('memory:')
        await write(ledger, before)
        const other = ledger.in('other')
        const source = sourceOf(ledger, 4)
        const afterPosition = Math.min(start, before.length)
        const expected = before.length - afterPosition + during.length + 1
        const following = [0, slow].map(async (turns) => {
          const over = new AbortController()
          const positions: number[] = []
          for await (const page of followLedger(source, afterPosition, over.signal)) {
            for (const line of page) positions.push(line.position)
            for (let i = 0; i < turns; i++) await breathe()
            if (positions.length >= expected) over.abort()
          }
          return positions
        })
        await Promise.all([write(ledger, [...during, 0]), write(other, during)])
        const [fast = [], late] = await Promise.all(following)
        const all: number[] = []
        for await (const event of ledger.follow({ afterPosition, live: false }))
          all.push(event.ledger.position)
        expect(fast).toEqual(all)
        expect(late).toEqual(all)
        await ledger.close()
      }),
      { numRuns: 60 },
    )
  })

  it('L7 ends with the run when asked to, also when it had ended before', async () => {
    const ledger = await openLedger('memory:')
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'r', payload: {} })
    const source = sourceOf(ledger)
    const all = async (): Promise<number[]> => {
      const seqs: number[] = []
      const signal = new AbortController().signal
      for await (const page of followRun(source, { runId: 'r', afterSeq: 0, untilEnd: true }, signal))
        seqs.push(...page.map((line) => line.seq))
      return seqs
    }
    const live = all()
    await ledger.record({ eventType: 'system.workflow_completed', correlationId: 'r', payload: {} })
    expect(await live).toEqual([1, 2])
    expect(await all()).toEqual([1, 2])
  })

  it('L7 lets many who come back at once share one read of history', async () => {
    const ledger = await openLedger('memory:')
    await write(
      ledger,
      Array.from({ length: 50 }, () => 0),
    )
    let reads = 0
    const counted: Ledger = {
      ...ledger,
      read: (...given) => {
        reads++
        return ledger.read(...given)
      },
    }
    const source = sourceOf(counted)
    const one = async (): Promise<number> => {
      const over = new AbortController()
      let lines = 0
      for await (const page of followRun(source, { runId: 'run-0', afterSeq: 0 }, over.signal)) {
        lines += page.length
        if (lines >= 50) over.abort()
      }
      return lines
    }
    expect(await Promise.all(Array.from({ length: 100 }, one))).toEqual(Array.from({ length: 100 }, () => 50))
    expect(reads).toBeLessThan(10)
  })

  it('L7 goes on after a store that failed for a while, without a gap', async () => {
    const ledger = await openLedger('memory:')
    let failures = 3
    const shaky: Ledger = {
      ...ledger,
      async *follow(options) {
        for await (const event of ledger.follow(options)) {
          if (event.ledger.seq % 2 === 0 && failures-- > 0) throw new Error('the store is away')
          yield event
        }
      },
    }
    const feed = createFeed(shaky, log)
    const heard: number[] = []
    const all = new Promise<void>((resolve) => {
      void feed.listen((event) => {
        heard.push(event.ledger.seq)
        if (event.ledger.seq === 6) resolve()
      })
    })
    await breathe()
    await write(ledger, [0, 0, 0, 0, 0, 0])
    await all
    expect(heard).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('L7 stops following when nobody listens any more', async () => {
    const ledger = await openLedger('memory:')
    const signals: AbortSignal[] = []
    const feed = createFeed(
      {
        ...ledger,
        follow: (options) => {
          if (options?.signal) signals.push(options.signal)
          return ledger.follow(options)
        },
      },
      log,
    )
    const one = await feed.listen(() => {})
    const two = await feed.listen(() => {})
    one()
    expect(signals.map((signal) => signal.aborted)).toEqual([false])
    two()
    expect(signals.map((signal) => signal.aborted)).toEqual([true])
    expect(feed.listeners).toBe(0)
  })
})
