import { createAgUiMapper, createAgUiStream } from '@clew/adapters/ag-ui'
import { ClewError, type Ledger } from '@clew/ledger'
import type { App } from '../create-app.ts'
import { eventStream } from '../live/event-stream.ts'
import type { Route } from '../route.ts'
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

/** `POST /v1/ag-ui` and `GET /v1/runs/{runId}/ag-ui`. */
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

  app.route(GET, async (call) => {
    const runId = call.params['runId'] as string
    const run = await call.ledger.getRun(runId)
    if (!run)
      throw new ClewError('not_found', 'There is no such run', 'See /v1/runs for those that there are.', {})
    const after = parseId(call.request.headers.get('last-event-id'))
    return eventStream(call, parts, (signal) => tellRun(call.ledger, runId, run.threadId, after, signal))
  })
}

/** Which of the AG-UI events of one event: the ids that clients come back with. */
interface IngestedRun {
  readonly seq: number
  readonly nth: number
}

const parseId = (id: string | null): IngestedRun => {
  const found = /^(\d{1,15})-(\d{1,6})$/.exec(id ?? '')
  return found ? { seq: Number(found[1]), nth: Number(found[2]) } : { seq: 0, nth: 0 }
}

const isEnd = (type: string): boolean => type === 'RUN_FINISHED' || type === 'RUN_ERROR'

/**
 * What is told depends on what was told before, so who comes back is told nothing until all of the run has been gone
 * through up to there. Ends with the run, as AG-UI wants it; a run that pauses has ended until somebody resumes it.
 */
async function* tellRun(
  ledger: Ledger,
  runId: string,
  threadId: string | null,
  after: IngestedRun,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const stream = createAgUiStream({ threadId: threadId ?? undefined })
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
