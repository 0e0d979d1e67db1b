import { formatStepId, type Ledger, findPlaceholderPlaces, type PlaceholderPlace } from '@clew/ledger'
import { readDueTimes } from '../pause/answers.ts'
import { childRunIdOf } from '../run/child-run-id.ts'
import { leaseRun } from '../lifecycle/lease-run.ts'
import { openRunAppender } from '../machine/run-appender.ts'
import { answersWithSecrets } from '../machine/redacted-input.ts'
import { assertMode } from '../run/mode.ts'
import { resumeRun } from '../run/resume-run.ts'
import type { RunOptions } from '../run/run-options.ts'
import { checkRunId } from '../run/run-id.ts'
import { isDue } from '../pause/settle-pauses.ts'
import { beginRun } from '../run/start-run.ts'
import { withSecrets } from '../run/with-secrets.ts'
import { inTurns, type MapOptions, type Mapped, toItem } from './map-items.ts'
import { createMapResult, type MapItem, type MapResult } from './map-result.ts'
import { type ItemSignature, type MatchedItem, signatureOf } from './match-items.ts'
import { endDrafts, type StoredChild } from './map-record.ts'
import { type ItemStep, type MapTake, openMap } from './open-map.ts'

/**
 * The map is a run, `<name> map`; each item is a step of it and a child run, `<map>/<name>.i<item>`. What came out of an
 * item is in its child; the map's own record says which items there are, by the digest of their inputs, and how they ended.
 */
export async function mapOnLedger(
  mapped: Mapped,
  kept: Ledger,
  inputs: readonly unknown[],
  given: MapOptions,
): Promise<MapResult> {
  const { threadId = null, onBusy, signal, secrets = [] } = given
  const runId = checkRunId(given.runId)
  const ledger = secrets.length === 0 ? kept : await withSecrets(kept, runId, secrets)
  assertMode(ledger, 'write')
  // Rejects inputs that cannot be stored before anything begins.
  const signatures = inputs.map((input) => ({
    signature: signatureOf(ledger, input),
    digest: ledger.digest(input ?? null),
  }))
  const before = given.runId === undefined ? null : await ledger.getRun(runId)
  const answers =
    secrets.length === 0 ? given.answers : { ...answersWithSecrets(before?.pauses ?? []), ...given.answers }
  const options: MapOptions = { ...given, answers }
  if (before) assertMode(ledger, 'resume')
  const hold = await leaseRun(ledger, { runId, threadId: before?.threadId ?? threadId, onBusy, signal })
  try {
    const journal = openRunAppender({ ledger, runId, epoch: hold.epoch, onStale: hold.lose })
    const current = before && (await ledger.getRun(runId))
    const take = await openMap(mapped, ledger, journal, hold, { inputs, signatures }, current, options)
    return await workThrough(take, inputs, options)
  } finally {
    await hold.release()
  }
}

async function workThrough(
  take: MapTake,
  inputs: readonly unknown[],
  options: MapOptions,
): Promise<MapResult> {
  const { journal, hold, cause } = take
  const signal = options.signal ? AbortSignal.any([hold.signal, options.signal]) : hold.signal
  const items = await inTurns(inputs, { ...options, signal }, (index) =>
    workOn(take, index, inputs[index], { ...options, signal }),
  )
  if (hold.lost) throw hold.lost
  const result = createMapResult(items, journal.runId)
  await journal.send(endDrafts(journal, result, signal, hold.epoch, cause))
  return result
}

/** One item: given back, gone on with, or run. */
async function workOn(take: MapTake, index: number, input: unknown, options: MapOptions): Promise<MapItem> {
  const { ledger, mapped, matches, children } = take
  const match = matches[index] as MatchedItem
  if (match.action === 'run') return runItem(take, index, input, options)
  const child = children.get(match.runId) as StoredChild
  if (match.action === 'restore') {
    const output: unknown = await mapped.program.outputOf(ledger, match.runId)
    if (!child.isEnded && child.parentRunId === take.journal.runId)
      await endStep(take, child, 'completed', { restored: true })
    const warnings = findPlaceholderPlaces(output).map(warningOfOutput)
    return { ...RESTORED, index, output: mapped.toOutput(output), runId: match.runId, warnings }
  }
  return goOn(take, index, input, child, options)
}

const warningOfOutput = ({ path, kind }: PlaceholderPlace): string =>
  `The output was recorded without a secret (${kind}) at ${path}: the placeholder stands in its place.`

const RESTORED = { status: 'completed', error: null, pauses: [], log: null, restored: true } as const

