import { ClewError, type Ledger, type RunSummary, type StepRecord, type StepSkeleton } from '@clew/ledger'

export interface SessionPage {
  /** How many steps at most, the newest; without it all of them. */
  readonly limit?: number | undefined
  /** `previousCursor` of the page that was read last. */
  readonly before?: string | undefined
}

interface NumberedSteps {
  readonly steps: readonly StepRecord[]
  /** Place of the first of them in `getSteps`, from 1. */
  readonly firstNumber: number
  readonly previousCursor: string | null
}

/** The steps of a session with what they gave back: all of them, or a page, which costs what the page is long. */
export async function readSessionSteps(
  ledger: Ledger,
  { runId, forkedFrom, events, steps: begun }: RunSummary,
  { limit, before }: SessionPage,
): Promise<NumberedSteps> {
  // Steps that a fork shares with its source are in no row of its own.
  if (limit === undefined || forkedFrom)
    return { steps: await ledger.getSteps(runId), firstNumber: 1, previousCursor: null }
  const end = before === undefined ? undefined : parseCursor(before)
  // Reads one more than the limit, to know whether there are more.
  const found = await ledger.getSkeleton(runId, { beforeSeq: end?.seq, limit: limit + 1, last: true })
  const page = found.slice(-limit)
  const isWhole = found.length <= limit
  // Some may have begun since the summary was read.
  const later = page.filter(({ startedSeq }) => startedSeq > events).length
  const firstNumber = isWhole ? 1 : Math.max(2, (end?.number ?? begun + later + 1) - page.length)
  const [first] = page
  return {
    steps: await withValues(ledger, runId, page),
    firstNumber,
    previousCursor: isWhole || !first ? null : `${first.startedSeq}.${firstNumber}`,
  }
}

function parseCursor(cursor: string): { seq: number; number: number } {
  const [, seq, number] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (seq !== undefined && number !== undefined) return { seq: Number(seq), number: Number(number) }
  throw new ClewError('bad_option', 'The cursor is none that a page gave', 'Begin without a cursor.', {
    option: 'cursor',
  })
}

const COMPLETED = 'execution.step_completed'
/** Ends closer together than this are read in one range. */
const STRETCH = 500

/** The result of a step is in the event that ended it. */
async function withValues(
  ledger: Ledger,
  runId: string,
  page: readonly StepSkeleton[],
): Promise<StepRecord[]> {
  const ends = page
    .flatMap(({ status, endedSeq }) => (status === 'completed' && endedSeq !== null ? [endedSeq] : []))
    .sort((a, b) => a - b)
  const values = new Map<number, unknown>()
  for (let next = 0; next < ends.length; ) {
    const from = ends[next] as number
    const range = { afterSeq: from - 1, limit: STRETCH, types: [COMPLETED] }
    for await (const { ledger: place, payload } of ledger.read(runId, range)) {
      values.set(place.seq, payload.output ?? null)
      while (next < ends.length && (ends[next] as number) <= place.seq) next++
      if (next === ends.length || (ends[next] as number) > place.seq + STRETCH) break
    }
    // A step that was deleted must not be requested again.
    if (ends[next] === from) next++
  }
  return page.map((step) => ({
    ...step,
    values:
      step.status === 'completed' && step.endedSeq !== null ? (values.get(step.endedSeq) ?? null) : null,
  }))
}
