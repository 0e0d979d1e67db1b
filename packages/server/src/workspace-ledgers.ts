import type { Ledger } from '@clew/ledger'
import type { ServerParts } from './server-parts.ts'

/** Limit of cached workspaces: a view is cheap, but callers choose the names. */
const MAX_LEDGERS = 1000

interface View {
  readonly plain: Ledger
  /** Made when a client first controls a run. */
  rich?: Ledger
  control?: unknown
}

export interface WorkspaceLedgers extends Pick<ServerParts, 'ledgerOf' | 'controlOf'> {
  close(): Promise<void>
}

/** The workspaces of one ledger as they are asked for. */
export function createViews(ledger: Ledger, controlOf?: (ledger: Ledger) => unknown): WorkspaceLedgers {
  const views = new Map<string, View>()

  function viewOf(workspace: string): View {
    const known = views.get(workspace)
    if (known) return known
    const view = { plain: ledger.in(workspace, { plain: true }) }
    // Views that are let go of still work for who holds them.
    const [oldest] = views.keys()
    if (views.size >= MAX_LEDGERS && oldest !== undefined) views.delete(oldest)
    views.set(workspace, view)
    return view
  }

  return {
    ledgerOf: (workspace) => viewOf(workspace).plain,
    controlOf(workspace) {
      if (!controlOf) return undefined
      const view = viewOf(workspace)
      view.rich ??= ledger.in(workspace)
      view.control ??= controlOf(view.rich)
      return view.control
    },
    async close() {
      for (const { plain, rich } of views.values()) {
        await plain.close()
        await rich?.close()
      }
    },
  }
}
