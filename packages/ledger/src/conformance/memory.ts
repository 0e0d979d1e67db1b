import type { Ledger } from '../ledger.ts'
import { foldMemory } from '../memory/fold.ts'
import { MEMORY_LAYERS, type MemoryItem, type MemoryRow, parseMemoryRunId } from '../memory/item.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { long } from './memory-names.ts'
import { memoryPolicyTests } from './memory-policies.ts'
import { memoryReadTests } from './memory-reads.ts'
import { createRandom, type Random, randomValue } from './random.ts'
import { readAll, type StoreTest, type World } from './world.ts'

/** Folds the memory runs without reading any stored row. */
async function foldMemoryRuns(ledger: Ledger, nowMs: number): Promise<Record<string, unknown>[]> {
  const { runs } = await ledger.listRuns({ systemRun: 'memory', limit: 1000 })
  const items: Record<string, unknown>[] = []
  for (const { runId } of runs) {
    const rows = new Map<string, MemoryRow>()
    const events = await readAll(ledger, runId)
    for (const event of events) foldMemory(rows, event)
    for (const row of rows.values()) {
      if (row.expiresAt !== null && Date.parse(row.expiresAt) <= nowMs) continue
      const value = events[row.seq - 1]?.payload['value']
      const { namespace, key, tags, seq, createdAt, updatedAt } = row
      items.push({
        ...parseMemoryRunId(runId),
        namespace,
        key,
        value,
        tags,
        version: seq,
        createdAt,
        updatedAt,
      })
    }
  }
  return sorted(items)
}

const nameOf = ({ layer, scope, namespace, key }: Record<string, unknown>): string =>
  JSON.stringify([layer, scope, namespace, key])
const sorted = (items: readonly Record<string, unknown>[]): Record<string, unknown>[] =>
  items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))

