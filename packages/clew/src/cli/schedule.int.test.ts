import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemRunId } from '@clew/ledger'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { scheduleList, scheduleSet, scheduleShow } from '../operations/schedule.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-schedule-'))
const url = `sqlite:${join(folder, 'ledger.db')}`
const CLEW = pathToFileURL(resolve(import.meta.dirname, '../../dist/index.js')).href
const started: ChildProcess[] = []

const clew = (...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: url, COLUMNS: '120', TZ: 'UTC' }), '')
const json = async (...args: readonly string[]): Promise<unknown> =>
  JSON.parse((await clew(...args, '--json')).stdout).data

beforeAll(() =>
  writeFileSync(
    join(folder, 'agents.ts'),
    `import { agent } from '${CLEW}'\nexport const owl = agent('owl', async (run, input) => input)\n`,
  ),
)
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function worker(): ChildProcess {
  const child = spawn(
    process.execPath,
    [BIN, 'worker', '--agent', './agents.ts', '--json', '--no-housekeeping'],
    {
      cwd: folder,
      env: { ...process.env, CLEW_STORE: url },
      stdio: 'ignore',
    },
  )
  started.push(child)
  return child
}

it('W5 clew schedule sets, lists, shows, pauses, resumes and removes, and says when it is due', async () => {
  expect((await clew('schedule', 'list')).code).not.toBe(0)
  const set = ['schedule', 'set', 'report', '--agent-name', 'owl', '--cron', '0 9 1 1 *', '--time-zone']
  const made = await clew(...set, 'Europe/Berlin', '--input', '{"n":1}', '--tag', 'team=red', '--by', 'ann')
  expect(made.stdout).toMatch(/^✓ report is active: 0 9 1 1 \* Europe\/Berlin, owl, next \d{4}-01-01 08:00/)
  expect(made.stdout).toContain('clew schedule show report')
  const { schedules } = scheduleList.output.parse(await json('schedule', 'list'))
  expect(schedules).toMatchObject([
    { id: 'report', definition: { input: { n: 1 }, tags: { team: 'red' }, catchUp: 'skip' }, by: 'ann' },
  ])
  expect((await clew('schedule', 'list')).stdout).toMatch(/report\s+active\s+owl\s+0 9 1 1 \* Europe\/Berlin/)
  const shown = await clew('schedule', 'show', 'report')
  expect(shown.stdout).toMatch(/input\s+\{"n":1\}/)
  expect(scheduleShow.output.parse(await json('schedule', 'show', 'report')).next).toHaveLength(3)
  const { next } = (await json('schedule', 'next', 'report', '--count', '4')) as { next: string[] }
  expect(next.map((time) => time.slice(4))).toEqual(Array(4).fill('-01-01T08:00:00.000Z'))

  expect((await clew('schedule', 'pause', 'report')).stdout).toMatch(/^○ report is paused: .*next –/)
  expect((await clew('schedule', 'resume', 'report', '--by', 'ann')).stdout).toMatch(/^✓ report is active/)
  expect((await clew('schedule', 'remove', 'report')).stdout).toMatch(/^○ report is removed/)
  expect((await clew('schedule', 'list')).stdout).toMatch(/^There is no schedule/)
  expect(scheduleList.output.parse(await json('schedule', 'list', '--removed')).schedules).toHaveLength(1)

  for (const [args, says] of [
    [['set', 'x', '--agent-name', 'owl', '--cron', '0 0 30 2 *'], 'is never due'],
    [
      ['set', 'x', '--agent-name', 'owl', '--cron', '@daily', '--time-zone', 'Berlin'],
      'There is no time zone',
    ],
    [['set', 'x', '--agent-name', 'owl', '--every', 'soon'], 'out of range'],
    [['set', 'x', '--agent-name', 'owl'], 'one of cron, every and at'],
    [['set', 'a b', '--agent-name', 'owl', '--every', '1h'], 'does not fit'],
    [['show', 'none'], 'There is no schedule none'],
    [['pause', 'report'], 'There is no schedule report'],
  ] as const) {
    const { code, stderr } = await clew('schedule', ...args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(says)])
  }
})

it('W5 two workers, one of them killed, make one run of each second, and no second is lost', async () => {
  const ledger = await openLedger(url)
  const workers = [worker(), worker()]
  await scheduleSet.run(ledger, {
    scheduleId: 'often',
    agent: 'owl',
    every: '1s',
    catchUp: 'all',
    input: 'hoot',
  })
  const runs = async () => (await ledger.listRuns({ q: 'schedule:often status:completed', limit: 1000 })).runs
  await vi.waitFor(async () => expect((await runs()).length).toBeGreaterThan(2), {
    timeout: 60_000,
    interval: 200,
  })
  workers[0]?.kill('SIGKILL')
  const before = (await runs()).length
  await vi.waitFor(async () => expect((await runs()).length).toBeGreaterThan(before + 2), {
    timeout: 60_000,
    interval: 200,
  })
  workers[1]?.kill('SIGTERM')
  if (workers[1]) await once(workers[1], 'exit')
  const fired: { readonly nominalAt: string; readonly runId: string }[] = []
  for await (const { eventType, payload } of ledger.read(systemRunId('schedule', 'often')))
    if (eventType === 'system.schedule_fired') fired.push(payload as unknown as (typeof fired)[number])
  const times = fired.map(({ nominalAt }) => Date.parse(nominalAt))
  expect(times).toEqual(times.map((_, index) => (times[0] as number) + 1000 * index))
  expect(new Set(fired.map(({ runId }) => runId)).size).toBe(fired.length)
  for (const { runId } of fired) expect((await ledger.getRun(runId))?.agent).toBe('owl')
  expect((await ledger.listRuns({ q: 'schedule:often', limit: 1000 })).runs).toHaveLength(fired.length)
  await ledger.close()
})
