import { agent, requestPause, requestResume, signal } from '@clew/runtime'
import { openLedger } from 'clew'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { flawsOf } from './worlds.ts'

it('W3 W7 on SQLite, from another connection: a waiting run wakes, is paused and resumed, and its rows are sound', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-signals-'))
  const url = `sqlite:${join(folder, 'ledger.db')}`
  const [mine, other] = [await openLedger(url), await openLedger(url)]
  onTestFinished(async () => {
    await mine.close()
    await other.close()
    rmSync(folder, { recursive: true })
  })
  const until = (status: string): Promise<void> =>
    vi.waitFor(async () => expect((await other.getRun('r'))?.status).toBe(status), { timeout: 60_000 })
  const collects = agent('collects', async (run) => [
    await run.receive('a'),
    await run.select((on) => ({ b: on.signal('b'), late: on.timer(3_600_000) })),
  ])
  const going = collects.start(mine, null, { runId: 'r' })
  await until('paused')
  await signal(other, 'r', 'a', { n: 1 }, { id: '1' })
  await vi.waitFor(async () => expect((await other.getRun('r'))?.awaits).toEqual([{ name: 'b' }]), {
    timeout: 60_000,
  })
  await requestPause(other, 'r', { reason: 'look first' })
  expect((await going).status).toBe('paused')
  await signal(other, 'r', 'b', 2)
  expect((await requestResume(other, 'r')).status).toBe('pending')
  expect((await collects.resume(other, 'r')).output).toEqual([{ n: 1 }, { branch: 'b', value: 2 }])
  expect(await flawsOf(mine, 'r')).toEqual([])
})
