import { canonicalText, foldSteps, type Ledger } from '@clew/ledger'
import * as fc from 'fast-check'
import { CHANGES, changeCode, isVisible } from './changed-code.ts'
import { checkRun, drive, type Driven, driveFork } from './drive.ts'
import type { Fault } from './agent.ts'
import { idempotencyKeyOf } from './world.ts'
import { createMortal, type Kill } from './mortal.ts'
import { createOutside, isRacy, type Outside, type Program, programs, toAgent } from './random-programs.ts'
import { collect, indexRecord, isFollowed, stepIdOf } from './record.ts'
import { createMachine } from './step-machine.ts'

export interface Scenario {
  readonly program: Program
  /** Where each life ends, as a share of the appends of a run without deaths. */
  readonly deaths: readonly { readonly share: number; readonly committed: boolean }[]
  /** Where the code is changed and where the run is forked, as a share of its calls. */
  readonly share: number
}

const share = fc.integer({ min: 0, max: 999 })
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  program: programs,
  deaths: fc.array(fc.record({ share, committed: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  share,
})

const part = (share: number, count: number): number => Math.floor((share * count) / 1000)

export interface Bench {
  readonly ledger: Ledger
  readonly faults?: ReadonlySet<Fault>
  /** Makes the run ids of this bench; a ledger may serve many. */
  readonly nextId: () => string
}

/** Running through = killing anywhere and resuming = replaying from the record. Says what does not hold. */
export async function findFlaws({ program, deaths, share }: Scenario, bench: Bench): Promise<string[]> {
  const seed = 'the same dice'
  const straightOutside = createOutside()
  const straight = await driveAll(program, straightOutside, bench, [], seed)
  const total = straight.appends.reduce((sum, count) => sum + count, 0)
  const kills = deaths.map((death) => ({ append: part(death.share, total), committed: death.committed }))
  const killed = await compareKilled(program, kills, straight, bench, seed)
  return [
    ...(await checkAll(straight, straightOutside, bench)),
    ...killed,
    ...(await checkChanges(program, straight, straightOutside, share, bench)),
    ...(await checkFork(program, straight, share, bench)),
  ]
}

export async function compareKilled(
  program: Program,
  kills: readonly Kill[],
  straight: Driven,
  bench: Bench,
  seed: string,
): Promise<string[]> {
  const outside = createOutside()
  const killed = await driveAll(program, outside, bench, kills, seed)
  return [
    ...(await checkAll(killed, outside, bench)),
    ...sameResult('R5 killed and resumed', program, straight, killed),
  ]
}

export function driveAll(
  program: Program,
  outside: Outside,
  bench: Bench,
  kills: readonly Kill[],
  seed: string,
): Promise<Driven> {
  const { ledger, faults } = bench
  return drive(toAgent(program, outside), bench.nextId(), { ledger, outside, faults, kills, seed })
}

function sameResult(how: string, program: Program, straight: Driven, other: Driven): string[] {
  const text = ({ status, result }: Driven): string => `${status} ${canonicalText(result)}`
  if (isRacy(program) || text(straight) === text(other)) return []
  return [`${how}: ${text(other)} instead of ${text(straight)}`]
}

/** The run and its child runs: sound, verified, and identical when replayed. */
async function checkAll({ runId, acknowledged }: Driven, outside: Outside, bench: Bench): Promise<string[]> {
  const { ledger } = bench
  const wrong: string[] = []
  for (const id of await withChildren(ledger, runId)) {
    wrong.push(...(await checkRun(ledger, id, outside)), ...(await checkReplay(id, outside, bench)))
    const { problems } = await ledger.verify(id, { projections: true })
    wrong.push(...problems.map(({ problem, detail }) => `L6 ${id}: ${problem}: ${detail}`))
  }
  for (const event of acknowledged) {
    const found = await ledger.getEvent(event.eventId)
    if (found?.ledger.hash !== event.ledger.hash)
      wrong.push(`L5 ${event.eventType} was acknowledged and is not there`)
  }
  return wrong
}

/** A child whose step was stopped is a run of its own: ending it is a stop request's business, not the catalogue's. */
async function withChildren(ledger: Ledger, runId: string): Promise<string[]> {
  const ids = [runId]
  for (const { childRunId, status, runId: owner } of await ledger.getSteps(runId))
    if (childRunId !== null && (status === 'completed' || status === 'failed') && owner === runId)
      ids.push(...(await withChildren(ledger, childRunId)))
  return ids
}

async function checkReplay(runId: string, outside: Outside, { ledger, faults }: Bench): Promise<string[]> {
  const name = (await ledger.getRun(runId))?.agent
  const agent = outside.agents.get(name ?? '')
  if (!agent) return [`D7 the run ${runId} does not say whose it is`]
  const steps = await ledger.getSteps(runId)
  const keys = new Set(
    steps.map(({ stepId, inputDigest }) => idempotencyKeyOf(runId, stepId, inputDigest ?? '')),
  )
  const executions = (): number =>
    [...outside.executions.keys()].filter((id) => keys.has(id.split(' ')[0] ?? '')).length
  const executed = executions()
  const watched = createMortal(ledger)
  const { verdict, divergence } = await createMachine({
    ledger: watched.ledger,
    ...(faults && { faults }),
  }).replay(agent, runId)
  const wrong: string[] = []
  if (verdict !== 'identical') wrong.push(`D1 replay of ${runId} diverged: ${JSON.stringify(divergence)}`)
  if (executions() !== executed) wrong.push('D1 replay executed an effect')
  if (watched.appends > 0) wrong.push('D1 replay appended an event')
  return wrong
}

/** D2: no change of the code is taken for the code that was recorded. */
async function checkChanges(
  program: Program,
  { runId }: Driven,
  outside: Outside,
  share: number,
  bench: Bench,
): Promise<string[]> {
  const { ledger, faults } = bench
  const record = indexRecord(await collect(ledger.read(runId)))
  // In a body that was tried again some calls leave no trace, so the calls of the code cannot be counted by the record.
  if (record.wakes.some(isFollowed)) return []
  const at = part(share, record.calls.length)
  const wrong: string[] = []
  for (const change of CHANGES) {
    if (!isVisible(record, change, at)) continue
    const agent = changeCode(toAgent(program, outside), record, change, at)
    const { verdict } = await createMachine({ ledger, ...(faults && { faults }) }).replay(agent, runId)
    if (verdict === 'identical')
      wrong.push(`D2 not found in ${runId}: ${change} at call ${at} (${stepIdOf(record.calls[at] as never)})`)
  }
  return wrong
}

/** R7: a fork anywhere in the run comes to the same end, and does nothing again that was done before it. */
export async function checkFork(
  program: Program,
  straight: Driven,
  share: number,
  bench: Bench,
): Promise<string[]> {
  const events = await collect(bench.ledger.read(straight.runId))
  const end = events.findIndex(({ eventType }) =>
    /^(execution\.completed|system\.workflow_failed)$/.test(eventType),
  )
  if (end < 0) return []
  const { ledger, faults } = bench
  let seq = 1 + part(share, end)
  // Stops belong to the end that follows them in the same append: to part them would leave half an end.
  while (events[seq - 1]?.eventType === 'execution.step_stopped') seq--
  const outside = createOutside()
  const source = { runId: straight.runId, seq }
  const forked = await driveFork(toAgent(program, outside), source, bench.nextId(), {
    ledger,
    outside,
    faults,
  })
  const keys = new Set([...outside.executions.keys()].map((id) => id.split(' ')[0]))
  const done = foldSteps(events).filter(
    ({ status, endedSeq }) => status === 'completed' && (endedSeq ?? 0) <= seq,
  )
  const repeated = done.filter(({ stepId, inputDigest }) =>
    keys.has(idempotencyKeyOf(forked.runId, stepId, inputDigest ?? '')),
  )
  return [
    ...(await checkAll(forked, outside, bench)),
    ...sameResult(`R7 forked at ${seq}`, program, straight, forked),
    ...repeated.map(({ stepId }) => `R7 the fork at ${seq} executed ${stepId} again`),
  ]
}
