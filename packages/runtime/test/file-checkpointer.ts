import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkpoint, Checkpointer } from '../src/index.ts'

/** What somebody may write in an afternoon: a folder for each thread, a file for each checkpoint, numbered as they came. */
export function createFileCheckpointer(folder: string): Checkpointer & { readonly puts: number } {
  let puts = 0
  const folderOf = (threadId: string): string => join(folder, encodeURIComponent(threadId))

  function filesOf(threadId: string): string[] {
    return existsSync(folderOf(threadId)) ? readdirSync(folderOf(threadId)).sort() : []
  }

  const read = (threadId: string, file: string): Checkpoint =>
    JSON.parse(readFileSync(join(folderOf(threadId), file), 'utf8')) as Checkpoint

  return {
    get puts() {
      return puts
    },
    async put(checkpoint) {
      puts++
      const { threadId, id } = checkpoint
      mkdirSync(folderOf(threadId), { recursive: true })
      const files = filesOf(threadId)
      const known = files.find((file) => file.endsWith(`${id}.json`))
      const number = String(Number(files.at(-1)?.split('-', 1)[0] ?? 0) + 1).padStart(8, '0')
      const path = join(folderOf(threadId), known ?? `${number}-${id}.json`)
      // Renamed, so that a process that dies while it writes leaves the one before.
      writeFileSync(`${path}.part`, JSON.stringify(checkpoint))
      renameSync(`${path}.part`, path)
    },
    async get({ threadId, checkpointId }) {
      const files = filesOf(threadId).filter((file) => file.endsWith('.json'))
      const file =
        checkpointId === undefined
          ? files.at(-1)
          : files.find((each) => each.endsWith(`${checkpointId}.json`))
      return file === undefined ? null : read(threadId, file)
    },
    async list({ threadId }) {
      return filesOf(threadId)
        .filter((file) => file.endsWith('.json'))
        .map((file) => read(threadId, file))
    },
    async delete(checkpointId) {
      for (const threadId of existsSync(folder) ? readdirSync(folder).map(decodeURIComponent) : [])
        for (const file of filesOf(threadId))
          if (file.endsWith(`${checkpointId}.json`)) rmSync(join(folderOf(threadId), file))
    },
  }
}
