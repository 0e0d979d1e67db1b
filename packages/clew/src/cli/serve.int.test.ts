import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { foreignType, type WireEvent } from '@clew/ledger'
import { agent } from '@clew/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'

const CLEW = pathToFileURL(resolve(import.meta.dirname, '../../dist/index.js')).href
const AGENTS = `
import { agent } from '${CLEW}'
export const trip = agent('trip', async (run) => {
  const answer = await run.interrupt('Book?')
  return run.step('book', { answer }, () => answer)
})
`

let folder: string
let store: string
const started: ChildProcess[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-serve-'))
  store = `sqlite:${join(folder, 'ledger.db')}`
  writeFileSync(join(folder, 'agents.ts'), AGENTS)
  const ledger = await openLedger(store)
  for (const runId of ['trip-1', 'trip-2'])
    await agent('trip', (run) => run.interrupt('Book?')).start(ledger, null, { runId })
  await ledger.close()
})
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function spawned(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { CLEW_WORKSPACE: _, CLEW_DEBUG: __, CLEW_MODE: ___, CLEW_TOKEN: ____, ...rest } = process.env
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...rest, COLUMNS: '100', ...env },
  })
  started.push(child)
  return child
}

async function clew(args: readonly string[], env?: NodeJS.ProcessEnv) {
  const child = spawned(args, env)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    child.exitCode ?? once(child, 'exit'),
  ])
  return { code: child.exitCode, stdout, stderr }
}

/** A server, and the lines that it writes; the first says where it listens. */
async function served(args: readonly string[], port = '0') {
  const child = spawned(['serve', '--json', '--port', port, '--store', store, ...args])
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const read = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? 'null') as unknown
  const listening = (await read()) as { type: string; url: string; agents: string[] }
  return { child, read, ...listening }
}

describe('clew serve', () => {
  it('A1 lets commands ask it in place of a store, and ends when it is told to', async () => {
    const { url, child, read, agents } = await served(['--agent', './agents.ts'])
    expect(agents).toEqual(['trip'])
    const ask = (...args: string[]) => clew([...args, '--store', url])
    const here = JSON.parse((await clew(['runs', '--json', '--store', store])).stdout) as { data: unknown }
    const there = JSON.parse((await ask('runs', '--json')).stdout) as { data: unknown }
    expect(there.data).toEqual(here.data)
    expect((await ask('show', 'trip-2')).stdout).toContain('paused')
    const missing = await ask('show', 'nope')
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no run nope')])

    const tailing = spawned(['tail', 'trip-1', '--history', '--until-end', '--json', '--store', url])
    const told = text(tailing.stdout as NodeJS.ReadableStream)
    const resumed = await ask('resume', 'trip-1', '--answer', 'yes', '--json')
    expect(JSON.parse(resumed.stdout)).toMatchObject({
      data: { worked: true, output: 'yes', run: { status: 'completed' } },
    })
    const events = (await told)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as WireEvent)
    const stored = await clew(['events', 'trip-1', '--json', '--store', store])
    expect(events).toEqual(
      stored.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as WireEvent),
    )

    for (const args of [['export'], ['token', 'list'], ['resume', 'trip-2', '--agent', './agents.ts']]) {
      const refused = await ask(...args)
      expect([args, refused.code, refused.stderr]).toEqual([
        args,
        2,
        expect.stringContaining('through the server'),
      ])
    }
    child.kill('SIGTERM')
    expect(await read()).toEqual({ type: 'closed' })
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
    const gone = await ask('runs')
    expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining('cannot be reached')])
  })

  it('A2 asks for a token when told to, and is followed on through a restart', async () => {
    const without = await clew(['serve', '--tokens', '--port', '0', '--store', store])
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('clew token create')])
    const made = await clew(['token', 'create', '--name', 'me', '--json', '--store', store])
    const { data } = JSON.parse(made.stdout) as { data: { token: string; record: { tokenId: string } } }
    const first = await served(['--tokens'])
    const port = new URL(first.url).port
    const refused = await clew(['runs', '--store', first.url])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('CLEW_TOKEN')])
    const tailing = spawned(['tail', '--json', '--after', '0', '--store', first.url], {
      CLEW_TOKEN: data.token,
    })
    const lines = createInterface({ input: tailing.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
    const positions: number[] = []
    const take = async (upTo: number): Promise<void> => {
      while ((positions.at(-1) ?? 0) < upTo)
        positions.push((JSON.parse((await lines.next()).value as string) as WireEvent).ledger.position)
    }
    const ledger = await openLedger(store)
    const before = await ledger.record({
      eventType: foreignType('execution.note'),
      correlationId: 'notes',
      payload: {},
    })
    await take(before.ledger.position)
    first.child.kill('SIGTERM')
    await once(first.child, 'exit')
    await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'notes', payload: {} })
    const second = await served(['--tokens'], port)
    const after = await ledger.record({
      eventType: foreignType('execution.note'),
      correlationId: 'notes',
      payload: {},
    })
    await take(after.ledger.position)
    const stored: number[] = []
    for await (const event of ledger.follow({ live: false })) stored.push(event.ledger.position)
    expect(positions).toEqual(stored)
    await ledger.close()
    await clew(['token', 'revoke', data.record.tokenId, '--store', store])
    // Whoever is shown out is told why.
    const [code] = (await once(tailing, 'exit')) as [number]
    expect(code).toBe(2)
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')
  })
})
