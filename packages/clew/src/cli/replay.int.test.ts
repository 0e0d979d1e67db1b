import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { explain } from '../operations/explain.ts'
import { replay } from '../operations/replay.ts'
import type { ReplayAnswer } from '../operations/replay-schema.ts'

const CLEW = pathToFileURL(resolve(import.meta.dirname, '../../dist/index.js')).href
const folder = mkdtempSync(join(tmpdir(), 'clew-replay-'))
const store = `sqlite:${join(folder, 'ledger.db')}`
const KEY = `sk-ant-api03-${'a1B2c3D4'.repeat(10)}AA`

/** `outside.txt` counts calls that left the record. */
const agents = (pick: string, rule: string): string => `
import { appendFileSync } from 'node:fs'
import { agent, append, END, last, START, StateGraph } from '${CLEW}'
const outside = <T>(value: T): T => (appendFileSync('outside.txt', 'x'), value)

export const hotel = agent('hotel', (run, nights: number) => run.effect('reserve', { nights }, () => outside(12)))
export const trip = agent('trip', async (run, input: { to: string; mail: string }) => {
  const flights = await run.effect('search', { to: input.to, key: '${KEY}' }, () => outside(['HAT136', 'HAT201']))
  const pick = await run.step('choose', { flights }, ({ flights }) => flights[${pick}])
  const room = await run.child(hotel, 2)
  await run.effect('notify', { mail: input.mail, pick }, ({ mail }) => outside({ sent: mail }), { key: input.mail })
  return { pick, room, at: run.now() }
})
export const odd = agent('odd', async (run, city: string) => {
  const answer = await run.effect('forecast', { city }, () => outside<{ hours: number[] | null }>({ hours: null }))
  const degrees = await run.step('coldest', answer, ({ hours }) => ${rule})
  return run.effect('tell', { degrees }, () => outside('told'), { safety: 'read' })
})
export const down = agent('down', (run) => run.effect('call', {}, () => { outside(0); throw new Error('503') }))
export const chat = new StateGraph({ notes: append<string>(), turns: last(0) })
  .addNode('think', async ({ turns }, run) => ({ notes: await run.effect('ask', { turns }, () => outside('n' + turns)), turns: turns + 1 }))
  .addEdge(START, 'think')
  .addConditionalEdges('think', ({ turns }) => (turns % 2 === 1 ? 'think' : END), ['think', END])
  .compile({ name: 'chat' })
`

const RECORD = `
import { openLedger } from '${CLEW}'
import { chat, down, odd, trip } from './agents.ts'
const ledger = await openLedger('${store}')
await trip.start(ledger, { to: 'Rome', mail: 'ann.owl@example.org' }, { runId: 'trip-1' })
await odd.start(ledger, 'Rome', { runId: 'odd-1' })
await down.start(ledger, null, { runId: 'down-1' })
for (const turn of [1, 2]) await chat.withCheckpointer(ledger).invoke({ notes: ['turn ' + turn] }, { threadId: 'talk', runId: 'turn-' + turn })
await ledger.record({ eventType: 'execution.message', correlationId: 'loose', payload: { content: 'of nobody' } })
await ledger.close()
`

