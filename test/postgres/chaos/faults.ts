import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError } from '@clew/ledger'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { query as queryAt, type TestDatabase } from '../database.ts'
import type { PostgresServer } from '../start-server.ts'
import type { Crew, Role } from './crew.ts'
import type { Dice } from './dice.ts'
import type { Proxy } from './proxy.ts'
import { type HeldLease, leasesOf, setHeartbeatsBack, type Takeover, watchTakeovers } from './takeovers.ts'

export interface Scene {
  readonly server: PostgresServer
  readonly database: TestDatabase
  readonly proxy: Proxy
  readonly crew: Crew
  readonly dice: Dice
  readonly sweepMs: number
  /** True in runs too short to wait a minute for a lease to expire: its last heartbeat is set back instead. */
  readonly isShort: boolean
  readonly takeovers: Takeover[]
  /** What goes on beside the faults and must be over before anything is judged. */
  readonly beside: Promise<void>[]
}

/** Gives how often it hit something. */
type Fault = (scene: Scene) => Promise<number>

/** A lock is held longer than the impatient writers wait for a statement. */
const LOCKED_MS = 2200

async function kill({ crew, dice }: Scene, role: Role): Promise<number> {
  const victim = dice.one(crew.members.filter((each) => each.role === role))
  return (await crew.kill(victim)) ? 1 : 0
}

/** Kills a worker that has runs in hand, such as fit; undefined when none has. */
async function killHolder(
  scene: Scene,
  fits: (lease: HeldLease) => boolean = () => true,
): Promise<HeldLease[] | undefined> {
  const { crew, database, dice } = scene
  for (const member of dice.shuffle(crew.members.filter((each) => each.role === 'worker'))) {
    // Frozen, so that it does not end them between the look and the kill.
    member.child.kill('SIGSTOP')
    const held = await leasesOf(database.query, member.child.pid ?? 0)
    if (held.length > 0 && held.every(fits) && (await crew.kill(member))) return held
    member.child.kill('SIGCONT')
  }
  return undefined
}

async function restart({ server }: Scene): Promise<number> {
  await server.crash()
  await server.start()
  return 1
}

export const FAULTS = {
  /** Immediate mode: no farewell, and recovery from the log. */
  'server restarted': restart,

  async 'backends terminated'({ database, dice }) {
    const rows = await database.query(
      `SELECT pg_terminate_backend(pid) AS hit FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'clew' AND random() < $1`,
      [dice.one([0.1, 0.3, 1])],
    )
    return rows.length
  },

  async 'network stalled'({ proxy, dice }) {
    return proxy.stall(dice.between(200, 3000))
  },

  async 'answers lost'({ proxy, dice }) {
    return proxy.swallow(dice.between(20, 400))
  },

  async 'network reset'({ proxy, dice }) {
    return proxy.reset(dice.between(0, 800))
  },

  'writer killed': (scene) => kill(scene, 'writer'),
  'follower killed': (scene) => kill(scene, 'follower'),

  /** The server stays up meanwhile, so that the death can be proved. */
  async 'holder killed'(scene) {
    const held = await killHolder(scene, (lease) => lease.isProvable)
    if (!held) return 0
    scene.takeovers.push(...(await watchTakeovers(scene.database.query, held, scene.sweepMs)))
    return 1
  },

  /** Nobody could see the backend go: the lease falls to others by silence. */
  async 'holder killed before a restart'(scene) {
    const held = await killHolder(scene)
    if (!held) return 0
    await restart(scene)
    if (scene.isShort) await setHeartbeatsBack(scene.database.query, held)
    const unseen = held.map((lease) => ({ ...lease, isProvable: false }))
    const watching = watchTakeovers(scene.database.query, unseen, scene.sweepMs)
    scene.beside.push(watching.then((seen) => void scene.takeovers.push(...seen)))
    return 1
  },

  /** Somebody for whom a minute has passed takes runs from owners that live and believe they have them. */
  async 'two owners'({ database }) {
    const rows = await database.query(
      'SELECT run_id, thread_id FROM clew.leases WHERE held ORDER BY random() LIMIT 6',
    )
    const usurper = await openLedger(database.url, { aheadMs: () => 61_000, waitMs: 5000 })
    let taken = 0
    try {
      for (const { run_id: runId, thread_id: threadId } of rows as {
        run_id: string
        thread_id: string | null
      }[]) {
        const lease = await usurper.leases.acquire({ workspace: 'default', runId }, threadId)
        taken++
        const started = {
          stepId: `u#${lease.epoch}`,
          name: 'u',
          key: `usurper-${runId}-${lease.epoch}`,
          epoch: lease.epoch,
        }
        if (runId.startsWith('leased-'))
          await usurper.append(
            [{ eventType: 'execution.step_started', correlationId: runId, payload: started }],
            { epoch: lease.epoch },
          )
        await usurper.leases.release(lease)
      }
    } catch (error) {
      // Its own connection may be hit by what goes on.
      if (!(error instanceof ClewError)) throw error
    } finally {
      await usurper.close()
    }
    return taken
  },

  async 'statement time-out'({ database }) {
    await database.query(
      `DO $$ BEGIN LOCK TABLE clew.payloads IN EXCLUSIVE MODE; PERFORM pg_sleep(${LOCKED_MS / 1000}); END $$`,
    )
    return 1
  },

  async 'writes refused'({ server, dice }) {
    await queryAt(server.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
    await queryAt(server.url, 'SELECT pg_reload_conf()')
    await sleep(dice.between(200, 900))
    const writable = new URL(server.url)
    writable.searchParams.set('options', '-c default_transaction_read_only=off')
    await queryAt(writable.href, 'ALTER SYSTEM RESET default_transaction_read_only')
    await queryAt(writable.href, 'SELECT pg_reload_conf()')
    return 1
  },

  async 'disk full'({ database, dice }) {
    await database.query('ALTER TABLE clew.payloads ENABLE TRIGGER full_disk')
    await sleep(dice.between(200, 900))
    await database.query('ALTER TABLE clew.payloads DISABLE TRIGGER full_disk')
    return 1
  },
} satisfies Record<string, Fault>

export type FaultKind = keyof typeof FAULTS

/** What 'disk full' switches on. */
export async function prepareFaults(database: TestDatabase): Promise<void> {
  await database.query(`CREATE FUNCTION clew.full_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`)
  await database.query(
    'CREATE TRIGGER full_disk BEFORE INSERT ON clew.payloads EXECUTE FUNCTION clew.full_disk()',
  )
  await database.query('ALTER TABLE clew.payloads DISABLE TRIGGER full_disk')
}
