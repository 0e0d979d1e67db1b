import { Hono } from 'hono'

/** A service of somebody else: it does each task once per idempotency key, and on request keeps a caller waiting. */

interface Task {
  readonly orderId: string
  readonly action: string
  readonly detail: string
}

interface Call extends Task {
  readonly key: string
  /** Process that calls. */
  readonly pid: number
}

export interface Warehouse {
  readonly app: Hono
  /** Keys of the tasks that were done. */
  readonly done: ReadonlySet<string>
  /** Calls that were made again later. */
  readonly repeated: readonly Call[]
  /** The next first call for this action of the order; it gets no answer. */
  holdNext(orderId: string, action: string): Promise<Call>
}

export function createWarehouse(): Warehouse {
  const done = new Set<string>()
  const repeated: Call[] = []
  const lastCalls = new Map<string, Call>()
  const held = new Map<string, (call: Call) => void>()
  const app = new Hono()
  app.post('/tasks', async (c) => {
    const task = await c.req.json<Task>()
    const key = c.req.header('idempotency-key') ?? ''
    const call = { ...task, key, pid: Number(c.req.header('x-pid')) }
    const earlier = lastCalls.get(key)
    if (earlier) repeated.push(earlier)
    lastCalls.set(key, call)
    done.add(key)
    const place = `${task.orderId} ${task.action}`
    const hold = held.get(place)
    held.delete(place)
    hold?.(call)
    if (hold) await new Promise(() => {}) // the caller is killed while it waits
    return c.json(`${task.action}: ${task.detail}`)
  })
  return {
    app,
    done,
    repeated,
    holdNext: (orderId, action) => new Promise((resolve) => held.set(`${orderId} ${action}`, resolve)),
  }
}

export async function ask(
  url: string,
  task: Task,
  { idempotencyKey, signal }: { readonly idempotencyKey: string; readonly signal: AbortSignal },
): Promise<string> {
  const answer = await fetch(`${url}/tasks`, {
    method: 'POST',
    headers: { 'idempotency-key': idempotencyKey, 'x-pid': `${process.pid}` },
    body: JSON.stringify(task),
    signal,
  })
  if (!answer.ok) throw new Error(`The warehouse answers ${answer.status}.`)
  return (await answer.json()) as string
}
