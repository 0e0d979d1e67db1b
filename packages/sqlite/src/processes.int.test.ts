import { describe, expect, it } from 'vitest'
import type { Lease, Ports } from '@clew/ledger'
import { nodePorts, openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'

const here = withChildren()

interface Followed {
  seen: number
  wrong: string
  seqs: Record<string, number>
}

describe('several processes on one file', () => {
  it.each([
    [3, 20_000],
    [2, 50_000],
  ])(
    'L3 L7 %i writers append %i events each while another follows all, with no gap and no repeat',
    async (writers, each) => {
      await openLedger(here.file).close()
      const follower = here.start('follow', here.file, writers * each)
      const appenders = Array.from({ length: writers }, (_, who) =>
        here.start('append', here.file, who, each),
      )
      expect(await follower.next()).toBe('following')
      expect(await Promise.all(appenders.map((child) => child.next()))).toEqual(appenders.map(() => 'done'))
      const followed = (await follower.next()) as Followed
      expect(followed.wrong).toBe('')
      expect(followed.seen).toBe(writers * each)
      const own = Array.from({ length: writers }, (_, who) => [`run-${who}`, (each * 3) / 4])
      expect(followed.seqs).toEqual({ ...Object.fromEntries(own), shared: (writers * each) / 4 })
      const ledger = openLedger(here.file)
      expect((await ledger.stats()).events).toBe(writers * each)
      expect((await ledger.getRun('shared'))?.events).toBe((writers * each) / 4)
      expect((await ledger.verify('run-0')).ok).toBe(true)
      await ledger.close()
    },
  )
})

describe('R9 the owner of a lease', () => {
  const key = { workspace: 'default', runId: 'r' }

  it('that is killed loses it at once', async () => {
    const ledger = openLedger(here.file)
    const owner = here.start('lease', here.file, 'r', 't')
    expect(await owner.next()).toMatchObject({ runId: 'r', epoch: 1 })
    await expect(ledger.leases.acquire(key, 't')).rejects.toMatchObject({ code: 'busy' })
    await owner.kill('SIGKILL')
    expect(await ledger.leases.list()).toMatchObject([{ runId: 'r', state: 'dead' }])
    const lease = await ledger.leases.acquire(key, 't')
    expect(lease.epoch).toBe(2)
    await ledger.leases.release(lease)
    await ledger.close()
  })

  it('that is killed frees its thread for another run at once', async () => {
    const ledger = openLedger(here.file)
    const owner = here.start('lease', here.file, 'r', 't')
    await owner.next()
    await expect(ledger.leases.acquire({ ...key, runId: 'next' }, 't')).rejects.toMatchObject({
      code: 'busy',
    })
    await owner.kill('SIGKILL')
    expect(await ledger.leases.acquire({ ...key, runId: 'next' }, 't')).toMatchObject({ epoch: 1 })
    await ledger.close()
  })

  it('that is only stopped keeps it for 60 s, then loses it, and cannot write one event when it goes on', async () => {
    let offsetMs = 0
    const ports: Ports = { ...nodePorts, now: () => Date.now() + offsetMs }
    const ledger = openLedger(here.file, { ports })
    const owner = here.start('lease', here.file, 'r', 't')
    const lost = (await owner.next()) as Lease
    owner.tell('write')
    expect(await owner.next()).toBe('ok')
    owner.process.kill('SIGSTOP')
    offsetMs = 50_000
    await expect(ledger.leases.acquire(key, 't')).rejects.toMatchObject({ code: 'busy' })
    offsetMs = 61_000
    expect(await ledger.leases.list()).toMatchObject([{ runId: 'r', state: 'stale' }])
    const taken = await ledger.leases.acquire(key, 't')
    expect(taken.epoch).toBe(lost.epoch + 1)
    owner.process.kill('SIGCONT')
    for (const what of ['write', 'renew', 'write']) {
      owner.tell(what)
      expect(await owner.next()).toBe('stale_epoch')
    }
    expect((await ledger.getRun('r'))?.events).toBe(1)
    owner.tell('end')
    await ledger.close()
  })

  it('in the same process is known by its ledger, not by its process', async () => {
    const [one, two] = [openLedger(here.file), openLedger(here.file)]
    const lease = await one.leases.acquire(key)
    await expect(two.leases.acquire(key)).rejects.toMatchObject({ code: 'busy' })
    expect(await two.leases.list()).toMatchObject([{ owner: lease.owner, state: 'alive' }])
    await one.close()
    expect(await two.leases.list()).toMatchObject([{ owner: lease.owner, state: 'dead' }])
    expect((await two.leases.acquire(key)).epoch).toBe(2)
    await two.close()
  })
})
