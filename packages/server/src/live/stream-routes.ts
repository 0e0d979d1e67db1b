import { randomUUID } from 'node:crypto'
import { ClewError, type JsonValue } from '@clew/ledger'
import { createStream, deleteMessage, editMessage, listStreams, postMessage, readStream } from '@clew/trace'
import { z } from 'zod'
import type { App } from '../create-app.ts'
import type { Call, RouteParameter } from '../route.ts'
import { mountJson } from './json-route.ts'
import { author, givenSource, id, stream, streamList, streamPage } from './schemas.ts'

const STREAMS = '/api/workspaces/{workspaceId}/streams'
const MESSAGES = `${STREAMS}/{streamId}/messages`
const ONE = `${MESSAGES}/{messageId}`

const inPath = (name: string, description: string): RouteParameter => ({
  name,
  in: 'path',
  description,
  required: true,
})
export const WORKSPACE = inPath('workspaceId', 'the workspace')
const STREAM = inPath('streamId', 'id of the stream')
const MESSAGE = inPath('messageId', 'id of the message')

const MAX_PAGE = 200
const PAGING: readonly RouteParameter[] = [
  { name: 'cursor', in: 'query', description: 'cursor that the previous page returned; default the newest' },
  {
    name: 'limit',
    in: 'query',
    description: 'how many at most; default 50',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE },
  },
]

const content = z
  .unknown()
  .refine((value) => value !== undefined && value !== null, 'it is missing')
  .transform((value) => value as JsonValue)
  .describe('text to show, or data; never JSON inside a string')
const done = { description: 'done', schema: z.object({ ok: z.literal(true) }) }
const posted = { description: 'the message is committed', status: 201, schema: z.object({ messageId: id }) }
const created = { description: 'the stream', status: 201, schema: stream }

/** Streams and their messages: what a chat product is built on. */
export function mountStreams(app: App): void {
  mountJson(
    app,
    {
      id: 'listStreams',
      method: 'get',
      path: STREAMS,
      summary: 'Streams of the workspace, newest first',
      scope: 'read',
      parameters: [WORKSPACE, ...PAGING],
      answer: { description: 'one page', schema: streamList },
    },
    (call) => listStreams(call.ledger, readPaging(call)),
  )
  mountJson(
    app,
    {
      id: 'createStream',
      method: 'post',
      path: STREAMS,
      summary: 'Create a stream; an existing one stays unchanged',
      scope: 'write',
      parameters: [WORKSPACE],
      body: {
        schema: z.strictObject({ streamId: id.optional(), title: z.string().max(500).nullable().optional() }),
        example: { streamId: 'general', title: 'General' },
      },
      answer: created,
    },
    async ({ ledger }, { streamId = randomUUID(), title }) => {
      await createStream(ledger, { streamId, title })
      return (await readStream(ledger, streamId, { limit: 1 })).stream
    },
  )
  mountJson(
    app,
    {
      id: 'readMessages',
      method: 'get',
      path: MESSAGES,
      summary:
        'Messages of a stream with the cards of its sessions and what agents are doing now; newest page first',
      scope: 'read',
      parameters: [WORKSPACE, STREAM, ...PAGING],
      answer: { description: 'one page, oldest first in it', schema: streamPage },
    },
    (call) => {
      const { cursor: before, limit } = readPaging(call)
      return readStream(call.ledger, call.params['streamId'] as string, { before, limit })
    },
  )
  mountJson(
    app,
    {
      id: 'postMessage',
      method: 'post',
      path: MESSAGES,
      summary: 'Post a message; the same id with the same content again adds nothing',
      scope: 'write',
      parameters: [WORKSPACE, STREAM],
      body: {
        schema: z.strictObject({
          content,
          author,
          messageId: id.optional(),
          sessionId: id.nullable().optional(),
          sources: z.array(givenSource).max(1000).optional(),
        }),
        example: { content: 'What do owls eat?', author: { type: 'user', id: 'ada', name: 'Ada' } },
      },
      answer: posted,
    },
    async ({ ledger, params }, message) => ({
      messageId: await postMessage(ledger, { streamId: params['streamId'] as string, ...message }),
    }),
  )
  mountJson(
    app,
    {
      id: 'editMessage',
      method: 'patch',
      path: ONE,
      summary: 'Edit a message',
      scope: 'write',
      parameters: [WORKSPACE, STREAM, MESSAGE],
      body: { schema: z.strictObject({ content }), example: { content: 'What do barn owls eat?' } },
      answer: done,
    },
    async (call, { content: said }) => {
      await editMessage(call.ledger, { ...messageOf(call), content: said })
      return { ok: true }
    },
  )
  mountJson(
    app,
    {
      id: 'deleteMessage',
      method: 'delete',
      path: ONE,
      summary: 'Delete a message from the stream',
      scope: 'write',
      parameters: [WORKSPACE, STREAM, MESSAGE],
      answer: done,
    },
    async (call) => {
      await deleteMessage(call.ledger, messageOf(call))
      return { ok: true }
    },
  )
  mountJson(
    app,
    {
      id: 'createThread',
      method: 'post',
      path: `${ONE}/threads`,
      summary: 'Open the thread on a message: a stream below it',
      scope: 'write',
      parameters: [WORKSPACE, STREAM, MESSAGE],
      body: {
        schema: z.strictObject({ streamId: id.optional(), title: z.string().max(500).nullable().optional() }),
        example: { streamId: 'owls-1' },
      },
      answer: created,
    },
    async (call, { streamId = randomUUID(), title }) => {
      const { streamId: parentStreamId, messageId: parentMessageId } = messageOf(call)
      await createStream(call.ledger, { streamId, title, parentStreamId, parentMessageId })
      return (await readStream(call.ledger, streamId, { limit: 1 })).stream
    },
  )
}

const messageOf = ({ params }: Call): { streamId: string; messageId: string } => ({
  streamId: params['streamId'] as string,
  messageId: params['messageId'] as string,
})

export function readPaging(
  { query }: Call,
  most = MAX_PAGE,
): { cursor?: string | undefined; limit?: number | undefined } {
  const limit = query.get('limit')
  if (limit !== null && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= most))
    throw new ClewError('bad_option', `limit is not a count up to ${most}`, 'Correct it, or leave it out.', {
      option: 'limit',
    })
  return { cursor: query.get('cursor') ?? undefined, limit: limit === null ? undefined : Number(limit) }
}
