import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import { openLedger } from 'clew'
import { expect, it } from 'vitest'
import { BIN } from '../../packages/clew/test/run-clew.ts'
import { ROOT } from '../architecture/source-files.ts'
import { readMarkdown } from '../docs/markdown.ts'
import { readPage } from '../docs/pages.ts'
import { createDatabase } from '../postgres/database.ts'
import { thread } from './graphs.ts'

const State = Annotation.Root({
  seen: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

/** The graph of the guide, on the saver that the app had before. */
const before = (checkpointer: BaseCheckpointSaver, what: string) =>
  new StateGraph(State)
    .addNode('look', () => ({ seen: [what] }))
    .addEdge(START, 'look')
    .addEdge('look', END)
    .compile({ checkpointer })

it('A4 docs/guide/langgraph.md, followed line by line, moves an app over', async () => {
  const [, section = ''] = readPage('docs/guide/langgraph.md').text.split('## Moving an app over\n')
  const [commands, program] = readMarkdown(section).fences
  const cwd = mkdtempSync(join(tmpdir(), 'clew-migration-'))
  const database = await createDatabase()
  const file = join(ROOT, 'test', '.tmp-docs', 'migration.ts')
  try {
    const db = new Database(join(cwd, 'checkpoints.db'))
    await before(new SqliteSaver(db), 'a mouse').invoke({ seen: [] }, thread('barn'))
    db.close()
    const saver = PostgresSaver.fromConnString(database.url)
    await saver.setup()
    await before(saver, 'a bat').invoke({ seen: [] }, thread('loft'))
    await saver.end()

    const lines = (commands?.text ?? '').split('\n').filter((line) => line.startsWith('$ clew '))
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      const words = line.slice('$ clew '.length).split(' ')
      const args = words.map((word) =>
        word.startsWith("'postgres:") ? `${database.url}?schema=public` : word,
      )
      const { status, stderr } = spawnSync(process.execPath, [BIN, ...args], { cwd, encoding: 'utf8' })
      expect([line, status, stderr]).toEqual([line, 0, ''])
      if (line.endsWith('--dry-run')) expect(existsSync(join(cwd, 'clew.db'))).toBe(false)
    }
    mkdirSync(join(ROOT, 'test', '.tmp-docs'), { recursive: true })
    writeFileSync(file, program?.text ?? '')
    const { status, stderr } = spawnSync(process.execPath, [file], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    expect([status, stderr]).toEqual([0, ''])

    const ledger = await openLedger(`sqlite:${join(cwd, 'clew.db')}`)
    const seen = async (threadId: string): Promise<unknown> => {
      const [run] = (await ledger.listRuns({ threadId })).runs
      return (await ledger.getState(run?.runId ?? ''))?.state['seen']
    }
    expect([await seen('barn'), await seen('loft')]).toEqual([['a mouse', 'an owl'], ['a bat']])
    await ledger.close()
  } finally {
    rmSync(file, { force: true })
    rmSync(cwd, { recursive: true, force: true })
    await database.drop()
  }
})
