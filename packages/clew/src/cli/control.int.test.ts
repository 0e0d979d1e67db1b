import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AGENTS } from '../../test/controlled-agents.ts'
import { createControlledRuns, type Shown } from '../../test/controlled-runs.ts'
import { BIN, ended } from '../../test/run-clew.ts'

const runs = createControlledRuns()
const { calls, clew, data, file, folder, grown, spawned, started, starting, statusOf, store } = runs

/** Gives a program a terminal. */
const SCRIPT = '/usr/bin/script'

beforeAll(async () => {
  await Promise.all([
    started('trip', 'trip-12', { to: 'Oslo' }),
    started('trip', 'trip-13', { to: 'Bergen' }),
  ])
})
afterAll(() => runs.remove())

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

describe('P2 a run that was killed after it had read a .env file', () => {
  const key = ['sk', 'ant', 'api03', 'a1B2c3D4e5'.repeat(9)].join('-')
  const before = `HOST=db\nANTHROPIC_API_KEY=${key}\n`
  const withKey = (...args: string[]) => ended(spawned([BIN, ...args], { LOST_KEY: key, OTHER: 'no secret' }))

  it('does not write placeholders into it: it asks, shows why, and goes on with the secret from the environment', async () => {
    writeFileSync(file('.env'), before)
    const worker = starting('dotenv', 'env-1')
    // Its start, the file that was read, and the look at which it hangs.
    await grown('env-1', 4)
    worker.kill('SIGKILL')
    await once(worker, 'close')

    const asked = await clew('resume', 'env-1', '--agent', './agents.ts')
    expect([asked.code, asked.stderr]).toEqual([0, ''])
    expect(readFileSync(file('.env'), 'utf8')).toBe(before)
    const shown = await clew('show', 'env-1')
    expect(shown.stdout).toMatch(/WARNINGS\n +The code was given text .* at \$ of step read#0/)
    expect(shown.stdout).toMatch(/The input of save has the placeholder[^]*secrets \/ perform \/ abort/)

    const wrong = await withKey('resume', 'env-1', '--agent', 'agents.ts', '--secrets-env', 'LOST_KEY,OTHER')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('number 2')])
    const unset = await withKey('resume', 'env-1', '--agent', 'agents.ts', '--secrets-env', 'NOT_SET')
    expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('NOT_SET')])
    expect(await statusOf('env-1')).toBe('paused')

    const done = await withKey('resume', 'env-1', '--agent', 'agents.ts', '--secrets-env', 'LOST_KEY')
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(done.stdout).not.toContain(key)
    expect(readFileSync(file('.env'), 'utf8')).toBe(`${before}DEBUG=1\n`)
    expect(readFileSync(file('ledger.db')).includes(key)).toBe(false)
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
    expect(stdout).toContain('when a process with trip resumes it')
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
      expect([code, stdout]).toEqual([0, expect.stringContaining('has not stopped the run yet')])
      expect((await clew('show', 'slow-4')).stdout).toMatch(/stop +requested/)
    } finally {
      worker.kill('SIGKILL')
      await once(worker, 'close')
    }
  })
})
