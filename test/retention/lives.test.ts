import { ClewError, type StatePolicy } from '@clew/ledger'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createInProcessLedger } from '../../packages/runtime/src/checkpointer/in-process-ledger.ts'
import { numRuns } from '../num-runs.ts'
import { deeds, live, type OtherDeed } from './lives.ts'

/** What is not over, or is held, is not erased. */
async function unlessRefused(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof ClewError && ['unfinished', 'held', 'busy', 'pruned'].includes(error.code)))
      throw error
  })
}

/** Of conversations the next turn would be asked for what is erased. */
const erasures: readonly OtherDeed[] = [
  async (ledger, runIds, which) => {
    const tellers = runIds.filter((runId) => runId.startsWith('run-'))
    const runId = tellers[which % Math.max(1, tellers.length)]
    if (runId !== undefined) await unlessRefused(ledger.erase({ runId, withForks: true }))
  },
  async (ledger, _, which) => unlessRefused(ledger.erase({ subject: `person-${which % 4}` })),
  async (ledger, runIds, which) => {
    const tellers = runIds.filter((runId) => runId.startsWith('run-'))
    const runId = tellers[which % Math.max(1, tellers.length)]
    const events = runId === undefined ? [] : await Array.fromAsync(ledger.read(runId))
    const eventId = events[which % Math.max(1, events.length)]?.eventId
    if (eventId !== undefined) await unlessRefused(ledger.erase({ eventId }))
  },
]

/** Of any run, also one that has no states. */
const states: readonly OtherDeed[] = [{ keep: 'latest' }, { keep: 'windowed', window: 3 }, { ttlMs: 1 }].map(
  (policy): OtherDeed =>
    async (ledger, runIds, which) => {
      const runId = runIds[which % Math.max(1, runIds.length)]
      if (runId !== undefined) await ledger.pruneStates(runId, policy as StatePolicy)
    },
)

it('P4 R10 keeps the states that a later turn continues, also of turns that were taken without a deletion', async () => {
  const ledger = createInProcessLedger()
  const turn = { deed: 'turn', thread: 1 } as const
  const keepLatest = (which: number) => ({ deed: 'other', kind: 0, which }) as const
  // The last deletion comes after two turns, and has heard of the first of three only.
  const all = [turn, keepLatest(0), turn, turn, keepLatest(2)]
  expect(await live(ledger, all, states)).toEqual([])
  await ledger.close()
})

describe('P4 random lives', () => {
  it.each([
    ['retention', []],
    ['retention and erasure', erasures],
    ['retention of states', states],
    ['retention of states and erasure', [...states, ...erasures]],
  ])(
    'P4 P5 R5 R7 R10 D1 whatever %s takes, what stays is resumed, forked and replayed as before',
    async (_, others) => {
      await fc.assert(
        fc.asyncProperty(deeds, async (all) => {
          const ledger = createInProcessLedger()
          expect(await live(ledger, all, others)).toEqual([])
          await ledger.close()
        }),
        { numRuns: numRuns(20) },
      )
    },
  )
})
