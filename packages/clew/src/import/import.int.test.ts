import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClewEvent, Ledger } from '@clew/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, ended, type Ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (...args: string[]): ChildProcess => startNode(folder, [BIN, ...args])
const clew = (args: string[], input?: string): Promise<Ended> => ended(start(...args), input)

const dataOf = ({ stdout }: Ended): Record<string, unknown> =>
  (JSON.parse(stdout) as { data: Record<string, unknown> }).data

async function withStore<T>(name: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(`sqlite:${join(folder, name)}`, { readOnly: true })
  try {
    return await work(ledger)
  } finally {
    await ledger.close()
  }
}

async function allEvents(ledger: Ledger): Promise<ClewEvent[]> {
  const { runs } = await ledger.listRuns({ limit: 1000 })
  const events: ClewEvent[] = []
  for (const { runId } of runs.toSorted((a, b) => (a.runId < b.runId ? -1 : 1)))
    for await (const event of ledger.read(runId)) events.push(event)
  return events
}

/** Chats of many shapes and lengths, without a clock or chance. */
function makeChat(nth: number): { task_id: number; traj: Record<string, unknown>[] } {
  const traj: Record<string, unknown>[] = [{ role: 'system', content: 'Be brief. '.repeat(nth % 7) }]
  for (let turn = 0; turn < 1 + (nth % 5); turn++) {
    traj.push({ role: 'user', content: `Question ${nth}.${turn}: wo ist der Flughafen? ✈ 東京` })
    const calls = Array.from({ length: (nth + turn) % 4 }, (_, call) => ({
      id: `call_${call}`,
      type: 'function',
      function: { name: `tool_${call}`, arguments: JSON.stringify({ nth, turn, call }) },
    }))
    if (calls.length > 0) traj.push({ role: 'assistant', content: null, tool_calls: calls })
    for (const { id } of calls.toReversed())
      traj.push({ role: 'tool', tool_call_id: id, content: `{"answer":"${id} ${nth}.${turn}"}` })
    traj.push({ role: 'assistant', content: `Answer ${nth}.${turn}` })
  }
  return { task_id: nth, traj }
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

const CHATS = Array.from({ length: 40 }, (_, nth) => makeChat(nth))
const SOURCE = join(folder, 'chats.ndjson')

beforeAll(() => {
  writeFileSync(SOURCE, CHATS.map((chat) => `${JSON.stringify(chat)}\n`).join(''))
})

describe('A3 openai-chat', () => {
  it('has the messages, calls, results and characters that the file has, and right causes', async () => {
    const ended = await clew([
      'import',
      '--format',
      'openai-chat',
      SOURCE,
      '--store',
      'sqlite:sums.db',
      '--json',
    ])
    expect([ended.code, ended.stderr]).toEqual([0, ''])

    // Counted from the bytes of the file, by nothing that the import uses.
    const text = readFileSync(SOURCE, 'utf8')
    const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length
    const expected = {
      user: count(/"role":"user"/g),
      system: count(/"role":"system"/g),
      assistant: count(/"role":"assistant"/g),
      calls: count(/"type":"function"/g),
      results: count(/"role":"tool"/g),
      chars: CHATS.flatMap((chat) => chat.traj).reduce((sum, { content }) => sum + lengthOf(content), 0),
    }
    const events = await withStore('sums.db', allEvents)
    const of = (type: string): ClewEvent[] => events.filter((event) => event.eventType === type)
    const byRole = (role: string): number =>
      of('execution.message').filter((event) => event.payload['role'] === role).length
    const said = [...of('execution.message'), ...of('execution.tool_result')]
    expect({
      user: byRole('user'),
      system: byRole('system'),
      assistant: byRole('assistant'),
      calls: of('execution.tool_call').length,
      results: of('execution.tool_result').length,
      chars: said.reduce(
        (sum, { payload }) => sum + lengthOf(payload['content']) + lengthOf(payload['result']),
        0,
      ),
    }).toEqual(expected)

    const calls = new Map(of('execution.tool_call').map((event) => [event.eventId, event]))
    for (const { causationId, payload } of of('execution.tool_result')) {
      const asked = calls.get(causationId ?? '')?.payload as {
        toolCallId: string
        arguments: { nth: number; turn: number }
      }
      expect(payload['result']).toBe(
        `{"answer":"${asked.toolCallId} ${asked.arguments.nth}.${asked.arguments.turn}"}`,
      )
    }
    expect(dataOf(ended)).toMatchObject({ runs: 40, events: events.length, passed: 0, refusedTotal: 0 })
    expect(await withStore('sums.db', (ledger) => ledger.verify())).toMatchObject({ ok: true })
  })

  it('L4 imported again changes nothing', async () => {
    const before = await withStore('sums.db', allEvents)
    const again = await clew([
      'import',
      '--format',
      'openai-chat',
      SOURCE,
      '--store',
      'sqlite:sums.db',
      '--json',
    ])
    expect(dataOf(again)).toMatchObject({ events: before.length, passed: before.length })
    expect(await withStore('sums.db', allEvents)).toEqual(before)
  })

  it('L5 killed in the middle and done again is the same as done once', async () => {
    const child = start(
      'import',
      '--format',
      'openai-chat',
      '-',
      '--run',
      'chats',
      '--store',
      'sqlite:killed.db',
    )
    const half = CHATS.slice(0, 17).map((chat) => `${JSON.stringify(chat)}\n`)
    child.stdin?.write(half.join(''))
    const there = async (): Promise<number> =>
      withStore('killed.db', async (ledger) => (await ledger.stats()).runs).catch(() => 0)
    while ((await there()) < 3) await new Promise((done) => setTimeout(done, 20))
    child.kill('SIGKILL')
    await once(child, 'close')
    const args = ['import', '--format', 'openai-chat', '-', '--run', 'chats', '--store']
    const whole = readFileSync(SOURCE, 'utf8')
    expect((await clew([...args, 'sqlite:killed.db'], whole)).code).toBe(0)
    expect((await clew([...args, 'sqlite:once.db'], whole)).code).toBe(0)
    const plain = (events: ClewEvent[]) =>
      events.map(({ eventId, eventType, causationId, payload, ledger }) => [
        ledger.seq,
        eventId,
        eventType,
        causationId,
        payload,
      ])
    expect(plain(await withStore('killed.db', allEvents))).toEqual(
      plain(await withStore('once.db', allEvents)),
    )
  })

  it('E4 goes on after a record that does not fit, names file, line and field, and ends with 1', async () => {
    const lines = [
      JSON.stringify(CHATS[0]),
      '{"traj":[{"content":"x"}]}',
      'no json',
      JSON.stringify(CHATS[1]),
    ]
    writeFileSync(join(folder, 'mixed.jsonl'), lines.join('\n'))
    const args = ['import', '--format', 'openai-chat', 'mixed.jsonl', '--store', 'sqlite:mixed.db']
    const shown = await clew(args)
    expect(shown.code).toBe(1)
    expect(shown.stdout).toMatch(
      /of 2 runs imported[\s\S]*2 records refused[\s\S]*mixed\.jsonl:2\n.*traj\[0\]\.role is missing/,
    )
    const { refused } = dataOf(await clew([...args, '--json']))
    expect(refused).toMatchObject([
      { file: 'mixed.jsonl', line: 2, field: 'traj[0].role' },
      { file: 'mixed.jsonl', line: 3, field: null },
    ])
    const ids = await withStore('mixed.db', async (ledger) =>
      (await ledger.listRuns()).runs.map((run) => run.runId),
    )
    expect(ids.toSorted()).toEqual(['mixed-1', 'mixed-4'])
  })

  it('takes many files, documents and lists, and names runs apart', async () => {
    for (const name of ['a', 'b']) mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'a/chat.json'), JSON.stringify(CHATS[2]?.traj, null, 2))
    writeFileSync(join(folder, 'b/chat.json'), JSON.stringify(CHATS[3]))
    writeFileSync(join(folder, 'list.json'), JSON.stringify([CHATS[4], CHATS[5]]))
    const args = [
      'a/chat.json',
      'b/chat.json',
      'list.json',
      'a/chat.json',
      '--agent',
      'desk',
      '--store',
      'sqlite:many.db',
    ]
    expect((await clew(['import', '--format', 'openai-chat', ...args])).code).toBe(0)
    const { runs } = await withStore('many.db', (ledger) => ledger.listRuns({ agent: 'desk' }))
    expect(runs.map((run) => run.runId).toSorted()).toEqual(['a-chat', 'b-chat', 'list-1', 'list-2'])
  })

  it('P1 redacts what chats hold', async () => {
    const secret = `ghp_${'x9Y8z7W6'.repeat(5)}`
    const chat = [{ role: 'user', content: `use ${secret}` }]
    await clew(
      ['import', '--format', 'openai-chat', '-', '--store', 'sqlite:secret.db'],
      JSON.stringify(chat),
    )
    const [, message] = await withStore('secret.db', allEvents)
    expect(message?.payload['content']).toMatch(/^use \[redacted:github-token:/)
  })
})

