import {
  type AppendCall,
  type AppendOutcome,
  ClewError,
  commitCalls,
  type Ports,
  type RunKey,
} from '@clew/ledger'
import { ROOM } from './append-parts.ts'
import { appendStatement } from './append-statement.ts'
import { createDrafts, type Draft, headOf, LACKING } from './draft.ts'
import { isCollision, isLost, refusedBy, stateOf, storeError } from './errors.ts'
import { foresee, keysOf, widen } from './foresee.ts'
import { type Known, load, lockRuns, type Needs, nothingKnown, scopeKeyOf } from './load.ts'
import { type Connection, type OpenedDatabase, raiseBase } from './open-database.ts'
import { createRemembered, keyOf, stepKeyOf } from './remembered.ts'
import type { Sql } from './sql.ts'

/** From then on the runs are locked first: whoever was always too late gets a turn. */
const OPTIMISTIC = 3
const ATTEMPTS = 30
/** What `assert_heads` and `assert_lease` of the migrations raise. */
const MOVED_STATE = 'CW001'
const MOVED = new Error('a run has moved on')
/** Most decisions are made from memory alone. */
const NOTHING = nothingKnown()

export interface Appender {
  write(calls: readonly AppendCall[]): Promise<AppendOutcome[]>
  /**
   * Appends in one transaction with other work, all of it or nothing. The work is done first, and again when the
   * transaction met another; null when it says that it cannot be done.
   */
  together(call: AppendCall, work: (sql: Sql) => Promise<boolean>): Promise<AppendOutcome | null>
  /** What is remembered of the run may be wrong: its lease or its rows were changed here. */
  forget(key: RunKey): void
  /** Values of the scope are gone. */
  forgetScope(scope: number): void
}

interface Decision {
  readonly draft: Draft
  readonly known: Known
  readonly outcomes: AppendOutcome[]
}

interface Written extends Decision {
  readonly rooms: readonly number[]
}

interface AppendParts {
  readonly database: OpenedDatabase
  readonly ports: Pick<Ports, 'sha256' | 'now' | 'sleep'>
  readonly waitMs: number
}

/**
 * The write side: a decision over what is remembered, then one statement that writes all of it if that was right.
 * If it was not, nothing is written, what is remembered of these runs is forgotten, and they are read and decided anew.
 */
