import { ClewError, type JsonObject } from '@clew/ledger'
import type { App } from '../create-app.ts'
import type { Call, Route, RouteParameter } from '../route.ts'
import type { ServerParts } from '../server-parts.ts'
import { eventStream } from './event-stream.ts'
import { followLedger, followRun, hasEnded, type LineSource } from './follow-lines.ts'
import type { Line } from './line.ts'
import { type ProgressFeed, withProgress } from './progress-feed.ts'

const COUNT: JsonObject = { type: 'integer', minimum: 0 }
const TYPES: RouteParameter = {
  name: 'types',
  in: 'query',
  description: 'only events of these types, with commas between them',
}
const ANSWER = {
  description:
    'One event per message: `id` is its place, `data` its line as it is stored. Comments keep the connection.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
} as const

const RUN: Route = {
  id: 'followRun',
  method: 'get',
  path: '/v1/runs/{runId}/follow',
  summary: 'Follow one run: its events after a seq, then live events',
  tag: 'live',
  scope: 'read',
  parameters: [
    { name: 'runId', in: 'path', description: 'id of the run', required: true },
    {
      name: 'afterSeq',
      in: 'query',
      description:
        'start after this seq; the header last-event-id takes precedence. Default 0: from the first event',
      schema: COUNT,
    },
    TYPES,
    {
      name: 'untilEnd',
      in: 'query',
      description:
        'end when the run has ended, and answer 204 when nothing of it is left to tell; without it the stream stays open, for a run may be resumed',
      schema: { type: 'boolean' },
    },
    {
      name: 'progress',
      in: 'query',
      description:
        'also messages of type `progress`, without an id: the text so far of a step at work, which is not stored',
      schema: { type: 'boolean' },
    },
  ],
  answer: ANSWER,
}

const LEDGER: Route = {
  id: 'followLedger',
  method: 'get',
  path: '/v1/follow',
  summary: 'Follow the whole workspace, by position',
  tag: 'live',
  scope: 'read',
  parameters: [
    {
      name: 'afterPosition',
      in: 'query',
      description:
        'begin after this position; the header last-event-id wins. Default: what comes from now on',
      schema: COUNT,
    },
    TYPES,
  ],
  answer: ANSWER,
}

interface FollowSource {
  readonly lines: LineSource
  readonly progress: ProgressFeed
}

export function mountFollow(
  app: App,
  parts: ServerParts,
  sourceOf: (workspace: string) => FollowSource,
): void {
  app.route(RUN, async (call) => {
    const runId = call.params['runId'] as string
    const afterSeq = readPlace(call, 'afterSeq') ?? 0
    const untilEnd = readFlag(call, 'untilEnd')
    const isProgressWanted = readFlag(call, 'progress')
    if (!(await call.ledger.getRun(runId)))
      throw new ClewError('not_found', `There is no run ${runId.slice(0, 200)}`, 'See /v1/runs.', { runId })
    // A browser that is answered so does not come back by itself, as it does after a stream that ended.
    if (untilEnd && (await hasEnded(call.ledger, runId, afterSeq))) return new Response(null, { status: 204 })
    const { lines: source, progress } = sourceOf(call.workspace)
    return eventStream(call, parts, (signal) => {
      const lines = followRun(source, { runId, afterSeq, untilEnd }, signal)
      const texts = toText(lines, readTypes(call), 'seq')
      return isProgressWanted ? withProgress(texts, progress, source.ledger, runId) : texts
    })
  })
  app.route(LEDGER, async (call) => {
    const afterPosition = readPlace(call, 'afterPosition') ?? (await call.ledger.lastPosition())
    const lines = (signal: AbortSignal) => followLedger(sourceOf(call.workspace).lines, afterPosition, signal)
    return eventStream(call, parts, async function* (signal) {
      // A client whose connection breaks before the first event resumes here, not at a later now.
      yield `id: ${afterPosition}\n\n`
      yield* toText(lines(signal), readTypes(call), 'position')
    })
  })
}

/** A place without data moves the client's last id past what it did not ask for. */
async function* toText(
  pages: AsyncGenerator<readonly Line[]>,
  types: ReadonlySet<string> | undefined,
  by: 'seq' | 'position',
): AsyncGenerator<string> {
  for await (const page of pages) {
    let text = ''
    for (const line of page)
      if (!types || types.has(line.eventType)) text += `id: ${line[by]}\ndata: ${line.text}\n\n`
    const last = page.at(-1)
    if (text !== '') yield text
    else if (last) yield `id: ${last[by]}\n\n`
  }
}

function readPlace({ request, query }: Call, name: string): number | undefined {
  const header = request.headers.get('last-event-id')
  const text = header ?? query.get(name)
  if (text === null || text === '') return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const option = header === null ? name : 'last-event-id'
  throw new ClewError(
    'bad_option',
    `${option} is not a count`,
    'Give the id of the last message, or leave it out.',
    {
      option,
    },
  )
}

function readFlag({ query }: Call, name: string): boolean {
  const text = query.get(name)
  if (text === null || text === 'false') return false
  if (text === 'true' || text === '') return true
  throw new ClewError('bad_option', `${name} is neither true nor false`, 'Correct it, or leave it out.', {
    option: name,
  })
}

function readTypes({ query }: Call): ReadonlySet<string> | undefined {
  const text = query.get('types')
  return text === null || text === '' ? undefined : new Set(text.split(','))
}
