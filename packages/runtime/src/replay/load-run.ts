import { type ClewEvent, type Ledger, joinSubmission } from '@clew/ledger'

/**
 * All events of a run, read once (D6). A run of 100,000 steps stays in memory as a whole: texts that its events have in
 * common are kept once, and of an event only what a replay looks at. Code is given the secrets that the vault has.
 */
export async function loadRun(ledger: Ledger, runId: string, restored = true): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  const known = new Map<string, string>()
  const once = (text: string): string => {
    const same = known.get(text)
    if (same === undefined) known.set(text, text)
    return same ?? text
  }
  let last: ClewEvent | undefined
  for await (const event of ledger.read(runId, { restored })) {
    const { eventId, eventType, correlationId, causationId, payload, ledger: place } = event
    const { seq, erased, pruned } = place
    last = event
    events.push({
      eventId: once(eventId),
      eventType: once(eventType),
      timestamp: '',
      source: SOURCE,
      correlationId: once(correlationId),
      causationId: causationId && once(causationId),
      payload: eventType.startsWith('execution.step_') ? slim(payload, once) : payload,
      ledger: (erased ? { seq, erased, ...(pruned && { pruned }) } : { seq }) as ClewEvent['ledger'],
    })
  }
  // The last event is kept whole: its timestamp is the end of the record.
  if (last) events[events.length - 1] = last
  return joinSubmission(events)
}

const SOURCE: ClewEvent['source'] = { origin: 'agent', runtime: 'clew' }
const SHARED: ReadonlySet<string> = new Set(['stepId', 'parentStepId', 'name', 'kind'])
const UNUSED: ReadonlySet<string> = new Set([
  'durationMs',
  'superstep',
  'inputVersions',
  'usage',
  'safety',
  'stack',
])

function slim(payload: ClewEvent['payload'], once: (text: string) => string): ClewEvent['payload'] {
  const slimmed: Record<string, unknown> = {}
  for (const key in payload) {
    const value = payload[key]
    if (!UNUSED.has(key)) slimmed[key] = typeof value === 'string' && SHARED.has(key) ? once(value) : value
  }
  return slimmed
}
