import { checkStatePolicy, ClewError, keepsAll, type Ledger } from '@clew/ledger'
import type { Checkpointer, Retention } from './checkpoint.ts'
import { checkpointLookupOf } from './checkpoint-lookup.ts'
import { MemorySaver } from './memory-saver.ts'
import { createSaverLedger } from './saver-ledger.ts'

const known = new WeakMap<Checkpointer, { readonly retention: string; readonly ledger: Ledger }>()

/** Ledger that a graph works on, also when compiled with a checkpointer: always the same ledger for the same one. */
export function toLedger(checkpointer: Ledger | Checkpointer, retention: Retention = {}): Ledger {
  checkStatePolicy(retention)
  if (checkpointer instanceof MemorySaver) {
    if (keepsAll(retention) || !checkpointLookupOf(checkpointer.ledger)) return checkpointer.ledger
    throw cannotDelete('This MemorySaver has a retention of its own', 'Say only once what is kept.')
  }
  if (isLedger(checkpointer)) return checkpointer
  assertCheckpointer(checkpointer)
  if (!keepsAll(retention) && !checkpointer.delete)
    throw cannotDelete(
      'This checkpointer does not delete checkpoints, so it can only keep all of them',
      'Give it a method delete(checkpointId), or keep all of them.',
    )
  const before = known.get(checkpointer)
  const text = JSON.stringify(retention)
  if (before?.retention === text) return before.ledger
  const ledger = createSaverLedger(checkpointer, retention)
  known.set(checkpointer, { retention: text, ledger })
  return ledger
}

const isLedger = (given: Ledger | Checkpointer): given is Ledger => 'append' in given && 'leases' in given

function assertCheckpointer(given: Checkpointer): void {
  const missing = (['put', 'get', 'list'] as const).find((name) => typeof given[name] !== 'function')
  if (missing === undefined) return
  throw new ClewError(
    'bad_option',
    `The checkpointer has no method ${missing}`,
    'Hand over a ledger, new MemorySaver(), or an object with put, get and list.',
    { method: missing },
  )
}

const cannotDelete = (what: string, hint: string): ClewError => new ClewError('bad_option', what, hint)
