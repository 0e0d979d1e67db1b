import { isTerminal, type Ledger, type RunError, type RunStatus } from '@clew/ledger'
import type { Channels, CompiledGraph, StateOf } from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, type Kill } from './mortal-ledger.ts'

export interface Lived<C extends Channels> {
  readonly ledger: Ledger
  /** As the ledger has it: the process may have died after the end. */
  readonly result: {
    readonly status: RunStatus
    readonly state: StateOf<C>
    readonly error: RunError | null
  }
  readonly appends: number
  readonly kill: Kill | null
}

export interface LiveOptions {
  readonly runId: string
  readonly input: Readonly<Record<string, unknown>>
  readonly suspendAlways?: boolean | undefined
  /** Answers every question. */
  readonly answer?: unknown
  /** Told when a process begins. */
  readonly onLife?: (() => void) | undefined
}

const MAX_LIVES = 50

/** A run through its deaths to its end; each life is a process that knows nothing but the ledger. */
export async function liveThrough<C extends Channels>(
  make: (ledger: Ledger) => CompiledGraph<C>,
  { runId, input, suspendAlways, answer = 'yes', onLife }: LiveOptions,
  kills: readonly Kill[],
  ledger: Ledger = createMemoryWorld().open(),
): Promise<Lived<C>> {
  let appends = 0
  for (let at = 0; at < MAX_LIVES; at++) {
    const run = await ledger.getRun(runId)
    if (run && (isTerminal(run.status) || run.status === 'blocked')) {
      const { status, error } = run
      const state = (await ledger.getState(runId))?.state as StateOf<C>
      return { ledger, result: { status, state, error }, appends, kill: kills[0] ?? null }
    }
    const life = createLife(ledger, kills[at])
    const graph = make(life.ledger)
    onLife?.()
    const answers = Object.fromEntries((run?.pauses ?? []).map(({ pauseId }) => [pauseId, answer]))
    const how = { suspendAlways }
    const living = run
      ? graph.resume({ runId }, { ...how, answers })
      : graph.invoke(input as never, { ...how, runId })
    await Promise.race([living, life.died])
    appends += life.appends
  }
  throw new Error(`run ${runId} did not end in ${MAX_LIVES} lives`)
}

/** The same run once undisturbed, and once for each instant at which its process may die. */
export async function liveEveryDeath<C extends Channels>(
  make: (ledger: Ledger) => CompiledGraph<C>,
  options: LiveOptions,
): Promise<{ straight: Lived<C>; killed: Lived<C>[] }> {
  const straight = await liveThrough(make, options, [])
  const killed: Lived<C>[] = []
  for (let append = 0; append < straight.appends; append++)
    for (const committed of [false, true])
      killed.push(await liveThrough(make, options, [{ append, committed }]))
  return { straight, killed }
}