const node = (args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  ended(startNode(folder, args, { CLEW_STORE: store, COLUMNS: '100', ...env }), input)

const clew = (...args: string[]): Promise<Ended> => node([BIN, ...args])
const calls = (): number => readFileSync(join(folder, 'outside.txt'), 'utf8').length

async function answer(...args: string[]): Promise<ReplayAnswer> {
  const { stdout } = await clew('replay', ...args, '--json')
  return replay.output.parse((JSON.parse(stdout) as { data: unknown }).data)
}

async function position(): Promise<number> {
  const ledger = await openLedger(store, { readOnly: true })
  try {
    return await ledger.lastPosition()
  } finally {
    await ledger.close()
  }
}

beforeAll(async () => {
  writeFileSync(join(folder, 'agents.ts'), agents('0', 'Math.min(...(hours as number[]))'))
  writeFileSync(join(folder, 'changed.ts'), agents('1', 'hours && Math.min(...hours)'))
  writeFileSync(join(folder, 'record.ts'), RECORD)
  const { code, stderr } = await node(['record.ts'])
  expect([code, stderr]).toEqual([0, ''])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Before anything goes on live: what a changed agent made is not what this one would do.
describe('all runs', () => {
  it('D5 of a store: one line each, what was left out, exit code 1 when one diverged', async () => {
    const good = await clew('replay', '--all', '--agent', './agents.ts')
    expect([good.code, good.stderr]).toEqual([0, ''])
    for (const runId of ['trip-1', 'odd-1', 'down-1', 'turn-1', 'turn-2'])
      expect(good.stdout).toMatch(new RegExp(`✓ identical {2}${runId} `))
    expect(good.stdout).toMatch(/✓ \d+ runs: \d+ identical/)
    expect(good.stdout).toMatch(/1 run left out: of no agent/)
    expect(good.stdout).not.toContain('hotel ')

    const bad = await clew('replay', '--all', '--agent', './changed.ts', '--agent-name', 'trip')
    expect(bad.code).toBe(1)
    expect(bad.stdout).toMatch(/✗ diverged {3}trip-1 +output at choose#0/)
    expect(bad.stdout).toContain('✗ 1 run: 0 identical, 1 diverged')
  })

  it('D5 takes the filters of runs, and says so when nothing was replayed', async () => {
    const data = await answer('--all', '--agent', './agents.ts', '--limit', '2', '--since', '1h')
    expect(data.runs).toHaveLength(2)
    const none = await clew('replay', '--all', '--agent', './agents.ts', '--agent-name', 'nobody')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('No run')])
  })

  it('D5 P1 of a folder of fixtures, which hold no secrets and all they need', async () => {
    mkdirSync(join(folder, 'fixtures'))
    for (const runId of ['trip-1', 'odd-1', 'turn-2']) {
      const { code, stderr } = await clew(
        'export',
        '--run',
        runId,
        '--redacted',
        '-o',
        `fixtures/${runId}.ndjson`,
      )
      expect([code, stderr]).toEqual([0, ''])
    }
    const text = readFileSync(join(folder, 'fixtures/trip-1.ndjson'), 'utf8')
    for (const secret of [KEY, 'ann.owl', 'example.org']) expect(text).not.toContain(secret)
    const before = calls()
    const good = await clew(
      'replay',
      '--all',
      'fixtures',
      '--agent',
      './agents.ts',
      '--store',
      'sqlite:none.db',
    )
    expect([good.code, good.stderr]).toEqual([0, ''])
    expect(good.stdout).toContain('✓ 3 runs: 3 identical')
    const bad = await clew('replay', '--all', 'fixtures', '--agent', './changed.ts')
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining('✗ 3 runs: 1 identical, 2 diverged')])
    const one = await answer('--all', 'fixtures/turn-2.ndjson', '--agent', './agents.ts')
    expect(one.runs.map(({ runId, file }) => [runId, file])).toEqual([['turn-2', 'fixtures/turn-2.ndjson']])
    expect(calls()).toBe(before)

    const other = await clew(
      'replay',
      '--all',
      'fixtures',
      '--agent',
      './agents.ts',
      '--agent-name',
      'nobody',
    )
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('No run can be replayed')])
    mkdirSync(join(folder, 'empty'))
    const none = await clew('replay', '--all', 'empty', '--agent', './agents.ts')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('holds no fixture')])
  })
})

