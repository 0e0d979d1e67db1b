import type { ClewEvent } from '@clew/ledger'
import type { Program } from '../machine/program.ts'
import { CLEW_VERSION } from '../version.ts'
import { isBeginning } from './beginning.ts'

/** Values at recording and now; null if unknown. */
export interface Compared<Value> {
  readonly recorded: Value
  readonly now: Value
}

/** D7: how far a replay or a resume goes by what the record was made with. */
export interface Fidelity {
  readonly agentVersion: Compared<string | null>
  readonly clewVersion: Compared<string | null>
  /** Hash of a graph's structure. */
  readonly structureHash: Compared<string | null>
  /** Model ids: those of the recorded answers, and those called now. */
  readonly models: Compared<readonly string[]>
}

/** `events` begin with the run's first one; of a graph that is resumed, models are known from its last checkpoint on. */
export function fidelityOf(
  events: readonly ClewEvent[],
  program: Program | undefined,
  calledNow: Iterable<string>,
): Fidelity {
  const beginnings = events.filter(isBeginning)
  const recorded = (field: 'agentVersion' | 'clewVersion' | 'structureHash'): string | null =>
    beginnings.findLast(({ payload }) => payload[field] !== undefined)?.payload[field] ?? null
  return {
    agentVersion: { recorded: recorded('agentVersion'), now: program?.version ?? null },
    clewVersion: { recorded: recorded('clewVersion'), now: CLEW_VERSION },
    structureHash: { recorded: recorded('structureHash'), now: program?.structureHash ?? null },
    models: { recorded: modelsIn(events), now: [...calledNow].toSorted() },
  }
}

function modelsIn(events: Iterable<ClewEvent>): string[] {
  const models = new Set<string>()
  for (const {
    payload: { model },
  } of events)
    if (typeof model === 'string') models.add(model)
  return [...models].toSorted()
}
