import type { JsonObject } from '@clew/ledger'
import { z } from 'zod'
import { MAX_ITEMS } from './page-answer.ts'
import type { Content, Route, RouteParameter } from './route.ts'
import type { RestPlace, ServedOperation } from './served-operation.ts'

/** The route of an operation at one of its places, all of it taken from its schemas. */
export function describeOperation(operation: ServedOperation, rest: RestPlace, path: string): Route {
  const { name, summary, scope, example } = operation
  const { properties, required } = fieldsOf(operation, rest)
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field as string))
  const others = Object.keys(properties).filter((field) => !inPath.has(field))
  const parameter = (field: string, place: RouteParameter['in']): RouteParameter => {
    const { description, ...schema } = properties[field] as JsonObject & { readonly description: string }
    const isRequired = place === 'path' || required.has(field)
    return { name: field, in: place, description, required: isRequired, schema }
  }
  const given = Object.entries(example.input as object).filter(([field]) => !inPath.has(field))
  return {
    id: path === rest.path ? name : `${name}Of${path.includes('{') ? 'One' : 'All'}`,
    method: rest.method,
    path,
    summary,
    tag: scope === 'control' ? 'control' : 'ledger',
    scope,
    parameters: [
      ...[...inPath].map((field) => parameter(field, 'path')),
      ...(rest.method === 'get' ? others.map((field) => parameter(field, 'query')) : []),
    ],
    ...(rest.method === 'post' && {
      body: {
        'application/json': {
          schema: {
            type: 'object',
            properties: Object.fromEntries(others.map((field) => [field, properties[field] as JsonObject])),
            required: others.filter((field) => required.has(field)),
            additionalProperties: false,
          },
          example: Object.fromEntries(given),
        },
      },
    }),
    answer: { description: summary, content: answerOf(operation, rest) },
  }
}

function fieldsOf({ input }: ServedOperation, { page }: RestPlace) {
  const schema = z.toJSONSchema(input, { io: 'input' }) as JsonObject
  const properties = { ...(schema['properties'] as Record<string, JsonObject> | undefined) }
  const limit = properties['limit']
  if (page && limit) {
    const description = `how many at once, 1 to ${MAX_ITEMS}`
    properties['limit'] = { ...limit, maximum: MAX_ITEMS, description }
  }
  return { properties, required: new Set((schema['required'] ?? []) as string[]) }
}

function answerOf({ output, kind }: ServedOperation, { page }: RestPlace): Content {
  const { $schema: _, ...schema } = z.toJSONSchema(output, {
    io: 'output',
    unrepresentable: 'any',
  }) as JsonObject
  if (kind === 'answer') return { 'application/json': { schema } }
  const lines = { 'application/x-ndjson': { schema } }
  if (!page) return lines
  const properties = {
    [page.items]: { type: 'array', items: schema },
    nextCursor: {
      type: ['string', 'null'],
      description: `${page.cursor} of the next page; null when there is none`,
    },
  }
  const paged = { type: 'object', required: [page.items, 'nextCursor'], properties }
  return { 'application/json': { schema: paged }, ...lines }
}
