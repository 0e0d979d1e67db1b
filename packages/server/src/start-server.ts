import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { createApp } from './create-app.ts'
import { mountIngest } from './ingest/index.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'
import { createLog } from './log.ts'
import { mountLive } from './live/index.ts'
import { createMetrics } from './metrics.ts'
import { mountOperations } from './mount-operations.ts'
import { mountPage } from './mount-page.ts'
import { createPrincipals } from './principals.ts'
import { mountServerFacts } from './routes/server-facts.ts'
import type { ServedOperation } from './served-operation.ts'
import type { ServerParts } from './server-parts.ts'
import { createViews } from './workspace-ledgers.ts'

export interface ServerOptions {
  /** Stays open when the server closes: who opened it closes it. */
  readonly ledger: Ledger
  readonly operations: readonly ServedOperation[]
  /** Run control; without it runs can only be read. */
  readonly controlOf?: ((ledger: Ledger) => unknown) | undefined
  readonly host?: string | undefined
  /** 0 for any that is free. */
  readonly port?: number | undefined
  /** Ask for a token on this machine, too; elsewhere it is always asked for. */
  readonly tokens?: boolean | undefined
  /** Another origin whose pages may call: `https://app.example.org`. */
  readonly origin?: string | undefined
  /** Folder of the built page. */
  readonly page?: string | null | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly log?: Logger | undefined
  /** Version of the API, for OpenAPI. */
  readonly version?: string | undefined
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  /** Lets go of everybody, having answered all that was asked. */
  close(): Promise<void>
}

/** The letters C-L-E-W on a telephone. */
export const DEFAULT_PORT = 2539

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { ledger, host = '127.0.0.1', port = DEFAULT_PORT, origin } = options
  const closing = new AbortController()
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const log = options.log ?? createLog('warn')
  const needsToken = options.tokens === true || !LOOPBACK.test(host)
  const principals = await createPrincipals({ ledger, log, limits, needsToken, origin })
  const views = createViews(ledger, options.controlOf)
  const parts: ServerParts = {
    ledgerOf: views.ledgerOf,
    controlOf: views.controlOf,
    workspace: ledger.workspace,
    traced: new Set([ledger.workspace]),
    operations: options.operations,
    principals,
    limits,
    log,
    metrics: createMetrics(() => ledger.waiting),
    page: options.page ?? null,
    origin,
    closing: closing.signal,
  }
  const app = createApp(parts)
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const server = createServer(
    {
      // Bodies are timed where they are read (`createCall`): a stream of events may last as long as its agent works.
      requestTimeout: 0,
      headersTimeout: Math.min(15_000, limits.requestTimeoutMs),
      connectionsCheckingInterval: Math.min(5000, limits.requestTimeoutMs),
    },
    (incoming, outgoing) => void answer(incoming, outgoing),
  )
  server.maxConnections = limits.connections
  mountOperations(app, parts)
  mountIngest(app, parts)
  const live = mountLive(app, server, parts)
  mountServerFacts(app, parts, options.version ?? '0')
  mountPage(app, parts)

  async function close(): Promise<void> {
    closing.abort()
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    await live.close()
    server.closeIdleConnections()
    const late = setTimeout(() => server.closeAllConnections(), limits.graceMs)
    await ended
    clearTimeout(late)
    principals.close()
    await views.close()
  }

  try {
    if (needsToken && !principals.hasTokens()) throw noTokens(host)
    await listen(server, host, port)
  } catch (error) {
    await close()
    throw error
  }
  const bound = (server.address() as AddressInfo).port
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  log.info({ url, needsToken }, 'listening')
  return { url, port: bound, close }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(cannotListen(error, host, port))
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.off('error', refuse)
      resolve()
    })
  })
}

const cannotListen = (error: NodeJS.ErrnoException, host: string, port: number): ClewError =>
  new ClewError(
    'bad_option',
    error.code === 'EADDRINUSE'
      ? `Port ${port} of ${host} is in use`
      : `Port ${port} of ${host} cannot be listened on (${error.code ?? error.message})`,
    'Choose another one with --port and --host.',
    { option: '--port', port },
    error,
  )

const noTokens = (host: string): ClewError =>
  new ClewError(
    'bad_option',
    `Cannot listen on ${host}: clients on other machines need a token, and there is no valid one`,
    'Create one: clew token create --name laptop --scope read,write. Nothing was started.',
    { option: '--host' },
  )
