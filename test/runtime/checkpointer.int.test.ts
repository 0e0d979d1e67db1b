import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFileCheckpointer } from '../../packages/runtime/test/file-checkpointer.ts'
import { describeTimeTravel } from '../../packages/runtime/test/time-travel-suite.ts'
import { makeFolder, openLedger, removeFolder } from '../../packages/sqlite/test/harness.ts'
import { type Child, startScript } from '../../packages/sqlite/test/start-child.ts'
import { open, watched } from './checkpointer-child.ts'

describeTimeTravel('on SQLite', async () => {
  const folder = makeFolder()
  const ledgers: Ledger[] = []
  return {
    hasEvents: true,
    async open() {
      const ledger = openLedger(join(folder, 'clew.db'))
      ledgers.push(ledger)
      return ledger
    },
    async dispose() {
      for (const ledger of ledgers) await ledger.close()
      removeFolder(folder)
    },
  }
})

describeTimeTravel('on a file-based checkpointer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-kept-'))
  return {
    hasEvents: false,
    open: async () => createFileCheckpointer(folder),
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  }
})

const SCRIPT = new URL('checkpointer-child.ts', import.meta.url).pathname

for (const kind of ['sqlite', 'files'])
  describe(`R5 two processes, ${kind}`, () => {
    let folder: string
    let children: Child[]
    const start = (command: string, hangAt = ''): Child => {
      const child = startScript(SCRIPT, kind, folder, command, hangAt)
      children.push(child)
      return child
    }
    const ran = (): string => readFileSync(join(folder, 'ran'), 'utf8').trim()

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'clew-two-'))
      children = []
    })
    afterEach(async () => {
      for (const child of children) await child.kill()
      rmSync(folder, { recursive: true, force: true })
    })

    const goOn = async (answer?: string) => {
      const kept = open(kind, folder)
      const graph = watched(kept, folder, '')
      try {
        return await graph.resume({ threadId: 't' }, answer === undefined ? {} : { answer })
      } finally {
        if ('close' in kept) await kept.close()
      }
    }

    it('R5 a process that is killed inside a node: neither its siblings nor its effects run again', async () => {
      const child = start('invoke', 'slow')
      expect(await child.next()).toBe('hanging')
      await child.kill('SIGKILL')
      expect((await goOn()).status).toBe('paused')
      expect(ran()).toBe('first quick pay')
    })

    it('R6 a question is answered in another process, in the very call, and a kill after the answer loses nothing', async () => {
      expect(await start('invoke').next()).toEqual({ status: 'paused', seen: ['first', 'quick', 'paid'] })
      const child = start('answer', 'ask')
      expect(await child.next()).toBe('hanging')
      await child.kill('SIGKILL')
      const { status, state } = await goOn()
      expect([status, state.seen]).toEqual(['completed', ['first', 'quick', 'paid', 'yes']])
      expect(ran()).toBe('first quick pay answered')
    })
  })
