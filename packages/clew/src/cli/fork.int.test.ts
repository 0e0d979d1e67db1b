import { SCHEMA_VERSION } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlledRuns, type Shown } from '../../test/controlled-runs.ts'
import { ended, LAUNCHER } from '../../test/run-clew.ts'
import type { Operation } from '../operations/operation.ts'
import { operations } from '../operations.ts'

const runs = createControlledRuns()
const { calls, clew, data, spawned, started, statusOf } = runs

beforeAll(async () => {
  await Promise.all([
    started('trip', 'trip-12', { to: 'Oslo' }),
    started('chat', 'chat-7', { notes: ['hello'] }, { threadId: 'ann' }),
  ])
  await clew('resume', 'trip-12', '--answer', 'yes', '--agent', 'agents.ts')
})
afterAll(() => runs.remove())

describe('clew state and clew steps of a graph', () => {
  it('R4 types and sizes by default, values by key', async () => {
    const { stdout } = await clew('state', 'chat-7', '--superstep', '1')
    expect(stdout).toMatch(/superstep 1 \(of 0 to 3\), then think/)
    expect(stdout).toMatch(/\* notes {2}list of 2\n\* turns {2}number 1\n/)
    const input = await data<{ channels: { name: string; changed: boolean }[]; state: unknown }>(
      'state',
      'chat-7',
      '--superstep',
      '0',
    )
    expect([input.channels.map(({ name, changed }) => [name, changed]), input.state]).toEqual([
      [
        ['notes', true],
        ['turns', false],
      ],
      null,
    ])
    const key = await data<{ state: unknown }>('state', 'chat-7', '--key', 'turns')
    expect(key.state).toEqual({ turns: 3 })
    const full = await data<{ state: { notes: string[] } }>('state', 'chat-7', '--full')
    expect(full.state.notes).toEqual(['hello', 'thought 0', 'thought 1', 'thought 2'])
    expect((await clew('state', 'trip-12')).stdout).toContain('clew steps trip-12')
  })

  it('R2 supersteps, and only those that are asked for', async () => {
    expect((await clew('steps', 'chat-7')).stdout).toMatch(/^SEQ +SUPERSTEP +STEP/)
    expect((await clew('steps', 'trip-12')).stdout).not.toContain('SUPERSTEP')
    const ids = async (...args: string[]) =>
      (await data<{ steps: { stepId: string }[] }>('steps', 'chat-7', ...args)).steps.map(
        ({ stepId }) => stepId,
      )
    expect(await ids('--superstep', '2')).toEqual(['think@s2'])
    expect(await ids('--superstep', '4')).toEqual(['ask@s4', 'ask@s4/interrupt#0'])
    expect(await ids('--node', 'ask')).toEqual(['ask@s4'])
  })
})

