import {
  type ClewEvent,
  ClewError,
  fromWire,
  type Ledger,
  type RunSummary,
  splitLines,
  type WireEvent,
} from '@clew/ledger'
import { hidePasswords } from '../hide-passwords.ts'
import type { Operation } from '../operations/operation.ts'
import { askServer, type RemoteServer } from './ask-server.ts'
import { followServer } from './follow-server.ts'

const servers = new WeakMap<object, RemoteServer>()

export const isServerUrl = (url: string): boolean => /^https?:\/\//.test(url)

/** The server that stands behind a ledger; undefined when it is a store. */
export const serverOf = (ledger: Ledger): RemoteServer | undefined => servers.get(ledger)

/**
 * The ledger that commands use if a server is named in place of a store: it runs operations by their routes and finds
 * runs, nothing else.
 */
export function openRemote(url: string, workspace: string | undefined, token: string | undefined): Ledger {
  // `fetch` refuses such a URL, and everything below names the server by it.
  if (hidePasswords(url) !== url)
    throw new ClewError(
      'bad_url',
      `The URL of the server holds a password: ${hidePasswords(url)}`,
      'Leave it out, and set CLEW_TOKEN to a token of that server.',
    )
  const server = { url: url.replace(/\/+$/, ''), token, workspace }
  const get = async <T>(path: string, input: Record<string, unknown>): Promise<T> =>
    (await (await askServer(server, { rest: { method: 'get', path }, input })).json()) as T
  /** Null for what is not there. */
  const find = async <T>(path: string, input: Record<string, unknown>): Promise<T | null> => {
    try {
      return await get<T>(path, input)
    } catch (error) {
      if (error instanceof ClewError && error.code === 'not_found') return null
      throw error
    }
  }
  const can = {
    url: server.url,
    workspace: workspace ?? 'default',
    getRun: async (runId: string) =>
      (await find<{ run: RunSummary }>('/v1/runs/{runId}', { runId, steps: 0 }))?.run ?? null,
    async getEvent(eventId: string): Promise<ClewEvent | null> {
      const found = await find<WireEvent>('/v1/events/{eventId}', { eventId })
      return found && fromWire(found)
    },
    listRuns: (filter: Record<string, unknown>) => get('/v1/runs', filter),
    transcript: (runId: string) => get('/v1/runs/{runId}/transcript', { runId }),
    // Leases are known to the server only.
    leases: { list: async () => [] },
    close: async () => {},
  }
  const ledger = new Proxy(can, {
    get(target, name) {
      if (Object.hasOwn(target, name)) return Reflect.get(target, name)
      throw notRemote('This', server.url)
    },
  }) as unknown as Ledger
  servers.set(ledger, server)
  return ledger
}

export const notRemote = (what: string, url: string): ClewError =>
  new ClewError(
    'bad_option',
    `${what} cannot be done through the server ${url}`,
    'Run it on the machine of the store, with --store sqlite:PATH or postgres://….',
    { option: '--store' },
  )

/** The answer of the operation, as the server gives it. */
export async function answerRemote(
  server: RemoteServer,
  { name, rest }: Pick<Operation, 'name' | 'rest'>,
  input: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<unknown> {
  if (!rest) throw notRemote(`clew ${name}`, server.url)
  return (await askServer(server, { rest, input, signal })).json()
}

export async function* streamRemote(
  server: RemoteServer,
  { name, rest }: Pick<Operation, 'name' | 'rest'>,
  input: Record<string, unknown>,
  signal?: AbortSignal,
): AsyncGenerator {
  if (!rest) throw notRemote(`clew ${name}`, server.url)
  if (rest.isLive === true) return yield* tailRemote(server, rest.path, input, signal)
  const headers = { accept: 'application/x-ndjson' }
  const { body } = await askServer(server, { rest, input, headers, signal })
  if (body) for await (const line of splitLines(body)) yield JSON.parse(line)
}

/** One run is followed by its seq, everything by position. */
async function* tailRemote(
  server: RemoteServer,
  path: string,
  { runId, history, afterPosition, ...input }: Record<string, unknown>,
  signal?: AbortSignal,
): AsyncGenerator<WireEvent> {
  const from = typeof afterPosition === 'number' ? afterPosition : undefined
  if (runId === undefined) {
    const rest = { method: 'get', path } as const
    const after = from ?? (history === true ? 0 : undefined)
    const { untilEnd: _, ...wanted } = input
    return yield* followServer(server, { rest, input: { ...wanted, afterPosition: after }, signal })
  }
  const rest = { method: 'get', path: '/v1/runs/{runId}/follow' } as const
  const afterSeq = history === true || from !== undefined ? 0 : await headSeq(server, runId)
  for await (const event of followServer(server, { rest, input: { ...input, runId, afterSeq }, signal }))
    if (from === undefined || event.ledger.position > from) yield event
}

async function headSeq(server: RemoteServer, runId: unknown): Promise<number> {
  const rest = { method: 'get', path: '/v1/runs/{runId}' } as const
  const response = await askServer(server, { rest, input: { runId, steps: 0 } })
  const { run } = (await response.json()) as { run: RunSummary }
  return (run.forkedFrom?.seq ?? 0) + run.events
}
