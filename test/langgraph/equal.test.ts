import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from '@langchain/langgraph-checkpoint'
import { uuid6 } from '@langchain/langgraph-checkpoint'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { collect, thread } from './graphs.ts'

type Values = Record<string, unknown>

/** Large enough for whole states to be written within a few steps. */
const large = fc.nat().map((seed) => `${seed} `.repeat(1500))

/** One thing that a superstep does to the state. */
const change = fc.oneof(
  fc.record({
    op: fc.constant('append' as const),
    channel: fc.constantFrom('a', 'b'),
    items: fc.array(fc.oneof(fc.jsonValue(), large), { maxLength: 3 }),
  }),
  fc.record({
    op: fc.constant('set' as const),
    channel: fc.constantFrom('a', 'b', 'c', '__proto__', 'branch:to:x'),
    value: fc.jsonValue(),
  }),
  fc.record({ op: fc.constant('touch' as const), channel: fc.constantFrom('a', 'b'), value: fc.jsonValue() }),
  fc.record({ op: fc.constant('clear' as const), channel: fc.constantFrom('a', 'b', 'c', 'branch:to:x') }),
)
const step = fc.record({
  changes: fc.array(change, { maxLength: 3 }),
  /** How many checkpoints back it goes on from: 0 is the newest. */
  back: fc.nat({ max: 3 }),
  isInput: fc.boolean(),
  writes: fc.array(fc.tuple(fc.constantFrom('a', 'c', '__error__', 'branch:to:x'), fc.jsonValue()), {
    maxLength: 2,
  }),
})

const own = (values: Values, channel: string): unknown =>
  Object.hasOwn(values, channel) ? values[channel] : undefined
const put = (target: Values, channel: string, value: unknown): void =>
  void Object.defineProperty(target, channel, { value, writable: true, enumerable: true, configurable: true })

it('A4 L8 what a checkpoint gives back is what was put, hot, cold and in the list, whatever was changed and forked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const ledger = await openLedger('memory:')
      const saver = new ClewSaver(ledger)
      const kept: { checkpoint: Checkpoint; parent: string | undefined; live: Values }[] = []
      for (const [number, { changes, back, isInput, writes }] of steps.entries()) {
        const before = kept.at(-1 - back) ?? kept.at(-1)
        // A fork is meant only when its checkpoint was asked for.
        if (before) await saver.getTuple(thread('t', { checkpoint_id: before.checkpoint.id }))
        const live = structuredClone(before?.live ?? {})
        const versions: Record<string, number> = {
          ...(before?.checkpoint.channel_versions as Record<string, number>),
        }
        const newVersions: Record<string, number> = {}
        for (const each of changes) {
          const { channel } = each
          const old = own(live, channel)
          if (each.op === 'append') put(live, channel, [...(Array.isArray(old) ? old : []), ...each.items])
          else if (each.op === 'set') put(live, channel, each.value)
          else if (each.op === 'clear') delete live[channel]
          else if (Array.isArray(old) && old.length > 0) old[old.length - 1] = each.value
          else continue
          put(versions, channel, number + 2)
          put(newVersions, channel, number + 2)
        }
        const checkpoint: Checkpoint = {
          v: 4,
          id: uuid6(number),
          ts: new Date(1.8e12 + number).toISOString(),
          channel_values: live,
          channel_versions: versions,
          versions_seen: { node: { a: number } },
        }
        const metadata: CheckpointMetadata = {
          source: isInput ? 'input' : 'loop',
          step: number - 1,
          parents: {},
        }
        const config = thread('t', {
          checkpoint_ns: '',
          ...(before && { checkpoint_id: before.checkpoint.id }),
        })
        const saved = await saver.put(config, checkpoint, metadata, newVersions)
        if (writes.length > 0) await saver.putWrites(saved, writes, `task ${number}`)
        kept.push({ checkpoint: structuredClone(checkpoint), parent: before?.checkpoint.id, live })
      }
      const cold = new ClewSaver(ledger)
      const listed = new Map<string, CheckpointTuple>()
      for (const tuple of await collect(cold.list(thread('t')))) listed.set(tuple.checkpoint.id, tuple)
      expect(listed.size).toBe(kept.length)
      for (const [number, { checkpoint, parent }] of kept.entries()) {
        const config = thread('t', { checkpoint_id: checkpoint.id })
        const tuples = [await saver.getTuple(config), await cold.getTuple(config), listed.get(checkpoint.id)]
        for (const tuple of tuples) {
          expect(tuple?.checkpoint).toEqual(checkpoint)
          expect(tuple?.parentConfig?.configurable?.['checkpoint_id']).toBe(parent)
          expect(tuple?.metadata).toMatchObject({ step: number - 1 })
        }
        expect(tuples[1]?.pendingWrites).toEqual(tuples[0]?.pendingWrites)
      }
      const newest = kept.at(-1)?.checkpoint.id
      expect((await saver.getTuple(thread('t')))?.checkpoint.id).toBe(newest)
      expect((await cold.getTuple(thread('t')))?.checkpoint.id).toBe(newest)
      expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
      await ledger.close()
    }),
    { numRuns: 60 },
  )
})