export function createAppender({ database, ports, waitMs }: AppendParts): Appender {
  const remembered = createRemembered()
  const draftOn = createDrafts(remembered)
  let last: Promise<unknown> = Promise.resolve()

  async function write(given: readonly AppendCall[]): Promise<AppendOutcome[]> {
    const keys = keysOf(given)
    let calls = given
    let giveUpAt: number | undefined
    for (let attempt = 1; ; attempt++) {
      const isInDoubt = calls !== given
      const connection = await database.connect().catch((error: unknown) => {
        throw isInDoubt ? unknownOutcome(database.url, error) : error
      })
      try {
        const written =
          attempt <= OPTIMISTIC
            ? await tryOnce(connection, calls, keys, false)
            : await tryLocked(connection, calls, keys)
        settle(written)
        return written.outcomes
      } catch (error) {
        for (const key of keys) forgetRun(key)
        if (isLost(error)) {
          connection.drop()
          giveUpAt ??= performance.now() + waitMs
          if (performance.now() > giveUpAt) throw unknownOutcome(database.url, error)
          // It may have been committed all the same: no id is new any more.
          calls = given.map(doubted)
        } else if (!isWorthAnother(error)) throw storeError(database.url, error)
        else if (attempt >= ATTEMPTS) throw tooBusy(database.url, error)
        else if (refusedBy(error) === 'events_by_position') await raiseBase(connection)
      }
      await ports.sleep(Math.random() * Math.min(attempt, 10))
    }
  }

  /** With the values of its scope, for it may be these that are gone. */
  function forgetRun(key: RunKey): void {
    const scope = remembered.run(keyOf(key))?.scope
    if (scope !== undefined) remembered.forgetScope(scope)
    remembered.forgetRun(keyOf(key))
  }

  async function tryOnce(
    connection: Connection,
    calls: readonly AppendCall[],
    keys: readonly RunKey[],
    isLocked: boolean,
  ): Promise<Written> {
    let decision = await decide(connection, calls, keys)
    const { runs } = decision.known
    // What is refused is refused on what was read just now, never on what is remembered.
    if (
      decision.outcomes.some((outcome) => 'error' in outcome) &&
      !keys.every((key) => runs.has(keyOf(key)))
    ) {
      for (const key of keys) remembered.forgetRun(keyOf(key))
      decision = await decide(connection, calls, keys)
    }
    const { draft, known, outcomes } = decision
    if (draft.events.length === 0) return { draft, known, outcomes, rooms: [] }
    const sent = connection.send(appendStatement(draft, isLocked))
    // While the server works: whoever is refused forgets these runs.
    remember(draft)
    const answer = await sent
    if (!answer) throw MOVED
    const [first, more = null] = answer
    const rooms = more === null ? [Number(first)] : more.slice(1, -1).split(',').map(Number)
    return { draft, known, outcomes, rooms }
  }

  async function tryLocked(
    connection: Connection,
    calls: readonly AppendCall[],
    keys: readonly RunKey[],
  ): Promise<Written> {
    await connection.query({ text: 'BEGIN' })
    try {
      await lockRuns(connection, keys)
      const written = await tryOnce(connection, calls, keys, true)
      await connection.query({ text: 'COMMIT' })
      return written
    } catch (error) {
      if (!isLost(error)) await connection.query({ text: 'ROLLBACK' })
      throw error
    }
  }

  async function together(
    call: AppendCall,
    work: (sql: Sql) => Promise<boolean>,
  ): Promise<AppendOutcome | null> {
    const keys = keysOf([call])
    for (let attempt = 1; ; attempt++) {
      const connection = await database.connect()
      try {
        await connection.query({ text: 'BEGIN' })
        if (!(await work(connection))) return await rollBack(connection, null)
        for (const key of keys) remembered.forgetRun(keyOf(key))
        await lockRuns(connection, keys)
        const written = await tryOnce(connection, [call], keys, true)
        const outcome = written.outcomes[0] as AppendOutcome
        if ('error' in outcome) return await rollBack(connection, outcome)
        await connection.query({ text: 'COMMIT' })
        settle(written)
        return outcome
      } catch (error) {
        for (const key of keys) remembered.forgetRun(keyOf(key))
        if (isLost(error)) {
          connection.drop()
          throw unknownOutcome(database.url, error)
        }
        await rollBack(connection, null)
        if (!isWorthAnother(error)) throw storeError(database.url, error)
        if (attempt >= ATTEMPTS) throw tooBusy(database.url, error)
      }
      await ports.sleep(Math.random() * Math.min(attempt, 10))
    }
  }

  async function rollBack<T>(connection: Connection, answer: T): Promise<T> {
    await connection.query({ text: 'ROLLBACK' })
    return answer
  }

  /** Reads what the decision lacks, all at once where that can be foreseen, until nothing is lacking. */
  async function decide(
    connection: Connection,
    calls: readonly AppendCall[],
    keys: readonly RunKey[],
  ): Promise<Decision> {
    const strange = new Set<string>()
    for (const key of keys) if (!remembered.run(keyOf(key))) strange.add(keyOf(key))
    let known = NOTHING
    const read = async (needs: Needs): Promise<void> => {
      if (known === NOTHING) known = nothingKnown()
      await load(connection, needs, known, remembered)
    }
    if (strange.size > 0) await read(foresee(calls, keys, strange, remembered))
    for (;;) {
      const draft = draftOn(known)
      try {
        const outcomes = commitCalls(draft.tx, ports, calls, strange.size === 0 ? 'trusted' : 'looked up')
        return { draft, known, outcomes }
      } catch (error) {
        if (error !== LACKING) throw error
        await read(widen(draft.needs(), calls, known))
      }
    }
  }

  /** What is written of runs that stand already, for the next append to build on. */
  function remember(draft: Draft): void {
    for (const { run, step } of draft.steps.values()) {
      const key = stepKeyOf(step.stepId, step.attempt)
      run.steps.delete(key)
      run.steps.set(key, step)
    }
    for (const run of draft.touched) if (run.stored) remembered.keepRun(headOf(run, run.id, run.forkOf))
  }

  /** All of it is committed: places become positions, and what became of new runs and values is remembered, too. */
  function settle({ draft, known, outcomes, rooms }: Written): void {
    const real = (id: number): number =>
      id >= 0 ? id : (rooms[Math.floor((-id - 1) / ROOM)] as number) + ((-id - 1) % ROOM)
    for (const outcome of outcomes)
      if ('events' in outcome)
        for (const { ledger } of outcome.events as readonly { ledger: { position: number } }[])
          ledger.position = real(ledger.position)
    for (const run of draft.touched) {
      if (run.stored) continue
      const forkOf = run.forkOf && { id: real(run.forkOf.id), seq: run.forkOf.seq }
      remembered.keepRun(headOf(run, real(run.id), forkOf))
    }
    // By their own names: a run that learned of its thread later keeps the scope that it began with.
    for (const [key, id] of known.scopes) if (id !== null) remembered.keepScope(key, id)
    for (const { id, workspace, name } of draft.scopes) {
      remembered.keepScope(scopeKeyOf(workspace, name), id)
      remembered.keepRevision(id, 0)
    }
    for (const [key, id] of known.nodes) if (id !== null) remembered.keepNode(key, id)
    for (const [key, { id }] of draft.nodes) remembered.keepNode(key, id)
  }

  return {
    write(calls) {
      // One after another: each builds on what the one before it has left.
      const mine = last.then(() => write(calls))
      last = mine.catch(() => undefined)
      return mine
    },
    together(call, work) {
      const mine = last.then(() => together(call, work))
      last = mine.catch(() => undefined)
      return mine
    },
    forget: (key) => remembered.forgetRun(keyOf(key)),
    forgetScope: remembered.forgetScope,
  }
}

const doubted = (call: AppendCall): AppendCall => ({
  ...call,
  events: call.events.map((event) => ({ ...event, fresh: false })),
})

/** Nothing was written, and what it met is there to be read now. */
const isWorthAnother = (error: unknown): boolean =>
  error === MOVED || stateOf(error) === MOVED_STATE || refusedBy(error) !== undefined || isCollision(error)

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
