import type { ClewEvent, Ledger, StepRecord } from '@clew/ledger'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'

/** Where a graph can run, and how. */
export interface World {
  readonly ledger: Ledger | undefined
  /** For `invoke` and `resume`. */
  readonly how: { readonly suspendAlways?: true }
}

const kept = (how: World['how']): World => ({ ledger: createMemoryWorld().open(), how })

/** Nothing recorded; recorded; recorded, and given up whenever a step has ended. */
export const ALL_WORLDS: readonly (readonly [string, () => World])[] = [
  ['without a ledger', () => ({ ledger: undefined, how: {} })],
  ['in memory', () => kept({})],
  ['suspended at every await', () => kept({ suspendAlways: true })],
]

export const KEPT_WORLDS = ALL_WORLDS.slice(1) as readonly (readonly [
  string,
  () => World & { readonly ledger: Ledger },
])[]

/** What has to hold of any recorded run: no step completed twice, nothing left open when it ended, chain and rows sound. */
export async function flawsOf(ledger: Ledger, runId: string): Promise<string[]> {
  const steps: readonly StepRecord[] = await ledger.getSteps(runId)
  const run = await ledger.getRun(runId)
  const completed = steps.filter(({ status }) => status === 'completed').map(({ stepId }) => stepId)
  const twice = completed.filter((stepId, at) => completed.indexOf(stepId) !== at)
  const open = run?.endedAt ? steps.filter(({ status }) => status === 'running' || status === 'paused') : []
  const { problems } = await ledger.verify(runId, { projections: true })
  return [
    ...twice.map((stepId) => `${stepId} completed twice`),
    ...open.map(({ stepId }) => `${stepId} was left open`),
    ...problems.map(({ problem, detail }) => `${problem}: ${detail}`),
  ]
}

export const eventsOf = (ledger: Ledger, runId: string): Promise<ClewEvent[]> =>
  Array.fromAsync(ledger.read(runId))

/** Each as `id attempt status`. */
export const stepsOf = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await ledger.getSteps(runId)).map(({ stepId, attempt, status }) => `${stepId} ${attempt} ${status}`)

/** A promise with its handle: for nodes that must not end before something else has. */
export function createLatch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
