import {
  ClewError,
  type ClewEvent,
  findPlaceholderPlaces,
  fitsRecorded,
  isOwn,
  isTerminal,
  type JsonValue,
  type Ledger,
  type RunSummary,
  readBeginning,
} from '@clew/ledger'
import { assertInTime, checkAnswer } from '../pause/answers.ts'
import type { RunLease } from '../lifecycle/lease-run.ts'
import type { EventDraft, RunAppender } from '../machine/run-appender.ts'
import { stopChild } from '../run/open-child.ts'
import { recordedInput } from '../run/recorded-input.ts'
import { answerDraft, lateAnswer, notOpen } from '../pause/settle-pauses.ts'
import type { MapOptions, Mapped } from './map-items.ts'
import { type StoredChild, storedChildren } from './map-record.ts'
import { type ItemSignature, matchItems, type MatchedItem } from './match-items.ts'
import { pauseIdIn } from '../machine/record.ts'

/** Recorded start of an item's child run. */
export type ItemStep = Pick<StoredChild, 'stepId' | 'attempt' | 'signature' | 'digest' | 'startId' | 'runId'>

/** A map that this process holds. */
export interface MapTake {
  readonly mapped: Mapped
  readonly ledger: Ledger
  readonly journal: RunAppender
  readonly hold: RunLease
  readonly signatures: readonly ItemSignature[]
  readonly matches: readonly MatchedItem[]
  readonly children: ReadonlyMap<string, StoredChild>
  /** Children begun for each item in this run. */
  readonly begun: ReadonlyMap<number, readonly ItemStep[]>
  /** Questions of its items that its own record has, and the answers to them: a process may die before an item has its answer. */
  readonly asked: ReadonlySet<string>
  readonly answered: Readonly<Record<string, unknown>>
  readonly cause: string
}

/** Matches the items with what is stored and records the start; refusals come before any write. */
export async function openMap(
  mapped: Mapped,
  ledger: Ledger,
  journal: RunAppender,
  hold: RunLease,
  {
    inputs,
    signatures,
  }: { readonly inputs: readonly unknown[]; readonly signatures: readonly ItemSignature[] },
  current: RunSummary | null,
  options: MapOptions,
): Promise<MapTake> {
  const { runId } = journal
  const name = `${mapped.program.name} map`
  const { threadId, retryOf, answers = {}, by } = options
  if (current) assertGoesOn(current, name)
  const stored = await storedChildren(ledger, current ? runId : (retryOf ?? null))
  if (retryOf !== undefined && stored === null) throw notFound(retryOf)
  const { children, events } = stored ?? { children: [], events: [] }
  // If the map has ended, only its completed items are reused: its other children stay its own.
  const claimable = current ? children : children.filter(({ status }) => status === 'completed')
  const matches = await matchItems(claimable, signatures, fitting(ledger, inputs))
  const drafts: EventDraft[] = []
  if (!current) {
    if (Object.keys(answers).length > 0) throw notOpen(runId, Object.keys(answers)[0] as string)
    const started = {
      agent: name,
      ...(mapped.program.version !== undefined && { agentVersion: mapped.program.version }),
      ...(threadId !== undefined && { threadId: ledger.identity(threadId).stored }),
      ...(retryOf !== undefined && { retryOf }),
      input: { items: signatures.length },
    }
    drafts.push(journal.draft('system.workflow_started', [], null, started))
  } else {
    const settled = settle(current, events, children, answers, by, journal)
    if (
      current.status === 'paused' &&
      settled.length === 0 &&
      !matches.some(({ action }) => action === 'run')
    )
      throw stillWaits(current)
    const cause = settled.at(-1)?.eventId ?? events.at(-1)?.eventId ?? null
    const reason = settled.length > 0 ? 'answered' : current.status
    const resumed = { reason, epoch: hold.epoch, items: signatures.length }
    drafts.push(...settled, journal.draft('system.workflow_resumed', [hold.epoch], cause, resumed))
    drafts.push(...leaveBehind(children, matches, (drafts.at(-1) as EventDraft).eventId, journal))
  }
  await ledger.append(drafts, { epoch: hold.epoch, keepStepIds: true, ...(!current && { expectedSeq: 0 }) })
  for (const { runId: childId, status } of current ? unclaimed(children, matches) : [])
    if (!isTerminal(status)) await stopChild(ledger, childId)
  const begun = Map.groupBy(current ? children : [], ({ index }) => index)
  const byRun = new Map(children.map((child) => [child.runId, child]))
  const cause = (drafts.at(-1) as EventDraft).eventId
  return {
    mapped,
    ledger,
    journal,
    hold,
    signatures,
    matches,
    children: byRun,
    begun,
    ...askedIn(current ? events : []),
    cause,
  }
}

