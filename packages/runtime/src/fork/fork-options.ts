import type { ForkPoint } from '../engine/cut.ts'
import type { GraphForkOptions } from '../engine/time-travel.ts'
import { createOptionCheck } from '../options/known-options.ts'
import type { ForkOptions } from './fork.ts'

type Each<Union> = Union extends unknown ? keyof Union : never

const checkPlace = createOptionCheck<Record<Each<ForkPoint>, unknown>>({
  superstep: true,
  step: true,
  checkpointId: true,
  seq: true,
})
const check = createOptionCheck<ForkOptions & GraphForkOptions>({
  ledger: true,
  runId: true,
  at: true,
  input: true,
  replace: true,
  newRunId: true,
  effects: true,
  state: true,
  update: true,
  asNode: true,
  threadId: true,
  by: true,
  run: true,
  signal: true,
  budget: true,
  onBusy: true,
  listener: true,
  shutdown: true,
  suspendAlways: true,
})

/** Of a fork or a retry, of functions and graphs. */
export function checkForkOptions(options: ForkOptions | GraphForkOptions, what: string): void {
  check(options, what)
  checkPlace(options.at, `The place of ${what.toLowerCase()}`)
}
