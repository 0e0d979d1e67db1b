import {
  type Applied,
  applyChange,
  ClewError,
  type Ports,
  type RunKey,
  type StoreChange,
  type Written,
} from '@clew/ledger'
import { type Batch, createBatch } from './batch.ts'
import { blankStatements, forgetThreads, pruneStatements } from './delete-statements.ts'
import { isCollision, isLost, refusedBy, stateOf, storeError } from './errors.ts'
import { createKnownRuns } from './known-runs.ts'
import { isAppend, load } from './load.ts'
import { type OpenedDatabase, raiseBase } from './open-database.ts'
import type { Sql, Statement } from './sql.ts'
import { replaceVault } from './vault.ts'
import { writeStatement } from './write-statement.ts'

const ATTEMPTS = 30
/** Raised by `assert_unchanged` of the schema. */
const CHANGED_STATE = 'CW001'

export interface Writer {
  write(change: StoreChange): Promise<Written>
  /** The run was changed by this process outside of `write`, so a cached row of it is outdated. */
  forget(key: RunKey): void
}

interface WriterParts {
  readonly database: Pick<OpenedDatabase, 'url' | 'connect'>
  readonly ports: Pick<Ports, 'sha256' | 'now' | 'sleep'>
  readonly waitMs: number
}

/** The write side: lock and read what a change needs, decide in memory (`applyChange`), write all of it. */
export function createWriter({ database, ports, waitMs }: WriterParts): Writer {
  const { url } = database
  const known = createKnownRuns()

  async function write(given: StoreChange): Promise<Written> {
    const canRepeat = isAppend(given)
    let change = given
    let giveUpAt: number | undefined
    for (let attempt = 1; ; attempt++) {
      const isInDoubt = change !== given
      const connection = await database.connect().catch((error: unknown) => {
        throw isInDoubt ? unknownOutcome(url, error) : error
      })
      const startedMs = performance.now()
      try {
        const applied = attempt === 1 && canRepeat ? await appendCached(connection, change) : undefined
        return {
          ...(applied ?? (await transact(connection, () => apply(connection, change)))),
          tookMs: performance.now() - startedMs,
        }
      } catch (error) {
        if (isLost(error)) {
          // The commit may have succeeded. Events are looked up by their ids from now on; nothing else can be.
          if (!canRepeat) throw unknownOutcome(url, error)
          change = withoutFreshIds(given)
          giveUpAt ??= performance.now() + waitMs
          if (performance.now() > giveUpAt) throw unknownOutcome(url, error)
        } else await assertRepeatable(connection, error, attempt)
      } finally {
        connection.release()
      }
      await ports.sleep(Math.random() * Math.min(attempt, 10))
    }
  }

  /** `work` ends the transaction itself, so that COMMIT is sent together with its last statement. */
  async function transact<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
    try {
      const [, result] = await Promise.all([sql.query({ text: 'BEGIN' }), work()])
      return result
    } catch (error) {
      if (!isLost(error)) await sql.query({ text: 'ROLLBACK' })
      throw error
    }
  }

  /** Applies and commits; rolls back if there is nothing to write. */
  async function apply(sql: Sql, change: StoreChange): Promise<Applied> {
    const batch = createBatch(await load(sql, change))
    const applied = applyChange(batch.tx, ports, change)
    // A failed statement turns COMMIT into ROLLBACK.
    await Promise.all([
      ...statementsOf(batch).map((statement) => sql.query(statement)),
      sql.query({ text: isRefused(applied) ? 'ROLLBACK' : 'COMMIT' }),
    ])
    if (isAppend(change)) known.put(batch, 'read')
    else for (const run of batch.runs) known.forget(run)
    return applied
  }

  /** Appends by one statement, decided on cached rows; undefined, and nothing is written, when these do not do. */
  async function appendCached(sql: Sql, { calls }: StoreChange): Promise<Applied | undefined> {
    const loaded = known.load(calls)
    if (!loaded) return undefined
    const batch = createBatch(loaded)
    const applied = applyChange(batch.tx, ports, { calls })
    if ('moved' in applied || applied.outcomes.some((outcome) => 'error' in outcome)) return undefined
    try {
      const { rows } = await sql.query(writeStatement(batch, false))
      placeEvents(applied, rows[0]?.['position'] as number)
      known.put(batch, 'cached')
      return applied
    } catch (error) {
      for (const run of batch.runs) known.forget(run)
      if (stateOf(error) === CHANGED_STATE || isRepeatable(error)) return undefined
      throw error
    }
  }

  /** Returns when nothing was written and a repetition will see what this attempt collided with. */
  async function assertRepeatable(sql: Sql, error: unknown, attempt: number): Promise<void> {
    if (!isRepeatable(error)) throw storeError(url, error)
    if (attempt >= ATTEMPTS) throw tooBusy(url, error)
    if (refusedBy(error) === 'events_by_position') await raiseBase(sql)
  }

  return { write, forget: known.forget }
}

const isRepeatable = (error: unknown): boolean => refusedBy(error) !== undefined || isCollision(error)

const isRefused = (applied: Applied): boolean =>
  'moved' in applied ||
  (applied.outcomes.length > 0 && applied.outcomes.every((outcome) => 'error' in outcome))

/** Deletions come first: a replaced step may lie in a pruned range. Names of threads go when no row has them any more. */
const statementsOf = (batch: Batch): Statement[] => [
  ...batch.blanks.flatMap(blankStatements),
  ...pruneStatements(batch.prunedRanges),
  ...(batch.runs.size > 0 ? [writeStatement(batch, true)] : []),
  ...forgetThreads([...batch.runs]),
  ...replaceVault(batch.vault),
]

/** Moves positions that count from 0 to where the statement has put them. */
function placeEvents(applied: Applied, start: number): void {
  for (const outcome of 'outcomes' in applied ? applied.outcomes : [])
    if ('events' in outcome)
      for (const { ledger } of outcome.events) (ledger as { position: number }).position += start
}

const withoutFreshIds = ({ calls }: StoreChange): StoreChange => ({
  calls: calls.map((call) => ({
    ...call,
    events: call.events.map((event) => ({ ...event, fresh: false })),
  })),
})

function unknownOutcome(url: string, cause: unknown): ClewError {
  return new ClewError(
    'store_unreachable',
    `The connection to the ledger ${url} was lost during a write and did not come back`,
    'It is not known whether that was written: append the same events with the same ids again, or read the run.',
    { url },
    storeError(url, cause),
  )
}

function tooBusy(url: string, cause: unknown): ClewError {
  return new ClewError(
    'store_locked',
    `The ledger ${url} was changed by others again and again while a write was decided`,
    'Try again; let one process write a run at a time if that can be. Nothing was written.',
    { url },
    storeError(url, cause),
  )
}
