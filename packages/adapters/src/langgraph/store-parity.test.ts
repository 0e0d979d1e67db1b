import { InMemoryStore, type Operation, type PutOperation } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { ClewStore } from './store.ts'

// No label is the beginning of another, and none has a colon: their store takes ['ab'] to lie under ['a'], and
// ['a:b'] to be ['a', 'b'].
const labels = fc.constantFrom('red', 'green', 'blue')
const namespace = fc.array(labels, { minLength: 1, maxLength: 3 })
const key = fc.constantFrom('a', 'b', 'c', '1', '__proto__')
const scalar = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('x', '2', '', null, true, false, 1.5, Number.NaN),
)
const fields = fc.dictionary(fc.constantFrom('n', 'kind', 'deep'), scalar, { maxKeys: 3 })
const value = fc.tuple(fields, fc.jsonValue({ maxDepth: 2 })).map(([own, more]) => ({ ...own, more }))
// Two texts that are no numbers compare by their letters here and never hold there, so none are compared.
const number = fc.integer({ min: -2, max: 3 })
const condition = fc.oneof(
  scalar.filter((each) => !Number.isNaN(each)),
  fc.record({ $eq: scalar.filter((each) => !Number.isNaN(each)) }),
  fc.record({ $ne: scalar.filter((each) => !Number.isNaN(each)) }),
  fc.record({ $gt: number, $lte: number }),
  fc.record({ $gte: number }),
  fc.record({ $lt: number }),
  fc.record({ $in: fc.array(number, { maxLength: 3 }) }),
  fc.record({ $nin: fc.array(number, { maxLength: 3 }) }),
  fc.constant({}),
)
const filter = fc.dictionary(fc.constantFrom('n', 'kind', 'absent'), condition, { maxKeys: 2 })
const page = { limit: fc.integer({ min: 0, max: 6 }), offset: fc.integer({ min: 0, max: 3 }) }
const path = fc.array(fc.oneof(labels, fc.constant('*')), { minLength: 1, maxLength: 3 })
const matchCondition = fc.record({ matchType: fc.constantFrom('prefix' as const, 'suffix' as const), path })

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ namespace, key, value: fc.option(value, { freq: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ namespace, key }) },
  fc.record({ namespacePrefix: fc.array(labels, { maxLength: 2 }), filter, ...page }),
  fc.record({
    matchConditions: fc.array(matchCondition, { maxLength: 2 }),
    maxDepth: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    ...page,
  }) as fc.Arbitrary<Operation>,
)

/** Deleting what is not there makes a namespace in their store. */
async function withoutVain(store: InMemoryStore, puts: readonly Operation[]): Promise<Operation[]> {
  const last = new Map<string, PutOperation>()
  for (const op of puts as PutOperation[]) last.set(`${op.namespace.join(':')}:${op.key}`, op)
  const kept: Operation[] = []
  for (const op of last.values())
    if (op.value !== null || (await store.get(op.namespace, op.key))) kept.push(op)
  return kept
}

/** Their store goes on listing a namespace whose last item is gone. */
function forgetEmpty(store: InMemoryStore): void {
  const { data } = store as unknown as { data: Map<string, Map<string, unknown>> }
  for (const [name, items] of data) if (items.size === 0) data.delete(name)
}

const timeless = (answers: readonly unknown[]): unknown =>
  JSON.parse(
    JSON.stringify(answers, (name, each: unknown) =>
      name === 'createdAt' || name === 'updatedAt' || name === 'score' ? undefined : each,
    ),
  )

describe('ClewStore beside their InMemoryStore', () => {
  it('M2 answers every batch alike, also after a restart in the middle', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { maxLength: 25 }),
        fc.nat(24),
        async (batches, restartAt) => {
          const world = createMemoryWorld()
          let store = new ClewStore(world.open())
          const oracle = new InMemoryStore()
          for (const [at, batch] of batches.entries()) {
            if (at === restartAt) store = new ClewStore(world.open())
            // What their get gives is the item itself, which a put of the same batch then changes.
            const isPut = (op: Operation): boolean => 'value' in op
            const expected = timeless(await oracle.batch(batch.filter((op) => !isPut(op))))
            for (const put of await withoutVain(oracle, batch.filter(isPut))) {
              await oracle.batch([put])
              forgetEmpty(oracle)
            }
            const given = await store.batch(batch)
            expect(timeless(given.filter((_, n) => !isPut(batch[n] as Operation)))).toEqual(expected)
          }
        },
      ),
      { numRuns: 150 },
    )
  })
})
