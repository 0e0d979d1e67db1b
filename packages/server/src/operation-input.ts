import { ClewError } from '@clew/ledger'
import type { z } from 'zod'
import type { Call } from './route.ts'
import type { RestPlace, ServedOperation } from './served-operation.ts'

/** Path and query, or path and body, as the operation's input; what does not fit is named. */
export async function readInput(
  operation: ServedOperation,
  rest: RestPlace,
  call: Call,
): Promise<Record<string, unknown>> {
  const { shape } = operation.input
  let fields: Record<string, unknown> = {}
  if (rest.method === 'post') {
    const body = await readObject(call)
    for (const name of Object.keys(body))
      if (Object.hasOwn(call.params, name))
        throw wrong(name, 'is in the path and in the body', 'Leave it out of the body.')
    fields = body
  } else
    for (const [name, text] of call.query)
      fields[name] = coerce(shape[name] as z.ZodType | undefined, name, text)
  // An id is text, whatever it looks like.
  const read = operation.input.strict().safeParse({ ...fields, ...call.params })
  if (read.success) return read.data
  // Before what is missing: that may be there in another spelling.
  const strange = read.error.issues.find(({ code }) => code === 'unrecognized_keys')
  const unknown = strange?.code === 'unrecognized_keys' ? strange.keys[0] : undefined
  if (unknown !== undefined) throw wrong(unknown, 'means nothing here', knownFields(operation, rest, unknown))
  const [issue] = read.error.issues
  throw wrong(
    issue?.path.join('.') ?? '',
    `does not fit: ${issue?.message ?? ''}`,
    'See /docs for what it takes.',
  )
}

function knownFields({ input }: ServedOperation, { method, path }: RestPlace, unknown: string): string {
  const names = Object.keys(input.shape).filter((name) => !path.includes(`{${name}}`))
  const camel = unknown.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const spelled = camel !== unknown && names.includes(camel) ? `It is spelled ${camel}. ` : ''
  return `${spelled}The ${method === 'post' ? 'body' : 'query'} takes ${names.join(', ')}.`
}

/** A write without a body is one with nothing in it. */
async function readObject(call: Call): Promise<Record<string, unknown>> {
  const { headers } = call.request
  if (
    !headers.has('content-type') &&
    (headers.get('content-length') ?? '0') === '0' &&
    !headers.has('transfer-encoding')
  )
    return {}
  const body = await call.json()
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new ClewError('bad_payload', 'The body is not a JSON object', 'Send one: {…}. Nothing was done.', {})
}

/** A query has only text: what the schema takes decides what is meant. */
function coerce(schema: z.ZodType | undefined, name: string, text: string): unknown {
  if (!schema) return text
  const readings: unknown[] = [text]
  if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(text)) readings.push(Number(text))
  if (text === 'true' || text === '') readings.push(true)
  if (text === 'false') readings.push(false)
  readings.push(text.split(',').map((part) => part.trim()))
  for (const reading of readings) if (schema.safeParse(reading).success) return reading
  const [issue] = schema.safeParse(text).error?.issues ?? []
  const choice = issue?.code === 'invalid_value' ? ` One of: ${issue.values.join(', ')}.` : ''
  throw wrong(
    name,
    'has a value that does not fit',
    `It takes: ${schema.description ?? 'another value'}.${choice}`,
  )
}

function wrong(name: string, what: string, hint: string): ClewError {
  const option = name.slice(0, 80)
  return new ClewError('bad_option', `${JSON.stringify(option)} ${what}`, hint, { option })
}
