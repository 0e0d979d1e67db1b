import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClewEvent, Lease, Ledger } from '@clew/ledger'
import { appendMany, codeOf, followMany, note, say, sayWhetherOpens } from '../../ledger/test/child-acts.ts'
import { MIGRATIONS } from '../src/migrations.ts'
import { createOwnerLocks } from '../src/owner-lock.ts'
import { openLedger } from './harness.ts'

/** What other processes do in the tests: `node child.ts COMMAND PATH …`, one JSON line per answer. */
const [, , command = '', path = '', ...rest] = process.argv

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  /** Further arguments are further migrations. */
  open: () => sayWhetherOpens(() => openLedger(path, { migrations: [...MIGRATIONS, ...rest] })),

  /** Removes lock files of dead owners, again and again. */
  async sweep() {
    const locks = createOwnerLocks(path, 'sweeper')
    say('sweeping')
    for (;;) locks.sweep(new Set())
  },

  /** Tells the progress of a step COUNT times. */
  async tell() {
    const [stepId = '', count = '0'] = rest
    const ledger = openLedger(path)
    for (let version = 1; version <= Number(count); version++)
      await ledger.progress.put([
        { runId: 'r', stepId, attempt: 1, stepType: 'thinking', version, content: 'so far ', at: '' },
      ])
    await ledger.close()
    say('done')
  },

  /** Appends COUNT events to a run of its own and to one that all share. */
  append: () =>
    appendMany(openLedger(path), {
      who: rest[0] ?? '',
      count: Number(rest[1]),
      atOnce: 500,
      sharedEach: 4,
    }),

  /** Follows everything from the beginning, COUNT events long; says what was wrong with them. */
  follow: () => followMany(openLedger(path), Number(rest[0])),

  /** Consumes under NAME for ever and says the positions of each batch before and after it is handled. */
  async consume() {
    const [name = '', batch = '50'] = rest
    const ledger = openLedger(path)
    const handler = async (events: readonly ClewEvent[]): Promise<void> => {
      say(events.map((event) => event.ledger.position))
      await sleep(2)
    }
    await ledger.consume(name, handler, { batch: Number(batch) })
  },

  /** Brings the search index to the newest event, saying how far it is; with MOST, stands still after so many answers. */
  async index() {
    const ledger = openLedger(path)
    const most = Number(rest[0] ?? Number.POSITIVE_INFINITY)
    let answers = 0
    const onProgress = (position: number): void => {
      say(position)
      if (++answers === most) stand()
    }
    await ledger.index({ onProgress })
    await ledger.close()
    say('done')
  },

  /** Rebuilds the rows of runs and steps, saying how many runs are done; with MOST, stands still after so many runs. */
  async rebuild() {
    const ledger = openLedger(path)
    const most = Number(rest[0] ?? Number.POSITIVE_INFINITY)
    const onProgress = (runs: number): void => {
      say(runs)
      if (runs === most) stand()
    }
    const report = await ledger.rebuild({ onProgress })
    await ledger.close()
    say(report)
  },

  /** Locks the whole file until it is told to stop. */
  async lock() {
    const db = new DatabaseSync(path)
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    db.exec('UPDATE runs SET status = status; COMMIT; BEGIN EXCLUSIVE')
    say('locked')
    for await (const _ of createInterface(process.stdin)) break
    db.close()
    say('unlocked')
    process.exit(0)
  },

  /** Holds a lease and writes under it when told to; `renew` beats. */
  async lease() {
    const [runId = '', threadId = ''] = rest
    const ledger = openLedger(path)
    const lease = await ledger.leases.acquire({ workspace: 'default', runId }, threadId)
    say(lease)
    for await (const line of createInterface(process.stdin)) {
      if (line === 'end') break
      say(await attempt(ledger, lease, line))
    }
    process.exit(0)
  },

  /** With no file left to open: says what opening and writing meet, and whether all goes on when there are some again. */
  async crowded() {
    // Loads all modules first, which are files as well.
    const first = openLedger(path)
    await first.index()
    await first.close()
    const taken: number[] = []
    const crowd = (): void => {
      try {
        for (;;) taken.push(openSync('/dev/null', 'r'))
      } catch (error) {
        if (!String(error).includes('EMFILE')) throw error
      }
    }
    const free = (): void => taken.splice(0).forEach((each) => closeSync(each))
    const outcome = async (work: () => unknown): Promise<string> => {
      try {
        await work()
        return 'ok'
      } catch (error) {
        return `${codeOf(error)}: ${(error as Error).message}`
      }
    }
    const leased = { workspace: 'default', runId: 'r' }
    crowd()
    const opening = await outcome(() => openLedger(path))
    const making = await outcome(() => openLedger(`${path}.new`))
    free()
    const ledger = openLedger(path)
    crowd()
    const record = await outcome(() => ledger.record(note('r', {})))
    const index = await outcome(() => ledger.index())
    const lease = await outcome(() => ledger.leases.acquire(leased))
    free()
    say({ opening, making, record, index, lease })
    say({
      record: await outcome(() => ledger.record(note('r', {}))),
      index: await outcome(() => ledger.index()),
      lease: await outcome(() => ledger.leases.acquire(leased)),
    })
    await ledger.close()
  },

  /** As a user who may do nothing: says what writing and reading meet. */
  async nobody() {
    // Root may do everything, so it becomes somebody else; others are held by the modes of the files.
    if (process.getuid?.() === 0) {
      process.setgid?.(65534)
      process.setuid?.(65534)
    }
    const outcome = async (readOnly: boolean): Promise<string> => {
      try {
        const ledger = openLedger(path, { readOnly, waitMs: 200 })
        try {
          if (!readOnly) await ledger.record(note('r', {}))
          let events = 0
          for await (const _ of ledger.read('r')) events++
          return `${events} events`
        } finally {
          await ledger.close()
        }
      } catch (error) {
        return codeOf(error)
      }
    }
    say({ write: await outcome(false), read: await outcome(true) })
  },
}

/** Whoever is to be killed in the midst of its work must not be done before, however slow the one who kills is. */
const stand = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

async function attempt(ledger: Ledger, lease: Lease, what: string): Promise<string> {
  const step = {
    eventType: 'execution.step_started' as const,
    correlationId: lease.runId,
    payload: { stepId: 's#0', name: 's' },
  }
  try {
    if (what === 'renew') await ledger.leases.renew(lease)
    else await ledger.append([step], { epoch: lease.epoch })
    return 'ok'
  } catch (error) {
    return codeOf(error)
  }
}

await COMMANDS[command]?.()
await sleep(0)
