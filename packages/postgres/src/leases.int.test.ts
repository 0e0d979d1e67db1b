import type { Lease, Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Child,
  createDatabase,
  nodePorts,
  type PostgresServer,
  startScript,
  startServer,
  type TestDatabase,
} from '../test/server.ts'
import { openLedger } from '../test/harness.ts'

const CHILD = new URL('../test/lease-child.ts', import.meta.url).pathname
const key = (runId: string) => ({ workspace: 'default', runId })
const POLL = { timeout: 60_000, interval: 10 }

let database: TestDatabase
let opened: Ledger[] = []
let children: Child[] = []

beforeEach(async () => {
  database = await createDatabase()
})
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill()
  for (const ledger of opened.splice(0)) await ledger.close()
  await database.drop()
})

async function open(options: Parameters<typeof openLedger>[1] = {}, url = database.url): Promise<Ledger> {
  const ledger = await openLedger(url, options)
  opened.push(ledger)
  return ledger
}

/** Another process that holds the lease of run `r` on thread `t`. */
async function startOwner(url = database.url): Promise<{ child: Child; lease: Lease }> {
  const child = startScript(CHILD, url, 'r', 't')
  children.push(child)
  return { child, lease: (await child.next()) as Lease }
}

const statesOf = async (ledger: Ledger): Promise<unknown[]> =>
  (await ledger.leases.list()).map(({ runId, state }) => [runId, state])

describe('R9 the owner of a lease on PostgreSQL', () => {
  it('that is killed loses it at once, and its thread with it', async () => {
    const ledger = await open()
    const { child } = await startOwner()
    await expect(ledger.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    await expect(ledger.leases.acquire(key('next'), 't')).rejects.toThrow('run r is working on thread t')
    await child.kill('SIGKILL')
    // The server has to notice that the connection is gone; nobody waits for a heartbeat.
    await expect.poll(() => statesOf(ledger), POLL).toEqual([['r', 'dead']])
    const next = await ledger.leases.acquire(key('next'), 't')
    expect(next.epoch).toBe(1)
    await ledger.leases.release(next)
    const taken = await ledger.leases.acquire(key('r'), 't')
    expect(taken.epoch).toBe(2)
  })

  it('that closes with leases in hand leaves orphans that are free at once', async () => {
    const ledger = await open()
    const { child } = await startOwner()
    child.tell('close')
    expect(await child.next()).toBe('ok')
    await expect.poll(() => statesOf(ledger), POLL).toEqual([['r', 'dead']])
    expect(await ledger.leases.acquire(key('r'), 't')).toMatchObject({ epoch: 2 })
  })

  it('that is only stopped keeps it for 60 s of the database’s time, then cannot write one event', async () => {
    let aheadMs = 0
    const ledger = await open({ aheadMs: () => aheadMs })
    const { child, lease } = await startOwner()
    child.tell('write')
    expect(await child.next()).toBe('ok')
    child.process.kill('SIGSTOP')
    aheadMs = 50_000
    await expect(ledger.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    aheadMs = 61_000
    expect(await statesOf(ledger)).toEqual([['r', 'stale']])
    expect((await ledger.leases.acquire(key('r'), 't')).epoch).toBe(lease.epoch + 1)
    child.process.kill('SIGCONT')
    for (const what of ['write', 'renew', 'write']) {
      child.tell(what)
      expect(await child.next()).toBe('stale_epoch')
    }
    expect((await ledger.getRun('r'))?.events).toBe(1)
  })

  it('whose clock is wrong by an hour neither loses its lease nor takes another’s', async () => {
    const ports = { ...nodePorts, now: () => Date.now() + 3_600_000 }
    const [right, wrong] = [await open(), await open({ ports })]
    const lease = await wrong.leases.acquire(key('r'), 't')
    await expect(right.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    await wrong.leases.renew(lease)
    await wrong.leases.release(lease)
    const own = await right.leases.acquire(key('r'), 't')
    await expect(wrong.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    expect(Math.abs(Date.parse(own.heartbeatAt) - Date.parse(lease.heartbeatAt))).toBeLessThan(600_000)
  })

  it('whose backend was terminated keeps its lease when its row has followed to the next one', async () => {
    const [owner, other] = [await open(), await open()]
    const lease = await owner.leases.acquire(key('r'), 't')
    const pids = async (): Promise<unknown[]> => database.query('SELECT pid FROM clew.owners')
    const before = await pids()
    await database.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (SELECT pid FROM clew.owners)',
    )
    await expect.poll(pids, POLL).not.toEqual(before)
    await expect.poll(() => statesOf(other), POLL).toEqual([['r', 'alive']])
    await expect(other.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    await owner.leases.renew(lease)
    const event = {
      eventType: 'execution.step_started',
      correlationId: 'r',
      payload: { stepId: 's', name: 's' },
    }
    await owner.append([event], { epoch: lease.epoch })
    expect((await owner.getRun('r'))?.events).toBe(1)
  })

  it('takes no other for dead whose backend is not named', async () => {
    const [owner, other] = [await open(), await open()]
    const lease = await owner.leases.acquire(key('r'))
    await database.query('UPDATE clew.owners SET pid = NULL')
    expect(await statesOf(other)).toEqual([['r', 'alive']])
    await owner.leases.renew(lease)
  })

  it('L3 of many that ask for one thread at once from many connections exactly one gets it, each time', async () => {
    const ledgers = await Promise.all([open(), open(), open(), open()])
    for (let round = 0; round < 15; round++) {
      const tries = await Promise.allSettled(
        Array.from({ length: 24 }, (_, n) =>
          (ledgers[n % 4] as Ledger).leases.acquire(key(n % 2 ? 'r' : `r${n}`), 't'),
        ),
      )
      const won = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const codes = tries.flatMap((each) =>
        each.status === 'rejected' ? [(each.reason as { code?: string }).code] : [],
      )
      expect([won.length, ...new Set(codes)]).toEqual([1, 'busy'])
      expect(await ledgers[0]?.leases.list()).toHaveLength(1)
      await ledgers[1]?.leases.release(won[0] as Lease)
    }
  })
})

describe('R9 leases across a restart of the server', () => {
  let server: PostgresServer
  beforeEach(async () => {
    server = await startServer({ durable: true })
  })
  afterEach(async () => {
    for (const ledger of opened.splice(0)) await ledger.close()
    await server.close()
  })

  it('are not taken from owners that live: a missing backend proves nothing then', async () => {
    const away = await createDatabase({ server: server.url })
    const [owner, other] = [await open({}, away.url), await open({}, away.url)]
    const lease = await owner.leases.acquire(key('r'), 't')
    await server.crash()
    await server.start()
    for (let n = 0; n < 5; n++)
      await expect(other.leases.acquire(key('r'), 't')).rejects.toMatchObject({ code: 'busy' })
    const following = `SELECT count(*)::int AS n FROM clew.owners WHERE server_start = pg_postmaster_start_time()`
    await expect.poll(async () => (await away.query(following))[0]?.['n'], POLL).toBe(2)
    await owner.leases.renew(lease)
    expect(await statesOf(other)).toEqual([['r', 'alive']])
  })
})