async function runItem(take: MapTake, index: number, input: unknown, options: MapOptions): Promise<MapItem> {
  const { journal, mapped, begun, signatures, cause } = take
  const match = take.matches[index] as MatchedItem & { readonly action: 'run' }
  const { name } = mapped.program
  const { signature, digest } = signatures[index] as ItemSignature
  const before = begun.get(index) ?? []
  const last = before.at(-1)
  // Another input is another step; the same one again is another attempt. Each is a child run of its own.
  const again = before.length === 0 ? '' : `~${before.length + 1}`
  const isRetry = last !== undefined && (last.runId === match.retryOf || last.signature === signature)
  const stepId = isRetry
    ? last.stepId
    : formatStepId({ parentStepId: null, name, key: `i${index}${again}`, ordinal: 0 })
  const attempt = isRetry ? last.attempt + 1 : 1
  const escaped = stepId.slice(0, stepId.lastIndexOf('@'))
  const childRunId = childRunIdOf(journal.runId, `${escaped}.i${index}${again}`)
  const start = journal.draft('execution.step_started', [stepId, attempt], cause, {
    stepId,
    name,
    attempt,
    kind: 'child',
    index,
    superstep: 1,
    inputDigest: digest,
    signature,
    childRunId,
  })
  // Before the child itself: no child is without its place in the map.
  await journal.send([start])
  const child = { stepId, attempt, signature, digest, startId: start.eventId, runId: childRunId }
  return beginItem(take, index, input, child, options)
}

async function beginItem(
  take: MapTake,
  index: number,
  input: unknown,
  step: ItemStep,
  options: MapOptions,
): Promise<MapItem> {
  const { ledger, mapped, journal } = take
  const result = await beginRun(ledger, mapped.program, input, {
    ...itemOptions(options),
    runId: step.runId,
    threadId: null,
    parent: { parentRunId: journal.runId, parentStepId: step.stepId, cause: step.startId },
  })
  return endItem(take, step, toItem(index, result, mapped))
}

const itemOptions = ({ signal, budget, suspendAlways }: MapOptions): RunOptions => ({
  signal,
  budget,
  suspendAlways,
})

async function goOn(
  take: MapTake,
  index: number,
  input: unknown,
  child: StoredChild,
  options: MapOptions,
): Promise<MapItem> {
  const { ledger, mapped, asked, answered } = take
  const run = await ledger.getRun(child.runId)
  if (!run) return beginItem(take, index, input, child, options)
  const answers = Object.fromEntries(
    Object.entries({ ...answered, ...options.answers }).filter(([id]) =>
      run.pauses.some(({ pauseId }) => pauseId === id),
    ),
  )
  if (run.status === 'paused' && Object.keys(answers).length === 0 && !isDue(run)) {
    const item: MapItem = {
      index,
      status: 'paused',
      output: undefined,
      error: null,
      pauses: run.pauses,
      runId: child.runId,
      log: null,
      restored: false,
      warnings: [],
    }
    // The process that ran the item may have died before the map had its question.
    return item.pauses.every(({ pauseId }) => asked.has(pauseId)) ? item : endItem(take, child, item)
  }
  const result = await resumeRun(ledger, mapped.program, child.runId, {
    ...itemOptions(options),
    answers,
    by: options.by,
  })
  return endItem(take, child, toItem(index, result, mapped))
}

/** Records the end of an item in the map's run. A waiting item has no end; its questions become the map's as well. */
async function endItem(take: MapTake, step: ItemStep, item: MapItem): Promise<MapItem> {
  const { journal, hold } = take
  if (hold.lost) throw hold.lost
  const { stepId, attempt, startId, runId: childRunId } = step
  if (item.status === 'completed') await endStep(take, step, 'completed', {})
  else if (item.status === 'failed') await endStep(take, step, 'failed', { error: item.error })
  else if (item.status === 'stopped') await endStep(take, step, 'stopped', { reason: item.error?.message })
  else if (item.pauses.length > 0) {
    const times = await readDueTimes(take.ledger, childRunId)
    await journal.send(
      item.pauses.map(({ pauseId, question }) =>
        journal.draft('ui.input_requested', [pauseId], startId, {
          pauseId,
          stepId,
          attempt,
          childRunId,
          question,
          ...partsOf(question),
          ...(times.has(pauseId) && { dueAt: times.get(pauseId) }),
        }),
      ),
    )
  }
  return item
}

/** Fields that an answer is checked against, as in the child's own record. */
function partsOf(question: unknown): Record<string, unknown> {
  if (typeof question !== 'object' || question === null) return {}
  const { options, schema, default: otherwise } = question as Record<string, unknown>
  return {
    ...(options !== undefined && { options }),
    ...(schema !== undefined && { schema }),
    ...(otherwise !== undefined && { default: otherwise }),
  }
}

async function endStep(
  { journal }: MapTake,
  { stepId, attempt, startId, runId: childRunId }: ItemStep,
  how: 'completed' | 'failed' | 'stopped',
  fields: Record<string, unknown>,
): Promise<void> {
  const payload = { stepId, attempt, childRunId, ...fields }
  await journal.send([journal.draft(`execution.step_${how}`, [stepId, attempt], startId, payload)])
}