const AG2 = [
  { type: 'text', content: { uuid: 'u1', sender: 'user', recipient: 'desk', content: 'Hello' } },
  { type: 'run_completion', content: { uuid: 'u2', summary: 'said hello' } },
  { type: 'text', content: { uuid: 'u3', sender: 'user', recipient: 'desk', content: 'Again' } },
]

describe('A3 ag2', () => {
  it('makes a run of a file, and the next run of what follows its end', async () => {
    writeFileSync(join(folder, 'desk.ndjson'), AG2.map((event) => JSON.stringify(event)).join('\n'))
    const args = ['import', '--format', 'ag2', 'desk.ndjson', '--store', 'sqlite:ag2.db']
    expect((await clew(args)).stdout).toMatch(/5 events of 2 runs imported\./)
    expect((await clew(args)).stdout).toMatch(/5 events of 2 runs imported, all of them here already\./)
    const { runs } = await withStore('ag2.db', (ledger) => ledger.listRuns())
    expect(runs.map((run) => `${run.runId} ${run.status} ${run.agent}`).toSorted()).toEqual([
      'desk completed desk',
      'desk-2 running desk',
    ])
  })

  it('E4 says that a folder is one', async () => {
    const { code, stderr } = await clew(['import', '--format', 'ag2', folder, '--store', 'sqlite:x.db'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('is a folder')])
  })

  it('E4 needs a name for what has no file', async () => {
    const { code, stderr } = await clew(['import', '--format', 'ag2', '-', '--store', 'sqlite:x.db'], '{}')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--run')])
  })
})

