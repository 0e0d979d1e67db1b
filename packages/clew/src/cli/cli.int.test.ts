import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { foreignType, SCHEMA_VERSION } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, ended, type Ended, LAUNCHER, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import type { Operation } from '../operations/operation.ts'
import { operations } from '../operations.ts'

const SECRET = 'not-a-real-token'

const folder = mkdtempSync(join(tmpdir(), 'clew-cli-'))
const file = (name: string): string => join(folder, name)
const storeOf = (name: string): string => `sqlite:${file(name)}`
const RUN = 'hostile-1'

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess =>
  startNode(folder, [BIN, ...args], env)

const clew = (...args: string[]): Promise<Ended> => ended(start(args, { CLEW_STORE: storeOf('main.db') }))
const on = (store: string, ...args: string[]): Promise<Ended> =>
  ended(start(args, { CLEW_STORE: storeOf(store) }))

/** Nodes of this machine that are too old, if it has any. */
function olderNodes(): string[] {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((each) => join(each, 'node'))
  return found.filter((path) => {
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    return status === 0 && Number.parseInt(stdout.slice(1)) < 24
  })
}

let demoRun = ''

beforeAll(async () => {
  const played = await clew('demo', '--fast', '--json')
  demoRun = (JSON.parse(played.stdout) as { data: { runId: string } }).data.runId

  const ledger = await openLedger(storeOf('main.db'))
  const drive = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\n\u0000'
  const hostile = (eventType: string, payload: Record<string, unknown>) => ({
    eventType,
    correlationId: RUN,
    payload,
  })
  await ledger.append([
    hostile('system.workflow_started', { agent: `agent${drive}`, threadId: drive }),
    hostile('execution.message', { role: drive, content: drive, [drive]: drive }),
    hostile('execution.step_started', { stepId: `s${drive}#0`, name: drive, kind: drive }),
    hostile('execution.step_failed', { stepId: `s${drive}#0`, error: { name: drive, message: drive } }),
    hostile('ui.input_requested', { pauseId: drive, question: drive }),
    hostile('system.workflow_failed', { error: { message: drive } }),
  ])
  await ledger.record({ eventType: 'system.workflow_started', correlationId: 'c1-2J' })
  const many = Array.from({ length: 1000 }, (_, index) => ({
    eventType: 'execution.message' as const,
    correlationId: 'long-run',
    payload: { index, content: `number ${index} `.repeat(10) },
  }))
  await ledger.append(many)
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('A1 --json', () => {
  it.each([
    ['runs', ['runs', '--limit', '2']],
    ['show', ['show', RUN]],
    ['verify', ['verify']],
    ['doctor', ['doctor']],
    ['demo', ['demo', '--fast', '--store', storeOf('demo.db')]],
  ])('clew %s answers with the envelope, and data that fits its operation', async (name, args) => {
    const { code, stdout, stderr } = await clew(...args, '--json')
    expect([code, stderr]).toEqual([0, ''])
    const answer = JSON.parse(stdout) as Record<string, unknown>
    expect(Object.keys(answer)).toEqual(['schema_version', 'command', 'generated_at', 'data'])
    expect(answer).toMatchObject({ schema_version: SCHEMA_VERSION, command: name })
    const operation = (operations as readonly Operation[]).find((each) => each.name === name)
    expect(operation?.output.parse(answer['data'])).toEqual(answer['data'])
  })

  it.each([
    ['events', ['events', RUN, '--limit', '3']],
    ['tail', ['tail', RUN, '--history', '--until-end']],
  ])('clew %s answers with one event of the wire per line', async (name, args) => {
    const { code, stdout } = await clew(...args, '--json')
    expect(code).toBe(0)
    const operation = (operations as readonly Operation[]).find((each) => each.name === name)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(lines.length).toBeGreaterThanOrEqual(3)
    for (const line of lines) expect(operation?.output.parse(line)).toEqual(line)
  })

  it('an error is JSON as well, and a sentence beside it', async () => {
    const { code, stdout, stderr } = await clew('show', 'nobody', '--json')
    expect(code).toBe(2)
    const answer = JSON.parse(stdout) as { command: string; error: Record<string, unknown> }
    expect(answer.command).toBe('show')
    expect(answer.error).toMatchObject({ code: 'not_found', fields: { runId: 'nobody' } })
    expect(Object.keys(answer.error)).toEqual(['code', 'message', 'hint', 'fields'])
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('A1 for people', () => {
  it('runs: a table, and a footer that names the next commands', async () => {
    const { code, stdout } = await clew('runs', '--limit', '3')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^RUN +STATUS +AGENT +STARTED +TOOK +EVENTS +STEPS +TOKENS +COST\n/)
    expect(stdout).toContain('3 runs · clew show ')
    const cursor = /--limit 3 --cursor (\d+)/.exec(stdout)?.[1] ?? ''
    const next = await clew('runs', '--cursor', cursor)
    expect(next.stdout).toContain(demoRun)
    const none = await clew('runs', '--agent', 'nobody')
    expect(none.stdout).toContain('No run matches')
  })

  it('show: status, steps as a tree, attempts, last events', async () => {
    const { stdout } = await clew('show', demoRun)
    expect(stdout).toContain(`${demoRun}  ✓ completed`)
    expect(stdout).toMatch(/✗ search#1 .*503 Service Unavailable\n {2}✓ search#1 .*attempt 2\n {2}└ ✓ read/)
    expect(stdout).toContain(`run ${demoRun}-writer`)
    expect(stdout).toContain(`clew events ${demoRun} · clew verify ${demoRun}`)
    const child = await clew('show', `${demoRun}-w`)
    expect(child.stdout).toMatch(new RegExp(`parent +${demoRun}\n`))
  })

  it('events: filters, pages, whole payloads', async () => {
    const calls = await clew('events', demoRun, '--type', 'execution.tool_call,execution.tool_error')
    expect(calls.stdout.match(/execution\.tool_/g)).toHaveLength(4)
    const page = await clew('events', 'long-run', '--after', '10', '--limit', '2')
    expect(page.stdout).toMatch(/^ +11 .*\n +12 .*\n\n2 events · clew events long-run --after 12\n$/)
    const full = await clew('events', 'long-run', '--limit', '1', '--full')
    expect(full.stdout).toContain('"index": 0,')
  })

  it('tail: follows live, across processes, and ends with 0 on Ctrl-C (L7)', async () => {
    const child = start(['tail', '--json'], { CLEW_STORE: storeOf('main.db') })
    const end = ended(child)
    const ledger = await openLedger(storeOf('main.db'))
    let seen = false
    child.stdout?.on('data', () => (seen = true))
    for (let beat = 0; !seen && child.exitCode === null; beat++) {
      await ledger.record({
        eventType: foreignType('system.beat'),
        correlationId: 'beats',
        payload: { beat },
      })
      await new Promise((done) => setTimeout(done, 100))
    }
    await ledger.close()
    child.kill('SIGINT')
    const { code, stdout, stderr } = await end
    expect([code, stderr]).toEqual([0, ''])
    const beats = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { payload: { beat: number } }).payload.beat)
    expect(beats).toEqual(beats.map((_, at) => (beats[0] ?? 0) + at))
  })

  it('has no colours in a pipe, and nothing of a payload drives the terminal', async () => {
    // oxlint-disable-next-line no-control-regex -- what must not get through
    const drives = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/
    for (const args of [
      ['runs'],
      ['show', RUN],
      ['show', 'c1'],
      ['events', RUN],
      ['events', RUN, '--full'],
      ['events', RUN, '--json'],
      ['tail', RUN, '--history', '--until-end'],
      ['show', RUN, '--json'],
      ['show', 'no\u009b2J\u001b[2J'],
      ['doctor'],
    ]) {
      const { stdout, stderr } = await clew(...args)
      expect([args, drives.exec(stdout + stderr)]).toEqual([args, null])
    }
  })

  it('--help is grouped and has an example, --version is the version', async () => {
    const help = await clew('--help')
    expect([
      help.code,
      help.stdout.match(/^(Get started|Look at runs|Verify and audit|Move and rebuild data):$/gm)?.length,
    ]).toEqual([0, 4])
    const one = await clew('runs', '--help')
    expect([
      one.code,
      one.stdout.includes('Example:\n  $ clew runs'),
      one.stdout.includes('--store'),
    ]).toEqual([0, true, true])
    expect((await clew()).stdout).toBe(help.stdout)
    expect((await clew('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('exit codes', () => {
  it.each([
    ['an unknown command', ['rnus'], "Unknown command 'rnus'. Did you mean runs?"],
    ['an unknown option', ['runs', '--stauts', 'x'], "Unknown option '--stauts'. Did you mean --status?"],
    ['a bad value', ['runs', '--status', 'complete'], 'Did you mean completed?'],
    ['a bad number', ['runs', '--limit', 'many'], '"many" of --limit'],
    ['a bad time', ['runs', '--since', 'soon'], 'The time "soon" cannot be read'],
    ['a bad cursor', ['runs', '--cursor', 'x'], 'The cursor is not one'],
    ['a missing argument', ['show'], "Missing required argument 'run'"],
    [
      'an unknown run',
      ['show', 'hostile-2'],
      'There is no run hostile-2 in workspace default. Did you mean hostile-1?',
    ],
    ['a run that is not clear', ['show', 'demo-'], '2 runs begin with demo-'],
    ['a run in another workspace', ['show', RUN, '--workspace', 'other'], 'in workspace other'],
    ['a bad URL', ['runs', '--store', 'mysql://u:pw@h/db'], 'is not one that Clew can open'],
    ['a file that is not there', ['import', 'nowhere.ndjson'], 'nowhere.ndjson does not exist'],
    ['heads that are none', ['verify', '--heads', BIN], 'not a file of signed heads'],
    ['--until-end of nothing', ['tail', '--until-end'], 'needs a run'],
  ])('2 for %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await clew(...args)
    expect(stderr).toContain(sentence)
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1])
    expect(stderr).not.toMatch(/\n\s+at |pw@/)
  })

  it('3 for a store that is missing, and nothing is made in its place', async () => {
    for (const args of [['runs'], ['show', 'x'], ['verify'], ['export'], ['tail']]) {
      const { code, stderr } = await on('missing/ledger.db', ...args)
      expect([args, code, stderr.includes('There is no ledger at')]).toEqual([args, 3, true])
    }
    expect(existsSync(file('missing'))).toBe(false)
    expect((await on('missing/ledger.db', 'doctor')).code).toBe(1)
  })

  it('3 for a store that is no database, not ours, newer, older, or a folder', async () => {
    writeFileSync(
      file('text.db'),
      'This is only text, and long enough to be looked at as a database.'.repeat(20),
    )
    new DatabaseSync(file('foreign.db')).exec('CREATE TABLE t (a)')
    for (const [name, version] of [
      ['newer.db', 999],
      ['older.db', 12],
    ] as const) {
      copyFileSync(file('main.db'), file(name))
      new DatabaseSync(file(name)).exec(`PRAGMA user_version = ${version}`)
    }
    for (const [store, sentence] of [
      ['text.db', 'is not a SQLite database'],
      ['foreign.db', 'not a Clew ledger'],
      ['newer.db', 'newer version of Clew'],
      ['older.db', 'earlier version of Clew'],
      ['.', 'There is a folder at sqlite:'],
    ] as const) {
      const { code, stderr } = await on(store, 'runs')
      expect(stderr).toContain(sentence)
      expect([code, stderr.trim().split('\n').length]).toEqual([3, 1])
    }
  })

  it('2 and one sentence under an older Node', async () => {
    const said = /^clew needs Node 24 or newer and was started by Node \d+\.\d+\.\d+ .*\n$/
    const pretend =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })"
    const imported = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    const pretended = startNode(folder, [...imported, LAUNCHER, 'runs'])
    expect(await ended(pretended)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) })
    for (const node of olderNodes())
      expect(await ended(spawn(node, [LAUNCHER, 'runs']))).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(said),
      })
  })

  it('a reader that goes early (| head) is no error', async () => {
    for (const args of [['export'], ['events', 'long-run', '--json'], ['events', 'long-run', '--full']]) {
      const child = start(args, { CLEW_STORE: storeOf('main.db') })
      let stderr = ''
      child.stderr?.on('data', (text) => (stderr += String(text)))
      child.stdout?.once('data', () => child.stdout?.destroy())
      const [code] = (await once(child, 'close')) as [number | null]
      expect([args, code, stderr]).toEqual([args, 0, ''])
    }
  })
})

