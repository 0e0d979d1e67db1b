import type { ClewEvent } from '@clew/ledger'
import type { Program } from '../machine/program.ts'
import { CLEW_VERSION } from '../version.ts'

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

const BEGINNINGS: ReadonlySet<string> = new Set(['system.workflow_started', 'system.workflow_forked'])

/** `events` begin with the run's first one; of a graph that is resumed, models are known from its last checkpoint on. */
export function fidelityOf(
  events: readonly ClewEvent[],
  program: Program | undefined,
  calledNow: Iterable<string>,
): Fidelity {
  const beginnings = events.filter(({ eventType }) => BEGINNINGS.has(eventType))
  const recorded = (field: 'agentVersion' | 'clewVersion' | 'structureHash'): string | null => {
    const value = beginnings.findLast(({ payload }) => typeof payload[field] === 'string')?.payload[field]
    return typeof value === 'string' ? value : null
  }
  return {
    agentVersion: { recorded: recorded('agentVersion'), now: program?.version ?? null },
    clewVersion: { recorded: recorded('clewVersion'), now: CLEW_VERSION },
    structureHash: { recorded: recorded('structureHash'), now: program?.structureHash ?? null },
    models: { recorded: modelsIn(events), now: [...calledNow].toSorted() },
  }
}

function modelsIn(events: Iterable<ClewEvent>): string[] {
  const models = new Set<string>()
  for (const { payload } of events) if (typeof payload['model'] === 'string') models.add(payload['model'])
  return [...models].toSorted()
}
