import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { memoryList, memorySearch } from '../operations/memory-reads.ts'
import { memorySweep } from '../operations/memory-writes.ts'

const BIN = resolve(import.meta.dirname, '../../bin/clew.mjs')
const folder = mkdtempSync(join(tmpdir(), 'clew-memory-cli-'))
const url = `sqlite:${join(folder, 'ledger.db')}`

async function clew(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, CLEW_STORE: url, COLUMNS: '100' }
  const child = spawn(process.execPath, [BIN, 'memory', ...args], { cwd: folder, env })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number]
  return { code, out, err }
}

beforeAll(async () => {
  const ledger = await openLedger(url)
  const put = (key: string, value: unknown) =>
    ledger.memory.put({ layer: 'long', namespace: 'facts', key, value, tags: ['t'] })
  await put('tea', { likes: 'green \u001b[2J tea' })
  await put('old', 'coffee')
  await put('new', 'cocoa')
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('A1 clew memory', () => {
  it('remembers, shows and forgets, with exit code 1 for what is not there', async () => {
    const put = await clew(
      'put',
      'facts/people',
      'ann',
      '{"likes":"tea"}',
      '--layer',
      'session',
      '--scope',
      't1',
    )
    expect([put.code, put.out]).toEqual([0, expect.stringContaining('is version 1 of session memory, t1')])
    const name = ['facts/people', 'ann', '--layer', 'session', '--scope', 't1']
    const got = await clew('get', ...name)
    expect([got.code, got.out]).toEqual([0, expect.stringContaining('"likes": "tea"')])
    expect((await clew('forget', ...name)).code).toBe(0)
    expect((await clew('get', ...name)).code).toBe(1)
    expect((await clew('forget', ...name)).code).toBe(1)
  })

  it('lists and searches, as JSON as its operations say, and shows nothing that drives a terminal', async () => {
    const list = await clew('list')
    expect(list.out).toContain('facts/tea')
    expect(list.out + (await clew('search', 'green', 'tea')).out).not.toContain('\u001b')
    const { data, command } = JSON.parse((await clew('list', '--limit', '1', '--json')).out)
    expect([command, memoryList.output.parse(data)]).toEqual(['memory list', data])
    const next = await clew('list', '--limit', '5', '--cursor', data.nextCursor)
    expect(next.out).not.toContain(`facts/${data.items[0].key} `)
    const found = JSON.parse((await clew('search', 'green', '--json')).out)
    expect(memorySearch.output.parse(found.data).hits.map(({ item }) => item.key)).toEqual(['tea'])
  })

  it('says what a sweep would take, takes it, and moves the rest elsewhere', async () => {
    const sweep = ['sweep', '--layer', 'long', '--max-items', '2']
    const dry = JSON.parse((await clew(...sweep, '--dry-run', '--json')).out)
    expect(memorySweep.output.parse(dry.data)).toMatchObject({ dryRun: true, forgotten: 1 })
    expect((await clew(...sweep)).out).toContain('1 item of 3 items in 1 scope forgotten')
    expect((await clew('export', '-o', 'memory.ndjson')).out).toContain('2 items written')
    const moved = await clew('import', 'memory.ndjson', '--store', `sqlite:${join(folder, 'copy.db')}`)
    expect(moved.out).toContain('2 items remembered, 0 there already, 0 expired')
  })

  it.each([
    ['an unknown layer', ['put', 'a', 'b', 'c', '--layer', 'medium'], 'one of short, session, long'],
    [
      'an expiry in the past',
      ['put', 'a', 'b', 'c', '--expires-at', '2001-01-01T00:00:00Z'],
      'lies in the past',
    ],
    ['a scope without its layer', ['list', '--scope', 'x'], 'without its layer'],
    ['a command that there is not', ['remember'], 'remember'],
  ])('refuses %s with exit code 2', async (_, args, message) => {
    const { code, err } = await clew(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })
})
