import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { foreignType, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'
import { startChild } from '../test/start-child.ts'

let folder: string
let path: string
let opened: Ledger[]
const open = (options = {}): Ledger => {
  const ledger = openLedger(path, options)
  opened.push(ledger)
  return ledger
}
const note = (version: number, content = `text ${version} so far `) => ({
  runId: 'r',
  stepId: 'a',
  attempt: 1,
  stepType: 'thinking',
  version,
  content,
  at: '2026-11-15T07:17:00.000Z',
})
const contents = async (ledger: Ledger, after?: string) =>
  (await ledger.progress.read({ after })).notes.map(({ content }) => content)

beforeEach(() => {
  folder = makeFolder()
  path = join(folder, 'clew.db')
  opened = []
})
afterEach(async () => {
  for (const ledger of opened) await ledger.close()
  removeFolder(folder)
})

describe('T4 progress in a second file', () => {
  it('T4 is made when it is needed, and the ledger has nothing of it', async () => {
    const ledger = open()
    await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    expect(existsSync(`${path}-progress`)).toBe(false)
    await ledger.progress.put([note(1, 'a word to look for ')])
    expect(existsSync(`${path}-progress`)).toBe(true)
    await ledger.close()
    for (const file of [path, `${path}-wal`])
      if (existsSync(file)) expect(readFileSync(file).includes('a word to look for')).toBe(false)
  })

  it('T4 survives being deleted while it is in use: cursors of before read from the beginning', async () => {
    const [one, two] = [open(), open()]
    for (let version = 1; version < 9; version++) await one.progress.put([note(version)])
    const { cursor } = await two.progress.read()
    let rings = 0
    const unwatch = two.progress.watch(() => rings++)
    rmSync(`${path}-progress`)
    await one.progress.put([note(20)])
    expect(await contents(two, cursor)).toEqual(['text 20 so far '])
    await vi.waitFor(() => expect(rings).toBeGreaterThan(0), { timeout: 60_000 })
    unwatch()
  })

  it.each(['no database at all'.repeat(300), ''])('T4 a file that is broken is replaced', async (text) => {
    const ledger = open()
    writeFileSync(`${path}-progress`, text)
    await ledger.progress.put([note(1)])
    expect(await contents(ledger)).toEqual(['text 1 so far '])
  })

  it('P5 what is cleared is gone from the file', async () => {
    const ledger = open()
    await ledger.progress.put([note(1, 'the tawny owl told me ')])
    expect(readFileSync(`${path}-progress`).includes('tawny')).toBe(true)
    await ledger.progress.clear('r')
    expect(readFileSync(`${path}-progress`).includes('tawny')).toBe(false)
  })

  it('T4 who may only read finds none, and then what is there', async () => {
    const writer = open()
    await writer.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    const reader = open({ readOnly: true })
    expect(await contents(reader)).toEqual([])
    expect(existsSync(`${path}-progress`)).toBe(false)
    await writer.progress.put([note(1)])
    expect(await contents(reader)).toEqual(['text 1 so far '])
  })

  it('T4 goes from one process to another, also when many put at once', async () => {
    const ledger = open()
    const children = ['x', 'y'].map((who) => startChild('tell', path, who, 150))
    const newest = new Map<string, number>()
    let after: string | undefined
    await vi.waitFor(
      async () => {
        const page = await ledger.progress.read({ after })
        after = page.cursor
        for (const { stepId, version } of page.notes) newest.set(stepId, version)
        expect([newest.get('x'), newest.get('y')]).toEqual([150, 150])
      },
      { timeout: 60_000, interval: 5 },
    )
    for (const child of children) {
      expect(await child.next()).toBe('done')
      await child.kill()
    }
  })
})