describe('L11 export and import', () => {
  it('a run goes through a file into another store with its hashes', async () => {
    const first = await clew('export', '--run', demoRun, '-o', 'run.ndjson')
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
    const again = await clew('export', '-o', 'run.ndjson')
    expect([again.code, again.stderr.includes('--force')]).toEqual([2, true])
    const imported = await on('copy.db', 'import', 'run.ndjson', '--json')
    expect(JSON.parse(imported.stdout)).toMatchObject({ command: 'import', data: { events: 41, runs: 2 } })
    expect((await on('copy.db', 'verify', '--projections')).code).toBe(0)
    expect((await on('copy.db', 'export')).stdout.replaceAll(/"position":\d+/g, '')).toBe(
      readFileSync(file('run.ndjson'), 'utf8').replaceAll(/"position":\d+/g, ''),
    )
  })

  it('the whole workspace goes through a pipe', async () => {
    const { stdout } = await clew('export')
    const { code, stdout: said } = await ended(start(['import', '-', '--store', storeOf('pipe.db')]), stdout)
    expect([code, said.includes('events of')]).toEqual([0, true])
    expect((await on('pipe.db', 'verify')).code).toBe(0)
  })

  it('a broken line ends with its number and 2', async () => {
    const { code, stderr } = await ended(
      start(['import', '-', '--store', storeOf('broken.db')]),
      '\n{"event_type":1}\n',
    )
    expect([code, /Line 2/.test(stderr)]).toEqual([2, true])
  })
})

