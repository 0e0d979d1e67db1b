import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SCHEMA_VERSION } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import type { Operation } from '../operations/operation.ts'
import { operations } from '../operations.ts'

const BIN = resolve(import.meta.dirname, '../../bin/clew.mjs')
const CLEW = pathToFileURL(resolve(import.meta.dirname, '../index.ts')).href
const folder = mkdtempSync(join(tmpdir(), 'clew-control-'))
const file = (name: string): string => join(folder, name)
const store = `sqlite:${file('ledger.db')}`

/** Gives a program a terminal. */
const SCRIPT = '/usr/bin/script'

const AGENTS = `
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, append, END, interrupt, last, START, StateGraph } from '${CLEW}'

const trip = agent('trip', async (run, input: { to: string }) => {
  const flights = await run.effect('search', input, () => {
    appendFileSync('calls.txt', 'search ' + run.runId + '\\n')
    return ['HAT136', 'HAT201']
  })
  const pick = await run.step('choose', { flights }, ({ flights }) => flights[0])
  const answer = await run.interrupt({ question: 'Book ' + pick + ' to ' + input.to + '?', options: ['yes', 'no'] })
  return { booked: answer === 'yes' ? pick : null, to: input.to }
})
export { trip, trip as default }

export const slow = agent('slow', async (run) => {
  for (let page = 1; page <= 5; page++)
    await run.effect('read', { page }, async (_, { signal }) => {
      appendFileSync('calls.txt', 'read ' + page + '\\n')
      if (page === Number(process.env['HANG_AT'])) await sleep(60_000, undefined, { signal })
      return page
    })
  return 'all read'
})

export const form = agent('form', (run) =>
  run.interrupt({ question: 'Who?', schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } }))

export const two = agent('two', (run) => Promise.all([run.interrupt('first?'), run.interrupt('second?')]))

export const broken = agent('broken', async (run) => {
  await run.interrupt('go?')
  return run.step('use', {}, () => {
    if (!existsSync('thing')) throw new TypeError('no such thing')
    return 'used'
  })
})

export const parent = agent('parent', (run) => run.child(trip, { to: 'Rome' }))

export const chat = new StateGraph({ notes: append<string>(), turns: last(0) })
  .addNode('think', (state) => ({ notes: ['thought ' + state.turns], turns: state.turns + 1 }))
  .addNode('ask', async () => ({ notes: [String(await interrupt({ question: 'Go on?', options: ['yes', 'no'] }))] }))
  .addEdge(START, 'think')
  .addConditionalEdges('think', (state) => (state.turns % 3 === 0 ? 'ask' : 'think'), ['think', 'ask'])
  .addEdge('ask', END)
  .compile({ name: 'chat' })

export const twin = agent('twin', () => 1)
export const twin2 = agent('twin', () => 2)
`

const START = `
import { openLedger } from '${CLEW}'
import * as agents from './agents.ts'
const [name, input, options] = process.argv.slice(2)
const ledger = await openLedger('${store}')
const found = agents[name]
const given = [JSON.parse(input), JSON.parse(options)]
const { status } = name === 'chat' ? await found.withCheckpointer(ledger).invoke(...given) : await found.start(ledger, ...given)
console.log(status)
await ledger.close()
`

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function spawned(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { CLEW_WORKSPACE: _, CLEW_DEBUG: __, CLEW_MODE: ___, ...rest } = process.env
  return spawn(process.execPath, args, {
    cwd: folder,
    env: { ...rest, CLEW_STORE: store, COLUMNS: '100', ...env },
    timeout: 60_000,
  })
}

async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin?.end()
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const clew = (...args: string[]): Promise<Ended> => ended(spawned([BIN, ...args]))
const inMode = (mode: string, ...args: string[]): Promise<Ended> =>
  ended(spawned([BIN, ...args], { CLEW_MODE: mode }))

const starting = (name: string, runId: string, input: unknown = null, options: object = {}): ChildProcess =>
  spawned(
    [
      '--conditions=@clew/source',
      'start.ts',
      name,
      JSON.stringify(input),
      JSON.stringify({ runId, ...options }),
    ],
    { HANG_AT: '3' },
  )

async function started(...args: Parameters<typeof starting>): Promise<void> {
  const { code, stderr } = await ended(starting(...args))
  expect([code, stderr]).toEqual([0, ''])
}

