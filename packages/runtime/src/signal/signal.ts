import { ClewError, deriveId, isTerminal, type Ledger, nearMisses, type RunSummary } from '@clew/ledger'
import { lookNow } from '../lifecycle/ticker.ts'
import { sha256 } from '../machine/run-appender.ts'
import { checkName } from '../options/check-options.ts'
import { createOptionCheck } from '../options/known-options.ts'
import { nextId } from '../run/run-id.ts'
import { assertSignalFits, type SignalSchemas } from './signal-schemas.ts'

export interface SignalOptions {
  /** Of the sender, one per signal: sent again with the same id it counts once (L4). Without it every call is a signal of its own. */
  readonly id?: string | undefined
  /** Person or program that sends it. */
  readonly by?: string | undefined
}

/** Where a signal is kept: what its sender gets back, the first time and when it is sent again. */
export interface SentSignal {
  readonly runId: string
  readonly name: string
  readonly eventId: string
  readonly seq: number
}

const checkSignalOptions = createOptionCheck<SignalOptions>({ id: true, by: true })
const MAX_ID_CHARS = 512
const NEWEST_RUNS = 1000

/**
 * Sends a signal to a run, which keeps it until `run.receive` asks for it: also before that, in any process, without the
 * code of the agent (W3).
 */
export const signal = (
  ledger: Ledger,
  runId: string,
  name: string,
  payload?: unknown,
  options: SignalOptions = {},
): Promise<SentSignal> => sendSignal(ledger, runId, { name, payload: payload ?? null }, options)

export async function sendSignal(
  ledger: Ledger,
  runId: string,
  { name, payload }: { readonly name: string; readonly payload: unknown },
  options: SignalOptions,
  declared?: SignalSchemas,
): Promise<SentSignal> {
  checkName(name, 'A signal')
  checkSignalOptions(options, `The signal ${name}`)
  const { id, by } = options
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > MAX_ID_CHARS))
    throw new ClewError(
      'bad_option',
      `The id of the signal ${name} is no text of 1 to ${MAX_ID_CHARS} characters`,
      'Give an id of your own, the same for each attempt to send it, or leave it out.',
      { option: 'id' },
    )
  const eventId = id === undefined ? nextId() : deriveId(sha256, runId, 'signal', id)
  const run = await ledger.getRun(runId)
  if (!run) throw await unknownRun(ledger, runId)
  const { stored } = ledger.identity(name)
  const event = signalEvent(runId, eventId, {
    name: stored,
    payload,
    ...(id !== undefined && { id }),
    ...(by !== undefined && { by }),
  })
  if (isTerminal(run.status)) return { runId, name, eventId, seq: await answerAgain(ledger, run, event) }
  await assertSignalFits(ledger, runId, { name, payload }, declared)
  const [sent] = await ledger.append([event, ...(await notesForParents(ledger, run, stored, eventId))])
  lookNow(ledger)
  return { runId, name, eventId, seq: sent?.ledger.seq ?? 0 }
}

const signalEvent = (correlationId: string, eventId: string, payload: Record<string, unknown>) => ({
  eventType: 'system.signal_received',
  eventId,
  correlationId,
  causationId: null,
  source: { origin: 'system', runtime: 'clew' } as const,
  payload,
})

/** A child goes on inside its parent, which has to wake for it: in the same append, so that no crash comes between. */
async function notesForParents(ledger: Ledger, run: RunSummary, name: string, signalId: string) {
  const notes = []
  for (let child = run; child.parentRunId !== null; ) {
    const parent = await ledger.getRun(child.parentRunId)
    if (!parent || isTerminal(parent.status)) break
    const eventId = deriveId(sha256, parent.runId, 'signal of a child', signalId)
    notes.push(signalEvent(parent.runId, eventId, { name, childRunId: child.runId }))
    child = parent
  }
  return notes
}

/** The answer to one that was sent before the run ended, by a caller who did not get it; nothing is added to the run. */
async function answerAgain(
  ledger: Ledger,
  { runId, status }: RunSummary,
  event: ReturnType<typeof signalEvent>,
): Promise<number> {
  try {
    // A run stands at seq 1 or later, so that only what is there already passes.
    const [sent] = await ledger.append([event], { expectedSeq: 0 })
    return sent?.ledger.seq ?? 0
  } catch (error) {
    if (!(error instanceof ClewError) || error.code !== 'wrong_seq') throw error
    throw new ClewError(
      'ended',
      `Run ${runId} is ${status} and receives no signal any more`,
      'Start the next turn on its thread, or fork it; nothing was written.',
      { runId, status },
    )
  }
}

async function unknownRun(ledger: Ledger, runId: string): Promise<ClewError> {
  const { runs } = await ledger.listRuns({ limit: NEWEST_RUNS })
  const near = nearMisses(
    runId,
    runs.map((run) => run.runId),
  )
  const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'See `clew runs` for those there are.'
  return new ClewError('not_found', `There is no run ${runId}`, `${hint} Nothing was written.`, { runId })
}
