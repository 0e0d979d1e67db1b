import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'
import type { Growth, MastraSteps } from '../peers.ts'
import { createPace, databaseBytes, inTempFolder, prose, readNumbers, report, SYNCHRONOUS } from './rounds.ts'

/** A chain of steps that give 10 KB each; its results are kept in a file. */

interface Client {
  execute(sql: string): Promise<{ readonly rows: readonly unknown[][] }>
  close(): void
}

const { steps, bytes } = readNumbers({ steps: 400, bytes: 10_240 })
const EARLY = 100

async function chain(count: number): Promise<Growth & { synchronous: string }> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'mastra.db')
    // opened by its address: a client that is handed in gets none of the settings that make it faster
    const storage = new LibSQLStore({ id: 'peer', url: `file:${path}` })
    const pace = createPace()
    const value = z.object({ text: z.string() })
    const step = (at: number) =>
      createStep({
        id: `step-${at}`,
        inputSchema: value,
        outputSchema: value,
        execute: async () => {
          pace.marks.push(performance.now())
          return { text: prose(bytes, at) }
        },
      })
    let workflow = createWorkflow({ id: 'chain', inputSchema: value, outputSchema: value })
    for (let at = 0; at < count; at++) workflow = workflow.then(step(at)) as typeof workflow
    const mastra = new Mastra({
      logger: false,
      storage,
      workflows: { chain: workflow.commit() },
    })
    const run = await mastra.getWorkflow('chain').createRun()
    const start = performance.now()
    const { status } = await run.start({ inputData: { text: '' } })
    const end = performance.now()
    pace.marks.push(end)
    if (status !== 'success' || pace.marks.length !== count + 1)
      throw new Error(`the chain ended as ${status} after ${pace.marks.length - 1} steps`)
    const stored = await storage.getStore('workflows')
    const snapshot = await stored?.getWorkflowRunById({ runId: run.runId, workflowName: 'chain' })
    if (!JSON.stringify(snapshot?.snapshot).includes(`step-${count - 1}`))
      throw new Error('the last step is not in the store')
    const client = Reflect.get(storage, 'client') as Client
    const mode = (await client.execute('PRAGMA synchronous')).rows[0]?.[0]
    await client.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    client.close()
    return {
      steps: count,
      msPerStep: (end - start) / count,
      early: EARLY,
      msPerStepAtEarly: pace.at(EARLY),
      msPerStepAtEnd: pace.at(count),
      bytes: databaseBytes(path),
      bytesGiven: count * bytes,
      synchronous: SYNCHRONOUS[Number(mode)] ?? 'unknown',
    }
  })
}

report((await chain(steps)) satisfies MastraSteps)
