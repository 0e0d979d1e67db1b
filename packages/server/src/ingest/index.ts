import type { App } from '../create-app.ts'
import type { ServerParts } from '../server-parts.ts'
import { mountAgUi } from './ag-ui.ts'
import { mountEvents } from './events.ts'
import { mountOtlp } from './otlp.ts'

/** Ways in: events, OTLP, AG-UI; and the way out to AG-UI. */
export function mountIngest(app: App, parts: ServerParts): void {
  mountEvents(app, parts)
  mountOtlp(app, parts)
  mountAgUi(app, parts)
}
