import { hash } from 'node:crypto'
import { createAg2Mapper } from '@clew/adapters/ag2'
import { ClewError, type JsonValue } from '@clew/ledger'
import type { App } from '../create-app.ts'
import type { Call, Route } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'
import { appendMapped, type Mapper } from './append-mapped.ts'
import { appendDocument, appendLines, type ItemResult } from './append-wire.ts'
import { appendCloudEvents, isCloudEvent } from './cloud-events.ts'
import { EVENTS_ANSWER, EVENTS_BODY } from './event-schemas.ts'
import { isLines, mappedRecords, mediaType, wrongMedia } from './mapped-records.ts'
import { readLines } from './read-lines.ts'

const ROUTE: Route = {
  id: 'postEvents',
  method: 'post',
  path: '/v1/events',
  summary: 'Append events: JSON, NDJSON, CloudEvents, or the events of AG2',
  tag: 'Ingest',
  scope: 'write',
  parameters: [
    {
      name: 'format',
      in: 'query',
      description: 'whose events these are: clew (default) or ag2',
      schema: { type: 'string', enum: ['clew', 'ag2'] },
    },
    { name: 'runId', in: 'query', description: 'run of the events of AG2, which do not name one' },
    { name: 'agent', in: 'query', description: 'agent of the events of AG2' },
    {
      name: 'full',
      in: 'query',
      description: 'answer with the events as they are stored, not only with their places',
      schema: { type: 'boolean' },
    },
  ],
  body: EVENTS_BODY,
  bodyRequired: true,
  answer: { description: 'Every event with a position in the answer is committed.', content: EVENTS_ANSWER },
}

/** `POST /v1/events`: answered when it is committed (L5). */
export function mountEvents(app: Pick<App, 'route'>, { metrics }: ServerParts): void {
  app.route(ROUTE, async (call) => {
    const format = call.query.get('format') ?? 'clew'
    if (format === 'ag2') {
      const answer = await appendMapped(call, mappedRecords(call), createAg2Runs(call))
      metrics.appended.inc(answer.events)
      return Response.json(answer)
    }
    if (format !== 'clew') throw wrongQuery('format', 'Use clew or ag2, or leave it out.')
    for (const name of ['runId', 'agent'])
      if (call.query.has(name)) throw wrongQuery(name, 'Leave it out: events name their run.')
    const results = await append(call)
    const refused = results.filter((result) => 'error' in result).length
    metrics.appended.inc(results.length - refused)
    return Response.json({ results, refused })
  })
}

async function append(call: Call): Promise<ItemResult[]> {
  const type = mediaType(call)
  if (isCloudEvent(call, type)) return appendCloudEvents(call)
  if (isLines(type)) return appendLines(call, readLines(call))
  if (type.startsWith('application/json')) return appendDocument(call, await call.json())
  throw wrongMedia(
    'application/json, application/x-ndjson, application/cloudevents+json or application/cloudevents-batch+json',
  )
}

const sha256 = (text: string): string => hash('sha256', text)

/** A stream may hold several runs of AG2, one after the other. */
function createAg2Runs({ query }: Call): Mapper {
  const runId = query.get('runId')
  if (!runId) throw wrongQuery('runId', 'Events of AG2 do not name their run: name it with ?runId=…')
  const at = new Date().toISOString()
  const agent = query.get('agent') ?? undefined
  const begin = (own: string) => createAg2Mapper({ sha256, runId: own, agent, at })
  let count = 1
  let mapper = begin(runId)
  return {
    push(record) {
      if (mapper.ended) mapper = begin(`${runId}-${++count}`)
      return mapper.push(record as JsonValue)
    },
    end: () => [],
  }
}

const wrongQuery = (option: string, hint: string): ClewError =>
  new ClewError('bad_option', `The query's ${option} is not one that is taken here`, hint, { option })
