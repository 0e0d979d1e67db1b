/** What one package may use. The whole of "imports go one way" is the table below. */
export interface Room {
  /** Rooms it may import from. */
  readonly uses: readonly string[]
  /** Rooms of which it may import these subpaths only. */
  readonly usesPartsOf?: Readonly<Record<string, readonly string[]>>
  /** `pure` runs anywhere and touches neither `node:*` nor the page; `browser` never imports `node:*`. */
  readonly world: 'pure' | 'node' | 'browser'
  /** Published with its devDependencies inside: they are needed to build it, not to use it. */
  readonly isBundled?: boolean
}

export type Table = Readonly<Record<string, Room>>

export const ROOMS: Table = {
  ledger: { uses: [], world: 'pure' },
  runtime: { uses: ['ledger'], world: 'node' },
  sqlite: { uses: ['ledger'], world: 'node' },
  postgres: { uses: ['ledger'], world: 'node' },
  trace: { uses: ['ledger'], world: 'pure' },
  mcp: { uses: ['ledger'], world: 'node', isBundled: true },
  adapters: { uses: ['ledger'], world: 'node' },
  server: {
    uses: ['ledger', 'trace'],
    usesPartsOf: { adapters: ['otel', 'ag-ui', 'ag2', 'cloudevents'] },
    world: 'node',
    isBundled: true,
  },
  react: { uses: ['ledger', 'trace'], world: 'browser', isBundled: true },
  web: { uses: ['react', 'ledger', 'trace'], world: 'browser', isBundled: true },
  clew: {
    uses: ['ledger', 'runtime', 'sqlite', 'postgres', 'trace', 'mcp', 'adapters', 'server', 'react', 'web'],
    world: 'node',
    isBundled: true,
  },
}

/** The one room that nobody imports and that may import what it only learns at run time. */
export const COMPOSITION_ROOT = 'clew'