/** Resolves when the run has recorded so many events. */
async function grown(runId: string, events: number): Promise<void> {
  const ledger = await openLedger(store, { create: false })
  try {
    for await (const event of ledger.follow({ runId, signal: AbortSignal.timeout(30_000) }))
      if (event.ledger.seq >= events) return
    throw new Error(`run ${runId} did not grow`)
  } finally {
    await ledger.close()
  }
}

interface Shown {
  readonly run: { readonly runId: string; readonly status: string; readonly events: number }
}

async function data<T = Shown>(...args: string[]): Promise<T> {
  const { stdout } = await clew(...args, '--json')
  return (JSON.parse(stdout) as { data: T }).data
}

const statusOf = async (runId: string): Promise<string> => (await data('show', runId)).run.status
const calls = (what: string): number =>
  readFileSync(file('calls.txt'), 'utf8')
    .split('\n')
    .filter((line) => line === what).length

beforeAll(async () => {
  writeFileSync(file('agents.ts'), AGENTS)
  writeFileSync(file('start.ts'), START)
  writeFileSync(file('calls.txt'), '')
  writeFileSync(file('empty.ts'), 'export const answer = 42\n')
  writeFileSync(file('torn.ts'), 'export const answer = \n')
  writeFileSync(file('lost.ts'), "export * from './gone.ts'\n")
  writeFileSync(file('throws.ts'), "throw new Error('not today')\n")
  await Promise.all([
    started('trip', 'trip-12', { to: 'Oslo' }),
    started('trip', 'trip-13', { to: 'Bergen' }),
    started('chat', 'chat-7', { notes: ['hello'] }, { threadId: 'ann' }),
  ])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('R5 a run that was killed', () => {
  it('is shown as such, and clew resume goes on exactly there', async () => {
    const worker = starting('slow', 'slow-1')
    // Start, then two pages with two events each; the third is under way.
    await grown('slow-1', 6)
    worker.kill('SIGKILL')
    await once(worker, 'close')

    expect((await clew('runs', '--agent', 'slow')).stdout).toContain('running (owner dead)')
    expect((await clew('doctor')).stdout).toContain('clew resume slow-1 --agent MODULE')
    const shown = await clew('show', 'slow-1')
    expect(shown.stdout).toMatch(/owner .*dead: the run can be resumed by anyone/)

    const { code, stdout, stderr } = await clew('resume', 'slow-1', '--agent', './agents.ts')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /system\.workflow_resumed[^]*execution\.step_completed +read#4[^]*✓ completed {2}slow-1/,
    )
    expect(stdout).toContain('"all read"')
    expect([calls('read 1'), calls('read 2'), calls('read 4'), calls('read 5')]).toEqual([1, 1, 1, 1])
    expect(await statusOf('slow-1')).toBe('completed')
  })

  it('Ctrl-C leaves a run where it is, to be resumed at once', async () => {
    const worker = starting('slow', 'slow-2')
    await grown('slow-2', 6)
    worker.kill('SIGKILL')
    await once(worker, 'close')
    const resuming = spawned([BIN, 'resume', 'slow-2', '--agent', 'agents.ts'], { HANG_AT: '5' })
    const end = ended(resuming)
    // Resumed, the third page again, the fourth, and the fifth begun.
    await grown('slow-2', 13)
    resuming.kill('SIGINT')
    const { code, stderr } = await end
    expect(code).toBe(130)
    expect(stderr).toContain('clew resume slow-2')
    expect(['running', 'interrupted']).toContain(await statusOf('slow-2'))
    expect((await clew('resume', 'slow-2', '--agent', 'agents.ts')).stdout).toContain('✓ completed  slow-2')
  })
})

describe('R6 clew resume brings answers', () => {
  it('shows the question and the line that answers it', async () => {
    const { stdout } = await clew('show', 'trip-12')
    expect(stdout).toContain('Book HAT136 to Oslo? (yes / no)\n    clew resume trip-12 --answer yes\n')
  })

  it('a wrong answer changes nothing', async () => {
    const before = (await data('show', 'trip-12')).run.events
    for (const more of [[], ['--agent', 'agents.ts']]) {
      const { code, stderr } = await clew('resume', 'trip-12', '--answer', 'maybe', ...more)
      expect([code, stderr]).toEqual([2, expect.stringContaining('none of "yes", "no"')])
    }
    expect((await data('show', 'trip-12')).run).toMatchObject({ events: before, status: 'paused' })
  })

  it('without the agent the answer is recorded, once, and whoever has it takes the run up', async () => {
    const { code, stdout } = await clew('resume', 'trip-12', '--answer', 'yes', '--by', 'ann')
    expect(code).toBe(0)
    expect(stdout).toContain('somebody who has trip takes it up')
    const again = await clew('resume', 'trip-12', '--answer', 'no')
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('Nothing was changed')])
    const alone = await clew('resume', 'trip-12')
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('only its agent trip')])

    const done = await data<Shown & { output: unknown; worked: boolean }>(
      'resume',
      'trip-12',
      '--agent',
      'agents.ts',
    )
    expect(done).toMatchObject({
      worked: true,
      output: { booked: 'HAT136', to: 'Oslo' },
      run: { status: 'completed' },
    })
    expect(calls('search trip-12')).toBe(1)
    const { stdout: events } = await clew('events', 'trip-12', '--type', 'ui.input_received')
    expect(events.match(/yes by ann/g)).toHaveLength(1)
  })

  it('an answer is JSON where it can be, and is held to its schema', async () => {
    await started('form', 'form-1')
    const text = await clew('resume', 'form-1', '--answer', 'ann', '--agent', 'agents.ts')
    expect([text.code, text.stderr]).toEqual([2, expect.stringContaining('answer is not object')])
    const short = await clew('resume', 'form-1', '--answer', '{"nick":"a"}', '--agent', 'agents.ts')
    expect(short.stderr).toContain('answer.name is missing')
    const right = await clew('resume', 'form-1', '--answer', '{"name":"ann"}', '--agent', 'agents.ts')
    expect([right.code, right.stdout]).toEqual([0, expect.stringContaining('{ name: "ann" }')])
  })

  it('of several questions one is named', async () => {
    await started('two', 'two-1')
    const { code, stderr } = await clew('resume', 'two-1', '--answer', '1')
    expect([code, stderr]).toEqual([2, expect.stringContaining('has 2 open questions')])
    const { run } = await data<{ run: { pauses: { pauseId: string }[] } }>('show', 'two-1')
    const [first = '', second = ''] = run.pauses.map(({ pauseId }) => pauseId)
    expect((await clew('resume', 'two-1', '--pause', first, '--answer', '1')).stdout).toContain('1 more')
    const done = await clew('resume', 'two-1', '--pause', second, '--answer', '2', '--agent', 'agents.ts')
    expect(done.stdout).toContain('[1, 2]')
  })

  it('a child run goes on inside its parent', async () => {
    await started('parent', 'parent-1')
    const { code, stderr } = await clew(
      'resume',
      'parent-1/trip#0',
      '--answer',
      'yes',
      '--agent',
      'agents.ts',
    )
    expect([code, stderr]).toEqual([2, expect.stringContaining('clew resume parent-1')])
    const done = await clew('resume', 'parent-1', '--answer', 'no', '--agent', 'agents.ts')
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('to: "Rome"')])
  })

  it('exit code 1 for a run that fails', async () => {
    await started('broken', 'broken-1')
    const { code, stdout } = await clew('resume', 'broken-1', '--answer', 'go', '--agent', 'agents.ts')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /✗ failed {2}broken-1[^]*no such thing[^]*clew fork broken-1 --retry --agent agents\.ts/,
    )

    writeFileSync(file('thing'), '')
    const retried = await clew('fork', 'broken-1', '--retry', '--as', 'broken-2', '--agent', 'agents.ts')
    expect([retried.code, retried.stdout]).toEqual([0, expect.stringContaining('✓ completed  broken-2')])
    expect((await clew('lineage', 'broken-1')).stdout).toMatch(/└ broken-2 +✓ completed +retry at /)
  })

  it.skipIf(!existsSync(SCRIPT))(
    'asks the person at the terminal (needs the program `script` for one)',
    async () => {
      await started('trip', 'trip-tty', { to: 'Rome' })
      const command = `${process.execPath} ${BIN} resume trip-tty --agent agents.ts`
      const env = { ...process.env, CLEW_STORE: store, CLEW_MODE: '', NO_COLOR: '1' }
      const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], { cwd: folder, env, timeout: 60_000 })
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text
        if (text.includes('❯')) child.stdin.write('2\n')
      })
      await once(child, 'close')
      expect(shown).toMatch(/\? Book HAT136 to Rome\?\r?\n +1 +yes\r?\n +2 +no/)
      expect(shown).toContain('booked: null')
    },
  )
})

