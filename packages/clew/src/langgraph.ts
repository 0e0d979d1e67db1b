import type { Ledger } from '@clew/ledger'
import { importWithPeers } from './assert-peers.ts'
import { LANGGRAPH_PEERS } from './langgraph-peers.ts'
import { openLedger, type OpenLedgerOptions } from './open-ledger.ts'

// A static import would fail with the loader's message, which names no version.
const adapter = await importWithPeers(
  'clew/langgraph',
  LANGGRAPH_PEERS,
  () => import('@clew/adapters/langgraph'),
)

/** Checkpoints of LangGraph.js in a ledger: `graph.compile({ checkpointer: new ClewSaver(ledger) })`. */
export class ClewSaver extends adapter.ClewSaver {
  #own: Ledger | undefined

  /** Opens the ledger too; `end` closes it. */
  static async fromUrl(
    url: string,
    options: OpenLedgerOptions & { agent?: string | undefined } = {},
  ): Promise<ClewSaver> {
    const { agent, ...ledgerOptions } = options
    const ledger = await openLedger(url, ledgerOptions)
    const saver = new ClewSaver(ledger, { agent })
    saver.#own = ledger
    return saver
  }

  /** Closes the ledger that `fromUrl` opened. */
  async end(): Promise<void> {
    await this.#own?.close()
  }
}

export const { ClewStore } = adapter
export type ClewStore = InstanceType<typeof ClewStore>
export type { ClewSaverOptions, ClewStoreOptions, StoreTtl } from '@clew/adapters/langgraph'
