import { toWire, type WireEvent } from '@clew/ledger'
import { z } from 'zod'
import { streaming } from './operation.ts'
import { eventTypes, runId, wireEvent } from './schemas.ts'

export const events = streaming({
  name: 'events',
  summary: 'List the events of a run in order',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: {
    method: 'get',
    path: '/v1/runs/{runId}/events',
    page: { items: 'events', cursor: 'afterSeq', at: (event: WireEvent) => event.ledger.seq },
  },
  input: z.object({
    runId,
    afterSeq: z.int().min(0).optional().describe('only events after this seq'),
    limit: z.int().min(1).optional().describe('how many at most; default all'),
    types: eventTypes,
  }),
  output: wireEvent,
  example: {
    command: 'clew events demo-3f9a1c --type execution.tool_call',
    input: { runId: 'demo-3f9a1c', types: ['execution.tool_call'] },
  },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { afterSeq: '--after <seq>', limit: '--limit <count>', types: '--type <types>' },
    flags: { '--full': 'whole payloads, one below the other' },
  },
  // Field by field: what is sent never has the secrets that a read can restore.
  async *run(ledger, { runId: id, afterSeq, limit, types }) {
    for await (const event of ledger.read(id, { afterSeq, limit, types })) yield toWire(event)
  },
})