describe('clew demo', () => {
  it('P1 records a run that verifies, with a placeholder where the secret was, in no file of the folder', async () => {
    const { code, stdout, stderr } = await ended(
      start(['demo', '--fast', '--store', storeOf('secret/demo.db')]),
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('[redacted:authorization:')
    expect(stdout).toMatch(/✓ \d+ events recorded in .* as demo-/)
    expect((await on('secret/demo.db', 'verify', '--projections')).code).toBe(0)
    const files = readdirSync(file('secret'))
    expect(files).toContain('demo.db')
    for (const name of files)
      expect([name, readFileSync(join(file('secret'), name)).includes(SECRET)]).toEqual([name, false])
    expect(readFileSync(join(file('secret'), 'demo.db')).includes('[redacted:authorization:')).toBe(true)
  })

  it('P1 keeps the secret out of the WAL as well, and ends a run that is stopped', async () => {
    const child = start(['demo', '--terminal', '--store', storeOf('live/demo.db')])
    const end = ended(child)
    let told = ''
    child.stdout?.on('data', (text) => (told += String(text)))
    while (!told.includes('[redacted:')) await new Promise((done) => setTimeout(done, 50))
    const files = readdirSync(file('live'))
    expect(files).toContain('demo.db-wal')
    for (const name of files)
      expect([name, readFileSync(join(file('live'), name)).includes(SECRET)]).toEqual([name, false])
    child.kill('SIGINT')
    expect((await end).code).toBe(0)
    const { stdout } = await on('live/demo.db', 'runs', '--status', 'stopped')
    expect(stdout).toContain('■ stopped')
  })
})

it('the library loads nothing of the command line, and a store only when it is opened', async () => {
  const watch = `
    import { registerHooks } from 'node:module'
    const seen = []
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found } })
    const { openLedger } = await import('clew')
    await (await openLedger('memory:')).close()
    console.log(seen.join('\\n'))`
  const args = ['--conditions=@clew/source', '--input-type=module', '--eval', watch]
  const { stdout } = await ended(spawn(process.execPath, args, { cwd: import.meta.dirname }))
  expect(stdout).toContain('packages/clew/src/open-ledger.ts')
  expect(stdout).not.toMatch(/commander|\/cli\/|operations|readline|packages\/(?:sqlite|postgres|server)\//)
})
