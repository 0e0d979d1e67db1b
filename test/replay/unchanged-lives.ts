import { isDeepStrictEqual } from 'node:util'
import { type ClewEvent, isTerminal, type Ledger } from '@clew/ledger'
import { replay, type ReplayReport, type ReplayTarget } from '@clew/runtime'

/** Counts what is asked of a ledger, and refuses to be written to. */
export function watch(ledger: Ledger): { readonly ledger: Ledger; readonly reads: string[] } {
  const reads: string[] = []
  const refuse = (): never => {
    throw new Error('a replay wrote to the ledger')
  }
  async function* read(...args: Parameters<Ledger['read']>): AsyncGenerator<ClewEvent> {
    reads.push(args[0])
    yield* ledger.read(...args)
  }
  return {
    reads,
    ledger: {
      ...ledger,
      read,
      append: refuse,
      record: refuse,
      leases: { ...ledger.leases, acquire: refuse },
    },
  }
}

/** D1 D6: what must hold of a replay with the code that the run was recorded with. */
export async function flawsOfReplay(target: ReplayTarget, ledger: Ledger, runId: string): Promise<string[]> {
  const run = await ledger.getRun(runId)
  const watched = watch(ledger)
  const report = await replay(target, { ledger: watched.ledger, runId })
  const flaws: string[] = []
  if (report.verdict !== 'identical')
    flaws.push(`D1 ${runId} (${run?.status}): ${JSON.stringify(report.divergences[0])}`)
  for (const id of new Set(watched.reads))
    if (watched.reads.filter((each) => each === id).length > 1) flaws.push(`D6 ${id} was read more than once`)
  if (run && isTerminal(run.status) && run.status !== 'stopped') flaws.push(...outcomeFlaws(report))
  const other = report.path.filter(({ match }) => match !== 'same')
  flaws.push(...other.map(({ stepId, match }) => `D2 ${stepId} is ${match}`))
  return flaws
}

function outcomeFlaws({ outcome, recorded }: ReplayReport): string[] {
  if (outcome.status !== recorded.status) return [`D1 it came to ${outcome.status}, not ${recorded.status}`]
  return isWithin(recorded.output ?? null, outcome.output ?? null) ? [] : ['D1 it gave something else']
}

/** A state of the record lacks the channels that were never written. */
function isWithin(recorded: unknown, given: unknown): boolean {
  if (typeof recorded !== 'object' || recorded === null || Array.isArray(recorded))
    return isDeepStrictEqual(recorded, given)
  return Object.entries(recorded).every(([key, value]) =>
    isDeepStrictEqual(value, Reflect.get(given as object, key)),
  )
}
