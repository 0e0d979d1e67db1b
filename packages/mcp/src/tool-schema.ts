import { ClewError, type JsonObject } from '@clew/ledger'
import { z } from 'zod'
import { isReadOnly, type Tool } from './tool.ts'

const DEFAULT_TOKENS = 2000
const MAX_TOKENS = 100_000

const frame = {
  max_tokens: z.int().min(1).max(MAX_TOKENS).default(DEFAULT_TOKENS).describe('size of the answer at most'),
  format: z.enum(['text', 'json']).default('text').describe('json: as REST answers'),
}
const control = {
  reason: z.string().min(3).max(2000).describe('why; recorded with your name'),
  idempotency_key: z.string().min(1).max(200).optional().describe('a retry with the same key is done once'),
}

/** Arguments of a call, parted: what the operation takes, and what is about the call. */
export interface ReadArguments {
  readonly input: Record<string, unknown>
  readonly maxTokens: number
  readonly format: 'text' | 'json'
  readonly reason: string | null
  readonly key: string | null
}

const FRAMES = { read: z.object(frame), control: z.object({ ...frame, ...control }) }
const frameOf = (tool: Tool): z.ZodObject => (isReadOnly(tool) ? FRAMES.read : FRAMES.control)

function offered({ operation, hidden = [] }: Tool): z.ZodObject {
  const fields = Object.entries(operation.input.shape).filter(([field]) => !hidden.includes(field))
  return z.object(Object.fromEntries(fields))
}

export function toolSchema(tool: Tool): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(offered(tool).extend(frameOf(tool).shape), {
    io: 'input',
  }) as JsonObject
  return { ...schema, additionalProperties: false }
}

export function readArguments(tool: Tool, given: Readonly<Record<string, unknown>>): ReadArguments {
  const inFrame = frameOf(tool).shape
  const own = offered(tool)
  const unknown = Object.keys(given).find(
    (name) => !Object.hasOwn(inFrame, name) && !Object.hasOwn(own.shape, name),
  )
  if (unknown !== undefined)
    throw wrong(
      unknown,
      'means nothing here',
      `${tool.name} takes ${[...Object.keys(own.shape), ...Object.keys(inFrame)].join(', ')}.`,
    )
  const pick = (shape: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(shape, name)))
  const about = parse(frameOf(tool), pick(inFrame)) as {
    max_tokens: number
    format: 'text' | 'json'
    reason?: string
    idempotency_key?: string
  }
  const input = parse(own, { ...tool.defaults, ...pick(own.shape) })
  return {
    input,
    maxTokens: about.max_tokens,
    format: about.format,
    reason: about.reason ?? null,
    key: about.idempotency_key ?? null,
  }
}

function parse(schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const read = schema.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const name = issue?.path.join('.') ?? ''
  const field = schema.shape[String(issue?.path[0])] as z.ZodType | undefined
  throw wrong(
    name,
    `does not fit: ${issue?.message ?? ''}`,
    `It is: ${field?.description ?? 'another value'}.`,
  )
}

function wrong(name: string, what: string, hint: string): ClewError {
  const option = name.slice(0, 80)
  return new ClewError('bad_option', `${JSON.stringify(option)} ${what}`, hint, { option })
}
