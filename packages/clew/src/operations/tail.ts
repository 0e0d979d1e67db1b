import { type ClewEvent, isTerminal, type Ledger, toWire } from '@clew/ledger'
import { z } from 'zod'
import { streaming } from './operation.ts'
import { eventTypes, runId, wireEvent } from './schemas.ts'

export const tail = streaming({
  name: 'tail',
  summary: 'Follow the events of the ledger or of one run as they are recorded',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/follow', isLive: true },
  mcp: { tool: 'tail' },
  input: z.object({
    runId: runId.optional().describe('only this run'),
    afterPosition: z.int().min(0).optional().describe('start after this position of the ledger; default now'),
    history: z.boolean().optional().describe('start with all existing events'),
    types: eventTypes,
    untilEnd: z.boolean().optional().describe('end when the followed run ends'),
  }),
  output: wireEvent,
  example: {
    command: 'clew tail demo-3f9a1c --history --until-end',
    input: { runId: 'demo-3f9a1c', history: true, untilEnd: true },
  },
  cli: {
    group: 'Look',
    arguments: [{ word: 'run', field: 'runId', required: false, about: 'only this run' }],
    options: {
      afterPosition: '--after <position>',
      history: '--history',
      types: '--type <types>',
      untilEnd: '--until-end',
    },
  },
  async *run(ledger, { runId, history = false, untilEnd = false, types, ...input }, { signal } = {}) {
    const afterPosition = input.afterPosition ?? (history ? 0 : await ledger.lastPosition())
    const following = new AbortController()
    const stop = (): void => following.abort()
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) return
    try {
      const own = untilEnd ? runId : undefined
      if (own !== undefined && (await hasEndedBefore(ledger, own, afterPosition))) return
      // The end must be seen also by those who asked for other types.
      const asked = own === undefined ? types : undefined
      for await (const event of ledger.follow({
        runId,
        afterPosition,
        types: asked,
        signal: following.signal,
      })) {
        if (asked !== undefined || types === undefined || types.includes(event.eventType)) yield toWire(event)
        if (own !== undefined && (await isLast(ledger, own, event))) return
      }
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  },
})

const ENDS = /^system\.workflow_(?:completed|failed|stopped)$/

/** A run may be resumed after an end, so only an end with nothing behind it is the end. */
async function isLast(ledger: Ledger, runId: string, event: ClewEvent): Promise<boolean> {
  if (!ENDS.test(event.eventType)) return false
  for await (const _ of ledger.read(runId, { afterSeq: event.ledger.seq, limit: 1 })) return false
  return true
}

async function hasEndedBefore(ledger: Ledger, runId: string, position: number): Promise<boolean> {
  const run = await ledger.getRun(runId)
  if (!run || !isTerminal(run.status)) return false
  const headSeq = (run.forkedFrom?.seq ?? 0) + run.events
  for await (const event of ledger.read(runId, { afterSeq: headSeq - 1 }))
    if (event.ledger.position > position) return false
  return true
}
