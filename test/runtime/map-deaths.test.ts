import type { Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { agent, append, last, type MapResult, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, type Kill } from './mortal-ledger.ts'
import { flawsOf } from './worlds.ts'

const ITEMS = [3, 1, 2, 1, 0].map((n) => ({ n }))

interface Lived {
  readonly ledger: Ledger
  readonly result: MapResult<{ readonly n: number; readonly out: readonly string[] }>
  /** Effects that were executed, by run. */
  readonly executed: readonly string[]
  readonly appends: number
}

/** A map through the death of its process; the second life gets `items`. */
async function mapThrough(kill: Kill | undefined, items = ITEMS): Promise<Lived> {
  const ledger = createMemoryWorld().open()
  const executed: string[] = []
  let appends = 0
  for (const [at, each] of [kill, undefined].entries()) {
    const life = createLife(ledger, each)
    const graph = new StateGraph({ n: last(0), out: append<string>() })
      .addNode('a', async ({ n }, run) => ({
        out: await run.effect('say', n, () => {
          if (!life.isDead) executed.push(run.runId)
          return `said ${n}`
        }),
      }))
      .addNode('b', ({ n }) => {
        if (n === 0) throw new Error('zero')
        return { out: `b ${n}` }
      })
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ name: 'item', checkpointer: life.ledger })
    const mapping = graph.map(at === 0 ? ITEMS : items, { runId: 'map', concurrency: 2 })
    const result = await Promise.race([mapping, life.died])
    appends += life.appends
    if (result !== 'died') return { ledger, result, executed, appends }
    if ((await ledger.getRun('map'))?.endedAt) return { ledger, result: await never(), executed, appends }
  }
  throw new Error('the map did not end')
}

const never = (): Promise<Lived['result']> => Promise.reject(new Error('ended'))

describe('R8 maps, killed anywhere', () => {
  it('R8 resume matches items by input signature and runs only what is missing', async () => {
    const straight = await mapThrough(undefined)
    expect(straight.result.status).toBe('partial')
    let restored = 0
    for (let append = 0; append < straight.appends - 1; append++)
      for (const committed of [false, true]) {
        const lived = await mapThrough({ append, committed })
        const { ledger, result, executed } = lived
        const where = `${append} ${committed}`
        expect([where, result.status, result.column('out')]).toEqual([
          where,
          'partial',
          straight.result.column('out'),
        ])
        restored += result.items.filter((item) => item.restored).length
        // Each child that completed did its effect once; only one in flight at the death may do it again.
        const runs = (await ledger.listRuns({ limit: 50 })).runs
        for (const { runId, status } of runs)
          if (status === 'completed') expect(await flawsOf(ledger, runId)).toEqual([])
        expect(executed.length).toBeLessThanOrEqual(straight.executed.length + 3)
        for (const item of result.items) {
          const run = await ledger.getRun(item.runId ?? '')
          expect([where, run?.status]).toEqual([where, item.status])
        }
        expect(await flawsOf(ledger, 'map')).toEqual([])
      }
    expect(restored).toBeGreaterThan(20)
  })

  it('R8 items in another order find their children, equal ones one for one, and changed inputs run again', async () => {
    const count = (await mapThrough(undefined)).appends
    for (let append = 1; append < count - 1; append += 2) {
      const items = [1, 5, 1, 3].map((n) => ({ n }))
      const { result, ledger } = await mapThrough({ append, committed: true }, items)
      expect(result.column('out')).toEqual([1, 5, 1, 3].map((n) => [`said ${n}`, `b ${n}`]))
      const ids = result.items.map(({ runId }) => runId)
      expect(new Set(ids).size).toBe(4)
      // The new input may not run under the id of the old one, which has another input.
      for await (const { payload } of ledger.read(ids[1] ?? '', { limit: 1 }))
        expect(payload['input']).toEqual({ n: 5 })
      expect(await flawsOf(ledger, 'map')).toEqual([])
    }
  })

  it('R8 a failed child is never restored: it is run again, as the next attempt of its item', async () => {
    const { appends } = await mapThrough(undefined)
    const lived = await mapThrough({ append: appends - 1, committed: false })
    const failed = lived.result.items[4]
    expect([failed?.status, failed?.restored, failed?.runId]).toEqual(['failed', false, 'map/item.i4~2'])
    expect(lived.result.items.slice(0, 4).every(({ restored }) => restored)).toBe(true)
  })

  it('R3 R8 the question of an item is asked by the map, and its answer reaches the item, wherever a process died', async () => {
    const asks = agent('asks', async (run, n: number) => ({
      n,
      said: await run.interrupt({ question: 'Well?' }),
    }))
    const goOn = async (on: Ledger, known: Ledger) => {
      const { pauses } = (await known.getRun('map')) ?? { pauses: [] }
      const answers = Object.fromEntries(pauses.map(({ pauseId }) => [pauseId, 'yes']))
      return asks.map(on, [1, 2], { runId: 'map', concurrency: 1, answers })
    }
    let died = 0
    for (let append = 0; append < 30; append++) {
      const ledger = createMemoryWorld().open()
      let [left, lives] = [append, 0]
      for (; lives < 8 && (await ledger.getRun('map'))?.endedAt == null; lives++) {
        const life = createLife(ledger, left >= 0 ? { append: left, committed: true } : undefined)
        const how = await Promise.race([goOn(life.ledger, ledger), life.died])
        if (how === 'died') died++
        left = how === 'died' ? -1 : left - life.appends
      }
      const run = await ledger.getRun('map')
      expect([append, run?.status, run?.pauses]).toEqual([append, 'completed', []])
      expect(await flawsOf(ledger, 'map')).toEqual([])
    }
    expect(died).toBeGreaterThan(15)
  })
})
