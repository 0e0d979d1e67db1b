import { ClewError } from '@clew/ledger'
import { InvalidNamespaceError, type Item, type Operation } from '@langchain/langgraph-checkpoint'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { ClewStore, type ClewStoreOptions } from './store.ts'

afterEach(() => {
  vi.useRealTimers()
})

const open = (options?: ClewStoreOptions): ClewStore => new ClewStore(createMemoryWorld().open(), options)

describe('what goes in and comes out', () => {
  it('M2 createdAt stays, updatedAt moves, and an item that was deleted begins anew', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = open()
    vi.setSystemTime('2026-01-01T00:00:00.000Z')
    await store.put(['a'], 'k', { n: 1 })
    vi.setSystemTime('2026-01-02T00:00:00.000Z')
    await store.put(['a'], 'k', { n: 2 })
    expect(await store.get(['a'], 'k')).toEqual({
      namespace: ['a'],
      key: 'k',
      value: { n: 2 },
      createdAt: new Date('2026-01-01T00:00:00.000Z'),
      updatedAt: new Date('2026-01-02T00:00:00.000Z'),
    })
    await store.delete(['a'], 'k')
    expect(await store.get(['a'], 'k')).toBeNull()
    vi.setSystemTime('2026-01-03T00:00:00.000Z')
    await store.put(['a'], 'k', { n: 3 })
    expect((await store.get(['a'], 'k'))?.createdAt).toEqual(new Date('2026-01-03T00:00:00.000Z'))
  })

  it('L8 values that JSON lacks come back as they were', async () => {
    const value = {
      at: new Date('2026-02-03T04:05:06.789Z'),
      big: 12345678901234567890n,
      where: new URL('https://example.org/a?b=c'),
      map: new Map<unknown, unknown>([[{ deep: 1 }, new Set([1, Number.NaN])]]),
      bytes: new Uint8Array([0, 255, 7]),
      minus: -0,
      ['__proto__']: { mine: true },
    }
    const world = createMemoryWorld()
    await new ClewStore(world.open()).put(['a'], 'k', value)
    for (const store of [new ClewStore(world.open()), new ClewStore(world.open())])
      expect((await store.get(['a'], 'k'))?.value).toStrictEqual(value)
  })

  it('L1 neither the object that was put nor the one that was given reaches into the store', async () => {
    const store = open()
    const value = { list: [1], map: new Map([['k', { n: 1 }]]) }
    await store.put(['a'], 'k', value)
    value.list.push(2)
    const given = (await store.get(['a'], 'k')) as Item
    given.value['list'].push(3)
    given.value['map'].clear()
    given.namespace.push('b')
    const [found] = await store.search(['a'])
    expect(found?.value).toEqual({ list: [1], map: new Map([['k', { n: 1 }]]) })
    expect(found?.namespace).toEqual(['a'])
  })

  it('E4 refuses what cannot be stored, by path, and writes nothing of the batch', async () => {
    const world = createMemoryWorld()
    const store = new ClewStore(world.open())
    class Mine {
      readonly n = 1
    }
    const refused = store.batch([
      { namespace: ['a'], key: 'good', value: { n: 1 } },
      { namespace: ['a'], key: 'bad', value: { list: [{ fine: 1 }, { mine: new Mine() }] } },
    ])
    await expect(refused).rejects.toMatchObject({ code: 'bad_value', fields: { path: '$.list[1].mine' } })
    for (const wrong of [{ f: () => 1 }, 'text', [1], undefined, new Mine()])
      await expect(store.put(['a'], 'bad', wrong as never)).rejects.toMatchObject({ code: 'bad_value' })
    expect(await store.search([])).toEqual([])
    await store.put(['a'], 'next', { n: 1 })
    expect(await store.search([])).toHaveLength(1)
  })

  it('P2 refuses a secret by its path instead of handing out a placeholder later', async () => {
    const secret = { note: { token: `ghp_${'a1B2'.repeat(9)}` } }
    const world = createMemoryWorld()
    const store = new ClewStore(world.open())
    const refused = store.put(['a'], 'k', secret)
    await expect(refused).rejects.toMatchObject({ code: 'bad_value', fields: { path: '$.value.note.token' } })
    await expect(refused).rejects.not.toThrow('ghp_')
    await expect(store.put(['a'], `ghp_${'a1B2'.repeat(9)}`, { n: 1 })).rejects.toThrow(ClewError)
    // Inside a longer text it is stored redacted, and goes on; the item's own name is exact in any case.
    await store.put(['a'], 'text', { note: `it is ghp_${'a1B2'.repeat(9)} now` })
    expect((await store.get(['a'], 'text'))?.value['note']).toMatch(/^it is \[redacted:[a-z0-9-]+:\w+\] now$/)
    await expect(store.put(['a'], `ghp_${'a1B2'.repeat(9)} now`, { n: 1 })).rejects.toThrow(
      /name of the item/,
    )
    const lenient = new ClewStore(world.open(), { secrets: 'redact' })
    await lenient.put(['a'], 'k', secret)
    await expect(lenient.put(['a'], `ghp_${'a1B2'.repeat(9)}`, { n: 1 })).rejects.toThrow(ClewError)
    expect((await store.get(['a'], 'k'))?.value['note']).toMatchObject({
      token: expect.stringContaining('[redacted:') as unknown,
    })
    const plain = new ClewStore(createMemoryWorld().open({ redact: false }))
    await plain.put(['a'], 'k', secret)
    expect((await plain.get(['a'], 'k'))?.value).toEqual(secret)
  })

  it('M1 hostile namespaces are refused as the framework does, also from inside a node; hostile keys are kept', async () => {
    const store = open()
    for (const bad of [[], [''], ['a', ''], ['a.b'], ['a', 'b.'], ['langgraph'], [1], [null]] as string[][]) {
      await expect(store.put(bad, 'k', { n: 1 })).rejects.toThrow(InvalidNamespaceError)
      await expect(store.batch([{ namespace: bad, key: 'k', value: { n: 1 } }])).rejects.toThrow(
        InvalidNamespaceError,
      )
      expect(await store.get(bad, 'k')).toBeNull()
      await store.delete(bad, 'k')
    }
    const odd = [
      '',
      '.',
      'a.b',
      ' ',
      '\u0000',
      '\ud800',
      '__proto__',
      'é'.normalize('NFD'),
      'x'.repeat(200_000),
    ]
    for (const [n, each] of odd.entries()) {
      await store.put(['a', 'langgraph'], each, { n })
      await store.put([`${each.replaceAll('.', '')}!`], 'k', { n })
    }
    for (const [n, each] of odd.entries()) {
      expect((await store.get(['a', 'langgraph'], each))?.value).toEqual({ n })
      expect((await store.get([`${each.replaceAll('.', '')}!`], 'k'))?.namespace).toEqual([
        `${each.replaceAll('.', '')}!`,
      ])
    }
    await expect(store.put(['a'], 7 as unknown as string, { n: 1 })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })

  it('L4 a put whose answer was lost is free; one that says the same on purpose is written', async () => {
    const world = createMemoryWorld()
    const ledger = world.open()
    const store = new ClewStore(ledger)
    await store.put(['a'], 'k', { n: 1 })
    const lost = new Error('the answer was lost')
    const deaf: typeof ledger = Object.assign(Object.create(ledger) as typeof ledger, {
      append: async (...args: Parameters<typeof ledger.append>) => {
        await ledger.append(...args)
        throw lost
      },
    })
    const written = async (): Promise<number> =>
      (await Array.fromAsync(ledger.read(store.runId, { types: ['execution.memory_written'] }))).length
    // Two processes that stand at the same version: the second one repeats what the first has not heard of.
    const twins = [new ClewStore(deaf), new ClewStore(world.open())] as const
    for (const twin of twins) await twin.get(['a'], 'k')
    await Promise.all([
      expect(twins[0].put(['a'], 'k', { n: 2 })).rejects.toBe(lost),
      twins[1].put(['a'], 'k', { n: 2 }),
    ])
    expect(await written()).toBe(2)
    await store.put(['a'], 'k', { n: 2 })
    expect(await written()).toBe(3)
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 2 })
  })

  it('L9 a put inside a run has the cause of its place, and the same put for two reasons is no conflict', async () => {
    const world = createMemoryWorld()
    const ledger = world.open()
    const one = await ledger.record({ eventType: 'execution.message', correlationId: 'r', payload: {} })
    const two = await ledger.record({ eventType: 'execution.message', correlationId: 'r', payload: {} })
    const stores = [new ClewStore(ledger), new ClewStore(ledger)] as const
    for (const store of stores) await store.get(['a'], 'k')
    await Promise.all([
      ledger.causedBy(one, () => stores[0].put(['a'], 'k', { n: 1 })),
      ledger.causedBy(two, () => stores[1].put(['a'], 'k', { n: 1 })),
    ])
    const events = await Array.fromAsync(
      ledger.read('store:default', { types: ['execution.memory_written'] }),
    )
    expect(new Set(events.map(({ causationId }) => causationId))).toEqual(new Set([one.eventId, two.eventId]))
    expect(events).toHaveLength(2)
  })
})

