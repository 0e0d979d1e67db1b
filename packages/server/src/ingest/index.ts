import type { App } from '../create-app.ts'
import type { ServerParts } from '../server-parts.ts'
import { mountAgUi } from './ag-ui.ts'
import { mountEvents } from './events.ts'
import { mountOtlp } from './otlp.ts'

/** Bodies up to this size are read on the event loop; passing them to a thread would take longer than reading most of them. */
const MAX_SMALL_BYTES = 64 * 1024

/** Ways in: events, OTLP, AG-UI; and the way out to AG-UI. Large bodies are read in the ingest thread, if there is one. */
export function mountIngest(app: Pick<App, 'route'>, parts: ServerParts): void {
  const { ingestThread, traced } = parts
  mountIngestRoutes(
    {
      route(route, answer) {
        if (route.method !== 'post') return app.route(route, answer)
        app.route({ ...route, isIngest: true }, (call) => {
          if (!ingestThread || isSmall(call.request)) return answer(call)
          traced.add(call.workspace)
          return ingestThread.answer(call, route.id, !isWholeBody(call.request))
        })
      },
    },
    parts,
  )
}

export function mountIngestRoutes(app: Pick<App, 'route'>, parts: ServerParts): void {
  mountEvents(app, parts)
  mountOtlp(app, parts)
  mountAgUi(app, parts)
}

function isSmall({ headers }: Request): boolean {
  const encoding = headers.get('content-encoding') ?? 'identity'
  const length = headers.get('content-length')
  return encoding === 'identity' && length !== null && Number(length) <= MAX_SMALL_BYTES
}

/** False for lines and server-sent events, which are appended while they arrive. */
export const isWholeBody = ({ headers }: Request): boolean =>
  !/ndjson|jsonl|json-lines|event-stream/i.test(headers.get('content-type') ?? '')
