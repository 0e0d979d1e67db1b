import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint'
import { openLedger } from 'clew'
import { ClewStore } from 'clew/langgraph'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, startScript } from '../../packages/sqlite/test/start-child.ts'

const SCRIPT = new URL('store-child.ts', import.meta.url).pathname

let folder = ''
let path = ''
const children: Child[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-store-'))
  path = join(folder, 'ledger.db')
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
  rmSync(folder, { recursive: true, force: true })
})

async function startStore(): Promise<(operations: readonly object[]) => Promise<unknown>> {
  const child = startScript(SCRIPT, path)
  children.push(child)
  expect(await child.next()).toBe('ready')
  return (operations) => {
    child.tell(JSON.stringify(operations))
    return child.next()
  }
}

const label = fc.constantFrom('red', 'green')
const namespace = fc.array(label, { minLength: 1, maxLength: 2 })
const key = fc.constantFrom('a', 'b', 'c')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ namespace, key, value: fc.record({ n: fc.nat(5), text: fc.string() }) }),
  },
  fc.record({ namespace, key }),
  fc.record({ namespacePrefix: fc.array(label, { maxLength: 1 }), filter: fc.record({ n: fc.nat(5) }) }),
)
const timeless = (answers: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answers, (name, each: unknown) =>
      name === 'createdAt' || name === 'updatedAt' || name === 'score' ? undefined : each,
    ),
  )

describe('ClewStore on SQLite', () => {
  it('M2 answers like their InMemoryStore, and is the same after the file was closed and opened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 20 }), fc.nat(19), async (operations, closeAt) => {
        const own = join(mkdtempSync(join(folder, 'run-')), 'ledger.db')
        let ledger = await openLedger(`sqlite:${own}`)
        let store = new ClewStore(ledger)
        const oracle = new InMemoryStore()
        for (const [at, op] of operations.entries()) {
          if (at === closeAt) {
            await ledger.close()
            ledger = await openLedger(`sqlite:${own}`)
            store = new ClewStore(ledger)
          }
          const expected = timeless(await oracle.batch([op]))
          if (!('value' in op)) expect(timeless(await store.batch([op]))).toEqual(expected)
          else await store.batch([op])
        }
        await ledger.close()
      }),
      { numRuns: 30 },
    )
  })

  it('L7 two processes on one file see each other’s writes with their next read', async () => {
    const [left, right] = await Promise.all([startStore(), startStore()])
    const get = [{ namespace: ['a'], key: 'k' }]
    expect(await right(get)).toEqual([null])
    for (const [n, [writer, reader]] of [
      [left, right],
      [right, left],
      [left, right],
    ].entries() as ArrayIterator<[number, [typeof left, typeof right]]>) {
      await writer([{ namespace: ['a'], key: 'k', value: { n } }])
      expect(await reader(get)).toMatchObject([{ value: { n } }])
    }
    await left([{ namespace: ['a'], key: 'k', value: null }])
    expect(await right(get)).toEqual([null])
  })

  it('L3 two processes that write at once lose nothing and end alike', async () => {
    const [left, right] = await Promise.all([startStore(), startStore()])
    const write = async (store: typeof left, name: string): Promise<void> => {
      for (let n = 0; n < 60; n++)
        await store([
          { namespace: ['all'], key: `${name}${n}`, value: { n } },
          { namespace: ['shared'], key: `k${n % 7}`, value: { name, n } },
        ])
    }
    await Promise.all([write(left, 'left'), write(right, 'right')])
    const all = [{ namespacePrefix: [], limit: 1_000, offset: 0 }]
    const [seen] = (await left(all)) as [unknown[]]
    expect(seen).toHaveLength(127)
    expect(await right(all)).toEqual([seen])
    const ledger = await openLedger(`sqlite:${path}`)
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    await ledger.close()
  })

  it('L5 what was acknowledged is there after kill -9', async () => {
    const store = await startStore()
    for (let n = 0; n < 20; n++) await store([{ namespace: ['a'], key: `k${n}`, value: { n } }])
    await children[0]?.kill('SIGKILL')
    const ledger = await openLedger(`sqlite:${path}`)
    expect(await new ClewStore(ledger).search(['a'], { limit: 100 })).toHaveLength(20)
    await ledger.close()
  })

  it('L8 10,000 items: a new object begins at the checkpoint, and a get touches one item', async () => {
    let ledger = await openLedger(`sqlite:${path}`)
    const store = new ClewStore(ledger)
    for (let at = 0; at < 20_000; at += 500)
      await store.batch(
        Array.from({ length: 500 }, (_, n) => ({
          namespace: ['users', `u${(at + n) % 100}`],
          key: `k${(at + n) % 10_000}`,
          value: { round: Math.floor((at + n) / 10_000), text: `note ${at + n}` },
        })),
      )
    const run = await ledger.getRun(store.runId)
    expect(run?.checkpoint?.seq).toBeGreaterThan(10_000)
    await ledger.close()
    ledger = await openLedger(`sqlite:${path}`)
    const later = new ClewStore(ledger)
    expect((await later.get(['users', 'u7'], 'k7'))?.value).toEqual({ round: 1, text: 'note 10007' })
    expect(await later.search([], { query: 'note 10007', limit: 1 })).toMatchObject([{ key: 'k7', score: 1 }])
    expect(await later.listNamespaces({ prefix: ['users'], limit: 1_000 })).toHaveLength(100)
    await ledger.close()
  })
})