describe('D2 code that has changed', () => {
  it('blocks the run with exit code 1, and a fork goes on before the place where they part', async () => {
    await started('trip', 'trip-old', { to: 'Oslo' })
    const changed = AGENTS.replace("run.step('choose'", "run.step('pick'").replace(
      "['think', 'ask'])",
      "['think', 'ask', END])",
    )
    writeFileSync(file('changed.ts'), changed)
    const { code, stdout } = await clew('resume', 'trip-old', '--answer', 'yes', '--agent', 'changed.ts')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /◆ blocked {2}trip-old[^]*diverged +missing[^]*expected[^]*received[^]*clew explain trip-old/,
    )
    const forked = await clew(
      'fork',
      'trip-old',
      '--at',
      'choose#0',
      '--as',
      'trip-new',
      '--agent',
      'changed.ts',
    )
    expect([forked.code, forked.stdout]).toEqual([0, expect.stringContaining('◆ paused  trip-new')])
    expect(calls('search trip-new')).toBe(0)
  })

  it('a changed graph refuses to resume, and a fork says what it takes over', async () => {
    await started('chat', 'chat-old', { notes: ['hello'] })
    const { code, stderr } = await clew('resume', 'chat-old', '--answer', 'yes', '--agent', 'changed.ts')
    expect([code, stderr]).toEqual([2, expect.stringContaining('has changed since run chat-old began')])
    const fork = await clew('fork', 'chat-old', '--at', '2', '--agent', 'changed.ts')
    expect([fork.code, fork.stdout]).toEqual([0, expect.stringMatching(/note +The graph has changed/)])
  })
})

