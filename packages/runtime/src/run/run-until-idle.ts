import { type ClewEvent, findPlaceholderPlaces, isOwn, type Ledger, readPartialOutputs } from '@clew/ledger'
import { checkpointPayload } from '../engine/graph-program.ts'
import { fidelityOf } from './fidelity.ts'
import type { NodeRecord } from '../log/node-record.ts'
import { openInbox } from '../signal/inbox.ts'
import { createLiveMachine } from '../machine/live-machine.ts'
import type { EndedStep, IdleReason } from '../machine/machine-types.ts'
import { recordedCopy } from '../machine/recorded-copy.ts'
import { type RedactedText, textsFrom } from '../machine/placeholders.ts'
import type { Opening, Program } from '../machine/program.ts'
import { indexRecord, type RunRecord } from '../machine/record.ts'
import { readBranch } from '../fork/read-branch.ts'
import { readEarlierWrites } from './earlier-writes.ts'
import { openChild, stopChild } from './open-child.ts'
import { recordedInput, warningsOf } from './recorded-input.ts'
import type { ResumeDivergence, RunResult } from './result.ts'
import { startDetached } from './start-detached.ts'
import { recordIdleReason } from './record-idle-reason.ts'
import { recordProgress, type RecordedProgress } from '../stream/record-progress.ts'
import type { ActiveRun } from './acquire-run.ts'
import type { Shutdown } from './run-options.ts'
import { readRunUsage } from './read-run-usage.ts'
import type { RunBounds } from './run-bounds.ts'
import { openTape } from '../tape/open-tape.ts'
import { openDeadline } from '../work/deadline.ts'

/** Data of this process that the record does not contain. */
export interface Known {
  readonly input?: unknown
  readonly bounds: RunBounds
  /** The run fails if it has not ended by then (W1). */
  readonly deadlineAt?: string | undefined
  readonly from?: Opening['from']
  /** Redacted text in what it begins with. */
  readonly redactedTexts?: readonly RedactedText[] | undefined
  /** Answers that were just given, by pause. */
  readonly answers?: ReadonlyMap<string, unknown> | undefined
  /** Attempts that the run had begun before this take of it. */
  readonly stepsBefore?: number | undefined
  /** Recorded before this take of the run: the result says what that was made with. */
  readonly madeBefore?: readonly ClewEvent[] | undefined
}

/** More of them say nothing new, and they are recorded with the end of the run. */
const MAX_WARNINGS = 100

/** Goes on from these events until the run ends or waits, giving itself up and coming back as often as needed. */
export async function runUntilIdle(
  take: ActiveRun,
  first: readonly ClewEvent[],
  known: Known,
): Promise<RunResult> {
  const progress = recordProgress(take.ledger, take.runId, take.options.listener ?? {})
  const deadline = openDeadline(take.runId, known.deadlineAt)
  try {
    const signals = [take.options.signal, deadline?.signal].filter((each) => each !== undefined)
    const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
    const options = { ...take.options, signal, listener: progress.listener }
    const result = await carry({ ...take, options }, first, known, progress)
    const { madeBefore } = known
    return madeBefore ? { ...result, fidelity: fidelityOf(madeBefore, take.program, take.models) } : result
  } finally {
    deadline?.close()
    await progress.close()
  }
}

