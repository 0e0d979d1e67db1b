import { type ClewEvent, isOwn, type JsonValue, type Ledger, readBeginning } from '@clew/ledger'
import { outcomeOf } from '../machine/payloads.ts'
import { digestIn, isStepEvent, stepIdOf } from '../machine/record.ts'
import type { EarlierWrites, Outcome } from '../machine/step.ts'

/**
 * What the earlier attempts of a child run have written: `run.child` with `retry` makes a new run for each attempt, and none
 * of them repeats a write that another one has completed.
 */
export async function readEarlierWrites(
  ledger: Ledger,
  { payload }: ClewEvent,
): Promise<EarlierWrites | undefined> {
  const writes = new Map<string, Outcome | 'unknown'>()
  const children = new Map<string, string>()
  let firstRunId: string | undefined
  for (let runId = earlierRunIn(payload); runId !== undefined; ) {
    firstRunId = runId
    const events = await Array.fromAsync(ledger.read(runId, { restored: true }))
    addWrites(events, writes, children)
    runId = events[0] && earlierRunIn(events[0].payload)
  }
  if (firstRunId === undefined) return undefined
  return {
    firstRunId,
    find: ({ stepId, digest }) => writes.get(`${stepId} ${digest}`),
    childOf: (stepId) => children.get(stepId),
  }
}

const earlierRunIn = ({ earlierRunId }: ClewEvent['payload']): string | undefined =>
  typeof earlierRunId === 'string' ? earlierRunId : undefined

/** What a later run has is not replaced. */
function addWrites(
  events: readonly ClewEvent[],
  writes: Map<string, Outcome | 'unknown'>,
  children: Map<string, string>,
): void {
  const own = new Map<string, Outcome | 'unknown'>()
  const keys = new Map<string, string>()
  const begun = new Map<string, string>()
  for (const event of events) {
    if (!isStepEvent(event)) continue
    const stepId = stepIdOf(event)
    if (isOwn(event, 'execution.step_started')) {
      const { safety, kind, childRunId, redactedInput } = event.payload
      if (childRunId !== undefined) begun.set(stepId, childRunId)
      if (kind !== 'effect' || safety === 'read' || safety === 'undeclared' || redactedInput !== undefined)
        continue
      const key = `${stepId} ${digestIn(event)}`
      keys.set(stepId, key)
      own.set(key, 'unknown')
      continue
    }
    const key = keys.get(stepId)
    if (key === undefined) continue
    if (event.eventType === 'execution.step_completed') own.set(key, outcomeOf(event, stepId))
    // It said that it had failed: it is tried again.
    else if (event.eventType === 'execution.step_failed') own.delete(key)
  }
  for (const [key, outcome] of own) if (!writes.has(key)) writes.set(key, outcome)
  for (const [stepId, runId] of begun) if (!children.has(stepId)) children.set(stepId, runId)
}

/** The earlier run, if it was given the same input. */
export async function earlierRunFor(
  ledger: Ledger,
  runId: string | undefined,
  input: unknown,
): Promise<string | undefined> {
  if (runId === undefined) return undefined
  const started = await readBeginning(ledger, runId)
  if (!started) return undefined
  const recorded = (started.payload['input'] ?? null) as JsonValue
  const given = ledger.redactor.value((input ?? null) as JsonValue).value
  return ledger.digest(recorded) === ledger.digest(given) ? runId : undefined
}