describe('R9 clew stop', () => {
  it('stops a run that waits', async () => {
    const { code, stdout } = await clew('stop', 'trip-13', '--reason', 'sold out', '--by', 'ann')
    expect([code, stdout]).toEqual([0, expect.stringContaining('■ stopped  trip-13')])
    expect(await statusOf('trip-13')).toBe('stopped')
    const again = await clew('stop', 'trip-13')
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is stopped')])
  })

  it('has a run stopped that another process works on', async () => {
    const worker = starting('slow', 'slow-3')
    const end = ended(worker)
    await grown('slow-3', 6)
    const { stdout } = await clew('stop', 'slow-3')
    expect(stdout).toContain('■ stopped  slow-3')
    expect((await end).stdout.trim()).toBe('stopped')
  })

  it('says when the owner has not done it yet', async () => {
    const worker = starting('slow', 'slow-4')
    await grown('slow-4', 6)
    worker.kill('SIGSTOP')
    try {
      const { code, stdout } = await clew('stop', 'slow-4', '--wait', '200')
      expect([code, stdout]).toEqual([0, expect.stringContaining('has not done so yet')])
      expect((await clew('show', 'slow-4')).stdout).toMatch(/stop +requested/)
    } finally {
      worker.kill('SIGKILL')
      await once(worker, 'close')
    }
  })
})

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
      [['notes', true]],
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

