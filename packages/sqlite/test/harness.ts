import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLedger, type Ledger, type LedgerOptions, type Ports } from '@clew/ledger'
import type { StoreHarness } from '@clew/ledger/conformance'
import { openSqliteStore, type SqliteOptions } from '../src/index.ts'
import { nodePorts } from '../../ledger/test/node-ports.ts'

export { nodePorts }

export const sqliteHarness: StoreHarness = {
  ports: nodePorts,
  async create(ports) {
    const folder = makeFolder()
    return {
      open: async () => openSqliteStore(join(folder, 'clew.db'), ports),
      dispose: async () => removeFolder(folder),
    }
  },
}

export const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'clew-sqlite-'))
export function removeFolder(folder: string): void {
  // A test may have taken the right to write it away.
  chmodSync(folder, 0o755)
  rmSync(folder, { recursive: true, force: true })
}

interface OpenOptions extends SqliteOptions {
  readonly ledger?: LedgerOptions
  readonly ports?: Ports
}

/** A ledger on a file, as `clew` puts it together. */
export function openLedger(
  path: string,
  { ledger, ports = nodePorts, ...options }: OpenOptions = {},
): Ledger {
  const store = openSqliteStore(path, ports, options)
  const heads = { verify: async () => false }
  return createLedger({ store, ports, secret: 'a secret for tests that is long enough', heads }, ledger)
}