function askedIn(events: readonly ClewEvent[]): Pick<MapTake, 'asked' | 'answered'> {
  const asked = new Set<string>()
  const answered: Record<string, unknown> = {}
  for (const event of events)
    if (isOwn(event, 'ui.input_requested')) asked.add(pauseIdIn(event))
    // What was redacted in an answer is no answer any more.
    else if (isOwn(event, 'ui.input_received') && 'answer' in event.payload) {
      const { answer } = event.payload
      if (findPlaceholderPlaces(answer).length === 0) answered[pauseIdIn(event)] = answer
    }
  return { asked, answered }
}

/** True if an item has the input that was recorded at the start of a child (D2). */
function fitting(
  ledger: Ledger,
  inputs: readonly unknown[],
): (child: StoredChild, index: number) => Promise<boolean> {
  const clean = (value: unknown): JsonValue => ledger.redactor.value((value ?? null) as JsonValue).value
  const isSame = (a: unknown, b: unknown): boolean => ledger.digest(a) === ledger.digest(b)
  const starts = new Map<string, Promise<ClewEvent | undefined>>()
  return async ({ runId, signature }, index) => {
    const known = starts.get(runId) ?? readBeginning(ledger, runId)
    starts.set(runId, known)
    const start = await known
    if (!start) return false
    // Fingerprints distinguish secrets, unless they were made with another key.
    const bySecret = signature === undefined
    const recorded = recordedInput([start])
    return fitsRecorded(clean(recorded), clean(inputs[index]), { bySecret, isSame })
  }
}

function assertGoesOn(run: RunSummary, name: string): void {
  const { runId, agent, status } = run
  if (agent !== name)
    throw new ClewError(
      'conflict',
      `There is a run ${runId} already, of ${agent ?? 'somebody else'} and not of ${name}`,
      'Map with another run id; nothing was written.',
      { runId },
    )
  if (isTerminal(status))
    throw new ClewError(
      'not_resumable',
      `The map ${runId} has ended as ${status}`,
      'Map again with retryOf: its completed items are taken over, the others run. Nothing was changed.',
      { runId, status },
    )
}

/** Children that no item goes on with. */
function unclaimed(children: readonly StoredChild[], matches: readonly MatchedItem[]): StoredChild[] {
  const claimed = new Set(matches.flatMap((match) => (match.action === 'run' ? [] : [match.runId])))
  return children.filter(({ runId }) => !claimed.has(runId))
}

/** Ends recorded steps that are open and not continued: with the end of the child run, or as left behind. */
function leaveBehind(
  children: readonly StoredChild[],
  matches: readonly MatchedItem[],
  cause: string,
  journal: RunAppender,
): EventDraft[] {
  return unclaimed(children, matches)
    .filter(({ isEnded }) => !isEnded)
    .map(({ stepId, attempt, status, error }) => {
      const how = status === 'completed' || status === 'failed' ? status : 'stopped'
      const payload = {
        stepId,
        attempt,
        ...(how === 'failed' && { error }),
        ...(how === 'stopped' && { reason: 'left behind' }),
      }
      return journal.draft(`execution.step_${how}`, [stepId, attempt], cause, payload)
    })
}

/** Answers given now, questions whose time is over, and questions that were answered in the child itself meanwhile. */
function settle(
  run: RunSummary,
  events: readonly ClewEvent[],
  children: readonly StoredChild[],
  answers: Readonly<Record<string, unknown>>,
  by: string | undefined,
  journal: RunAppender,
): EventDraft[] {
  const questions = new Map(
    events.filter((event) => isOwn(event, 'ui.input_requested')).map((event) => [pauseIdIn(event), event]),
  )
  const open = new Set(children.flatMap(({ pauses }) => pauses.map(({ pauseId }) => pauseId)))
  for (const [pauseId, answer] of Object.entries(answers)) {
    const question = questions.get(pauseId)
    if (!question || !open.has(pauseId)) throw notOpen(run.runId, pauseId)
    checkAnswer(pauseId, question.payload, answer)
    assertInTime(question, pauseId)
  }
  return run.pauses.flatMap(({ pauseId }) => {
    const question = questions.get(pauseId)
    if (!question) return []
    if (Object.hasOwn(answers, pauseId))
      return [answerDraft(journal, question, { answer: answers[pauseId], by })]
    const late = lateAnswer(question)
    if (open.has(pauseId)) return late ? [answerDraft(journal, question, late)] : []
    return [answerDraft(journal, question, { by: 'child run' })]
  })
}

const notFound = (runId: string): ClewError =>
  new ClewError('not_found', `There is no map ${runId} to take items over from`, 'See `clew runs`.', {
    runId,
  })

const stillWaits = ({ runId, pauses }: RunSummary): ClewError =>
  new ClewError(
    'not_resumable',
    `The map ${runId} waits for ${pauses.length} answers and has nothing else to do`,
    'Map again with answers by the id of the pause, or resume the items themselves; nothing was changed.',
    { runId, pauseId: pauses[0]?.pauseId },
  )
