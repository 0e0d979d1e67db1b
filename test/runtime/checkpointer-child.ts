import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import { append, type Checkpointer, interrupt, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { createFileCheckpointer } from '../../packages/runtime/test/file-checkpointer.ts'
import { openLedger } from '../../packages/sqlite/test/harness.ts'

export const open = (kind: string, folder: string): Ledger | Checkpointer =>
  kind === 'sqlite' ? openLedger(join(folder, 'clew.db')) : createFileCheckpointer(join(folder, 'kept'))

/** Writes down what really ran, and hangs where it is told to. */
export function watched(checkpointer: Ledger | Checkpointer, folder: string, hangAt: string) {
  const note = (what: string): void => appendFileSync(join(folder, 'ran'), `${what} `)
  const hang = (name: string): Promise<void> | undefined => {
    if (name !== hangAt) return undefined
    writeSync(1, '"hanging"\n')
    return new Promise(() => void setInterval(() => {}, 1000))
  }
  return new StateGraph({ seen: append<string>() })
    .addNode('first', () => (note('first'), { seen: 'first' }))
    .addNode('quick', () => (note('quick'), { seen: 'quick' }))
    .addNode('slow', async (_state, run) => {
      const paid = await run.effect('pay', {}, () => (note('pay'), 'paid'))
      await hang('slow')
      return { seen: paid }
    })
    .addNode('ask', async () => {
      const answer = await interrupt<string>('Go on?')
      await hang('ask')
      note('answered')
      return { seen: answer }
    })
    .addEdge(START, 'first')
    .addEdge('first', 'quick')
    .addEdge('first', 'slow')
    .addEdge(['quick', 'slow'], 'ask')
    .compile({ checkpointer, name: 'watched' })
}

/** `node checkpointer-child.ts KIND FOLDER invoke|answer HANG-AT`: says when it hangs, then how the run came out. */
const [, script = '', kind = '', folder = '', command = '', hangAt = ''] = process.argv
if (script.endsWith('checkpointer-child.ts')) {
  const graph = watched(open(kind, folder), folder, hangAt)
  const { status, state } =
    command === 'invoke'
      ? await graph.invoke({}, { threadId: 't' })
      : await graph.resume({ threadId: 't' }, { answer: 'yes' })
  writeSync(1, `${JSON.stringify({ status, seen: state.seen })}\n`)
  process.exit(0)
}
