import { ClewError, type JsonObject } from '@clew/ledger'
import { z } from 'zod'
import type { App } from '../create-app.ts'
import { jsonAnswer } from '../json-answer.ts'
import type { Call, Route } from '../route.ts'

interface JsonRoute<Body extends z.ZodType> extends Omit<Route, 'body' | 'bodyRequired' | 'answer' | 'tag'> {
  /** Schema of the body, and an example. */
  readonly body?: { readonly schema: Body; readonly example: z.input<Body> } | undefined
  readonly answer: { readonly description: string; readonly schema: z.ZodType; readonly status?: number }
}

/** A route that takes and gives JSON, both described by the schema that checks it. */
export function mountJson<Body extends z.ZodType = z.ZodUndefined>(
  app: App,
  { body, answer, ...route }: JsonRoute<Body>,
  work: (call: Call, body: z.output<Body>) => Promise<unknown>,
): void {
  const { description, schema, status = 200 } = answer
  const described: Route = {
    ...route,
    tag: 'live',
    ...(body && {
      body: { 'application/json': { schema: toSchema(body.schema, 'input'), example: body.example } },
      bodyRequired: true,
    }),
    answer: { status, description, content: { 'application/json': { schema: toSchema(schema, 'output') } } },
  }
  app.route(described, async (call) => {
    const given = body ? readBody(body.schema, await call.json()) : undefined
    return jsonAnswer(call, await work(call, given as z.output<Body>), status)
  })
}

const toSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonObject =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonObject

function readBody<Body extends z.ZodType>(schema: Body, given: unknown): z.output<Body> {
  const read = schema.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new ClewError(
    'bad_payload',
    `${field === '' ? 'The body' : `The field ${field.slice(0, 80)} of the body`} does not fit: ${issue?.message ?? ''}`,
    'See /docs for what it takes. Nothing was done.',
    { field },
  )
}
