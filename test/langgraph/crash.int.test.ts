import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { type Ledger, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterAll, describe, expect, it } from 'vitest'
import { startScript } from '../../packages/sqlite/test/start-child.ts'
import { asking, collect, inParallel, talk, thread } from './graphs.ts'
import { BIN } from '../../packages/clew/test/run-clew.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-langgraph-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const SCRIPT = new URL('child.ts', import.meta.url).pathname
const BUSY = new URL('busy-child.ts', import.meta.url).pathname
const STEPS = 120

describe('R5 a graph whose process is killed', () => {
  it.each(
    (['sync', 'async'] as const).flatMap((durability) => [7, 95].map((at) => [durability, at] as const)),
  )('goes on where it was: durability %s, killed at step %i', async (durability, at) => {
    const url = `sqlite:${join(folder, `${durability}-${at}.db`)}`
    const first = startScript(SCRIPT, url, durability, STEPS)
    while ((await first.next()) !== at);
    await first.kill()

    const ledger = await openLedger(url)
    const tuple = await new ClewSaver(ledger).getTuple(thread('t'))
    const kept = (tuple?.checkpoint.channel_values['lines'] ?? []) as number[]
    expect(kept).toEqual(kept.map((_, i) => i))
    // The step that was begun had all before it committed.
    if (durability === 'sync') expect(kept.length).toBeGreaterThanOrEqual(at)
    expect((await ledger.verify()).ok).toBe(true)
    await ledger.close()

    const second = startScript(SCRIPT, url, durability, STEPS)
    const begun: unknown[] = []
    let answer: unknown
    for (;;) {
      answer = await second.next()
      if (typeof answer !== 'number') break
      begun.push(answer)
    }
    await second.kill()
    expect(answer).toEqual({ lines: Array.from({ length: STEPS }, (_, i) => i) })
    // What the killed process had committed of a step is not run again: neither up to its last checkpoint nor what was
    // put for that.
    const [again] = begun as number[]
    if (durability === 'sync') expect([kept.length, kept.length + 1]).toContain(again)
  })
})

describe('R5 nodes that never yield, with durability async', () => {
  /** What a new process finds of a thread whose process was killed inside the node of this number. */
  async function recovered(kind: 'clew' | 'sqlite', shape: string, at: number) {
    const path = join(folder, `busy-${kind}-${shape}-${at}.db`)
    const args = [BUSY, kind, path, shape, String(at)]
    const { signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(signal, stderr).toBe('SIGKILL')
    const db = kind === 'sqlite' ? new Database(path) : undefined
    const ledger = kind === 'clew' ? await openLedger(`sqlite:${path}`) : undefined
    const saver = ledger ? new ClewSaver(ledger) : new SqliteSaver(db as Database.Database)
    const tuple = await saver.getTuple(thread('t'))
    await ledger?.close()
    db?.close()
    const lines = (tuple?.checkpoint.channel_values['lines'] ?? []) as number[]
    const written = (tuple?.pendingWrites ?? []).filter(([, channel]) => channel === 'lines').length
    return { lines: lines.length, written }
  }

  it.each([
    ['loop', 3],
    ['loop', 60],
    ['packets', 60],
  ] as const)(
    'recovers at least what the framework’s own saver does: %s, killed at %i',
    async (shape, at) => {
      const [own, theirs] = [await recovered('clew', shape, at), await recovered('sqlite', shape, at)]
      expect(own.lines).toBeGreaterThanOrEqual(theirs.lines)
      expect(own.written).toBeGreaterThanOrEqual(theirs.written)
      if (shape === 'loop') expect(own.lines).toBe(at)
    },
  )
})

describe('U1 the command line', () => {
  const store = `sqlite:${join(folder, 'views.db')}`
  const clew = (...args: string[]): { status: number | null; text: string; data: unknown } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args, '--json'], {
      env: { ...process.env, CLEW_STORE: store },
      encoding: 'utf8',
    })
    return { status, text: stdout + stderr, data: (JSON.parse(stdout) as { data: unknown }).data }
  }

  it('shows threads, nodes, states and the difference of two forks', async () => {
    const ledger = await openLedger(store)
    const graph = talk(new ClewSaver(ledger, { agent: 'talker' }))
    await graph.invoke({ lines: ['hi'] }, thread('t'))
    const old = (await collect(graph.getStateHistory(thread('t')))).find(({ next }) => next[0] === 'think')
    await graph.invoke(null, await graph.updateState(old?.config ?? {}, { mood: 'wild' }, 'hear'))
    const questions = asking(new ClewSaver(ledger, { agent: 'asker' }))
    await questions.invoke({ lines: [] }, thread('q'))
    await questions.invoke(new Command({ resume: 'yes' }), thread('q'))
    const runs = (await ledger.listRuns()).runs.toReversed()
    await ledger.close()

    const [source, fork, asked] = runs.map(({ runId }) => runId) as [string, string, string]
    const listed = clew('runs')
    expect(listed.status).toBe(0)
    for (const text of [source, fork, asked, 'talker', 'asker', 'paused']) expect(listed.text).toContain(text)
    for (const name of ['hear', 'think', 'speak']) expect(clew('steps', source).text).toContain(`"${name}"`)
    expect(clew('state', source, '--superstep', '2', '--full').data).toMatchObject({
      state: { lines: ['hi', 'hear'], mood: 'calm' },
      next: ['think'],
    })
    expect(clew('state', fork, '--full').data).toMatchObject({
      state: { lines: ['hi', 'hear', 'think wild', 'speak'] },
    })
    expect(clew('diff', source, fork).text).toContain('think wild')
    expect(clew('verify').status).toBe(0)
  })
})

describe('R9 two processes', () => {
  it('on one thread: each sees what the other wrote, and a race is a conflict', async () => {
    const url = `sqlite:${join(folder, 'two.db')}`
    const ledgers = await Promise.all([openLedger(url), openLedger(url)])
    const graphs = ledgers.map((ledger) => talk(new ClewSaver(ledger)))
    for (let turn = 0; turn < 6; turn++) await graphs[turn % 2]?.invoke({ lines: [`${turn}`] }, thread('t'))
    for (const graph of graphs) {
      const { lines } = (await graph.getState(thread('t'))).values as { lines: string[] }
      expect(lines.filter((line) => /\d/.test(line))).toEqual(['0', '1', '2', '3', '4', '5'])
    }
    const settled = await inParallel(2, (i, meet) =>
      talk(new ClewSaver(ledgers[i] as Ledger), meet).invoke({ lines: [`race ${i}`] }, thread('t')),
    )
    const done = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [`race ${i}`] : []))
    expect(done.length).toBeLessThanOrEqual(1)
    for (const each of settled)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'conflict' })
    for (const graph of graphs) {
      const { lines } = (await graph.getState(thread('t'))).values as { lines: string[] }
      expect(lines.filter((line) => line.startsWith('race'))).toEqual(expect.arrayContaining(done))
    }
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  })
})
