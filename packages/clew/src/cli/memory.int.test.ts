import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { memoryList, memorySearch } from '../operations/memory-reads.ts'
import { memorySweep } from '../operations/memory-writes.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-memory-cli-'))
const url = `sqlite:${join(folder, 'ledger.db')}`

const clew = (...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, 'memory', ...args], { CLEW_STORE: url, COLUMNS: '100' }))

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
    expect([put.code, put.stdout]).toEqual([0, expect.stringContaining('is version 1 of session memory, t1')])
    const name = ['facts/people', 'ann', '--layer', 'session', '--scope', 't1']
    const got = await clew('get', ...name)
    expect([got.code, got.stdout]).toEqual([0, expect.stringContaining('"likes": "tea"')])
    expect((await clew('forget', ...name)).code).toBe(0)
    expect((await clew('get', ...name)).code).toBe(1)
    expect((await clew('forget', ...name)).code).toBe(1)
  })

  it('lists and searches, as JSON as its operations say, and shows nothing that drives a terminal', async () => {
    const list = await clew('list')
    expect(list.stdout).toContain('facts/tea')
    expect(list.stdout + (await clew('search', 'green', 'tea')).stdout).not.toContain('\u001b')
    const { data, command } = JSON.parse((await clew('list', '--limit', '1', '--json')).stdout)
    expect([command, memoryList.output.parse(data)]).toEqual(['memory list', data])
    const next = await clew('list', '--limit', '5', '--cursor', data.nextCursor)
    expect(next.stdout).not.toContain(`facts/${data.items[0].key} `)
    const found = JSON.parse((await clew('search', 'green', '--json')).stdout)
    expect(memorySearch.output.parse(found.data).hits.map(({ item }) => item.key)).toEqual(['tea'])
  })

  it('says what a sweep would take, takes it, and moves the rest elsewhere', async () => {
    const sweep = ['sweep', '--layer', 'long', '--max-items', '2']
    const dry = JSON.parse((await clew(...sweep, '--dry-run', '--json')).stdout)
    expect(memorySweep.output.parse(dry.data)).toMatchObject({ dryRun: true, forgotten: 1 })
    expect((await clew(...sweep)).stdout).toContain('1 item of 3 items in 1 scope forgotten')
    expect((await clew('export', '-o', 'memory.ndjson')).stdout).toContain('2 items written')
    const moved = await clew('import', 'memory.ndjson', '--store', `sqlite:${join(folder, 'copy.db')}`)
    expect(moved.stdout).toContain('2 items remembered, 0 unchanged, 0 expired')
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
    const { code, stderr } = await clew(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
