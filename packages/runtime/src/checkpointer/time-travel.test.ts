import type { Checkpoint, Checkpointer } from './checkpoint.ts'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { describeTimeTravel } from '../../test/time-travel-suite.ts'
import { MemorySaver } from './memory-saver.ts'

describeTimeTravel('on a ledger in memory', async () => {
  const world = createMemoryWorld()
  return { open: async () => world.open(), dispose: async () => {}, hasEvents: true }
})

describeTimeTravel('on a MemorySaver', async () => {
  const saver = new MemorySaver()
  return { open: async () => saver, dispose: async () => {}, hasEvents: true }
})

describeTimeTravel('on a checkpointer of somebody else', async () => {
  const texts = new Map<string, Map<string, string>>()
  // Another object over the same texts: as another process would see them.
  const open = async (): Promise<Checkpointer> => ({
    async put(checkpoint) {
      const thread = texts.get(checkpoint.threadId) ?? new Map<string, string>()
      texts.set(checkpoint.threadId, thread.set(checkpoint.id, JSON.stringify(checkpoint)))
    },
    async get({ threadId, checkpointId }) {
      const thread = texts.get(threadId)
      const text =
        checkpointId === undefined ? [...(thread?.values() ?? [])].at(-1) : thread?.get(checkpointId)
      return text === undefined ? null : (JSON.parse(text) as Checkpoint)
    },
    async *list({ threadId }) {
      for (const text of texts.get(threadId)?.values() ?? []) yield JSON.parse(text) as Checkpoint
    },
  })
  return { open, dispose: async () => {}, hasEvents: false }
})
