import { asOwn, type ClewEvent, type Ledger } from '@clew/ledger'
import type { Budget } from '../machine/budget.ts'
import type { ResumeOptions } from './run-options.ts'

/** Limits of a run, and the time it has used. Recorded with its start, so that they hold after a resume. */
export interface RunBounds {
  readonly budget: Budget | undefined
  /** Milliseconds of work in any process; waiting for answers and sleeping do not count. */
  readonly workedMs: number
}

const COUNTS = ['steps', 'tokens', 'cost', 'timeMs'] as const
const LIVES: readonly string[] = [
  'system.workflow_started',
  'system.workflow_forked',
  'system.workflow_resumed',
  'system.workflow_paused',
  'system.workflow_interrupted',
  'system.workflow_blocked',
]

/** A budget as an event has it: what is endless is no bound. */
export function budgetField(budget: Budget | undefined): { readonly budget?: Record<string, number> } {
  const bounds = COUNTS.flatMap((name) => {
    const most = budget?.[name]
    return most === undefined || most === Number.POSITIVE_INFINITY ? [] : [[name, most] as const]
  })
  return bounds.length === 0 ? {} : { budget: Object.fromEntries(bounds) }
}

/** Budget after a resume: `budget` can only tighten the recorded one, `replaceBudget` replaces it. */
export function resumedBudget(
  recorded: Budget | undefined,
  { budget, replaceBudget }: Pick<ResumeOptions, 'budget' | 'replaceBudget'>,
): Budget | undefined {
  if (replaceBudget) return replaceBudget
  if (!budget || !recorded) return budget ?? recorded
  const least = (name: (typeof COUNTS)[number]): number =>
    Math.min(budget[name] ?? Number.POSITIVE_INFINITY, recorded[name] ?? Number.POSITIVE_INFINITY)
  return { steps: least('steps'), tokens: least('tokens'), cost: least('cost'), timeMs: least('timeMs') }
}

/**
 * As the record has them; a fork has the budget of its source, and its own time. Records of earlier versions do not tell a
 * budget: then that of the agent counts.
 */
export async function readBounds(
  ledger: Ledger,
  runId: string,
  ofAgent: Budget | undefined,
): Promise<RunBounds> {
  let budget: Budget | undefined
  let workedMs = 0
  let since: ClewEvent | undefined
  for await (const event of ledger.read(runId, { types: LIVES })) {
    const own = asOwn(event)
    if (
      own?.eventType === 'system.workflow_started' ||
      own?.eventType === 'system.workflow_forked' ||
      own?.eventType === 'system.workflow_resumed'
    )
      budget = own.payload.budget ?? budget
    if (event.correlationId !== runId) continue
    if (since) workedMs += elapsedMs(since, isRest(event) ? event : await eventBefore(ledger, runId, event))
    since = isRest(event) ? undefined : event
  }
  return { budget: budget ?? ofAgent, workedMs }
}

const isRest = ({ eventType }: ClewEvent): boolean =>
  eventType !== 'system.workflow_started' &&
  eventType !== 'system.workflow_forked' &&
  eventType !== 'system.workflow_resumed'

const elapsedMs = (from: ClewEvent, to: ClewEvent): number =>
  Math.max(0, Date.parse(to.timestamp) - Date.parse(from.timestamp))

/** The last sign of a life that ended with its process. */
async function eventBefore(
  ledger: Ledger,
  runId: string,
  { ledger: place, ...event }: ClewEvent,
): Promise<ClewEvent> {
  for await (const before of ledger.read(runId, { afterSeq: place.seq - 2, limit: 1 })) return before
  return { ...event, ledger: place }
}