async function stored(ledger: Ledger): Promise<Record<string, unknown>[]> {
  const items: MemoryItem[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.memory.list({ limit: 7, cursor })
    items.push(...page.items)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  return sorted(
    items.map(({ layer, scope, namespace, key, value, tags, version, createdAt, updatedAt }) => ({
      layer,
      scope,
      namespace,
      key,
      value,
      tags,
      version,
      createdAt,
      updatedAt,
    })),
  )
}

/**
 * One random step of a user of memory; `known` is the content that must be there after it, according to the calls'
 * own results.
 */
async function act(ledger: Ledger, random: Random, world: World, known: Map<string, unknown>): Promise<void> {
  const layer = random.pick(MEMORY_LAYERS)
  const scope = layer === 'long' ? random.pick(['workspace', 'user:a']) : random.pick(['r1', 'r2'])
  const name = {
    layer,
    scope,
    namespace: random.pick(['a', 'a/b', 'ab', 'z𝄞']),
    key: random.pick(['k', 'l', 'Ž', '1']),
  }
  const id = nameOf(name)
  switch (random.below(9)) {
    case 0: {
      const gone = await ledger.memory.forget(name)
      assertEqual(gone !== null, known.has(id), `something to forget at ${id}`)
      known.delete(id)
      break
    }
    case 1: {
      const value = randomValue(random)
      await ledger.memory.put({ ...name, value, ttlMs: 1000 })
      world.turnClock(2000)
      known.delete(id)
      assertEqual(await ledger.memory.get(name), null, 'what has expired')
      break
    }
    case 2: {
      const value = randomValue(random)
      const version = (await ledger.memory.get(name))?.version ?? 0
      const other = random.below(2) === 0
      if (other) {
        await ledger.memory.put({ ...name, value: 'in between' })
        known.set(id, 'in between')
        await assertRefused(() => ledger.memory.put({ ...name, value }, { ifVersion: version }), 'conflict')
      } else {
        await ledger.memory.put({ ...name, value }, { ifVersion: version })
        known.set(id, value)
      }
      break
    }
    case 3:
      await ledger.memory.sweep()
      break
    case 4: {
      const rules = [{ from: 'session', to: 'long', when: { namespaces: [name.namespace] } } as const]
      const { promoted } = await ledger.memory.promote({ rules })
      for (const { from, to, namespace, key } of promoted) {
        const source = nameOf({ layer: from.layer, scope: from.scope, namespace, key })
        known.set(nameOf({ ...to, namespace, key }), known.get(source))
      }
      assertEqual((await ledger.memory.promote({ rules })).promoted, [], 'promoted twice')
      break
    }
    default: {
      const value = randomValue(random)
      await ledger.memory.put({ ...name, value, tags: random.below(2) === 0 ? ['t'] : [] })
      known.set(id, value)
    }
  }
}

export const memoryTests: readonly StoreTest[] = [
  {
    rule: 'M1',
    title: 'an item has its layer, scope, names, value, tags, version, provenance and times',
    async run(world) {
      const [ledger, other] = [await world.open(), await world.open()]
      const value = {
        likes: ['tea', { at: new Date(0) }],
        big: Array.from({ length: 3000 }, (_, n) => `owl ${n}`),
      }
      const name = { layer: 'long', scope: 'user:u1', namespace: 'facts/people', key: 'Älice 🦉' } as const
      const { version, eventId } = await ledger.memory.put({
        ...name,
        value,
        tags: ['person', 'person'],
        subjects: ['u1'],
        expiresAt: '2999-01-01T00:00:00Z',
      })
      const item = await other.memory.get(name)
      assertEqual(item?.value, value, 'the value, rich and large')
      assertEqual(
        [item?.tags, item?.version, item?.provenance, item?.subjects, item?.expiresAt],
        [['person'], version, { eventId, runId: null }, ['u1'], '2999-01-01T00:00:00.000Z'],
        'what is told of it',
      )
      world.turnClock(60_000)
      await other.memory.put({ ...name, value: 'short' })
      const later = await ledger.memory.get(name)
      assertEqual([later?.value, later?.createdAt], ['short', item?.createdAt], 'the next version')
      assert((later?.version ?? 0) > version && later?.updatedAt !== item?.updatedAt, 'it is newer')
      assertEqual(await ledger.memory.get({ ...name, scope: 'user:u2' }), null, 'another scope')
      assertEqual(await (await world.open({ workspace: 'w2' })).memory.get(name), null, 'another workspace')
      assertEqual((await ledger.listRuns()).runs, [], 'memory runs are not listed')
      assertEqual((await ledger.verify(undefined, { projections: true })).ok, true, 'the record is whole')
    },
  },
  {
    rule: 'M1',
    title:
      'what is remembered is the fold of the memory runs, whoever writes, expires, promotes, forgets and rebuilds',
    async run(world) {
      for (const seed of [1, 2, 3]) {
        const place = await world.elsewhere()
        const [a, b] = [await place.open(), await place.open()]
        const store = await place.openStore()
        const random = createRandom(seed)
        const known = new Map<string, unknown>()
        for (let step = 0; step < 60; step++) {
          await act(random.pick([a, b]), random, place, known)
          if (random.below(12) === 0) await store.memory.clear('default')
        }
        const expected = await foldMemoryRuns(a, place.ports.now())
        assertEqual(await stored(b), expected, `rows of seed ${seed}`)
        const values = [...known].map(([name, value]) => ({ name, value }))
        assertEqual(
          expected.map((item) => ({ name: nameOf(item), value: item['value'] })),
          values.toSorted((x, y) => (x.name < y.name ? -1 : 1)),
          `what was told by seed ${seed}`,
        )
        await store.memory.clear('default')
        assertEqual(await stored(a), expected, `rows of seed ${seed}, made again`)
      }
    },
  },
  {
    rule: 'M1',
    title: 'of many who write the same version at once, one does',
    async run(world) {
      const ledgers = await Promise.all([1, 2, 3, 4].map(() => world.open()))
      const name = { ...long, namespace: 'count', key: 'n' }
      const raise = async (ledger: Ledger): Promise<void> => {
        for (;;) {
          const item = await ledger.memory.get(name)
          const value = Number(item?.value ?? 0) + 1
          try {
            await ledger.memory.put({ ...name, value }, { ifVersion: item?.version ?? 0 })
            return
          } catch (error) {
            if ((error as { code?: string }).code !== 'conflict') throw error
          }
        }
      }
      await Promise.all(ledgers.flatMap((ledger) => [1, 2, 3].map(() => raise(ledger))))
      assertEqual((await ledgers[0]?.memory.get(name))?.value, 12, 'each counted once')
      // Writers of other names in the same scope are no conflict.
      const { version } = await (ledgers[0] as Ledger).memory.put({ ...name, value: 0 })
      await Promise.all([
        ...ledgers.map((ledger, n) =>
          ledger.memory.put({ ...long, namespace: 'other', key: `${n}`, value: n }),
        ),
        (ledgers[1] as Ledger).memory.put({ ...name, value: 'fine' }, { ifVersion: version }),
      ])
      assertEqual((await ledgers[2]?.memory.get(name))?.value, 'fine', 'the one with the version')
    },
  },
  ...memoryReadTests,
  ...memoryPolicyTests,
]
