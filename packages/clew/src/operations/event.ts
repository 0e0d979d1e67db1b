import { toWire } from '@clew/ledger'
import { z } from 'zod'
import { findEvent } from './causality.ts'
import { answering } from './operation.ts'
import { wireEvent } from './schemas.ts'

export const event = answering({
  name: 'event',
  summary: 'Show one event with its whole payload',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/events/{eventId}' },
  input: z.object({ eventId: z.string().min(1).describe('id of the event, or run:seq') }),
  output: wireEvent,
  example: { command: 'clew event demo-3f9a1c:17', input: { eventId: 'demo-3f9a1c:17' } },
  cli: {
    group: 'Look',
    arguments: [
      {
        word: 'event',
        field: 'eventId',
        required: true,
        about: 'id of the event, its first characters, or run:seq',
      },
    ],
  },
  run: async (ledger, { eventId }) => toWire(await findEvent(ledger, eventId)),
})
