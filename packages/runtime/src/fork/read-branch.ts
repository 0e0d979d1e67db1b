import { type ClewEvent, isOwn, type Ledger } from '@clew/ledger'
import type { BranchSource } from '../machine/branch.ts'
import { outcomeOf } from '../machine/payloads.ts'
import { digestIn, isStepEvent, type StepEvent, stepIdOf } from '../machine/record.ts'
import type { Outcome } from '../machine/step.ts'

/** The source of a fork that asks before it reaches outside (R7); a child run asks if its parent does. */
export async function readBranch(
  ledger: Ledger,
  runId: string,
  first: ClewEvent,
): Promise<BranchSource | undefined> {
  const sourceRunId = await sourceOf(ledger, runId, first)
  if (sourceRunId === undefined) return undefined
  const results = new Map<string, Map<string, Outcome>>()
  const models = new Set<string>()
  await addRun(ledger, sourceRunId, results, models, new Set())
  return {
    find({ stepId, digest, spec: { name } }) {
      const found = results.get(keyOf(name, digest))
      return found?.get(stepId) ?? found?.values().next().value
    },
    isModel: (name) => models.has(name),
  }
}

/** `first` is the first event of the run, which for a fork is one of its source. */
async function sourceOf(ledger: Ledger, runId: string, first: ClewEvent): Promise<string | undefined> {
  if (first.correlationId !== runId) {
    const forks = await Array.fromAsync(ledger.read(runId, { types: ['system.workflow_forked'] }))
    const own = forks.find(({ correlationId }) => correlationId === runId)
    return own && isOwn(own, 'system.workflow_forked') && own.payload.effects === 'ask'
      ? own.payload.sourceRunId
      : undefined
  }
  const { parentRunId } = isOwn(first, 'system.workflow_started') ? first.payload : {}
  if (typeof parentRunId !== 'string') return undefined
  const [parentFirst] = await Array.fromAsync(ledger.read(parentRunId, { limit: 1 }))
  return parentFirst && sourceOf(ledger, parentRunId, parentFirst)
}

const keyOf = (name: string, digest: string): string => `${digest} ${name}`

/** Results of a run and of its child runs, those after the cut too. */
async function addRun(
  ledger: Ledger,
  runId: string,
  results: Map<string, Map<string, Outcome>>,
  models: Set<string>,
  seen: Set<string>,
): Promise<void> {
  if (seen.has(runId)) return
  seen.add(runId)
  const begun = new Map<string, { readonly name: string; readonly key: string }>()
  const children: string[] = []
  for await (const event of ledger.read(runId, { restored: true })) {
    if (!isStepEvent(event)) continue
    const stepId = stepIdOf(event)
    if (isOwn(event, 'execution.step_started')) {
      const { name = '', childRunId } = event.payload
      begun.set(stepId, { name, key: keyOf(name, digestIn(event)) })
      if (childRunId !== undefined) children.push(childRunId)
    } else addEnd(event, begun.get(stepId), results, models)
  }
  for (const child of children) await addRun(ledger, child, results, models, seen)
}

function addEnd(
  event: StepEvent,
  step: { readonly name: string; readonly key: string } | undefined,
  results: Map<string, Map<string, Outcome>>,
  models: Set<string>,
): void {
  if (!step || event.eventType !== 'execution.step_completed') return
  if (event.payload.usage !== undefined) models.add(step.name)
  const found = results.get(step.key) ?? new Map<string, Outcome>()
  const stepId = stepIdOf(event)
  found.set(stepId, outcomeOf(event, stepId))
  results.set(step.key, found)
}
