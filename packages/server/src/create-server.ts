import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { getRequestListener } from '@hono/node-server'
import { ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { createApp } from './create-app.ts'
import { createIngestThread } from './ingest/ingest-thread.ts'
import { mountIngest } from './ingest/index.ts'
import { DEFAULT_LIMITS, type Limits, MAX_UNTHREADED_BYTES } from './limits.ts'
import { mountLive } from './live/index.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { type AnswerMcp, mountMcp } from './mount-mcp.ts'
import { mountOperations } from './mount-operations.ts'
import { mountPage } from './mount-page.ts'
import { createPrincipals } from './principals.ts'
import { mountServerFacts } from './routes/server-facts.ts'
import type { ServedOperation } from './served-operation.ts'
import type { ServerParts } from './server-parts.ts'
import {
  DEFAULT_VIEW_SECONDS,
  MAX_VIEW_SECONDS,
  type ViewTarget,
  type ViewToken,
} from './tokens/view-token.ts'
import { createTurns } from './turns.ts'
import { createViews } from './workspace-ledgers.ts'

export interface ServerOptions {
  /** Stays open when the server closes. */
  readonly ledger: Ledger
  readonly operations: readonly ServedOperation[]
  /** Passed to operations that control runs; without it runs can only be read. */
  readonly controlOf?: ((ledger: Ledger) => unknown) | undefined
  /** `false`: callers without a token are admitted, if they call by a name of this machine (A2). Default `true`. */
  readonly tokens?: boolean | undefined
  /** Another origin whose pages may call: `https://app.example.org`. */
  readonly origin?: string | undefined
  /** The server is reached only through one proxy: addresses are read from `x-forwarded-for`. */
  readonly trustProxy?: boolean | undefined
  /** Path below which an application mounts the server: `/clew`. */
  readonly basePath?: string | undefined
  /** Folder of the built page. */
  readonly page?: string | null | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly log?: Logger | undefined
  /** Key of view tokens, the same for all servers of a ledger; by default those of this server are valid here alone. */
  readonly signingKey?: string | undefined
  /** Answers `/mcp`; without it there is no such route. */
  readonly mcp?: AnswerMcp | undefined
  /** Version of what is served, for OpenAPI. */
  readonly version?: string | undefined
  /** Starts a thread that reads large bodies, with a program that calls `serveIngest`; without it they block the event loop. */
  readonly startIngest?: (() => Worker) | undefined
}

/** The server of a ledger, to be mounted in an application. */
export interface MountedServer {
  /** For Hono and other routers of web requests. `bindings` are the Node request and response, if there are any. */
  fetch(request: Request, bindings?: object): Promise<Response>
  /** For Express, Fastify and `node:http`. The body must not have been read. */
  handler(incoming: IncomingMessage, outgoing: ServerResponse): void
  /** Accepts sockets on the HTTP server of the application, below `basePath`. Other upgrades are left to it. */
  attach(server: Server): void
  /** A token for a page of one user: shows one run, or one stream with its sessions, for a short time (10 minutes by default). */
  createViewToken(
    target: ViewTarget,
    options?: { readonly workspace?: string; readonly seconds?: number },
  ): ViewToken
  /** Ends streams and sockets; requests that come later are answered with 503. The ledger stays open. */
  close(): Promise<void>
}

interface OwnServer extends MountedServer {
  readonly hasTokens: boolean
  /** `answered` settles when no request is in flight. */
  close(answered?: Promise<void>): Promise<void>
}

export async function createServer(options: ServerOptions): Promise<OwnServer> {
  const { ledger, origin, trustProxy, startIngest, tokens: needsToken = true } = options
  const basePath = parseBasePath(options.basePath ?? '')
  const closing = new AbortController()
  const log = options.log ?? createLog('warn')
  const limits: Limits = {
    ...DEFAULT_LIMITS,
    ...(!startIngest && { unpackedBytes: MAX_UNTHREADED_BYTES }),
    ...options.limits,
  }
  const principals = await createPrincipals({
    ledger,
    log,
    limits,
    needsToken,
    origin,
    trustProxy,
    signingKey: options.signingKey ?? randomBytes(32).toString('hex'),
  })
  const views = createViews(ledger, options.controlOf)
  const metrics = createMetrics(() => ledger.waiting)
  const parts: ServerParts = {
    ledgerOf: views.ledgerOf,
    controlOf: views.controlOf,
    workspace: ledger.workspace,
    traced: new Set([ledger.workspace]),
    operations: options.operations,
    principals,
    limits,
    turns: createTurns(),
    log,
    metrics,
    page: options.page ?? null,
    origin,
    closing: closing.signal,
    ingestThread:
      startIngest && createIngestThread({ start: startIngest, maxBodies: limits.largeBodies, metrics }),
  }
  const app = createApp(parts)
  mountOperations(app, parts)
  mountIngest(app, parts)
  const live = mountLive(app, parts)
  mountServerFacts(app, parts, options.version ?? '0')
  if (options.mcp) mountMcp(app, parts, options.mcp)
  mountPage(app, parts)
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })

  /** The path below `basePath`. Express and Hono have cut that off already. */
  function localPath(path: string): string {
    const local = path.startsWith(basePath) ? path.slice(basePath.length) : path
    if (local === '' || local.startsWith('?')) return `/${local}`
    return local.startsWith('/') ? local : path
  }

  return {
    get hasTokens() {
      return principals.hasTokens()
    },
    async fetch(request, bindings) {
      const url = new URL(request.url)
      const path = localPath(url.pathname)
      if (path === url.pathname) return app.fetch(request, bindings)
      url.pathname = path
      return app.fetch(new Request(url, request), bindings)
    },
    handler(incoming, outgoing) {
      incoming.url = localPath(incoming.url ?? '/')
      void listener(incoming, outgoing)
    },
    createViewToken: (target, { workspace = ledger.workspace, seconds = DEFAULT_VIEW_SECONDS } = {}) =>
      principals.createViewToken({ workspace, target, seconds: Math.min(seconds, MAX_VIEW_SECONDS) }),
    attach: (server) => live.attach(server, `${basePath}/socket.io`),
    async close(answered) {
      closing.abort()
      await live.close()
      await answered
      principals.close()
      await parts.ingestThread?.close()
      await views.close()
    },
  }
}

function parseBasePath(path: string): string {
  if (path === '' || /^(?:\/[\w.~-]+)+$/.test(path)) return path
  throw new ClewError(
    'bad_option',
    'The base path of the server does not begin with a slash, or ends with one',
    'Use a path such as /clew.',
    { option: 'basePath' },
  )
}
