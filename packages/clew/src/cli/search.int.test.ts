import { foreignType } from '@clew/ledger'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { search } from '../operations/search.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-search-'))
const url = `sqlite:${join(folder, 'ledger.db')}`

const clew = (args: readonly string[], input = ''): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: url, COLUMNS: '100' }), input)

beforeAll(async () => {
  const ledger = await openLedger(url)
  for (const [n, agent] of ['owl', 'fox', 'owl'].entries())
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId: `run-${n}`, payload: { agent } },
      {
        eventType: 'execution.tool_error',
        correlationId: `run-${n}`,
        payload: { name: 'fetch', error: `took \u001b[2J too long ${n}` },
      },
      {
        eventType: n === 1 ? 'system.workflow_completed' : 'system.workflow_failed',
        correlationId: `run-${n}`,
      },
    ])
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('A1 clew search', () => {
  it('shows runs, events and the next command, and nothing that drives a terminal', async () => {
    const { code, stdout } = await clew(['search', 'status:failed', 'too long', 'agent:owl'])
    expect(code).toBe(0)
    expect(stdout).toContain('run-2  ✗ failed  owl')
    expect(stdout).toContain('took \\e[2J too long 2')
    expect(stdout).not.toContain('run-1')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/2 runs · clew events run-\d --after 1 --limit 1 --full\n$/)
  })

  it('answers --json as its operation says, pages, and names the next page', async () => {
    const first = JSON.parse((await clew(['search', 'fetch', '--limit', '2', '--json'])).stdout)
    expect(search.output.parse(first.data)).toEqual(first.data)
    const page = await clew(['search', 'fetch', '--limit', '2'])
    expect(page.stdout).toContain(`clew search fetch --limit 2 --cursor ${first.data.nextCursor}`)
    const rest = await clew(['search', 'fetch', '--cursor', first.data.nextCursor, '-o', 'ids'])
    expect(rest.stdout.trim().split('\n').length).toBe(1)
  })

  it('says where a query is wrong, with exit code 2', async () => {
    const { code, stderr } = await clew(['search', 'ok "open'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('never closed (at character 4)')])
    expect((await clew(['search', 'x', '-o', 'table'])).code).toBe(2)
  })
})

describe('A1 ids through a pipe', () => {
  it('-o ids writes them, - reads them, and a wrong one does not stop the others', async () => {
    const ids = await clew(['runs', '-o', 'ids'])
    expect(ids.stdout).toBe('run-2\nrun-1\nrun-0\n')
    const shown = await clew(['show', '-'], 'run-0\n\nnobody\nrun-1\n')
    expect(shown.code).toBe(2)
    expect(shown.stdout).toContain('run-0  ✗ failed')
    expect(shown.stdout).toContain('run-1  ✓ completed')
    expect(shown.stderr).toContain('There is no run nobody')
    expect((await clew(['verify', '-'], ids.stdout)).code).toBe(0)
    expect(await clew(['show', '-'], '')).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})

describe('L1 upkeep', () => {
  it('clew rebuild and clew reindex do their work and never make a ledger', async () => {
    const ledger = await openLedger(url)
    await ledger.consume('stats', () => ledger.close()).catch(() => {})
    expect((await clew(['rebuild'])).stdout).toContain('3 runs checked, rows of 0 runs rebuilt')
    expect((await clew(['reindex'])).stdout).toContain('holds 9 events')
    expect((await clew(['reindex', '--update', '--json'])).stdout).toContain('"lag": 0')
    expect((await clew(['rebuild', '--store', 'sqlite:nowhere.db'])).code).toBe(3)
    const { stdout } = await clew(['doctor'])
    expect(stdout).toContain('consumers     stats stands at 0, 9 behind, not at work')
    expect(stdout).toContain('search index  9 events, 0 behind')
  })

  it('openLedger with index keeps the index up to date by itself', async () => {
    const other = `sqlite:${join(folder, 'indexed.db')}`
    const ledger = await openLedger(other, { index: true })
    for (let n = 0; n < 20; n++)
      await ledger.record({
        eventType: foreignType('execution.note'),
        correlationId: 'r',
        payload: { n, text: 'needle' },
      })
    await expect.poll(async () => (await ledger.indexState()).lag, { timeout: 60_000 }).toBe(0)
    expect((await ledger.search('needle', { catchUpMs: 0 })).hits[0]?.found).toBe(20)
    await ledger.close()
    const memory = await openLedger('memory:', { index: true })
    await memory.close()
  })
})