async function carry(
  take: ActiveRun,
  first: readonly ClewEvent[],
  known: Known,
  { textOf }: Pick<RecordedProgress, 'textOf'>,
): Promise<RunResult> {
  const { ledger, program, runId, threadId, hold, journal, log, options } = take
  const { listener = {} } = options
  const signal = options.signal ? AbortSignal.any([hold.signal, options.signal]) : hold.signal
  const shutdown = withPause(options.shutdown, hold.paused)
  const { budget, workedMs } = known.bounds
  const endsAt = performance.now() + (budget?.timeMs ?? 0) - workedMs
  const branch = first[0] && (await readBranch(ledger, runId, first[0]))
  const warnings = new Set<string>()
  const warn = (message: string): void => {
    if (warnings.size < MAX_WARNINGS) warnings.add(message)
  }
  for (let events = first; ; events = await program.load(ledger, runId)) {
    const started = events[0] as ClewEvent
    const record = indexResumed(events, runId, program)
    const { starts } = record
    // With a vault the resume gets its input back.
    if (!ledger.hasVault) for (const warning of warningsOf(events)) warn(warning)
    if (events === first && known.stepsBefore !== undefined)
      log.giveBack(Math.max(known.stepsBefore, starts) - openIn(record))
    const given = inputOf(events, known, events === first, ledger)
    const begun = events === first ? known.from : undefined
    const standing =
      begun === undefined
        ? await program.restore?.(ledger, runId, events)
        : { from: begun, redactedTexts: known.redactedTexts }
    const blocked = [given, standing].find((each) => each !== undefined && 'divergence' in each)
    const machine = createLiveMachine({
      runId,
      threadId,
      agent: program.name,
      promote: program.promote,
      signals: program.signals,
      seed: (isOwn(started, 'system.workflow_started') ? started.payload.seed : undefined) ?? runId,
      journal,
      inbox: openInbox(ledger, runId),
      record,
      startsBefore: starts,
      answers: known.answers,
      durability: program.durability ?? ledger.durability,
      budget,
      timeLeftMs: budget?.timeMs === undefined ? undefined : Math.max(0, endsAt - performance.now()),
      used: budget && (await readRunUsage(ledger, runId)),
      signal,
      shutdown,
      listener,
      warn,
      earlierWrites: await readEarlierWrites(ledger, started),
      branch,
      textOf,
      partialOf: openIn(record) > 0 ? await readPartialOutputs(ledger, runId) : undefined,
      redactedTexts: [given, standing].flatMap(
        (each) => (each && 'redactedTexts' in each && each.redactedTexts) || [],
      ),
      onStepEnd: (step) => log.push(toNodeRecord(step)),
      awaitsCallsOnly: program.kind === 'graph',
      suspendAlways: options.suspendAlways === true,
      now: Date.now,
      openChild: (child, link) => openChild(ledger, child, link, { ...options, shutdown }),
      detach: (child, given) =>
        startDetached(ledger, child, given, { ...options, isWorker: options.claimed !== undefined }),
      stopChild: (childRunId, reason) => stopChild(ledger, childRunId, { reason }),
      usedBy: (childRunId) => readRunUsage(ledger, childRunId),
    })
    hold.onSignal(machine.signalled)
    openTape(machine, program.tape, ledger)
    const rest: IdleReason =
      blocked && 'divergence' in blocked
        ? { type: 'blocked', divergence: blocked.divergence }
        : await machine.go(
            program.code(machine, {
              runId,
              threadId,
              input: 'input' in given ? given.input : undefined,
              from: standing && 'from' in standing ? standing.from : undefined,
              events,
              ledger,
              prune: program.prune,
              listener,
            }),
          )
    const result = await recordIdleReason(take, machine, rest, events, warnings)
    if (result) return result
  }
}

/** An operator's pause lets go of a run as the end of a process does, but gives what is in flight all the time that it needs. */
function withPause(shutdown: Shutdown | undefined, paused: AbortSignal): Shutdown {
  return {
    signal: shutdown ? AbortSignal.any([shutdown.signal, paused]) : paused,
    get graceMs() {
      return shutdown?.signal.aborted ? shutdown.graceMs : Number.POSITIVE_INFINITY
    },
  }
}

/** A graph goes on from its last checkpoint: what was done before is in the state. */
function indexResumed(events: readonly ClewEvent[], runId: string, { kind }: Program): RunRecord {
  const started = events[0] as ClewEvent
  const isGraph = kind === 'graph'
  const from = isGraph ? events.findLastIndex((event) => checkpointPayload(event) !== undefined) + 1 : 0
  return indexRecord(events.slice(from), { runId, started, isGraph, bodies: 'given' })
}

/** Attempts that were in flight where the record stops: they have their end still before them. */
const openIn = ({ calls }: RunRecord): number =>
  calls.reduce((sum, { attempts }) => sum + attempts.filter(({ end }) => end === undefined).length, 0)

/** P2: a run whose input was redacted can only be resumed with the original input. */
function inputOf(
  events: readonly ClewEvent[],
  known: Known,
  isFirst: boolean,
  ledger: Ledger,
):
  | { readonly input: unknown; readonly redactedTexts?: readonly RedactedText[] }
  | { readonly divergence: ResumeDivergence } {
  if (isFirst && known.input !== undefined) return { input: recordedCopy(ledger, known.input) }
  const recorded = recordedInput(events)
  const places = findPlaceholderPlaces(recorded)
  if (places.length > 0 && known.input !== undefined) return { input: recordedCopy(ledger, known.input) }
  const whole = places.find(({ isWhole }) => isWhole)
  if (!whole) return { input: recordedCopy(ledger, recorded), redactedTexts: textsFrom('the input', places) }
  const { path: expected, kind: secretKind } = whole
  return { divergence: { kind: 'redacted', stepId: null, expected, received: null, secretKind } }
}

/** Field by field: a spread here was a sixtieth of what a step costs. */
const toNodeRecord = (step: EndedStep): NodeRecord => ({
  nodeName: step.name,
  superstep: step.superstep,
  durationMs: step.durationMs,
  status: step.status,
  error: step.error && step.error.toJSON(),
  cached: step.cached,
  decision: step.decision,
  restored: step.restored,
})
