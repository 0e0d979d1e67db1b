import { ClewError, type Ledger, openRunHandle, recordAnswers, signal, submitRun } from 'clew'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { streamSSE } from 'hono/streaming'

const STATUS: Readonly<Record<string, 400 | 404 | 409>> = {
  not_found: 404,
  conflict: 409,
  ended: 409,
  not_resumable: 409,
  bad_answer: 400,
  bad_signal: 400,
}

interface NewOrder {
  readonly orderId: string
  readonly customer: string
  readonly item: string
  readonly euros: number
  readonly express?: boolean
}

/** The web application. It has no code of the agent and does no work: each request is one call on the ledger. */
export function createShop(ledger: Ledger, warehouseUrl: string): Hono {
  const shop = new Hono()

  // The order's id is the run's: a form that is sent twice is one order.
  shop.post('/orders', async (c) => {
    const { orderId, customer, item, euros, express = false } = await c.req.json<NewOrder>()
    const runId = await submitRun(
      ledger,
      'orders',
      { item, euros, warehouseUrl },
      { runId: orderId, queue: 'orders', key: customer, priority: express ? 1 : 0, tags: { customer } },
    )
    return c.json({ orderId: runId }, 202, { location: `/orders/${runId}` })
  })

  shop.get('/orders/:id', async (c) => {
    const waitMs = Math.min(Number(c.req.query('waitMs') ?? 0), 30_000)
    const handle = openRunHandle(ledger, c.req.param('id'))
    const { status, output, error, pause } = await handle.result({ waitMs, signal: c.req.raw.signal })
    return c.json({ status, output, error: error?.message, question: pause?.question.question })
  })

  // A browser that lost its connection names the last event it has, and gets those after it.
  shop.get('/orders/:id/live', (c) => {
    const lastSeq = Number(c.req.header('last-event-id') ?? 0)
    const gone = new AbortController()
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => gone.abort())
      const events = openRunHandle(ledger, c.req.param('id')).follow({ signal: gone.signal })
      for await (const {
        eventType,
        payload,
        ledger: { seq },
      } of events)
        if (seq > lastSeq)
          await stream.writeSSE({
            id: `${seq}`,
            data: JSON.stringify({ what: eventType, step: payload['stepId'] }),
          })
    })
  })

  shop.post('/orders/:id/notes', async (c) => {
    const { id, text, isLast } = await c.req.json<{ id: string; text: string; isLast: boolean }>()
    const { seq } = await signal(ledger, c.req.param('id'), 'note', { text, isLast }, { id })
    return c.json({ seq })
  })

  shop.post('/orders/:id/answer', async (c) => {
    const { approve, by } = await c.req.json<{ approve: unknown; by: string }>()
    const { status } = await recordAnswers(ledger, c.req.param('id'), { answer: { approve }, by })
    return c.json({ status })
  })

  shop.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse()
    const status = error instanceof ClewError ? STATUS[error.code] : undefined
    if (error instanceof ClewError && status)
      return Response.json({ error: error.message, code: error.code }, { status })
    console.error(error)
    return Response.json({ error: 'Something went wrong.' }, { status: 500 })
  })
  return shop
}
