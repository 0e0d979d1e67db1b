import { onTestFinished } from 'vitest'
import type { Limits } from '@clew/server'
import { startServer } from '@clew/server'
import { type EventInput, type Ledger, openLedger } from 'clew'

export interface Served {
  readonly url: string
  readonly ledger: Ledger
  post(path: string, type: string, body: BodyInit, headers?: Record<string, string>): Promise<Answered>
}

export interface Answered {
  readonly status: number
  readonly type: string
  readonly retryAfter: string | null
  readonly text: string
  readonly json: unknown
}

export type BodyInit = NonNullable<RequestInit['body']>

interface ServedOptions {
  readonly url?: string
  /** Another server over the ledger of the first. */
  readonly over?: Ledger
  readonly limits?: Partial<Limits>
  /** What the server sees in place of the ledger. */
  readonly instead?: (ledger: Ledger) => Ledger
}

/** A server on a free port over a ledger of its own, until the test ends. */
export async function serve({ url = 'memory:', over, limits, instead }: ServedOptions = {}): Promise<Served> {
  const ledger = over ?? (await openLedger(url))
  const server = await startServer({
    ledger: instead ? disguised(ledger, instead) : ledger,
    operations: [],
    port: 0,
    ...(limits && { limits }),
  })
  onTestFinished(async () => {
    await server.close()
    if (!over) await ledger.close()
  })
  return {
    url: server.url,
    ledger,
    async post(path, type, body, headers = {}) {
      const answer = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': type, ...headers },
        body,
        duplex: 'half',
      })
      return toAnswered(answer)
    },
  }
}

function disguised(ledger: Ledger, instead: (ledger: Ledger) => Ledger): Ledger {
  return { ...instead(ledger), in: (workspace) => disguised(ledger.in(workspace), instead) }
}

async function toAnswered(answer: Response): Promise<Answered> {
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  return {
    status: answer.status,
    type,
    retryAfter: answer.headers.get('retry-after'),
    text,
    json: type.startsWith('application/json') ? JSON.parse(text) : undefined,
  }
}

export const note = (runId: string, payload: EventInput['payload'] = {}) => ({
  event_type: 'execution.note',
  correlation_id: runId,
  payload,
})

export const ids = async (ledger: Ledger, runId: string): Promise<string[]> =>
  (await Array.fromAsync(ledger.read(runId))).map((event) => event.eventId)
