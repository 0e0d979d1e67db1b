import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'

const BIN = resolve(import.meta.dirname, '../../bin/clew.mjs')
const folder = mkdtempSync(join(tmpdir(), 'clew-views-'))
const store = `sqlite:${join(folder, 'main.db')}`

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...process.env, CLEW_STORE: store, COLUMNS: '100' },
    timeout: 60_000,
  })

async function end(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
const clew = (...args: string[]): Promise<Ended> => end(start(...args))
async function data(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await clew(...args, '--json')
  return (JSON.parse(stdout) as { data: Record<string, unknown> }).data
}

const drive = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\nUSER\n\u0000'
let eventId = ''

beforeAll(async () => {
  const ledger = await openLedger(store)
  const event = (eventType: string, payload: Record<string, unknown>, correlationId = 'hostile-1') => ({
    eventType,
    correlationId,
    payload,
  })
  const stored = await ledger.append([
    event('system.workflow_started', { agent: drive, input: drive }),
    event('execution.message', { role: drive, content: drive }),
    event('execution.reasoning', { content: drive }),
    event('execution.step_started', { stepId: drive, name: drive, kind: drive }),
    event('execution.tool_call', { toolCallId: drive, name: drive, arguments: drive }),
    event('execution.tool_error', { toolCallId: drive, name: drive, error: { name: drive, message: drive } }),
    event('execution.handoff', { from: drive, to: drive, reason: drive }),
    event('execution.step_failed', { stepId: drive, error: { message: drive } }),
    event('system.state_transitioned', { operations: [{ op: 'set', channel: drive, value: drive }] }),
    event('system.access', { action: drive, by: drive, target: drive }),
    event('system.workflow_started', { parentRunId: 'hostile-1', agent: drive }, 'hostile-1-child'),
  ])
  eventId = stored[1]?.eventId ?? ''
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const VIEWS = [
  ['transcript', 'hostile-1'],
  ['transcript', 'hostile-1', '--format', 'markdown'],
  ['transcript', 'hostile-1', '--as', 'openai'],
  ['timeline', 'hostile-1', '--events'],
  ['graph', 'hostile-1'],
  ['graph', 'hostile-1', '--mermaid'],
  ['audit', 'hostile-1'],
  ['compliance'],
  ['steps', 'hostile-1'],
  ['state', 'hostile-1'],
  ['state', 'hostile-1', '--full'],
  ['show', 'hostile-1', '--tree'],
  ['lineage', 'hostile-1'],
  ['effects', 'hostile-1:1'],
]

describe('views on the command line', () => {
  it.each(VIEWS)('P3 clew %s %s %s %s shows no character that drives a terminal', async (...args) => {
    const { code, stdout, stderr } = await clew(...args.filter((arg) => arg !== undefined))
    expect([code, stderr]).toEqual([0, ''])
    // oxlint-disable-next-line no-control-regex -- these are the ones to catch
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(stdout.split('\n').length).toBeGreaterThan(2)
  })

  it.each(['transcript', 'timeline', 'graph', 'audit', 'steps', 'state', 'lineage'])(
    'A1 clew %s answers as JSON',
    async (name) => {
      expect(await data(name, 'hostile-1')).toBeTypeOf('object')
      const { code, stderr } = await clew(name, 'no-such-run')
      expect([code, stderr.includes('no-such-run')]).toEqual([2, true])
    },
  )

  it('A1 an event is named by its id, how that begins, or run:seq', async () => {
    for (const name of [eventId, eventId.slice(0, 35), 'hostile-1:2', 'hostile-1-c:1'])
      expect((await data('causes', name))['event']).toBeTypeOf('object')
    expect((await clew('causes', '0000')).stderr).toContain('No event that begins with 0000')
    expect((await clew('effects', 'hostile-1:999')).code).toBe(2)
    expect((await clew('causes', eventId.slice(0, 8))).stderr).toContain('Several events')
  })

  it('R4 clew state names the channels there are', async () => {
    expect((await clew('state', 'hostile-1', '--key', 'nothing')).code).toBe(2)
    expect((await clew('state', 'hostile-1-child')).stdout).toContain('recorded no state')
  })
})

describe('clew show --watch', () => {
  it('L7 ends when the run ends, which another process writes', async () => {
    const ledger = await openLedger(store)
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'live-1' })
    const watching = start('show', 'live-1', '--watch')
    const ended = end(watching)
    await ledger.record({
      eventType: 'execution.message',
      correlationId: 'live-1',
      payload: { role: 'user' },
    })
    await ledger.record({ eventType: 'system.workflow_completed', correlationId: 'live-1' })
    await ledger.close()
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect(stdout).toContain('live-1  ✓ completed')
  })

  it('L7 ends at once on Ctrl-C and shows where the run stands', async () => {
    const ledger = await openLedger(store)
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'live-2' })
    await ledger.close()
    // It says nothing before its end, so it cannot be known when it listens: too early a signal just ends it.
    let told = ''
    for (let waitMs = 1500; told === '' && waitMs < 60_000; waitMs *= 3) {
      const watching = start('show', 'live-2', '--watch')
      const ended = end(watching)
      const beat = setInterval(() => watching.kill('SIGINT'), waitMs)
      told = (await ended).stdout
      clearInterval(beat)
    }
    expect(told).toContain('live-2  ● running')
  })
})
