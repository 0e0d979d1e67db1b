import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClewError } from '@clew/ledger'
import { createServer, type ServerOptions } from './create-server.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { createLog } from './log.ts'

export interface StartOptions extends ServerOptions {
  readonly host?: string | undefined
  /** 0 for any free port. */
  readonly port?: number | undefined
  /** Require a token from clients on this machine, too; others always need one. */
  readonly tokens?: boolean | undefined
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  /** Answers the requests in flight, and ends streams and sockets. */
  close(): Promise<void>
}

/** The letters C-L-E-W on a telephone. */
export const DEFAULT_PORT = 2539

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

/** A server with a port of its own. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = DEFAULT_PORT } = options
  const log = options.log ?? createLog('warn')
  const { requestTimeoutMs, connections, graceMs } = { ...DEFAULT_LIMITS, ...options.limits }
  const needsToken = options.tokens === true || !LOOPBACK.test(host)
  const mounted = await createServer({ ...options, log, tokens: needsToken })
  const server = createHttpServer(
    {
      // Bodies are timed where they are read (`createCall`): a stream of events may last as long as its agent works.
      requestTimeout: 0,
      headersTimeout: Math.min(15_000, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(5000, requestTimeoutMs),
    },
    mounted.handler,
  )
  server.maxConnections = connections
  mounted.attach(server)

  async function close(): Promise<void> {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    const late = setTimeout(() => server.closeAllConnections(), graceMs)
    const closed = mounted.close(ended)
    server.closeIdleConnections()
    await closed
    clearTimeout(late)
  }

  try {
    if (needsToken && !mounted.hasTokens) throw noTokens(host)
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