describe('P1 clew doctor --scan', () => {
  it('tells where a secret is stored in clear, never which, and ends with 1', async () => {
    const secret = `ghp_${'x9Y8z7W6'.repeat(5)}`
    const ledger = await openLedger(`sqlite:${join(folder, 'clear.db')}`, { redact: false })
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId: 'old-run', payload: { agent: 'desk' } },
      { eventType: 'execution.message', correlationId: 'old-run', payload: { content: [`use ${secret}`] } },
    ])
    await ledger.close()
    const found = await clew(['doctor', '--scan', '--store', 'sqlite:clear.db'])
    expect(found.code).toBe(1)
    expect(found.stdout).toMatch(/old-run +2 +github-token +\$\.content\[0\]/)
    expect(found.stdout + found.stderr).not.toContain('x9Y8')
    const json = await clew(['doctor', '--scan', '--store', 'sqlite:clear.db', '--json'])
    expect(dataOf(json)['scan']).toMatchObject({
      events: 2,
      total: 1,
      byKind: { 'github-token': 1 },
      places: [{ runId: 'old-run', seq: 2, path: '$.content[0]', kind: 'github-token' }],
    })
    const clean = await clew(['doctor', '--scan', '--store', 'sqlite:sums.db'])
    expect([clean.code, clean.stdout]).toEqual([0, expect.stringContaining('No secret in clear')])
  })
})

it('L11 several exports at once are one import', async () => {
  await clew(['export', '--store', 'sqlite:sums.db', '-o', 'one.ndjson'])
  await clew(['export', '--store', 'sqlite:many.db', '-o', 'two.ndjson'])
  const both = await clew(['import', 'one.ndjson', 'two.ndjson', '--store', 'sqlite:both.db', '--json'])
  expect(dataOf(both)).toMatchObject({ files: 2, runs: 44, passed: 0 })
})
