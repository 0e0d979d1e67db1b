import {
  canonicalText,
  type ClewEvent,
  deriveId,
  isTerminal,
  type Ledger,
  type StepRecord,
} from '@clew/ledger'
import { type Agent, type Durability, fork, type Shutdown } from '@clew/runtime'
import * as fc from 'fast-check'
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkRun } from '../catalogue/drive.ts'
import { createOutside, isRacy, type Program, programs } from '../catalogue/random-programs.ts'
import { createLife, type Fault, type Kill } from './mortal-ledger.ts'
import { answerTo, createWorld, toAgent, type World } from './random-agents.ts'
import { sendWhatIsAwaited, signalFlaws } from './signal-sender.ts'

export interface Scenario {
  readonly program: Program
  /** Where each life ends, as a share of the appends of a run without deaths. */
  readonly deaths: readonly {
    readonly share: number
    readonly committed: boolean
    /** It does not die but hands over: at once, or after what is in flight. */
    readonly handsOver?: 'at once' | 'in peace' | undefined
  }[]
  readonly durability: Durability
  readonly suspendAlways: boolean
}

const share = fc.integer({ min: 0, max: 999 })
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  program: programs,
  deaths: fc.array(
    fc.record({
      share,
      committed: fc.boolean(),
      handsOver: fc.constantFrom(undefined, undefined, 'at once' as const, 'in peace' as const),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  durability: fc.constantFrom<Durability>('group', 'group', 'sync', 'async'),
  suspendAlways: fc.boolean(),
})

const MAX_LIVES = 60
const MAX_LIFE_MS = 120_000
/** A planted fault may make lives hang, which is one of the ways to find it. */
const MAX_FAULTY_LIFE_MS = 5000
/** What differs from run to run. */
const UNLIKE: ReadonlySet<string> = new Set(['clock', 'dice'])
const sha256 = (text: string): string => hash('sha256', text)

export interface Lived {
  readonly runId: string
  readonly status: string
  readonly result: string
  /** Steps that completed, as text: what must not hang on when the process died. */
  readonly steps: readonly string[]
  readonly appends: number
  readonly lives: number
}

/** Running through = being killed anywhere and resumed. Says what does not hold. */
export async function findFlaws(
  scenario: Scenario,
  open: () => Promise<Ledger>,
  fault?: Fault,
): Promise<string[]> {
  const { program, deaths } = scenario
  const straightLedger = await open()
  const straight = await live(scenario, straightLedger, [])
  const kills = deaths.map(({ share: at, committed, handsOver }) => ({
    append: Math.floor((at * straight.lived.appends) / 1000),
    committed,
    handsOver,
  }))
  const ledger = await open()
  const killed = await live(scenario, ledger, kills, fault)
  const flaws = [...straight.flaws, ...killed.flaws]
  if (!isRacy(program)) {
    const [a, b] = [straight.lived, killed.lived]
    if (a.status !== b.status || a.result !== b.result)
      flaws.push(`R5 came to ${b.status} ${b.result} instead of ${a.status} ${a.result}`)
    if (a.status === 'completed' && a.steps.join('\n') !== b.steps.join('\n'))
      flaws.push(`R5 other steps completed: ${b.steps.join(' ')} instead of ${a.steps.join(' ')}`)
  }
  await straightLedger.close()
  await ledger.close()
  return flaws
}

/** A run from its start to its end, through deaths and pauses, each life with a process that remembers nothing. */
export async function live(
  { program, durability, suspendAlways }: Scenario,
  ledger: Ledger,
  kills: readonly (Kill & Pick<Scenario['deaths'][0], 'handsOver'>)[],
  fault?: Fault,
): Promise<{ lived: Lived; flaws: string[] }> {
  const world = createWorld(fault !== 'does not reserve writes')
  const runId = 'run'
  const sender = sendWhatIsAwaited(ledger)
  let appends = 0
  let lives = 0
  for (; lives < MAX_LIVES; lives++) {
    const run = await ledger.getRun(runId)
    if (run && (isTerminal(run.status) || run.status === 'blocked')) break
    world.recorded.clear()
    for (const key of await completedKeys(ledger)) world.recorded.add(key)
    const kill = kills[lives]
    const life = createLife(ledger, kill?.handsOver ? undefined : kill, lives > 0 ? fault : undefined)
    const leaving = leaveAt(life.ledger, kill)
    let isOver = false
    world.isDead = () => life.isDead || isOver
    const agent = toAgent(program, world, durability)
    const how = { suspendAlways, shutdown: leaving.shutdown }
    const flaw = oneLife(agent, leaving.ledger, runId, how, world)
      .catch((error: unknown) => world.flaws.push(`R5 a life ended with ${String(error)}`))
      .finally(() => (isOver = true))
    const limit = new AbortController()
    const hung = sleep(fault ? MAX_FAULTY_LIFE_MS : MAX_LIFE_MS, undefined, limit).then(
      () => world.flaws.push('D3 a life hangs'),
      () => 0,
    )
    await Promise.race([flaw, life.died, hung])
    limit.abort()
    appends += life.appends
    if (world.flaws.length > 0) break
  }
  await sender.stop()
  const flaws = [...world.flaws, ...(await checkWorld(ledger, world, kills.length))]
  flaws.push(...world.doneAgain.map((name) => `R10 ${name} was done, and is done again`))
  const run = await ledger.getRun(runId)
  if (!run || !isTerminal(run.status)) flaws.push(`R0 the run is ${run?.status} after ${lives} lives`)
  const result = await resultOf(ledger, runId)
  const steps = (await ledger.getSteps(runId)).filter(
    ({ status, nodeName }) => status === 'completed' && !UNLIKE.has(nodeName),
  )
  return {
    lived: {
      runId,
      status: run?.status ?? 'none',
      result,
      steps: steps.map(toText).toSorted(),
      appends,
      lives,
    },
    flaws,
  }
}

export async function oneLife(
  agent: Agent<{ acc: number }>,
  ledger: Ledger,
  runId: string,
  how: { readonly suspendAlways: boolean; readonly shutdown?: Shutdown },
  world: World,
): Promise<void> {
  const run = await ledger.getRun(runId)
  if (!run) await agent.start(ledger, { acc: 1 }, { ...how, runId })
  else if (run.status !== 'paused') await agent.resume(ledger, runId, how)
  else {
    const answers = Object.fromEntries(
      run.pauses.map(({ pauseId, question }) => [pauseId, answerTo(question, world)]),
    )
    await agent.resume(ledger, runId, { ...how, answers })
  }
}

/** A process that is asked to end at its n-th append. */
function leaveAt(
  ledger: Ledger,
  kill: (Kill & Pick<Scenario['deaths'][0], 'handsOver'>) | undefined,
): { readonly ledger: Ledger; readonly shutdown: Shutdown } {
  const asked = new AbortController()
  let appends = 0
  return {
    shutdown: { signal: asked.signal, graceMs: kill?.handsOver === 'in peace' ? 2000 : 0 },
    ledger: {
      ...ledger,
      async append(...given) {
        const isLast = kill?.handsOver !== undefined && appends++ === kill.append
        if (isLast && !kill.committed) asked.abort()
        const events = await ledger.append(...given)
        if (isLast) asked.abort()
        return events
      },
    },
  }
}

/** Without its ordinal, which hangs on who of parallel ones calls first. */
const toText = ({ nodeName, kind, inputDigest, values }: StepRecord): string =>
  `${nodeName} ${kind} ${inputDigest} ${canonicalText((values ?? null) as never)}`

async function runIds(ledger: Ledger): Promise<string[]> {
  const { runs } = await ledger.listRuns({ limit: 500 })
  return runs.map(({ runId }) => runId)
}

async function completedKeys(ledger: Ledger): Promise<string[]> {
  const keys: string[] = []
  for (const runId of await runIds(ledger))
    for (const { kind, status, stepId, inputDigest } of await ledger.getSteps(runId))
      if (kind === 'effect' && status === 'completed')
        keys.push(deriveId(sha256, runId, 'effect', stepId, inputDigest ?? ''))
  return keys
}

/** What must hold of every run there is, the child runs of losers included. */
async function checkWorld(ledger: Ledger, world: World, kills: number): Promise<string[]> {
  const flaws: string[] = []
  for (const runId of await runIds(ledger)) {
    const isStopped = (await ledger.getRun(runId))?.status === 'stopped'
    const found = await checkRun(ledger, runId, createOutside())
    // The stop of the step that asked and the end of the run are one append: nobody sees what lies between.
    flaws.push(...found.filter((flaw) => !(isStopped && flaw.endsWith('paused without a question'))))
    const { problems } = await ledger.verify(runId, { projections: true })
    flaws.push(...(await signalFlaws(ledger, runId)))
    flaws.push(...problems.map(({ problem, detail }) => `L6 ${runId}: ${problem}: ${detail}`))
  }
  for (const [id, count] of world.executions) {
    const isWrite = world.writes.has(id.split(' ')[0] as string)
    if (isWrite && count > 1) flaws.push(`R10 a write was executed ${count} times in one attempt`)
    // A read whose start was not committed is begun again under the same attempt.
    if (count > 1 + kills) flaws.push(`R10 a read was executed ${count} times in one attempt`)
  }
  return flaws
}

async function resultOf(ledger: Ledger, runId: string): Promise<string> {
  let last: ClewEvent | undefined
  for await (const event of ledger.read(runId, {
    types: ['execution.completed', 'system.workflow_failed', 'system.workflow_blocked'],
  }))
    last = event
  const { output, error, reason, stepId } = last?.payload ?? {}
  return canonicalText((output ?? error ?? { reason, stepId }) as never)
}

/** R7: a fork anywhere in a run comes to the same end, and does nothing again that was on record before it. */
export async function findForkFlaws(scenario: Scenario, open: () => Promise<Ledger>): Promise<string[]> {
  const { program, deaths, durability, suspendAlways } = scenario
  const ledger = await open()
  const { lived, flaws } = await live(scenario, ledger, [])
  const events = await Array.fromAsync(ledger.read(lived.runId))
  const sender = sendWhatIsAwaited(ledger)
  for (const [n, { share: at }] of deaths.entries()) {
    const world = createWorld()
    const newRunId = `fork-${n}`
    const place = { seq: 1 + Math.floor((at * events.length) / 1000) }
    const agent = toAgent(program, world, durability)
    await fork(agent, { ledger, runId: lived.runId, at: place, newRunId, suspendAlways })
    for (let lives = 0; lives < MAX_LIVES; lives++) {
      const run = await ledger.getRun(newRunId)
      if (!run || isTerminal(run.status) || run.status === 'blocked') break
      await oneLife(agent, ledger, newRunId, { suspendAlways }, world)
    }
    const status = (await ledger.getRun(newRunId))?.status
    const result = await resultOf(ledger, newRunId)
    flaws.push(...(await checkRun(ledger, newRunId, createOutside())))
    if (!isRacy(program) && (status !== lived.status || result !== lived.result))
      flaws.push(`R7 forked at ${place.seq} it came to ${status} ${result} instead of ${lived.result}`)
    const { seq = 0 } = (await ledger.getRun(newRunId))?.forkedFrom ?? {}
    for (const { stepId, kind, status: how, endedSeq, inputDigest } of await ledger.getSteps(lived.runId))
      if (kind === 'effect' && how === 'completed' && (endedSeq ?? 0) <= seq) {
        const key = deriveId(sha256, newRunId, 'effect', stepId, inputDigest ?? '')
        if ([...world.executions.keys()].some((id) => id.startsWith(key)))
          flaws.push(`R7 the fork at ${seq} executed ${stepId} again`)
      }
    flaws.push(...(await signalFlaws(ledger, newRunId)))
  }
  await sender.stop()
  await ledger.close()
  return flaws
}
