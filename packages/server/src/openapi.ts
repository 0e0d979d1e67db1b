import type { JsonObject, JsonValue } from '@clew/ledger'
import type { Content, Route } from './route.ts'

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'hint', 'fields'],
      properties: {
        code: { type: 'string', description: 'stable; programs branch on it' },
        message: { type: 'string', description: 'what happened, and what to do now' },
        hint: { type: 'string', description: 'what to do now' },
        fields: { type: 'object', description: 'details of the message, for programs' },
      },
    },
  },
}

const error = (description: string, code: string): JsonObject => ({
  description,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      example: {
        error: { code, message: `${description}. What to do now.`, hint: 'What to do now.', fields: {} },
      },
    },
  },
})

const RESPONSES: JsonObject = {
  BadRequest: error('The request is wrong; the message names the field', 'bad_option'),
  Unauthenticated: error('No token, or one that is unknown, expired or revoked', 'unauthenticated'),
  Forbidden: error('The token lacks the scope, or the page is of another origin', 'forbidden'),
  NotFound: error('Not found in this workspace, or no access to the workspace', 'not_found'),
  Conflict: error('It conflicts with what is recorded', 'conflict'),
  TooLarge: error('The body is too large', 'too_large'),
  WrongMedia: error('The content type of the body is not accepted', 'wrong_media'),
  RateLimited: error('Too many requests; Retry-After says when to try again', 'rate_limited'),
  Unavailable: error(
    'The store is not reachable or overloaded; Retry-After says when to try again',
    'store_locked',
  ),
}

const ref = (name: string): JsonObject => ({ $ref: `#/components/responses/${name}` })

/** OpenAPI 3.1 of all that is mounted. */
export function openApi(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, Record<string, JsonValue>> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method] = describe(route)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Clew',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'One append-only ledger of what agents did. A token belongs to one workspace, or to all of them: then the query `workspace` or the header `clew-workspace` names the one that is meant. On the machine itself no token is needed unless the server asks for one.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: RESPONSES,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Created with `clew token create`.' },
      },
    },
  }
}

function describe(route: Route): JsonObject {
  const { id, summary, tag, scope, answer, method, body } = route
  const isOpen = scope === null
  const parameters = (route.parameters ?? []).map(
    ({
      name,
      in: where,
      description,
      required = where === 'path',
      schema = { type: 'string' },
    }): JsonObject => ({
      name,
      in: where,
      description,
      required,
      schema,
    }),
  )
  if (!isOpen && !route.path.includes('{workspaceId}')) parameters.push(WORKSPACE)
  const writes = method !== 'get'
  return {
    operationId: id,
    summary,
    tags: [tag],
    ...(isOpen ? { security: [] } : { security: [{ token: [scope] }], 'x-scope': scope }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: route.bodyRequired ?? false, content: content(body) } }),
    responses: {
      [answer.status ?? 200]: {
        description: answer.description,
        ...(answer.content && { content: content(answer.content) }),
      },
      ...(!isOpen && {
        400: ref('BadRequest'),
        401: ref('Unauthenticated'),
        403: ref('Forbidden'),
        404: ref('NotFound'),
        ...(writes && { 409: ref('Conflict'), 413: ref('TooLarge'), 415: ref('WrongMedia') }),
        429: ref('RateLimited'),
      }),
      503: ref('Unavailable'),
    },
  }
}

const WORKSPACE: JsonObject = {
  name: 'workspace',
  in: 'query',
  description: 'the workspace, for tokens with access to several',
  required: false,
  schema: { type: 'string' },
}

const content = (kinds: Content): JsonObject =>
  Object.fromEntries(
    Object.entries(kinds).map(([type, { schema, example }]) => [
      type,
      { schema, ...(example !== undefined && { example: example as JsonValue }) },
    ]),
  )
