import type { JsonObject } from '@clew/ledger'
import type { Content } from '../route.ts'

const text = { type: 'string' }

const ENVELOPE: JsonObject = {
  type: 'object',
  required: ['event_type', 'correlation_id'],
  additionalProperties: false,
  properties: {
    event_id: { type: 'string', format: 'uuid', description: 'makes it safe to send the event again' },
    event_type: {
      type: 'string',
      description: 'a dotted name under execution., system., ui. or integration.',
    },
    timestamp: { type: 'string', format: 'date-time' },
    source: {
      type: 'object',
      required: ['origin', 'runtime'],
      properties: { origin: { enum: ['agent', 'system', 'ui', 'integration'] }, runtime: text },
    },
    correlation_id: { type: 'string', description: 'id of the run' },
    causation_id: { type: ['string', 'null'], format: 'uuid' },
    payload: { type: 'object' },
    ledger: { type: 'object', description: 'ignored; present in events that were read' },
  },
}

const EXAMPLE = {
  event_type: 'execution.message',
  correlation_id: 'run-1',
  payload: { role: 'user', content: 'When does the ferry leave?' },
}

const CLOUD_EVENT: JsonObject = {
  type: 'object',
  required: ['specversion', 'id', 'source', 'type'],
  properties: { specversion: { const: '1.0' }, id: text, source: text, type: text },
}

export const EVENTS_BODY: Content = {
  'application/json': {
    schema: {
      oneOf: [
        ENVELOPE,
        { type: 'array', items: ENVELOPE },
        {
          type: 'object',
          required: ['events'],
          additionalProperties: false,
          properties: {
            events: { type: 'array', items: ENVELOPE },
            options: {
              type: 'object',
              properties: { expectedSeq: { type: 'integer' }, epoch: { type: 'integer' } },
            },
          },
        },
      ],
    },
    example: EXAMPLE,
  },
  'application/x-ndjson': { schema: { type: 'string' }, example: JSON.stringify(EXAMPLE) },
  'application/cloudevents+json': { schema: CLOUD_EVENT },
  'application/cloudevents-batch+json': { schema: { type: 'array', items: CLOUD_EVENT } },
}

const ERROR: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'object', properties: { code: text, message: text, hint: text } } },
}

const RESULTS: JsonObject = {
  type: 'object',
  required: ['results', 'refused'],
  properties: {
    results: {
      type: 'array',
      description: 'in the order of the items; refused lines have a reason',
      items: {
        oneOf: [
          {
            type: 'object',
            required: ['eventId', 'runId', 'seq', 'position'],
            properties: {
              eventId: text,
              runId: text,
              seq: { type: 'integer' },
              position: { type: 'integer' },
            },
          },
          {
            type: 'object',
            description: 'with `full=true`: the event as it is stored',
            required: ['event_id', 'ledger'],
          },
          ERROR,
        ],
      },
    },
    refused: { type: 'integer' },
  },
}

const MAPPED: JsonObject = {
  type: 'object',
  required: ['received', 'events', 'runs', 'refused'],
  properties: {
    received: { type: 'integer', description: 'records that arrived' },
    events: { type: 'integer', description: 'events that they became' },
    runs: { type: 'array', items: text },
    refused: { type: 'array', items: ERROR },
  },
}

export const EVENTS_ANSWER: Content = {
  'application/json': {
    schema: { oneOf: [RESULTS, MAPPED] },
    example: {
      results: [{ eventId: '0199a1f0-0000-7000-8000-000000000001', runId: 'run-1', seq: 1, position: 1 }],
      refused: 0,
    },
  },
}

export const MAPPED_ANSWER: Content = { 'application/json': { schema: MAPPED } }
