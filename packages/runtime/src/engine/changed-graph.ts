import {
  type ClewEvent,
  kindOfStep,
  checkpointOf,
  type Ledger,
  type RunSummary,
  readBeginning,
} from '@clew/ledger'
import { lastCheckpointUpTo } from '../checkpointer/read-checkpoints.ts'
import { type GraphDefinition, START } from '../graph/definition.ts'
import { type EndedTask, type Joins, planNext, type Task } from '../graph/plan.ts'
import type { ResolvedGraphForkPoint } from './cut.ts'
import { checkpointPayload, toTaskEnd } from './graph-program.ts'
import { type Beginning, isBeginning } from '../run/beginning.ts'
import { isStepEvent, stepIdOf } from '../machine/record.ts'

export interface GraphIdentity {
  readonly definition: GraphDefinition
  readonly structureHash: string
  readonly signatures: Readonly<Record<string, string>>
}

/** Start of a fork with a changed graph. */
export interface AdaptedFork {
  readonly cut: ResolvedGraphForkPoint
  /** Next tasks by the changed graph; undefined if the recorded ones are still right. */
  readonly plan: { readonly tasks: readonly Task[]; readonly joins: Joins } | undefined
  readonly warnings: readonly string[]
}

/**
 * Fits a cut to a graph that is not the one the run began with. What a node did counts only if the node is still the
 * same (kind, inputs, outputs); otherwise the fork parts before it ran first. Ways that were added or taken away count
 * from the cut on.
 */
export async function refit(
  ledger: Ledger,
  run: RunSummary,
  cut: ResolvedGraphForkPoint,
  graph: GraphIdentity,
): Promise<AdaptedFork> {
  const begun = await beginningOf(ledger, run)
  if (begun?.payload.structureHash === graph.structureHash) return { cut, plan: undefined, warnings: [] }
  const recorded = begun?.payload.signatures ?? {}
  const isSame = (node: string): boolean =>
    recorded[node] !== undefined && recorded[node] === graph.signatures[node]
  const warnings = ['The graph has changed since this run; nodes that are still the same keep what they did.']
  const first = await firstChanged(ledger, run, cut, isSame)
  if (!first) return { cut, plan: await planAt(ledger, run, cut, graph.definition, warnings), warnings }
  const event = await lastCheckpointUpTo(ledger, run.runId, first.seq - 1)
  const checkpoint = event && checkpointOf(event)
  if (!checkpoint) return { cut, plan: undefined, warnings }
  const moved: ResolvedGraphForkPoint = {
    event,
    superstep: checkpoint.superstep ?? 0,
    atStepId: first.stepId,
  }
  warnings.push(
    `Node ${first.node} is not what it was in superstep ${moved.superstep + 1}: it counts as never run, and the fork goes on before it.`,
  )
  return { cut: moved, plan: await planAt(ledger, run, moved, graph.definition, warnings), warnings }
}

/** Start or fork: the last event that says with which graph the run works. */
async function beginningOf(ledger: Ledger, run: RunSummary): Promise<Beginning | undefined> {
  const afterSeq = run.forkedFrom?.seq ?? 0
  const event = await readBeginning(ledger, run.runId, { afterSeq })
  if (!event || !isBeginning(event)) return undefined
  if (event.payload.structureHash !== undefined || !run.forkedFrom) return event
  const source = await ledger.getRun(run.forkedFrom.runId)
  return source ? beginningOf(ledger, source) : event
}

const STEP_TYPES = ['execution.step_started', 'execution.step_completed']
const NODE_KINDS: ReadonlySet<unknown> = new Set(['node', 'gate', 'child'])

async function firstChanged(
  ledger: Ledger,
  { runId }: RunSummary,
  { event }: ResolvedGraphForkPoint,
  isSame: (node: string) => boolean,
): Promise<{ node: string; stepId: string; seq: number } | undefined> {
  for await (const started of ledger.read(runId, { types: STEP_TYPES })) {
    if (started.ledger.seq > event.ledger.seq) return undefined
    if (!isStepEvent(started)) continue
    const { name, parentStepId } = started.payload
    if (name === undefined || name === START || parentStepId !== undefined) continue
    if (!NODE_KINDS.has(kindOfStep(started.payload))) continue
    if (!isSame(name)) return { node: name, stepId: stepIdOf(started), seq: started.ledger.seq }
  }
  return undefined
}

/** Plans the tasks after the last superstep by the changed graph. */
async function planAt(
  ledger: Ledger,
  { runId }: RunSummary,
  { event, superstep }: ResolvedGraphForkPoint,
  definition: GraphDefinition,
  warnings: string[],
): Promise<AdaptedFork['plan']> {
  const known = new Set(definition.nodes.map(({ name }) => name))
  if (superstep === 0) {
    const hasBranch = definition.branches.some(({ from }) => from === START)
    if (hasBranch) return { tasks: [{ node: START, index: 0 }], joins: {} }
    return planNext(definition, [STARTED], {})
  }
  const { ended, joins } = await endsAt(ledger, runId, { event })
  // An edit of the state: there is nothing that follows from it.
  if (ended.length === 0) return undefined
  const possible = ended.map((end) => ({
    ...end,
    decision: end.decision && onlyKnown(end.decision),
    goto: end.goto && onlyKnown(end.goto),
    sends: end.sends.filter(({ node }) => known.has(node)),
  }))
  const waiting = Object.entries(joins).filter(([key]) => known.has(key.replace(/#\d+$/, '')))
  return planNext(definition, possible, Object.fromEntries(waiting))

  function onlyKnown(targets: readonly string[]): readonly string[] {
    const gone = targets.filter((target) => target !== '__end__' && !known.has(target))
    for (const target of gone)
      warnings.push(`Node ${target}, which would be next, is not in the graph any more.`)
    return targets.filter((target) => !gone.includes(target))
  }
}

/** Ends of the tasks in the superstep that this event completes, and the joins that were waiting before it. */
export async function endsAt(
  ledger: Ledger,
  runId: string,
  { event }: Pick<ResolvedGraphForkPoint, 'event'>,
): Promise<{ readonly ended: readonly EndedTask[]; readonly joins: Joins }> {
  const before = await lastCheckpointUpTo(ledger, runId, event.ledger.seq - 1)
  if (!before) return { ended: [], joins: {} }
  const joins = (checkpointPayload(before)?.joins ?? {}) as Joins
  return { ended: await endsBetween(ledger, runId, before.ledger.seq, event), joins }
}

const STARTED = { node: START, index: 0, decision: null, goto: null, sends: [], ended: false } as const

async function endsBetween(
  ledger: Ledger,
  runId: string,
  afterSeq: number,
  { ledger: { seq } }: ClewEvent,
): Promise<EndedTask[]> {
  const tasks = new Map<string, { node: string; index: number }>()
  const ended: EndedTask[] = []
  for await (const event of ledger.read(runId, { afterSeq, types: STEP_TYPES, restored: true })) {
    if (event.ledger.seq > seq) break
    if (!isStepEvent(event)) continue
    const { eventType, payload } = event
    const { name, index = 0, parentStepId } = payload
    const stepId = stepIdOf(event)
    // A completion that says so much is start and end in one.
    if (parentStepId === undefined && name !== undefined && NODE_KINDS.has(kindOfStep(payload)))
      tasks.set(stepId, { node: name, index })
    const task = tasks.get(stepId)
    if (!task || eventType === 'execution.step_started') continue
    const { decision, goto, sends, ends } = toTaskEnd(payload)
    ended.push({ ...task, decision, goto, sends, ended: ends })
  }
  return ended
}
