import type { Ledger } from '@clew/ledger'
import {
  createLog,
  createServer as createMounted,
  type Limits,
  type MountedServer,
  type ViewTarget,
  type ViewToken,
} from '@clew/server'
import { createControl } from './control/create-control.ts'
import { operations } from './operations.ts'
import { readVersion } from './read-version.ts'
import { serveEndpoint } from './mcp/serve-endpoint.ts'
import { signingKeyOf } from './second-opening.ts'
import { ingestStarter } from './start-ingest.ts'

export type { Limits, MountedServer, ViewTarget, ViewToken }

export interface CreateServerOptions {
  /** Path below which the application mounts the server: `/clew`. */
  readonly basePath?: string | undefined
  /** `false`: callers that call by a name of this machine need no token. Default `true`. */
  readonly tokens?: boolean | undefined
  /** Another origin whose pages may call: `https://app.example.org`. */
  readonly origin?: string | undefined
  /** Requests come only through one proxy: addresses are read from `x-forwarded-for`. */
  readonly trustProxy?: boolean | undefined
  readonly limits?: Partial<Limits> | undefined
  /** Level of the log on standard error; default `warn`. */
  readonly log?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
}

/** The routes, ingest and sockets of a ledger, to be mounted in an application: `clew serve` without its port and its page. */
export function createServer(ledger: Ledger, options: CreateServerOptions = {}): Promise<MountedServer> {
  const { log = 'warn', limits = {}, ...others } = options
  const logger = createLog(log)
  return createMounted({
    ...others,
    ledger,
    operations,
    controlOf: (view) => createControl(view),
    limits,
    log: logger,
    mcp: serveEndpoint((error) => logger.debug({ err: error }, 'a call over MCP failed')),
    version: readVersion(),
    signingKey: signingKeyOf(ledger),
    startIngest: ingestStarter(ledger, limits, log),
  })
}
