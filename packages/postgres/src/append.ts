import {
  type AppendCall,
  type AppendOutcome,
  ClewError,
  commitCalls,
  type Ports,
  type RunKey,
} from '@clew/ledger'
import { createBatch } from './batch.ts'
import { isCollision, isLost, refusedBy, stateOf, storeError } from './errors.ts'
import { createKnownRuns } from './known-runs.ts'
import { load } from './load.ts'
import { type OpenedDatabase, raiseBase } from './open-database.ts'
import { hasOtherIndexes, replaceIndexes } from './run-row.ts'
import type { Sql } from './sql.ts'
import { writeStatement } from './write-statement.ts'

const ATTEMPTS = 30
/** Raised by `assert_unchanged` of the schema. */
const CHANGED_STATE = 'CW001'

export interface Appender {
  write(calls: readonly AppendCall[]): Promise<AppendOutcome[]>
  /**
   * Appends in one transaction with other work, all of it or nothing. The work is done first, and again when the
   * transaction collided with another; null when it returns false, which undoes it.
   */
  together(call: AppendCall, work: (sql: Sql) => Promise<boolean>): Promise<AppendOutcome | null>
  /** The run was changed by this process without an append, so a cached row of it is outdated. */
  forget(key: RunKey): void
}

interface AppendParts {
  readonly database: Pick<OpenedDatabase, 'url' | 'connect'>
  readonly ports: Pick<Ports, 'sha256' | 'now' | 'sleep'>
  readonly waitMs: number
}

/** The write side: lock and read what the calls need, decide in memory (`commitCalls`), write all of it by one statement. */
export function createAppender({ database, ports, waitMs }: AppendParts): Appender {
  const { url } = database
  const known = createKnownRuns()

  async function write(given: readonly AppendCall[]): Promise<AppendOutcome[]> {
    let calls = given
    let giveUpAt: number | undefined
    for (let attempt = 1; ; attempt++) {
      const isInDoubt = calls !== given
      const connection = await database.connect().catch((error: unknown) => {
        throw isInDoubt ? unknownOutcome(url, error) : error
      })
      try {
        const outcomes = attempt === 1 ? await appendCached(connection, calls) : undefined
        return outcomes ?? (await transact(connection, () => append(connection, calls)))
      } catch (error) {
        if (isLost(error)) {
          // The commit may have succeeded, so every event id is looked up from now on.
          calls = given.map(withoutFreshIds)
          giveUpAt ??= performance.now() + waitMs
          if (performance.now() > giveUpAt) throw unknownOutcome(url, error)
        } else await assertRepeatable(connection, error, attempt)
      } finally {
        connection.release()
      }
      await ports.sleep(Math.random() * Math.min(attempt, 10))
    }
  }

  async function together(
    call: AppendCall,
    work: (sql: Sql) => Promise<boolean>,
  ): Promise<AppendOutcome | null> {
    for (let attempt = 1; ; attempt++) {
      const connection = await database.connect()
      try {
        return await transact(connection, async () => {
          if (await work(connection)) return (await append(connection, [call]))[0] as AppendOutcome
          await connection.query({ text: 'ROLLBACK' })
          return null
        })
      } catch (error) {
        if (isLost(error)) throw unknownOutcome(url, error)
        await assertRepeatable(connection, error, attempt)
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

  /** Appends and commits; when all calls are refused it rolls back. */
  async function append(sql: Sql, calls: readonly AppendCall[]): Promise<AppendOutcome[]> {
    const batch = createBatch(await load(sql, calls))
    const outcomes = commitCalls(batch.tx, ports, calls)
    const isRefused = outcomes.every((outcome) => 'error' in outcome)
    const indexed = [...batch.runs].filter(hasOtherIndexes)
    // A failed write turns COMMIT into ROLLBACK.
    await Promise.all([
      batch.events.length > 0 && sql.query(writeStatement(batch, true)),
      indexed.length > 0 && sql.query(replaceIndexes(indexed)),
      sql.query({ text: isRefused ? 'ROLLBACK' : 'COMMIT' }),
    ])
    known.put(batch, 'read')
    return outcomes
  }

  /** Appends by one statement, decided on cached rows; undefined, and nothing is written, when these do not do. */
  async function appendCached(sql: Sql, calls: readonly AppendCall[]): Promise<AppendOutcome[] | undefined> {
    const loaded = known.load(calls)
    if (!loaded) return undefined
    const batch = createBatch(loaded)
    const outcomes = commitCalls(batch.tx, ports, calls, 'trusted')
    if (outcomes.some((outcome) => 'error' in outcome) || [...batch.runs].some(hasOtherIndexes))
      return undefined
    try {
      const { rows } = await sql.query(writeStatement(batch, false))
      placeEvents(outcomes, rows[0]?.['position'] as number)
      known.put(batch, 'cached')
      return outcomes
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

  return { write, together, forget: known.forget }
}

const isRepeatable = (error: unknown): boolean => refusedBy(error) !== undefined || isCollision(error)

/** Moves positions that count from 0 to where the statement has put them. */
function placeEvents(outcomes: readonly AppendOutcome[], start: number): void {
  for (const outcome of outcomes)
    if ('events' in outcome)
      for (const { ledger } of outcome.events) (ledger as { position: number }).position += start
}

const withoutFreshIds = (call: AppendCall): AppendCall => ({
  ...call,
  events: call.events.map((event) => ({ ...event, fresh: false })),
})

function unknownOutcome(url: string, cause: unknown): ClewError {
  return new ClewError(
    'store_unreachable',
    `The connection to the ledger ${url} was lost during an append and did not come back`,
    'It is not known whether that was written: append the same events with the same ids again, or read the run.',
    { url },
    storeError(url, cause),
  )
}

function tooBusy(url: string, cause: unknown): ClewError {
  return new ClewError(
    'store_locked',
    `The ledger ${url} was changed by others again and again while an append was decided`,
    'Try again; let one process write a run at a time if that can be. Nothing was written.',
    { url },
    storeError(url, cause),
  )
}
