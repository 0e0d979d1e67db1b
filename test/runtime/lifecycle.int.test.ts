import { once } from 'node:events'
import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leaseRun } from '../../packages/runtime/src/lifecycle/lease-run.ts'
import { requestStop } from '../../packages/runtime/src/lifecycle/request-stop.ts'
import { sweep } from '../../packages/runtime/src/lifecycle/sweep.ts'
import { makeFolder, openLedger, removeFolder } from '../../packages/sqlite/test/harness.ts'
import { nodePorts } from '../../packages/ledger/test/node-ports.ts'
import { type Child, startScript } from '../../packages/sqlite/test/start-child.ts'

const SCRIPT = new URL('lifecycle-child.ts', import.meta.url).pathname
const RUN = { runId: 'r', threadId: 't' }

let folder: string
let ledger: Ledger
let offsetMs: number
let children: Child[]
const start = (...args: readonly string[]): Child => {
  const [command = '', ...rest] = args
  const child = startScript(SCRIPT, command, join(folder, 'clew.db'), ...rest)
  children.push(child)
  return child
}

beforeEach(() => {
  folder = makeFolder()
  offsetMs = 0
  ledger = openLedger(join(folder, 'clew.db'), {
    ports: { ...nodePorts, now: () => Date.now() + offsetMs },
  })
  children = []
})
afterEach(async () => {
  for (const child of children) await child.kill()
  await ledger.close()
  removeFolder(folder)
})

const typesOf = async (runId: string): Promise<string[]> => {
  const types: string[] = []
  for await (const { eventType } of ledger.read(runId)) types.push(eventType)
  return types
}

describe('R9 an owner in another process, on SQLite', () => {
  it('R9 that is killed with SIGKILL is replaced at once', async () => {
    const owner = start('hold', 'r', 't')
    expect(await owner.next()).toEqual({ epoch: 1 })
    await expect(leaseRun(ledger, RUN)).rejects.toMatchObject({ code: 'busy' })
    const next = leaseRun(ledger, { ...RUN, onBusy: 'wait' })
    await owner.kill('SIGKILL')
    const hold = await next
    expect(hold.epoch).toBe(2)
    await hold.release()
  })

  it('R9 that is killed leaves a run that a sweep marks interrupted, once, whoever sweeps', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    const sweepers = [start('sweep'), start('sweep')]
    for (const sweeper of sweepers) expect(await sweeper.next()).toBe('ready')
    expect(await sweep(ledger)).toEqual([])
    await owner.kill('SIGKILL')
    for (const sweeper of sweepers) sweeper.tell('now')
    const swept = await Promise.all([sweep(ledger), ...sweepers.map((each) => each.next())])
    expect(swept.flat()).toEqual(['r'])
    expect(await typesOf('r')).toEqual(['system.workflow_started', 'system.workflow_interrupted'])
    expect(await ledger.leases.list()).toEqual([])
  })

  it('R9 that is killed frees its thread for the next run at once, and is not forgotten', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    await owner.kill('SIGKILL')
    const hold = await leaseRun(ledger, { runId: 'next', threadId: 't' })
    expect((await ledger.getRun('r'))?.status).toBe('interrupted')
    await hold.release()
  })

  it('R9 that was stopped for longer than 60 s aborts when it goes on, and cannot write one event', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    owner.tell('write')
    expect(await owner.next()).toBe('ok')
    owner.process.kill('SIGSTOP')
    offsetMs = 50_000
    await expect(leaseRun(ledger, RUN)).rejects.toMatchObject({ code: 'busy' })
    offsetMs = 61_000
    const hold = await leaseRun(ledger, RUN)
    expect(hold.epoch).toBe(2)
    owner.tell('write')
    owner.process.kill('SIGCONT')
    const answers = [await owner.next(), await owner.next()]
    expect(answers).toContainEqual({ aborted: 'stale_epoch' })
    expect(answers).toContain('stale_epoch')
    expect(await typesOf('r')).toEqual(['system.workflow_started', 'execution.step_started'])
    expect(hold.signal.aborted).toBe(false)
    await hold.release()
  })

  it('R9 that was stopped for a while and not replaced goes on', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    owner.process.kill('SIGSTOP')
    offsetMs = 61_000
    expect(await ledger.leases.list()).toMatchObject([{ runId: 'r', state: 'stale' }])
    offsetMs = 0
    owner.process.kill('SIGCONT')
    owner.tell('write')
    expect(await owner.next()).toBe('ok')
  })

  it('R9 hears a stop request and ends its run', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    const stopping = requestStop(ledger, 'r', { reason: 'too dear', by: 'ann' })
    expect(await owner.next()).toEqual({ aborted: 'stopped' })
    owner.tell('stop')
    expect(await owner.next()).toBe('stopped')
    expect((await stopping).status).toBe('stopped')
  })

  it('R9 that dies while it is asked to stop is stopped by whoever asked', async () => {
    const owner = start('hold', 'r', 't')
    await owner.next()
    owner.tell('write')
    await owner.next()
    const stopping = requestStop(ledger, 'r', { reason: 'too dear' })
    expect(await owner.next()).toEqual({ aborted: 'stopped' })
    await owner.kill('SIGKILL')
    expect((await stopping).status).toBe('stopped')
    expect((await typesOf('r')).slice(-2)).toEqual(['execution.step_stopped', 'system.workflow_stopped'])
  })

  it('R9 is not kept alive by a hold or a sweeper', async () => {
    const idle = start('idle', 'r', 't')
    const ended = once(idle.process, 'exit')
    expect(await idle.next()).toBe('idle')
    idle.process.stdin.end()
    expect(await ended).toEqual([0, null])
    expect((await leaseRun(ledger, RUN)).epoch).toBe(2)
  })

  it('R9 several that wait for one thread each get their turn', async () => {
    const mine = await leaseRun(ledger, RUN)
    const turns = ['a', 'b', 'c'].map((runId) => start('turn', runId, 't'))
    await mine.release()
    expect(await Promise.all(turns.map((child) => child.next()))).toEqual(['ok', 'ok', 'ok'])
    expect(await ledger.leases.list()).toEqual([])
  })
})
