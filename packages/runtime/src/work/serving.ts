import { ClewError, type Ledger, WORKERS } from '@clew/ledger'
import { leaseRun, type RunLease } from '../lifecycle/lease-run.ts'

/** A worker holds a lease of this name for each of its agents: its heartbeat says that somebody serves them. */
const nameOf = (agent: string, place: number): string => `${encodeURIComponent(agent)}/${place}`
const agentOf = (name: string): string => decodeURIComponent(name.slice(0, name.indexOf('/')))
/** Workers of one agent beyond this are not told apart. */
const MAX_PLACES = 1000

/** Says that this process serves the agents, until the result is called. Names are used again, so that few remain. */
export async function announceServing(
  ledger: Ledger,
  agents: readonly string[],
): Promise<() => Promise<void>> {
  const held: RunLease[] = []
  const withdraw = async (): Promise<void> => {
    const ends = await Promise.allSettled(held.map((lease) => lease.release()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  try {
    for (const agent of agents) {
      const lease = await takePlace(ledger, agent)
      if (lease) held.push(lease)
    }
  } catch (error) {
    // Without this, heartbeats would keep the first of them alive.
    await withdraw()
    throw error
  }
  return withdraw
}

async function takePlace(ledger: Ledger, agent: string): Promise<RunLease | undefined> {
  for (let place = 0; place < MAX_PLACES; place++)
    try {
      const key = { workspace: ledger.workspace + WORKERS, runId: nameOf(agent, place) }
      const claimed = await ledger.leases.acquire(key, null)
      return await leaseRun(ledger, { runId: key.runId, threadId: null, claimed })
    } catch (error) {
      if (!(error instanceof ClewError) || error.code !== 'busy') throw error
    }
  return undefined
}

/** Submitted runs that wait although no live worker has their agent. */
export interface UnservedRuns {
  readonly agent: string
  readonly waiting: number
}

/** Agents whose submitted runs wait for a worker that is not there. */
export async function findUnserved(ledger: Ledger): Promise<readonly UnservedRuns[]> {
  const counts = await ledger.leases.queues(ledger.workspace)
  if (counts.every(({ waiting }) => waiting === 0)) return []
  const leases = await ledger.leases.list('workers')
  const own = ledger.workspace + WORKERS
  const served = new Set(
    leases.flatMap(({ workspace, runId, state }) =>
      workspace === own && state === 'alive' ? [agentOf(runId)] : [],
    ),
  )
  const waiting = new Map<string, number>()
  for (const count of counts)
    if (count.waiting > 0 && !served.has(count.agent))
      waiting.set(count.agent, (waiting.get(count.agent) ?? 0) + count.waiting)
  return [...waiting].map(([agent, runs]) => ({ agent, waiting: runs }))
}
