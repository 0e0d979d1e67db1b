import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { ClewError, type Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { createCall } from '../create-call.ts'
import type { Limits } from '../limits.ts'
import { createMetrics } from '../metrics.ts'
import type { Answer, Route } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'
import { createTurns } from '../turns.ts'
import { createViews } from '../workspace-ledgers.ts'
import { toError, toSent } from './ingest-thread.ts'
import { isWholeBody, mountIngestRoutes } from './index.ts'
import type { CallMessage, FromThread, ToThread } from './thread-messages.ts'

export interface ServeIngestOptions {
  readonly limits: Limits
  readonly log: Logger
}

/** Whole bodies read at a time: each may take many times its size while it is decoded. */
const MAX_AT_ONCE = 2

type Part = Pick<Extract<ToThread, { type: 'chunk' }>, 'bytes' | 'isLast'>

interface ThreadCall {
  readonly abort: AbortController
  /** Passes on the part that was asked for. */
  give?: (part: Part) => void
}

/** The other side of `createIngestThread`: the ingest routes over a ledger of this thread, without a socket of its own. */
export function serveIngest(port: MessagePort, ledger: Ledger, { limits, log }: ServeIngestOptions): void {
  const routes = new Map<string, { readonly route: Route; readonly answer: Answer }>()
  const calls = new Map<number, ThreadCall>()
  const metrics = createMetrics(() => ledger.waiting)
  const views = createViews(ledger)
  const gate = createGate(MAX_AT_ONCE)
  const parts: ServerParts = {
    ledgerOf: views.ledgerOf,
    controlOf: () => undefined,
    workspace: ledger.workspace,
    traced: new Set(),
    operations: [],
    // The server admits calls before it sends them here, and aborts those whose token ends.
    principals: {
      admit: () => Promise.reject(notHere()),
      watch: () => () => {},
      createViewToken() {
        throw notHere()
      },
    },
    limits,
    turns: createTurns(),
    log,
    metrics,
    page: null,
    origin: undefined,
    closing: new AbortController().signal,
    ingestThread: undefined,
  }
  mountIngestRoutes(
    { route: (route, answer) => void routes.set(route.id, { route: { ...route, isIngest: true }, answer }) },
    parts,
  )

  const send = (message: FromThread, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer)

  function bodyOf(id: number, call: ThreadCall): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { bytes, isLast } = await new Promise<Part>((resolve) => {
            call.give = resolve
            send({ type: 'pull', id })
          })
          if (bytes.byteLength > 0) controller.enqueue(bytes)
          if (isLast) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async function run(message: CallMessage): Promise<void> {
    const { id, routeId, url, headers, params, principal } = message
    const call: ThreadCall = { abort: new AbortController() }
    calls.set(id, call)
    const found = routes.get(routeId)
    try {
      if (!found) throw notHere()
      const raw = new Request(url, {
        method: 'POST',
        headers: headers.map(([name, value]) => [name, value]),
        body: bodyOf(id, call),
        duplex: 'half',
      })
      const cut = (): void => send({ type: 'cut', id })
      const work = async (): Promise<Response> => {
        const { signal } = call.abort
        return found.answer(createCall({ raw, params }, found.route, principal, parts, signal, cut))
      }
      await reply(id, await (isWholeBody(raw) ? gate(work) : work()))
    } catch (error) {
      if (!(error instanceof ClewError)) log.error({ err: error }, 'an ingested body could not be read')
      send({ type: 'failed', id, error: toSent(error) })
    } finally {
      calls.delete(id)
    }
  }

  async function reply(id: number, response: Response): Promise<void> {
    const body = new Uint8Array(await response.arrayBuffer())
    const [{ values: appended }, { values: errors }] = await Promise.all([
      metrics.appended.get(),
      metrics.errors.get(),
    ])
    metrics.appended.reset()
    metrics.errors.reset()
    send(
      {
        type: 'answer',
        id,
        status: response.status,
        headers: [...response.headers],
        body,
        appended: appended.reduce((sum, { value }) => sum + value, 0),
        errors: errors.flatMap(({ labels, value }) =>
          Array.from({ length: value }, () => String(labels.code)),
        ),
      },
      [body.buffer],
    )
  }

  port.on('message', (message: ToThread) => {
    if (message.type === 'call') return void run(message)
    const call = calls.get(message.id)
    if (message.type === 'chunk') call?.give?.(message)
    else call?.abort.abort(toError(message.error))
  })
}

/** Runs so many pieces of work at a time, in the order of their calls. */
function createGate(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      // Lets messages of other calls arrive between two bodies.
      await yieldToEventLoop()
      waiting.shift()?.()
    }
  }
}

const notHere = (): ClewError =>
  new ClewError('not_found', 'The ingest thread has no such route', 'Report this defect of Clew.', {})
