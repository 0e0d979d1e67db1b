import {
  ClewError,
  createConcealment,
  deepFreeze,
  fingerprintOf,
  type Ledger,
  restoreEvent,
  restoreSecrets,
  type RunState,
} from '@clew/ledger'
import { checkpointLookupOf, setCheckpointLookup } from '../checkpointer/checkpoint-lookup.ts'

/**
 * The ledger as who knows these secrets reads it: originals stand in place of their placeholders, in this run and those
 * below it. What is written is redacted as before. Each secret must fit a placeholder of the record (P2).
 */
export async function withSecrets(
  ledger: Ledger,
  runId: string,
  secrets: readonly string[],
): Promise<Ledger> {
  const originals = new Map(secrets.map((secret) => [ledger.fingerprint(checkSecret(secret)), secret]))
  await assertFit(ledger, runId, secrets)
  const { add, conceal } = createConcealment()
  for (const secret of secrets) add(secret)
  const originalOf = (placeholder: string): string | undefined => originals.get(fingerprintOf(placeholder))
  const stateOf = (folded: RunState | null): RunState | null =>
    folded && deepFreeze({ ...folded, state: restoreSecrets(folded.state, originalOf) })
  const restoring: Ledger = {
    ...ledger,
    conceal: (value) => ledger.conceal(conceal(value)),
    async *read(...args) {
      for await (const event of ledger.read(...args)) yield restoreEvent(event, originalOf)
    },
    effects: async (...args) =>
      (await ledger.effects(...args)).map((event) => restoreEvent(event, originalOf)),
    getState: async (...args) => stateOf(await ledger.getState(...args)),
    getStateAt: async (...args) => stateOf(await ledger.getStateAt(...args)),
  }
  const lookup = checkpointLookupOf(ledger)
  if (lookup) setCheckpointLookup(restoring, lookup)
  return restoring
}

function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && secret !== '') return secret
  throw new ClewError(
    'bad_option',
    'A secret is no text, or an empty one',
    'Give secrets as a list of the original texts; nothing was changed.',
    { option: 'secrets' },
  )
}

async function assertFit(ledger: Ledger, runId: string, secrets: readonly string[]): Promise<void> {
  const missing = new Map(secrets.map((secret, index) => [ledger.fingerprint(secret), index]))
  for await (const part of partsOf(ledger, runId)) {
    restoreSecrets(part, (placeholder) => {
      missing.delete(fingerprintOf(placeholder))
      return undefined
    })
    if (missing.size === 0) return
  }
  if (missing.size === 0) return
  const unfit = [...missing.values()].map((index) => index + 1).join(', ')
  throw new ClewError(
    'bad_option',
    `Of ${secrets.length} secrets, ${missing.size} fit no placeholder in the record of run ${runId}: number ${unfit}`,
    'Give each secret exactly as it was, from its first to its last character, on the ledger that redacted it, and none beside; nothing was changed.',
    { runId, option: 'secrets', unfit },
  )
}

/** All that a resume of the run may read: its events, its state, and the same of its child runs. */
async function* partsOf(ledger: Ledger, runId: string): AsyncGenerator {
  for await (const { payload } of ledger.read(runId)) yield payload
  yield await ledger.getState(runId)
  for (const below of await ledger.findBelow([runId]))
    if (below.parentRunId === runId) yield* partsOf(ledger, below.runId)
}