describe('R7 clew fork and clew lineage', () => {
  it('a fork without its agent waits to be resumed', async () => {
    const before = await data('show', 'trip-12')
    const { code, stdout } = await clew('fork', 'trip-12', '--at', 'choose', '--as', 'trip-12b')
    expect([code, stdout]).toEqual([0, expect.stringContaining('clew resume trip-12b --agent MODULE')])
    expect(await statusOf('trip-12b')).toBe('pending')
    const { stdout: again } = await clew('resume', 'trip-12b', '--agent', 'agents.ts')
    expect(again).toContain('Book HAT136 to Oslo?')
    expect(calls('search trip-12b')).toBe(0)
    expect(await data('show', 'trip-12')).toEqual(before)
  })

  it('with its agent it runs at once, with another input if there is one', async () => {
    const fork = await data<Shown & { output: unknown }>(
      'fork',
      'trip-12',
      '--at',
      'seq:1',
      '--input',
      '{"to":"Oulu"}',
      '--as',
      'trip-12c',
      '--agent',
      'agents.ts',
    )
    expect(fork.run).toMatchObject({
      runId: 'trip-12c',
      status: 'paused',
      forkedFrom: { runId: 'trip-12', seq: 1 },
    })
    expect((await clew('show', 'trip-12c')).stdout).toContain('Book HAT136 to Oulu?')
  })

  it('R7 says beforehand what a fork keeps, performs and asks', async () => {
    const { stdout } = await clew('preview', 'trip-12', '--at', 'search')
    expect(stdout).toContain('keeps 0 steps of trip-12')
    expect(stdout).toMatch(/live +search/)
    expect(stdout).toMatch(/asks +nothing/)
  })

  it('R7 replaces one recorded value', async () => {
    const replace = JSON.stringify({ step: 'search', output: ['HAT999'] })
    await clew('fork', 'trip-12', '--replace', replace, '--as', 'trip-12r', '--agent', 'agents.ts')
    expect((await clew('show', 'trip-12r')).stdout).toContain('Book HAT999 to')
  })

  it('parts after the superstep that is named, in functions as in graphs', async () => {
    await clew('fork', 'chat-7', '--at', '2', '--as', 'chat-7b')
    const graph = await data<{ superstep: number; next: string[] }>('state', 'chat-7b')
    expect(graph).toMatchObject({ superstep: 2, next: ['think'] })
    await clew('fork', 'trip-12', '--at', '1', '--as', 'trip-12d')
    const { steps } = await data<{ steps: { nodeName: string }[] }>('steps', 'trip-12d')
    expect(steps.map(({ nodeName }) => nodeName)).toEqual(['search'])
  })

  it('a graph goes on from another state', async () => {
    const state = JSON.stringify({ turns: 5, notes: ['edited'] })
    const { code, stdout } = await clew(
      'fork',
      'chat-7',
      '--at',
      '0',
      '--state',
      state,
      '--as',
      'chat-7c',
      '--agent',
      'agents.ts',
    )
    expect([code, stdout]).toEqual([0, expect.stringContaining('◆ paused  chat-7c')])
    const full = await data<{ state: unknown }>('state', 'chat-7c', '--full')
    expect(full.state).toEqual({ turns: 6, notes: ['edited', 'thought 5'] })
  })

  it('shows what came from what', async () => {
    const { stdout } = await clew('lineage', 'trip-12')
    expect(stdout).toMatch(/^trip-12 +. \w+ +first · trip/)
    expect(stdout).toMatch(/└ trip-12b +◆ paused +fork at seq \d+, choose#0/)
    expect(stdout).toMatch(/└ trip-12c +◆ paused +fork at seq 1, with another input/)
    await started('parent', 'parent-2')
    const child = await clew('lineage', 'parent-2')
    expect(child.stdout).toContain('└ parent-2/trip#0')
    expect(await data('lineage', 'trip-12c')).toEqual(await data('lineage', 'trip-12'))

    const thread = await data<{ runs: { runId: string; parted: object | null; isNewest: boolean }[] }>(
      'lineage',
      '--thread',
      'ann',
    )
    expect(thread.runs.map(({ runId, isNewest }) => [runId, isNewest])).toEqual([
      ['chat-7', false],
      ['chat-7b', false],
      ['chat-7c', true],
    ])
    expect(thread.runs[1]?.parted).toMatchObject({ superstep: 2, edited: null })
    expect(thread.runs[2]?.parted).toMatchObject({ superstep: 0, edited: 'state' })
  })
})

it('clew runs does not load what only agents need', async () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) })`
  const { stderr } = await ended(
    spawned(['--import', `data:text/javascript,${encodeURIComponent(hook)}`, LAUNCHER, 'runs']),
  )
  expect(stderr).toContain('commands/runs.ts')
  // The Node ports are a few lines that every store is opened with.
  const agents = /packages\/runtime\/src\/(?!node-ports|machine\/call-context)|clew\/src\/control\//
  expect(stderr.split('\n').filter((url) => agents.test(url))).toEqual([])
})

describe('A1 --json', () => {
  it.each([
    ['lineage', ['lineage', 'trip-12']],
    ['state', ['state', 'chat-7', '--full']],
    ['fork', ['fork', 'trip-12', '--as', 'trip-json']],
    ['preview', ['preview', 'trip-12', '--at', 'choose']],
    ['stop', ['stop', 'trip-json']],
    ['resume', ['resume', 'trip-12c', '--answer', 'no', '--agent', 'agents.ts']],
    ['show', ['show', 'trip-12c']],
  ])('clew %s answers with the envelope, and data that fits its operation', async (name, args) => {
    const { code, stdout, stderr } = await clew(...args, '--json')
    expect([code, stderr]).toEqual([0, ''])
    const answer = JSON.parse(stdout) as Record<string, unknown>
    expect(answer).toMatchObject({ schema_version: SCHEMA_VERSION, command: name })
    const operation = (operations as readonly Operation[]).find((each) => each.name === name)
    expect(operation?.output.parse(answer['data'])).toEqual(answer['data'])
  })
})