describe('searching', () => {
  it('M2 finds by words, best first, and says how well; without a fitting word, nothing', async () => {
    const store = open()
    await store.put(['docs'], 'owls', { title: 'Owls of the north', body: { text: 'They hunt at night' } })
    await store.put(['docs'], 'hawks', { title: 'Hawks', tags: ['north', 'day'] })
    await store.put(['docs'], 'silent', { title: 'North owls' }, false)
    await store.put(['docs'], 'narrow', { title: 'Bats', notes: [{ text: 'owls eat them' }] }, [
      'notes[*].text',
    ])
    const find = async (query: string) =>
      (await store.search(['docs'], { query })).map(({ key: found, score }) => [found, score])
    expect(await find('OWLS north')).toEqual([
      ['owls', 1],
      ['hawks', 0.5],
      ['narrow', 0.5],
    ])
    expect(await find('bats')).toEqual([])
    expect(await find('penguins')).toEqual([])
    expect(await store.search(['docs'], { query: 'owls', filter: { title: 'Bats' } })).toHaveLength(1)
    expect(await store.search(['docs'], { query: ' … ' })).toHaveLength(4)
  })

  it('M2 says plainly that it has no vectors', () => {
    const index = { dims: 3, embeddings: {} }
    expect(() => open({ index })).toThrow('it has no vectors')
  })

  it('M2 texts that are no numbers compare by their letters; objects by what they hold; unknown operators are named', async () => {
    const store = open()
    await store.put(['a'], 'old', { at: '2025-05-05', where: { room: 1 } })
    await store.put(['a'], 'new', { at: '2026-05-05', where: { room: 2 } })
    const find = async (filter: Record<string, unknown>) =>
      (await store.search([], { filter })).map(({ key: found }) => found)
    expect(await find({ at: { $gt: '2026-01-01' } })).toEqual(['new'])
    expect(await find({ where: { room: 1 } })).toEqual(['old'])
    expect(await find({ nothing: { $exists: false }, at: { $exists: true } })).toHaveLength(2)
    await expect(find({ at: { $regex: 'x' } })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(store.search([], { limit: -1 })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(store.batch([{} as Operation])).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('A2 ["a"] does not lie over ["ab"], and workspaces and names never mix', async () => {
    const world = createMemoryWorld()
    const store = new ClewStore(world.open())
    await store.put(['ab'], 'k', { n: 1 })
    expect(await store.search(['a'])).toEqual([])
    for (const other of [
      new ClewStore(world.open({ workspace: 'other' })),
      new ClewStore(world.open(), { name: 'other' }),
    ]) {
      expect(await other.search([])).toEqual([])
      expect(await other.listNamespaces()).toEqual([])
    }
  })
})

describe('time to live', () => {
  it('M3 an item is over after its minutes, reading begins them anew, and its end is an event', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const world = createMemoryWorld()
    const ledger = world.open()
    const store = new ClewStore(ledger, { ttl: { defaultTtl: 10 } })
    const at = (minutes: number): void => void vi.setSystemTime(minutes * 60_000)
    await store.put(['a'], 'k', { n: 1 })
    await store.put(['a'], 'short', { n: 2 }, undefined, { ttl: 2 })
    at(3)
    expect(await store.get(['a'], 'short')).toBeNull()
    at(9)
    expect(await store.search(['a'])).toHaveLength(1)
    at(18)
    expect(
      await new ClewStore(world.open(), { ttl: { refreshOnRead: false } }).get(['a'], 'k'),
    ).not.toBeNull()
    at(19)
    expect(await store.get(['a'], 'k')).toBeNull()
    expect(await store.listNamespaces()).toEqual([])
    expect(await store.sweepExpiredItems()).toBe(1)
    expect(await store.sweepExpiredItems()).toBe(0)
    const ends = await Array.fromAsync(ledger.read(store.runId, { types: ['execution.memory_forgotten'] }))
    expect(ends.map(({ payload }) => [payload['key'], payload['reason']])).toEqual([
      ['short', 'expired'],
      ['k', 'expired'],
    ])
  })

  it('M3 an item put again after its end is new, and a sweep that came late does not take it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const world = createMemoryWorld()
    const slow = world.open()
    const one = new ClewStore(world.open())
    const two = new ClewStore(slow)
    await one.put(['a'], 'k', { n: 1 }, undefined, { ttl: 1 })
    vi.setSystemTime(120_000)
    const { append } = slow
    vi.spyOn(slow, 'append').mockImplementationOnce(async (...args) => {
      await one.put(['a'], 'k', { n: 2 })
      return append(...args)
    })
    expect(await two.sweepExpiredItems()).toBe(1)
    for (const store of [one, two, new ClewStore(world.open())]) {
      const item = await store.get(['a'], 'k')
      expect([item?.value, item?.createdAt.getTime()]).toEqual([{ n: 2 }, 120_000])
    }
  })

  it('M3 a read a moment after the last one writes nothing; a ledger that only reads gives without renewing', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const world = createMemoryWorld()
    const store = new ClewStore(world.open())
    await store.put(['a'], 'k', { n: 1 }, undefined, { ttl: 60 })
    const events = async () => (await world.open().getRun(store.runId))?.events
    const before = await events()
    vi.setSystemTime(30_000)
    for (let n = 0; n < 10; n++) await store.get(['a'], 'k')
    expect(await events()).toBe(before)
    vi.setSystemTime(50 * 60_000)
    const reader = new ClewStore(world.open({ mode: { write: false } }))
    expect(await reader.get(['a'], 'k')).not.toBeNull()
    expect(await events()).toBe(before)
    await expect(store.put(['a'], 'k', { n: 1 }, undefined, { ttl: 0 })).rejects.toMatchObject({
      code: 'bad_option',
    })
  })
})

describe('a long life', () => {
  it('L8 a reader begins at the last checkpoint, and finds what all the events say', async () => {
    const world = createMemoryWorld()
    const ledger = world.open()
    const store = new ClewStore(ledger)
    const whole = { limit: 1_000 }
    let checkpoints = 0
    for (let round = 0, last = 0; round < 30; round++) {
      await store.batch(
        Array.from({ length: 100 }, (_, n) => ({
          namespace: [`n${n % 7}`],
          key: `k${n}`,
          value: n % 13 === round % 13 ? null : { round, n, at: new Date(n) },
        })),
      )
      const seq = (await ledger.getRun(store.runId))?.checkpoint?.seq ?? 0
      if (seq === last) continue
      last = seq
      checkpoints++
      expect(await new ClewStore(world.open()).search([], whole)).toEqual(await store.search([], whole))
    }
    expect(checkpoints).toBe(2)
    const fresh = world.open()
    const reads: number[] = []
    const watched: typeof fresh = Object.assign(Object.create(fresh) as typeof fresh, {
      read: async function* (...args: Parameters<typeof fresh.read>) {
        for await (const event of fresh.read(...args)) {
          reads.push(event.ledger.seq)
          yield event
        }
      },
    })
    const late = new ClewStore(watched)
    expect(await late.search([], whole)).toEqual(await store.search([], whole))
    expect(reads.length).toBeLessThan(1_500)
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it('L5 a failing append surfaces, changes nothing, and the next one works', async () => {
    const ledger = createMemoryWorld().open()
    const store = new ClewStore(ledger)
    await store.put(['a'], 'k', { n: 1 })
    const broken = vi.spyOn(ledger, 'append').mockRejectedValueOnce(new Error('the disk is full'))
    await expect(store.put(['a'], 'k', { n: 2 })).rejects.toThrow('the disk is full')
    broken.mockRestore()
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 1 })
    await store.put(['a'], 'k', { n: 3 })
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 3 })
  })

  it('L3 concurrent batches of one object and of two lose nothing, and all see the same end', async () => {
    const world = createMemoryWorld()
    const stores = [new ClewStore(world.open()), new ClewStore(world.open())] as const
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        (n % 2 ? stores[0] : stores[1]).put(['a', `n${n % 5}`], `k${n % 50}`, { n }),
      ),
    )
    const seen = await Promise.all(stores.map((store) => store.search([], { limit: 1_000 })))
    expect(seen[0]).toHaveLength(50)
    expect(seen[1]).toEqual(seen[0])
  })
})
