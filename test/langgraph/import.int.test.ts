import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { importEvents } from '../../packages/clew/src/operations/import.ts'
import { BIN } from '../../packages/clew/test/run-clew.ts'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../postgres/database.ts'
import { collect, Talk, talk, thread } from './graphs.ts'
import { counting } from './react-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-import-langgraph-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const approvals = (checkpointer: BaseCheckpointSaver) => {
  const inner = new StateGraph(Talk)
    .addNode('i0', () => ({ lines: ['i0'] }))
    .addNode('i1', () => ({ lines: [interrupt<string, string>('inside?')] }))
    .addEdge(START, 'i0')
    .addEdge('i0', 'i1')
    .addEdge('i1', END)
    .compile()
  return new StateGraph(Talk)
    .addNode('deal', () => ({ lines: ['deal'] }))
    .addNode('ask', () => ({ lines: [interrupt<string, string>('go?')] }))
    .addNode('part', ({ mood }) => ({ lines: [`part ${mood}`] }))
    .addNode('below', inner)
    .addEdge(START, 'deal')
    .addEdge('deal', 'ask')
    .addEdge('deal', 'below')
    .addConditionalEdges('deal', () => ['a', 'b'].map((mood) => new Send('part', { lines: [], mood })), [
      'part',
    ])
    .addEdge('part', END)
    .addEdge('ask', END)
    .addEdge('below', END)
    .compile({ checkpointer })
}

const broken = (checkpointer: BaseCheckpointSaver, isBroken: boolean) =>
  new StateGraph(Talk)
    .addNode('a', () => ({ lines: ['a'] }))
    .addNode('b', () => {
      if (isBroken) throw new TypeError('b broke')
      return { lines: ['b'] }
    })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', END)
    .compile({ checkpointer })

/** What an application leaves behind: turns, a fork, messages, questions open and answered, failures. */
async function live(saver: BaseCheckpointSaver): Promise<void> {
  for (const line of ['hi', 'again']) await talk(saver).invoke({ lines: [line] }, thread('turns'))
  const old = (await collect(talk(saver).getStateHistory(thread('turns')))).find(
    ({ next }) => next[0] === 'think',
  )
  await talk(saver).invoke(null, await talk(saver).updateState(old?.config ?? {}, { mood: 'wild' }, 'hear'))
  await counting(saver).invoke({ messages: [{ role: 'user', content: 'owls' }] }, thread('agent'))
  await approvals(saver).invoke({ lines: [] }, thread('waiting'))
  await approvals(saver).invoke({ lines: [] }, thread('answered'))
  const { tasks } = await approvals(saver).getState(thread('answered'))
  const resume = Object.fromEntries(
    tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => [id, 'yes'])),
  )
  await approvals(saver).invoke(new Command({ resume }), thread('answered'))
  await expect(broken(saver, true).invoke({ lines: [] }, thread('failed'))).rejects.toThrow('b broke')
  await expect(broken(saver, true).invoke({ lines: [] }, thread('mended'))).rejects.toThrow('b broke')
  await broken(saver, false).invoke(null, thread('mended'))
}

const THREADS = ['turns', 'agent', 'waiting', 'answered', 'failed', 'mended']

/**
 * All that a saver tells of a thread. Their SQLite saver keeps channels too that have no version yet, which their PostgreSQL
 * saver does not: the graph begins those anew either way.
 */
async function toldBy(saver: BaseCheckpointSaver, name: string): Promise<unknown[]> {
  const tuples: CheckpointTuple[] = await collect(saver.list(thread(name)))
  return tuples.map(({ config, checkpoint, metadata, parentConfig, pendingWrites = [] }) => ({
    config,
    checkpoint: {
      ...checkpoint,
      channel_values: Object.fromEntries(
        Object.entries(checkpoint.channel_values).filter(
          ([channel]) => channel in checkpoint.channel_versions,
        ),
      ),
    },
    metadata,
    parentId: parentConfig?.configurable?.['checkpoint_id'] as unknown,
    writes: pendingWrites.toSorted((one, other) =>
      `${one[0]} ${one[1]}` < `${other[0]} ${other[1]}` ? -1 : 1,
    ),
  }))
}