describe('one run', () => {
  it('D1 D7 is identical with the code that made it, asks nothing outside and writes nothing', async () => {
    const before = [calls(), await position()]
    for (const [runId, steps] of Object.entries({ 'trip-1': 4, 'turn-2': 4 })) {
      const { code, stdout, stderr } = await clew('replay', runId, '--agent', './agents.ts')
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain(`✓ identical  ${runId}  ${steps} step`)
      expect(stdout).toContain(`clew export --run ${runId} --redacted`)
    }
    expect([calls(), await position()]).toEqual(before)
  })

  it('D2 A1 diverges with changed code: exit code 1, the step, both sides, and what to do', async () => {
    const before = [calls(), await position()]
    const { code, stdout } = await clew('replay', 'trip-1', '--agent', './changed.ts')
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ diverged {2}trip-1/)
    expect(stdout).toMatch(
      /output: the same code gave something else\n {2}at choose#0, event \d+ of the record/,
    )
    expect(stdout).toMatch(/- "?HAT136"?\n.*\+ "?HAT201"?/)
    expect(stdout).toContain("$ clew replay trip-1 --mode what-if --at 'choose#0' --agent ./changed.ts")
    const data = await answer('trip-1', '--agent', './changed.ts')
    expect(data).toMatchObject({ verdict: 'diverged', identical: 0, diverged: 1 })
    expect(data.runs[0]?.report?.divergences[0]).toMatchObject({ kind: 'output', stepId: 'choose#0' })
    expect([calls(), await position()]).toEqual(before)
  })

  it('D2 takes volatile places', async () => {
    const { code, stdout } = await clew(
      'replay',
      'trip-1',
      '--agent',
      './changed.ts',
      '--volatile',
      'output,input.pick,output.pick',
    )
    expect([code, stdout.split('\n')[0]]).toEqual([0, expect.stringContaining('✓ identical')])
  })

  it('D1 reconstruct executes nothing', async () => {
    const before = calls()
    const { code, stdout } = await clew('replay', 'trip-1', '--mode', 'reconstruct')
    expect([code, stdout]).toEqual([0, expect.stringContaining('✓ identical (reconstruct)  trip-1')])
    expect(calls()).toBe(before)
  })

  it('D1 what-if goes on live from the step and is compared with its source', async () => {
    const before = calls()
    const { code, stdout, stderr } = await clew(
      'replay',
      'odd-1',
      '--mode',
      'what-if',
      '--at',
      'coldest',
      '--agent',
      './changed.ts',
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/- odd-1 {2}✗ failed\n\+ \S+ {2}✓ completed/)
    expect(stdout).toContain('FIRST DIVERGENCE')
    expect(calls()).toBe(before + 1)
  })

  it('D1 keeps its report as a run, if asked to', async () => {
    const data = await answer('trip-1', '--agent', './agents.ts', '--keep')
    const kept = data.runs[0]?.report?.runId
    expect(kept).toEqual(expect.any(String))
    const { code, stdout } = await clew('show', kept ?? '')
    expect([code, stdout]).toEqual([0, expect.stringContaining('trip-1')])
  })

  it('A1 wrong use ends with 2, a missing store with 3, each with one sentence', async () => {
    for (const [args, says] of [
      [['trip-1'], 'Name the module'],
      [[], 'No run was named'],
      [['trip-1', '--agent', './agents.ts', '--mode', 're-exec'], 'Did you mean re-execute'],
      [['trip-1', '--agent', './agents.ts', '--volatile', 'at'], 'does not begin with input or output'],
      [['--all', '--mode', 'what-if', '--agent', './agents.ts'], 'one run at a time'],
      [['loose', '--agent', './agents.ts'], 'is one of no agent'],
    ] as const) {
      const { code, stderr } = await clew('replay', ...args)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(says)])
    }
    const { code } = await clew('replay', 'x', '--agent', './agents.ts', '--store', 'sqlite:none.db')
    expect(code).toBe(3)
  })

  it('A1 reads ids from a pipe, and the worst of their exit codes counts', async () => {
    const { code, stdout } = await node([BIN, 'replay', '-', '--agent', './changed.ts'], 'down-1\ntrip-1\n')
    expect(code).toBe(1)
    expect(stdout).toMatch(/✓ identical {2}down-1[^]*✗ diverged {2}trip-1/)
  })

  it('R11 is refused where replaying is switched off', async () => {
    const { code, stderr } = await node([BIN, 'replay', 'trip-1', '--agent', './agents.ts'], '', {
      CLEW_MODE: 'write,resume',
    })
    expect([code, stderr]).toEqual([2, expect.stringContaining('switched off')])
  })
})

describe('clew explain', () => {
  it('D2 says how to find out whether it happens again', async () => {
    const { code, stdout } = await clew('explain', 'odd-1')
    expect([code, stdout]).toEqual([0, expect.stringContaining('clew explain odd-1 --agent MODULE')])
  })

  it('D2 says whether it happens again, at which step, and whether it came from outside', async () => {
    const before = [calls(), await position()]
    const own = await clew('explain', 'odd-1', '--agent', './agents.ts')
    expect([own.code, own.stdout]).toEqual([
      0,
      expect.stringContaining('✓ reproduced at coldest#0: the code fails the same way'),
    ])
    const outside = await clew('explain', 'down-1', '--agent', './agents.ts')
    expect(outside.stdout).toContain('✓ reproduced at call#0: recorded results are restored')
    const mended = await clew('explain', 'odd-1', '--agent', './changed.ts')
    expect(mended.stdout).toMatch(/✗ today’s code diverges from the record\n +output at coldest#0/)
    expect([calls(), await position()]).toEqual(before)
  })

  it('D1 goes on live only when told to, and says what that changed', async () => {
    const before = calls()
    const { code, stdout } = await clew('explain', 'odd-1', '--agent', './changed.ts', '--fork')
    expect(code).toBe(0)
    expect(stdout).toMatch(/WHAT IF {2}✓ completed/)
    expect(calls()).toBe(before + 1)
    const json = await clew('explain', 'odd-1', '--agent', './agents.ts', '--json')
    const { data } = JSON.parse(json.stdout) as { data: unknown }
    expect(explain.output.parse(data)).toMatchObject({
      replay: { verdict: 'identical', reproduced: true, outside: false, divergence: null },
      whatIf: null,
    })
    const refused = await clew('explain', 'odd-1', '--fork')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--agent')])
  })
})
