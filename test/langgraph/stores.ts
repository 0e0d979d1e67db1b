import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ledger, openLedger } from 'clew'
import { createSchema } from '../postgres/database.ts'

export const STORES = ['memory', 'sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface TestStore {
  readonly url: string
  /** A ledger on the same store; each is as good as one of another process. */
  open(): Promise<Ledger>
  /** Closes the ledgers and removes the store. */
  drop(): Promise<void>
}

/** A fresh store of one kind. Ledgers in memory are one and the same. */
export async function createStore(name: StoreName): Promise<TestStore> {
  const folder = name === 'sqlite' ? mkdtempSync(join(tmpdir(), 'clew-langgraph-')) : undefined
  const schema = name === 'postgres' ? await createSchema() : undefined
  const url = schema?.url ?? (folder === undefined ? 'memory:' : `sqlite:${join(folder, 'ledger.db')}`)
  const opened: Promise<Ledger>[] = []
  return {
    url,
    open() {
      if (name !== 'memory' || opened.length === 0) opened.push(openLedger(url))
      return opened.at(-1) as Promise<Ledger>
    },
    async drop() {
      for (const ledger of opened) await (await ledger).close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      await schema?.drop()
    },
  }
}
