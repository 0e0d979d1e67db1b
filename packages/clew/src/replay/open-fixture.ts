import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { asOwn, ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import { openLedger, type OpenLedgerOptions } from '../open-ledger.ts'

export type FixtureOptions = Pick<OpenLedgerOptions, 'codecs' | 'redact'>

export interface Fixture {
  /** In memory; nothing that is done with it touches the file. */
  readonly ledger: Ledger
  /**
   * The runs that were recorded in it, oldest first: no child runs, and nothing that is only there because
   * they stand on it.
   */
  readonly runs: readonly RunSummary[]
}

/** A file that `clew export` wrote, as a ledger. */
export async function openFixture(file: string, options: FixtureOptions = {}): Promise<Fixture> {
  await assertFile(file)
  const ledger = await openLedger('memory:', options)
  try {
    await ledger.import(createReadStream(file))
    const runs = await replayableRuns(ledger)
    if (runs.length === 0) throw refused(file, 'holds no run')
    return { ledger, runs }
  } catch (error) {
    await ledger.close()
    throw error instanceof ClewError && error.code !== 'not_found' ? inFile(file, error) : error
  }
}

async function assertFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() === true) return
  throw refused(file, found ? 'is no file' : 'does not exist')
}

const refused = (file: string, what: string): ClewError =>
  new ClewError(
    'not_found',
    `The fixture ${file} ${what}`,
    `Record one: clew export --run RUN --redacted -o ${file}.`,
    { file },
  )

function inFile(file: string, error: ClewError): ClewError {
  const message = error.message.slice(0, -error.hint.length - 2)
  return new ClewError(
    error.code,
    `The fixture ${file} cannot be read: ${message}`,
    error.hint,
    { ...error.fields, file },
    error,
  )
}

/**
 * The runs of a ledger that can be replayed on their own, oldest first. One that others were forked from, or
 * whose state they continue, is exported only up to there, and such a part still looks as if it were running.
 */
async function replayableRuns(ledger: Ledger): Promise<RunSummary[]> {
  const all: RunSummary[] = []
  let cursor: string | undefined
  do {
    const page = await ledger.listRuns({ limit: 1000, cursor })
    all.push(...page.runs)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  const stoodOn = new Set<unknown>()
  for (const { runId, forkedFrom } of all) {
    stoodOn.add(forkedFrom?.runId)
    for await (const event of ledger.read(runId, { types: ['execution.checkpoint'] })) {
      const own = asOwn(event)
      if (own?.eventType === 'execution.checkpoint') stoodOn.add(own.payload.from?.runId)
    }
  }
  const known = new Set(all.map(({ runId }) => runId))
  return all
    .filter(({ parentRunId, replay }) => replay === null && (parentRunId === null || !known.has(parentRunId)))
    .filter(({ runId, status }) => status !== 'running' || !stoodOn.has(runId))
    .toReversed()
}
