import type { Ledger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

// The suite takes these from the global scope.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it })
const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation')

/** The framework's own suite for savers, without a skip: 718 tests, and 8 for delta channels. */
export function judge(name: string, open: () => Promise<Ledger>): void {
  const ledgers = new Map<object, Ledger>()
  const initializer = {
    checkpointerName: name,
    async createCheckpointer() {
      const ledger = await open()
      const saver = new ClewSaver(ledger)
      ledgers.set(saver, ledger)
      return saver
    },
    async destroyCheckpointer(saver: object) {
      await ledgers.get(saver)?.close()
      ledgers.delete(saver)
    },
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
