import { canonicalText, type ClewEvent, deriveId, isTerminal, type Ledger, type RunState } from '@clew/ledger'
import * as fc from 'fast-check'
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, type Kill } from './mortal-ledger.ts'
import {
  createWorld,
  type GraphFault,
  type GraphSpec,
  graphSpecs,
  toGraph,
  type World,
} from './random-graphs.ts'
import { flawsOf } from './worlds.ts'

export interface Scenario {
  readonly spec: GraphSpec
  /** Where each life ends, as a share of the appends of a run without deaths. */
  readonly deaths: readonly { readonly share: number; readonly committed: boolean }[]
  readonly suspendAlways: boolean
}

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  spec: graphSpecs,
  deaths: fc.array(fc.record({ share: fc.integer({ min: 0, max: 999 }), committed: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  suspendAlways: fc.boolean(),
})

/** Mistakes that a resume could make, planted to see that the comparison finds them. */
export type Fault = GraphFault | 'versions begin with 1' | 'supersteps begin with 0' | 'forgets an end'
export const FAULTS: readonly Fault[] = [
  'merges in order of completion',
  'versions begin with 1',
  'supersteps begin with 0',
  'forgets an end',
]

const MAX_LIVES = 60
const MAX_LIFE_MS = 120_000
const sha256 = (text: string): string => hash('sha256', text)

/** Running through = being killed anywhere and resumed. Says what does not hold. */
export async function findFlaws({ spec, deaths, suspendAlways }: Scenario, fault?: Fault): Promise<string[]> {
  const straight = await live(spec, [], false, undefined)
  const kills = deaths.map(({ share, committed }) => ({
    append: Math.floor((share * straight.appends) / 1000),
    committed,
  }))
  const killed = await live(spec, kills, suspendAlways, fault)
  const flaws = [...straight.flaws, ...killed.flaws]
  for (const part of ['status', 'state', 'steps', 'runs'] as const)
    if (straight[part] !== killed[part])
      flaws.push(`R5 ${part} came to\n${killed[part]}\ninstead of\n${straight[part]}`)
  return flaws
}

interface Lived {
  readonly ledger: Ledger
  readonly status: string
  readonly state: string
  readonly steps: string
  readonly runs: string
  readonly appends: number
  readonly flaws: readonly string[]
}

export async function live(
  spec: GraphSpec,
  kills: readonly Kill[],
  suspendAlways: boolean,
  fault: Fault | undefined,
): Promise<Lived> {
  const ledger = createMemoryWorld().open()
  const world = createWorld()
  const runId = 'run'
  let appends = 0
  for (let at = 0; at < MAX_LIVES; at++) {
    const run = await ledger.getRun(runId)
    if (run && (isTerminal(run.status) || run.status === 'blocked')) break
    world.recorded.clear()
    for (const key of await completedKeys(ledger)) world.recorded.add(key)
    const life = createLife(plant(ledger, at > 0 ? fault : undefined), kills[at])
    const merge = fault === 'merges in order of completion' ? fault : undefined
    const graph = toGraph(spec, world, () => life.isDead, merge)(life.ledger)
    const answers = Object.fromEntries(
      (run?.pauses ?? []).map(({ pauseId, question }) => [pauseId, answerTo(question)]),
    )
    const living = run
      ? graph.resume({ runId }, { answers, suspendAlways })
      : graph.invoke({ log: 'input', sum: 2 }, { runId, suspendAlways })
    const ended = living.catch(
      (error: unknown) => void world.flaws.push(`R5 a life ended with ${String(error)}`),
    )
    await Promise.race([ended, life.died, hang(world)])
    appends += life.appends
    if (world.flaws.length > 0) break
  }
  return {
    ledger,
    ...(await describeRuns(ledger, runId)),
    appends,
    flaws: [...world.flaws, ...(await flawsOfAll(ledger))],
  }
}

const answerTo = (question: unknown): unknown =>
  (question as { interrupt?: string }).interrupt === undefined
    ? `answer to ${(question as { question: string }).question}`
    : null

async function hang(world: World): Promise<void> {
  await sleep(MAX_LIFE_MS, undefined, { ref: false })
  world.flaws.push('D3 a life hangs')
}

async function runIds(ledger: Ledger): Promise<string[]> {
  return (await ledger.listRuns({ limit: 500 })).runs.map(({ runId }) => runId).toSorted()
}

async function completedKeys(ledger: Ledger): Promise<string[]> {
  const keys: string[] = []
  for (const runId of await runIds(ledger))
    for (const { kind, status, stepId, inputDigest } of await ledger.getSteps(runId))
      if (kind === 'effect' && status === 'completed')
        keys.push(deriveId(sha256, runId, 'effect', stepId, inputDigest ?? ''))
  return keys
}

async function flawsOfAll(ledger: Ledger): Promise<string[]> {
  const flaws: string[] = []
  for (const runId of await runIds(ledger))
    flaws.push(...(await flawsOf(ledger, runId)).map((flaw) => `${runId}: ${flaw}`))
  return flaws
}

/** All that must not hang on when the process died. */
async function describeRuns(
  ledger: Ledger,
  runId: string,
): Promise<Pick<Lived, 'status' | 'state' | 'steps' | 'runs'>> {
  const steps: string[] = []
  const runs: string[] = []
  for (const id of await runIds(ledger)) {
    const run = await ledger.getRun(id)
    const { state, versions, superstep, next } = (await ledger.getState(id)) as RunState
    runs.push(`${id} ${run?.status} ${canonicalText({ state, versions, superstep, next } as never)}`)
    for (const step of await ledger.getSteps(id)) {
      if (step.status !== 'completed') continue
      const { stepId, kind, superstep: place, index, inputVersions, decision, values, inputDigest } = step
      steps.push(
        canonicalText([
          id,
          stepId,
          kind,
          place,
          index,
          inputVersions,
          decision,
          values,
          inputDigest,
        ] as never),
      )
    }
  }
  const run = await ledger.getRun(runId)
  const state = await ledger.getState(runId)
  return {
    status: `${run?.status} ${canonicalText((run?.error ?? null) as never)}`,
    state: canonicalText((state?.state ?? null) as never),
    steps: steps.toSorted().join('\n'),
    runs: runs.join('\n'),
  }
}

function plant(ledger: Ledger, fault: Fault | undefined): Ledger {
  const change = (folded: RunState | null): RunState | null => {
    if (!folded) return null
    if (fault === 'versions begin with 1') {
      const versions = Object.fromEntries(Object.keys(folded.versions).map((name) => [name, 1]))
      return { ...folded, versions }
    }
    return fault === 'supersteps begin with 0' ? { ...folded, superstep: 0 } : folded
  }
  async function* read(...args: Parameters<Ledger['read']>): ReturnType<Ledger['read']> {
    const events: ClewEvent[] = []
    for await (const event of ledger.read(...args)) events.push(event)
    const isEnd = ({ eventType, payload }: ClewEvent): boolean =>
      eventType === 'execution.step_completed' && payload['checkpoint'] === undefined
    const lost = fault === 'forgets an end' ? events.findLastIndex(isEnd) : -1
    for (const [at, event] of events.entries()) if (at !== lost) yield event
  }
  return {
    ...ledger,
    read,
    getStateAt: async (runId, seq) => change(await ledger.getStateAt(runId, seq)),
  }
}
