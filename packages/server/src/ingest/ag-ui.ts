import { type AgUiStream, createAgUiMapper, createAgUiStream } from '@clew/adapters/ag-ui'
import { ClewError, type JsonObject, type Ledger } from '@clew/ledger'
import type { App } from '../create-app.ts'
import { eventStream } from '../live/event-stream.ts'
import type { Call, Route } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'
import { appendMapped } from './append-mapped.ts'
import { MAPPED_ANSWER } from './event-schemas.ts'
import { mappedRecords } from './mapped-records.ts'

const AG_UI = { type: 'object', required: ['type'], properties: { type: { type: 'string' } } }
const EXAMPLE = { type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-1' }

const POST: Route = {
  id: 'postAgUi',
  method: 'post',
  path: '/v1/ag-ui',
  summary: 'Append the events of an AG-UI stream, as they arrive',
  tag: 'Ingest',
  scope: 'write',
  parameters: [
    { name: 'runId', in: 'query', description: 'the run, if the stream does not start with RUN_STARTED' },
    { name: 'threadId', in: 'query', description: 'the thread, if the stream does not name one' },
    { name: 'agent', in: 'query', description: 'agent of the run; AG-UI does not name it' },
  ],
  body: {
    'application/json': { schema: { type: 'array', items: AG_UI }, example: [EXAMPLE] },
    'application/x-ndjson': { schema: { type: 'string' }, example: JSON.stringify(EXAMPLE) },
    'text/event-stream': { schema: { type: 'string' } },
  },
  bodyRequired: true,
  answer: { description: 'The events of the stream are committed.', content: MAPPED_ANSWER },
}

const GET: Route = {
  id: 'followAgUi',
  method: 'get',
  path: '/v1/runs/{runId}/ag-ui',
  summary: 'A run as AG-UI events, from its beginning and live',
  tag: 'Follow',
  scope: 'read',
  parameters: [{ name: 'runId', in: 'path', description: 'id of the run', required: true }],
  answer: {
    description: 'Ends with the run. Starts after the event in the header last-event-id.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  },
}

/** The official client always sends its input by POST; it is shown the run of the path, and nothing is run or written. */
const WATCH: Route = {
  ...GET,
  id: 'watchAgUi',
  method: 'post',
  summary: 'The same for clients of AG-UI, which POST their RunAgentInput',
  body: {
    'application/json': {
      schema: { type: 'object', properties: { messages: { type: 'array', items: { type: 'object' } } } },
      example: { threadId: 'thread-1', runId: 'run-1', messages: [], tools: [], context: [] },
    },
  },
  bodyRequired: true,
}

/** `POST /v1/ag-ui`, and a run as AG-UI by `GET` or `POST /v1/runs/{runId}/ag-ui`. */
export function mountAgUi(app: Pick<App, 'route'>, parts: ServerParts): void {
  app.route(POST, async (call) => {
    const option = (name: string): string | undefined => call.query.get(name) ?? undefined
    const mapper = createAgUiMapper({
      runId: option('runId'),
      threadId: option('threadId'),
      agent: option('agent'),
    })
    const answer = await appendMapped(call, mappedRecords(call), mapper)
    parts.metrics.appended.inc(answer.events)
    return Response.json(answer)
  })

  const watch = async (call: Call, messages: readonly JsonObject[]): Promise<Response> => {
    const runId = call.params['runId'] as string
    const run = await call.ledger.getRun(runId)
    if (!run)
      throw new ClewError('not_found', 'There is no such run', 'See /v1/runs for those that there are.', {})
    const after = parseId(call.request.headers.get('last-event-id'))
    const stream = createAgUiStream({ threadId: run.threadId ?? undefined, messages })
    return eventStream(call, parts, (signal) => sendRun(call.ledger, runId, stream, after, signal))
  }
  app.route(GET, (call) => watch(call, []))
  app.route(WATCH, async (call) => watch(call, readMessages(await call.json())))
}

/** Messages that the client has; its input may lack them. */
function readMessages(input: unknown): JsonObject[] {
  const messages: unknown =
    typeof input === 'object' && input !== null ? Reflect.get(input, 'messages') : undefined
  return Array.isArray(messages)
    ? messages.filter((message) => typeof message === 'object' && message !== null && !Array.isArray(message))
    : []
}

/** Id of a server-sent event: the nth AG-UI event of the event at `seq`. */
interface SentId {
  readonly seq: number
  readonly nth: number
}

const parseId = (id: string | null): SentId => {
  const found = /^(\d{1,15})-(\d{1,6})$/.exec(id ?? '')
  return found ? { seq: Number(found[1]), nth: Number(found[2]) } : { seq: 0, nth: 0 }
}

const isEnd = (type: string): boolean => type === 'RUN_FINISHED' || type === 'RUN_ERROR'

/**
 * Sends a run from its beginning. What an event becomes depends on those before it, so for a client that reconnects the
 * run is translated from its beginning, too, and sent from the last id on. Ends with the run, as AG-UI requires; a run
 * that pauses has ended until it is resumed.
 */
async function* sendRun(
  ledger: Ledger,
  runId: string,
  stream: AgUiStream,
  after: SentId,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let isOver = false
  for await (const event of ledger.follow({ runId, signal })) {
    const { seq } = event.ledger
    let text = ''
    for (const [nth, told] of stream.push(event).entries()) {
      isOver = isEnd(told.type)
      if (seq > after.seq || (seq === after.seq && nth > after.nth))
        text += `id: ${seq}-${nth}\ndata: ${JSON.stringify(told)}\n\n`
    }
    if (text !== '') yield text
    if (isOver && !(await hasMore(ledger, runId, seq))) return
  }
}

async function hasMore(ledger: Ledger, runId: string, afterSeq: number): Promise<boolean> {
  for await (const _ of ledger.read(runId, { afterSeq, limit: 1 })) return true
  return false
}
