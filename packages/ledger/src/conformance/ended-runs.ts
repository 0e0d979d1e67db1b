import type { EventInput } from '../event/envelope.ts'
import type { Ledger } from '../ledger.ts'
import type { RetentionPolicyInput } from '../retention/policy.ts'
import { assertEqual } from './assert.ts'
import { note, started, upTo, type World } from './world.ts'

export const DAY_MS = 86_400_000

export const ended = (runId: string): EventInput => ({
  eventType: 'system.workflow_completed',
  correlationId: runId,
  payload: {},
})

/** All runs that ended a month ago or more. */
export const MONTH: RetentionPolicyInput = { rules: [{ name: 'month', olderThan: '30d' }] }

export async function addRun(
  ledger: Ledger,
  runId: string,
  payload: Record<string, unknown> = {},
  notes = 3,
): Promise<void> {
  await ledger.append([started(runId, payload), ...upTo(notes).map((n) => note(runId, { n })), ended(runId)])
}

export const list = async (ledger: Ledger): Promise<string[]> =>
  (await ledger.listRuns({ limit: 500 })).runs.map(({ runId }) => runId).toSorted()

export async function assertSound(ledger: Ledger): Promise<void> {
  const { problems } = await ledger.verify(undefined, { projections: true })
  assertEqual(problems, [], 'problems')
}

export async function later(world: World, ledger: Ledger, days = 40): Promise<void> {
  world.turnClock(days * DAY_MS)
  await addRun(ledger, 'young')
}
