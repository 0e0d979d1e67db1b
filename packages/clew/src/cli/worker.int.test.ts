import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agent, HOUSEKEEPING_RUN_ID, readLastHousekeeping, recordAnswers } from '@clew/runtime'
import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BIN } from '../../test/run-clew.ts'
import { diagnose } from '../diagnose.ts'
import { openLedger } from '../open-ledger.ts'

const CLEW = pathToFileURL(resolve(import.meta.dirname, '../../dist/index.js')).href

const AGENTS = `
import { existsSync, writeFileSync } from 'node:fs'
import { agent } from '${CLEW}'

export const trip = agent('trip', async (run) => {
  const answer = await run.interrupt('Book?')
  return run.step('book', { answer }, () => answer)
})
export const stuck = agent('stuck', async (run) => {
  await run.interrupt('Book?')
  return run.effect('hang', {}, () => {
    if (existsSync('hung')) return 'went on'
    writeFileSync('hung', '')
    // Does not listen to its signal.
    return new Promise((resolve) => setTimeout(resolve, 600_000))
  })
})
`
const asking = (name: string) => agent(name, (run) => run.interrupt('Book?'))

let folder: string
let ledger: Ledger
let started: ChildProcess[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-worker-'))
  writeFileSync(join(folder, 'agents.ts'), AGENTS)
  ledger = await openLedger(`sqlite:${join(folder, 'ledger.db')}`)
  started = []
})
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL')
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
})

function spawned(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { CLEW_WORKSPACE: _, CLEW_DEBUG: __, CLEW_MODE: ___, ...rest } = process.env
  const child = spawn(process.execPath, [BIN, 'worker', ...args], {
    cwd: folder,
    env: { ...rest, CLEW_STORE: ledger.url, COLUMNS: '100', ...env },
  })
  started.push(child)
  return child
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

async function waiting(name: string, runId: string): Promise<void> {
  await asking(name).start(ledger, null, { runId })
  await recordAnswers(ledger, runId, { answer: 'yes' })
}
const hung = () => vi.waitFor(() => expect(existsSync(join(folder, 'hung'))).toBe(true), { timeout: 60_000 })

it('W8 clew worker does housekeeping beside its runs, once among several, and clew doctor shows it', async () => {
  await ledger.append([
    { eventType: 'system.workflow_started', correlationId: 'old', payload: { agent: 'a' } },
    { eventType: 'system.workflow_completed', correlationId: 'old', payload: {} },
  ])
  await ledger.setPolicy({ retention: { rules: [{ name: 'none', newest: 0 }] } }, { by: 'ann' })
  const flags = ['--agent', './agents.ts', '--json']
  const off = spawned([...flags, '--no-housekeeping', '--once'])
  expect((await ended(off)).stdout).toBe('')
  expect(await readLastHousekeeping(ledger)).toBeNull()
  const workers = [spawned(flags), spawned(flags)]
  await vi.waitFor(async () => expect(await readLastHousekeeping(ledger)).not.toBeNull(), 60_000)
  for (const worker of workers) worker.kill('SIGTERM')
  const said = (await Promise.all(workers.map(ended))).map(({ stdout }) => stdout).join('')
  expect(said.match(/"type":"housekeeping"/g)).toHaveLength(1)
  expect((await ledger.getRun(HOUSEKEEPING_RUN_ID))?.events).toBe(1)
  expect(await readLastHousekeeping(ledger)).toMatchObject({
    policy: { source: 'workspace', by: 'ann' },
    runs: 1,
  })
  const { checks } = await diagnose(ledger.url, (work) => work(ledger), 'of the store')
  expect(checks.find(({ name }) => name === 'housekeeping')).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(
      /deleted 2 events of 1 runs and kept 0 by the policy of the workspace set by ann/,
    ),
  })
})

describe('clew worker', () => {
  it('R9 --once goes on with all that waits, tells it line by line, and ends', async () => {
    await waiting('trip', 'trip-1')
    await waiting('trip', 'trip-2')
    await waiting('owl', 'owl-1')
    await asking('trip').start(ledger, null, { runId: 'trip-3' })
    const { code, stdout, stderr } = await ended(spawned(['--agent', './agents.ts', '--once']))
    expect([code, stderr]).toEqual([0, expect.stringContaining('Working on stuck, trip in sqlite:')])
    expect(stdout).toMatch(/▸ taken +trip-1 +trip +was pending\n/)
    expect(stdout).toMatch(/✓ completed +trip-2 +trip +\d/)
    expect(stdout.trim().split('\n')).toHaveLength(4)
    const statuses = (await ledger.listRuns()).runs.map(({ runId, status }) => [runId, status])
    expect(Object.fromEntries(statuses)).toEqual({
      'trip-1': 'completed',
      'trip-2': 'completed',
      'trip-3': 'paused',
      'owl-1': 'pending',
    })
    const idle = await ended(spawned(['--agent', './agents.ts', '--once', '--json']))
    expect(idle).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('R9 --json tells the same as objects; --agent-name narrows it', async () => {
    await waiting('trip', 'trip-1')
    await waiting('stuck', 'stuck-1')
    const args = ['--agent', './agents.ts', '--once', '--json', '--agent-name', 'trip']
    const { code, stdout } = await ended(spawned(args))
    const items = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect([code, items]).toMatchObject([
      0,
      [
        { type: 'taken', runId: 'trip-1', agent: 'trip', why: 'pending', at: expect.any(String) },
        { type: 'ended', runId: 'trip-1', status: 'completed', error: null },
      ],
    ])
    expect((await ledger.getRun('stuck-1'))?.status).toBe('pending')
  })

  it('R9 SIGTERM hands over and ends, also when an effect does not listen; another one goes on at once', async () => {
    await waiting('stuck', 'stuck-1')
    const first = spawned(['--agent', './agents.ts', '--grace', '50'])
    const end = ended(first)
    await hung()
    first.kill('SIGTERM')
    const { code, stdout, stderr } = await end
    expect([code, stderr]).toEqual([0, expect.stringContaining('Shutting down')])
    expect(stdout).toMatch(/! interrupted +stuck-1/)
    expect(await ledger.leases.list()).toEqual([])
    const { stdout: next } = await ended(spawned(['--agent', './agents.ts', '--once']))
    expect(next).toMatch(/▸ taken +stuck-1 +stuck +was interrupted[^]*✓ completed +stuck-1/)
  })

  it('R9 a second signal ends it on the spot', async () => {
    await waiting('stuck', 'stuck-1')
    const child = spawned(['--agent', './agents.ts', '--grace', '600000'])
    const end = ended(child)
    await hung()
    child.kill('SIGINT')
    await once(child.stderr as NonNullable<typeof child.stderr>, 'data')
    child.kill('SIGTERM')
    expect((await end).code).toBe(130)
  })

  it.each([
    ['without agents', [], {}, /needs the agents/],
    [
      'an agent that the module lacks',
      ['--agent', './agents.ts', '--agent-name', 'owl'],
      {},
      /no agent named owl/,
    ],
    ['no concurrency', ['--agent', './agents.ts', '--concurrency', '0'], {}, /concurrency/],
    ['R11 resuming switched off', ['--agent', './agents.ts'], { CLEW_MODE: 'write' }, /resume switched off/],
  ])('refuses %s', async (_, args, env, message) => {
    await waiting('trip', 'trip-1')
    const { code, stderr } = await ended(spawned([...args, '--once'], env))
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
    expect((await ledger.getRun('trip-1'))?.status).toBe('pending')
  })
})