describe('exit codes and refusals', () => {
  // Each only asks and is refused, so they need not wait for each other.
  it.concurrent.each([
    ['an unknown run', ['resume', 'trap-12', '--agent', 'agents.ts'], 'Did you mean trip-12'],
    ['a run that is not clear', ['stop', 'trip-'], 'runs begin with trip-'],
    ['a run to fork that is not there', ['fork', 'nobody'], 'There is no run nobody'],
    ['a completed run', ['resume', 'trip-12', '--agent', 'agents.ts'], 'there is nothing to resume'],
    ['an answer to a completed run', ['resume', 'trip-12', '--answer', 'yes'], 'asks nothing any more'],
    ['a module that is not there', ['resume', 'chat-7', '--agent', './gone.ts'], 'gone.ts does not exist'],
    ['a folder', ['resume', 'chat-7', '--agent', '.'], 'is no file'],
    ['a package that is not there', ['resume', 'chat-7', '--agent', 'no-such-package'], 'There is no module'],
    ['a module without agents', ['resume', 'chat-7', '--agent', 'empty.ts'], 'exports no agent and no graph'],
    [
      'a module that cannot be read',
      ['resume', 'chat-7', '--agent', 'torn.ts'],
      'cannot be loaded: SyntaxError',
    ],
    ['a module that lacks another one', ['resume', 'chat-7', '--agent', 'lost.ts'], 'gone.ts'],
    [
      'a module that throws',
      ['resume', 'chat-7', '--agent', 'throws.ts'],
      'cannot be loaded: Error: not today',
    ],
    ['lineage of nothing', ['lineage'], 'Name a run or a thread'],
    ['a state for a function', ['fork', 'trip-12', '--state', '{}', '--agent', 'agents.ts'], 'is a function'],
    ['a state without the graph', ['fork', 'chat-7', '--state', '{}'], 'Only its agent chat'],
    ['a retry somewhere else', ['fork', 'trip-12', '--retry', '--at', 'choose'], 'begins where it failed'],
    ['a retry of what went well', ['fork', 'trip-12', '--retry', '--agent', 'agents.ts'], 'has not failed'],
    ['a step that is not there', ['fork', 'trip-12', '--at', 'nowhere'], 'has no step nowhere'],
    ['a seq that is not there', ['fork', 'trip-12', '--at', 'seq:999'], 'has no event 999'],
  ])('2 for %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await clew(...args)
    expect(stderr).toContain(sentence)
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1])
  })

  it('2 for an agent that the module has not, or has twice', async () => {
    const ledger = await openLedger(store)
    for (const agent of ['nobody', 'twin'])
      await ledger.record({
        eventType: 'system.workflow_started',
        correlationId: `of-${agent}`,
        payload: { agent },
      })
    await ledger.close()
    const none = await clew('resume', 'of-nobody', '--agent', 'agents.ts')
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringMatching(/has none of that name.*chat, .*trip/),
    ])
    const both = await clew('resume', 'of-twin', '--agent', 'agents.ts')
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('2 agents named twin')])
  })

  it.each(['resume', 'stop', 'fork'])(
    '3 for a store that is missing, and clew %s makes none',
    async (name) => {
      const { code } = await clew(name, 'trip-12', '--store', `sqlite:${file('typo.db')}`)
      expect([code, existsSync(file('typo.db'))]).toEqual([3, false])
    },
  )
})

describe('R11 switches', () => {
  it('CLEW_MODE=read: history is read, nothing is touched', async () => {
    expect((await inMode('read', 'show', 'chat-7')).code).toBe(0)
    expect((await inMode('read', 'state', 'chat-7')).code).toBe(0)
    for (const args of [
      ['resume', 'chat-7', '--answer', 'yes'],
      ['stop', 'chat-7'],
      ['fork', 'chat-7'],
    ]) {
      const { code, stderr } = await inMode('read', ...args)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining('switched off')])
    }
    expect(await statusOf('chat-7')).toBe('paused')
  })

  it('CLEW_MODE=write: answers are recorded, but no run goes on', async () => {
    const { code, stderr } = await inMode(
      'write',
      'resume',
      'chat-7',
      '--answer',
      'yes',
      '--agent',
      'agents.ts',
    )
    expect([code, stderr]).toEqual([2, expect.stringContaining('resume switched off')])
    expect(await statusOf('chat-7')).toBe('paused')
  })

  it('a mode that there is not is refused', async () => {
    const { code, stderr } = await inMode('wrote', 'runs')
    expect([code, stderr]).toEqual([2, expect.stringContaining('CLEW_MODE names "wrote"')])
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
    spawned(['--import', `data:text/javascript,${encodeURIComponent(hook)}`, BIN, 'runs']),
  )
  expect(stderr).toContain('commands/runs.ts')
  // The Node ports are a few lines that every store is opened with.
  const agents = /packages\/runtime\/src\/(?!node-ports)|clew\/src\/control\//
  expect(stderr.split('\n').filter((url) => agents.test(url))).toEqual([])
})

describe('A1 --json', () => {
  it.each([
    ['lineage', ['lineage', 'trip-12']],
    ['state', ['state', 'chat-7', '--full']],
    ['fork', ['fork', 'trip-12', '--as', 'trip-json']],
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