describe.each(['sqlite', 'postgres'] as const)('A4 import of the database of their %s saver', (kind) => {
  let address: string
  let theirs: BaseCheckpointSaver
  let close: () => Promise<unknown>
  beforeAll(async () => {
    if (kind === 'sqlite') {
      address = join(folder, 'theirs.db')
      const db = new Database(address)
      theirs = new SqliteSaver(db)
      close = async () => db.close()
    } else {
      const database = await createDatabase()
      address = database.url
      const saver = PostgresSaver.fromConnString(address)
      await saver.setup()
      theirs = saver
      close = async () => {
        await saver.end()
        await database.drop()
      }
    }
    await live(theirs)
  })
  afterAll(() => close())

  const format = `langgraph-${kind}` as const
  const load = (ledger: Awaited<ReturnType<typeof openLedger>>, more: object = {}) =>
    importEvents.run(
      ledger,
      { format, ...more },
      { files: [{ name: address, body: process.stdin }], ...more },
    )

  it('L11 has every checkpoint as it was, and the graph goes on from it', async () => {
    const ledger = await openLedger(`sqlite:${join(folder, `${kind}-all.db`)}`)
    const told: [number, number | undefined][] = []
    const report = await load(ledger, {
      onProgress: (done: number, total?: number) => told.push([done, total]),
    })
    expect(report).toMatchObject({ threads: THREADS.length, refused: [], known: 0, dryRun: false })
    expect(told.at(-1)).toEqual([report.checkpoints, report.checkpoints])
    expect(told).toHaveLength(report.checkpoints ?? 0)
    const ours = new ClewSaver(ledger)
    for (const name of THREADS)
      expect([name, await toldBy(ours, name)]).toEqual([name, await toldBy(theirs, name)])
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)

    const { runs } = await ledger.listRuns({ limit: 100 })
    const roots = runs.filter(({ parentRunId }) => parentRunId === null)
    const statusOf = (name: string) =>
      roots.filter(({ threadId }) => threadId === name).map(({ status }) => status)
    expect(Object.fromEntries(THREADS.map((name) => [name, statusOf(name)]))).toEqual({
      // Their PostgreSQL saver keeps one value for each version of a channel, so a branch lost what came next.
      turns: [kind === 'sqlite' ? 'completed' : 'running', 'completed', 'completed'],
      agent: ['completed'],
      waiting: ['paused'],
      answered: ['completed'],
      failed: ['failed'],
      mended: ['completed'],
    })
    const waiting = roots.find(({ threadId }) => threadId === 'waiting')
    expect(waiting?.pauses.map(({ question }) => question).toSorted()).toEqual(['go?', 'inside?'])
    const agent = roots.find(({ threadId }) => threadId === 'agent')
    expect([agent?.messages, agent?.toolCalls, agent?.inputTokens]).toEqual([4, 1, 40])
    const turns = roots.findLast(({ threadId }) => threadId === 'turns')
    expect(roots.find(({ threadId }) => threadId === 'turns')?.forkedFrom).toMatchObject({
      runId: roots.filter(({ threadId }) => threadId === 'turns')[1]?.runId,
    })
    expect((await ledger.getSteps(turns?.runId ?? '')).map(({ nodeName }) => nodeName)).toEqual([
      'hear',
      'think',
      'speak',
    ])
    // Nothing seems to have happened at the time of the import.
    const lastMs = Math.max(...roots.map(({ updatedAt }) => Date.parse(updatedAt)))
    expect(lastMs).toBeLessThanOrEqual(Date.parse(String(await newestOf(theirs))))

    const resume = Object.fromEntries((waiting?.pauses ?? []).map(({ pauseId }) => [pauseId, 'yes']))
    const { lines } = await approvals(ours).invoke(new Command({ resume }), thread('waiting'))
    expect(lines.filter((line) => line === 'yes')).toHaveLength(2)
    expect((await ledger.getRun(waiting?.runId ?? ''))?.status).toBe('completed')
    expect((await broken(ours, false).invoke(null, thread('failed'))).lines).toEqual(['a', 'b'])
    expect((await talk(ours).invoke({ lines: ['more'] }, thread('turns'))).lines.at(-1)).toBe('speak')
    await ledger.close()
  })

  it('L4 done twice adds nothing, and takes what came since', async () => {
    const ledger = await openLedger(`sqlite:${join(folder, `${kind}-twice.db`)}`)
    const first = await load(ledger)
    const position = await ledger.newestPosition()
    expect(await load(ledger)).toMatchObject({ known: first.checkpoints, events: 0, runs: 0 })
    expect(await ledger.newestPosition()).toBe(position)
    await talk(theirs).invoke({ lines: ['later'] }, thread('turns'))
    expect((await load(ledger)).events).toBeGreaterThan(0)
    expect(await toldBy(new ClewSaver(ledger), 'turns')).toEqual(await toldBy(theirs, 'turns'))
    await ledger.close()
  })

  it('A1 a dry run reads everything and makes no ledger; the command line says what there is', () => {
    const store = join(folder, `${kind}-dry.db`)
    const clew = (...args: string[]) =>
      spawnSync(
        process.execPath,
        [BIN, 'import', '--format', format, address, '--store', `sqlite:${store}`, ...args],
        {
          encoding: 'utf8',
        },
      )
    const dry = clew('--dry-run')
    expect([dry.status, dry.stderr]).toEqual([0, ''])
    expect(dry.stdout).toMatch(/^\d+ checkpoints of 6 threads found\. Nothing was written\./)
    expect(existsSync(store)).toBe(false)
    const done = clew()
    expect([done.status, done.stderr]).toEqual([0, ''])
    expect(done.stdout).toMatch(/\d+ checkpoints of 6 threads imported: \d+ events of \d+ runs\./)
    expect(clew('--dry-run').stdout).toMatch(
      /^(\d+) checkpoints of 6 threads found, \1 of them here already\./,
    )
  })
})

async function newestOf(saver: BaseCheckpointSaver): Promise<string | undefined> {
  let newest: string | undefined
  for (const name of THREADS)
    for (const { checkpoint } of await collect(saver.list(thread(name))))
      if (newest === undefined || checkpoint.ts > newest) newest = checkpoint.ts
  return newest
}
