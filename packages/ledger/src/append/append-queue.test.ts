import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createAppendQueue } from './append-queue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { AppendCall, AppendOutcome, PreparedEvent } from '../store/change.ts'

const call = (name: string, size = 10): AppendCall => ({
  workspace: 'w',
  events: [{ eventId: name, text: { length: size } } as unknown as PreparedEvent],
})
const nameOf = (each: AppendCall): string => each.events[0]?.eventId as string
const answer = (events: readonly ClewEvent[]): string => events[0]?.eventId as string

function queueOver(commit: (calls: readonly AppendCall[]) => Promise<AppendOutcome[]>) {
  const write: Store['write'] = async ({ calls }) => ({ outcomes: await commit(calls), tookMs: 0 })
  return createAppendQueue({ write } as unknown as Store, { defer: (task) => void setImmediate(task) })
}
const committed = (calls: readonly AppendCall[]) =>
  calls.map((each) => ({ events: each.events as unknown as ClewEvent[] }))

describe('group commit', () => {
  it('L5 what arrives in one turn shares one transaction, in the order of the calls', async () => {
    const groups: string[][] = []
    const queue = queueOver(async (calls) => {
      groups.push(calls.map(nameOf))
      return committed(calls)
    })
    const names = Array.from({ length: 50 }, (_, i) => `e${i}`)
    expect(await Promise.all(names.map((name) => queue.push(call(name), answer)))).toEqual(names)
    expect(groups).toEqual([names])
  })

  it('L5 one refused call does not fail its neighbours', async () => {
    const queue = queueOver(async (calls) =>
      calls.map((each) =>
        nameOf(each) === 'bad'
          ? { error: new ClewError('conflict', 'no', 'no') }
          : { events: each.events as unknown as ClewEvent[] },
      ),
    )
    const results = await Promise.allSettled(['a', 'bad', 'b'].map((name) => queue.push(call(name), answer)))
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('L5 a failed transaction fails its group and the next one goes on', async () => {
    let failures = 1
    const queue = queueOver(async (calls) => {
      if (failures-- > 0) throw new ClewError('store_full', 'full', 'free some')
      return committed(calls)
    })
    await expect(queue.push(call('a'), answer)).rejects.toThrow('full')
    expect(await queue.push(call('b'), answer)).toBe('b')
  })

  it('L5 a full queue makes callers wait and drops nothing', async () => {
    const gates: (() => void)[] = []
    let largest = 0
    const queue = queueOver(async (calls) => {
      largest = Math.max(largest, calls.length)
      await new Promise<void>((go) => gates.push(go))
      return committed(calls)
    })
    const names = Array.from({ length: 40 }, (_, i) => `e${i}`)
    const done = Promise.all(names.map((name) => queue.push(call(name, 5_000_000), answer)))
    let open = true
    void done.then(() => (open = false))
    while (open) {
      for (const go of gates.splice(0)) go()
      await turn()
    }
    expect(await done).toEqual(names)
    expect(largest).toBeLessThan(3)
    expect(queue.waiting).toBe(0)
    await queue.drain()
  })

  it('L5 an eager call is committed before the next turn, with all that waits before it', async () => {
    const groups: string[][] = []
    const queue = queueOver(async (calls) => {
      groups.push(calls.map(nameOf))
      return committed(calls)
    })
    const turned = turn().then(() => 'turn')
    const first = queue.push(call('a'), answer)
    for (let n = 0; n < 100; n++) {
      const name = `e${n}`
      expect(await Promise.race([queue.push(call(name), answer, true), turned])).toBe(name)
    }
    expect(groups[0]).toEqual(['a', 'e0'])
    expect(groups).toHaveLength(100)
    expect(await first).toBe('a')
    await turned
    expect(await queue.push(call('z'), answer)).toBe('z')
    expect(queue.waiting).toBe(0)
    await queue.drain()
  })

  it('L5 a caller who waits for each append does not wait for turns, except for one in nine', async () => {
    const queue = queueOver(async (calls) => committed(calls))
    for (let i = 0; i < 20; i++) await queue.push(call(`first ${i}`), answer)
    let turns = 0
    let isCounting = true
    const count = (): void => {
      turns++
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    for (let i = 0; i < 90; i++) await queue.push(call(`e${i}`), answer)
    isCounting = false
    expect(turns).toBeGreaterThan(0)
    expect(turns).toBeLessThan(30)
  })

  it('L5 callers that wait beside each other share transactions, also when one was alone before', async () => {
    const groups: number[] = []
    const queue = queueOver(async (calls) => {
      groups.push(calls.length)
      return committed(calls)
    })
    for (let i = 0; i < 20; i++) await queue.push(call(`alone ${i}`), answer)
    groups.length = 0
    const work = async (name: number): Promise<void> => {
      for (let tick = 0; tick < name; tick++) await Promise.resolve()
      for (let i = 0; i < 50; i++) await queue.push(call(`${name} ${i}`), answer)
    }
    await Promise.all([0, 40, 80, 120].map(work))
    expect(groups.reduce((sum, size) => sum + size, 0)).toBe(200)
    expect(groups.length).toBeLessThan(80)
  })

  it('L5 timers get their turn while appends never stop', async () => {
    const queue = queueOver(async (calls) => committed(calls))
    let fired = false
    setTimeout(() => (fired = true), 1)
    for (let i = 0; !fired; i++) {
      if (i > 1_000_000) throw new Error('the timer starved')
      await queue.push(call(`e${i}`), answer)
    }
    expect(fired).toBe(true)
  })
})
