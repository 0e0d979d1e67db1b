import type { EventInput } from '../event/envelope.ts'
import type { ErrorCode } from '../errors.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, type StoreTest, type World } from './world.ts'

type Loose = Record<string, unknown>
const bad = (field: string, value: unknown): Loose => ({ ...note('r', { a: 1 }), [field]: value })

/** Field named in the error → an event in which it is wrong. */
const ENVELOPES: readonly (readonly [string, unknown])[] = [
  ['event', null],
  ['event', 'text'],
  ['event', []],
  ['eventType', bad('eventType', undefined)],
  ['eventType', bad('eventType', 7)],
  ['eventType', bad('eventType', '')],
  ['eventType', bad('eventType', 'message')],
  ['eventType', bad('eventType', 'other.message')],
  ['eventType', bad('eventType', 'execution.')],
  ['eventType', bad('eventType', 'execution..x')],
  ['eventType', bad('eventType', 'execution.a b')],
  ['eventType', bad('eventType', `execution.${'x'.repeat(200)}`)],
  ['eventId', bad('eventId', 'not-a-uuid')],
  ['eventId', bad('eventId', 5)],
  ['eventId', bad('eventId', null)],
  ['timestamp', bad('timestamp', 'yesterday')],
  ['timestamp', bad('timestamp', '2026-13-01T00:00:00Z')],
  ['timestamp', bad('timestamp', '2026-11-15')],
  ['timestamp', bad('timestamp', 1_700_000_000)],
  ['timestamp', bad('timestamp', new Date(Number.NaN))],
  ['source', bad('source', 'agent')],
  ['source', bad('source', null)],
  ['source.origin', bad('source', { origin: 'robot', runtime: 'x' })],
  ['source.runtime', bad('source', { origin: 'agent' })],
  ['source.runtime', bad('source', { origin: 'agent', runtime: '' })],
  ['source.runtime', bad('source', { origin: 'agent', runtime: 'a\nb' })],
  ['source.more', bad('source', { origin: 'agent', runtime: 'x', more: 1 })],
  ['correlationId', bad('correlationId', undefined)],
  ['correlationId', bad('correlationId', '')],
  ['correlationId', bad('correlationId', 12)],
  ['correlationId', bad('correlationId', 'x'.repeat(513))],
  ['correlationId', bad('correlationId', 'a\u0000b')],
  ['correlationId', bad('correlationId', 'a\ud800b')],
  ['causationId', bad('causationId', 'the event before')],
  ['causationId', bad('causationId', 3)],
  ['payload', bad('payload', 'text')],
  ['payload', bad('payload', [1])],
  ['payload', bad('payload', 1)],
  ['extra', bad('extra', 1)],
  ['event_type', bad('event_type', 'execution.note')],
]

class Owl {
  readonly name = 'owl'
}

function nested(levels: number): unknown {
  let value: unknown = 'bottom'
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { value }
  return value
}

function cycle(): Loose {
  const loop: Loose = { list: [] }
  ;(loop['list'] as unknown[]).push(loop)
  return loop
}

/** Path named in the error → payload with a value that cannot be stored. */
const VALUES: readonly (readonly [string, Loose])[] = [
  ['$.a.b[1]', { a: { b: [1, () => 1] } }],
  ['$.f', { f: Symbol('x') }],
  ['$["strange key"].owl', { 'strange key': { owl: new Owl() } }],
  ['$.weak', { weak: new WeakMap() }],
  ['$.promise', { promise: Promise.resolve(1) }],
]

const PAYLOADS: readonly (readonly [string, string, Loose])[] = [
  ['payload.stepId', 'execution.step_started', { name: 'a' }],
  ['payload.name', 'execution.step_started', { stepId: 'a#0' }],
  ['payload.attempt', 'execution.step_completed', { stepId: 'a#0', attempt: 0 }],
  ['payload.usage.inputTokens', 'execution.message', { usage: { inputTokens: Number.NaN } }],
  [
    'payload.checkpoint.operations[1]',
    'execution.step_completed',
    {
      stepId: 'a@s1',
      checkpoint: {
        operations: [
          { op: 'remove', channel: 'x' },
          { op: 'set', channel: 'x' },
        ],
      },
    },
  ],
  [
    'payload.operations[0]',
    'execution.checkpoint',
    { operations: [{ op: 'append', channel: 'x', items: [], from: 'a@s1' }] },
  ],
  [
    'payload.operations[0]',
    'system.state_transitioned',
    { operations: [{ op: 'patch', channel: 'x', set: {}, from: 'a@s1' }] },
  ],
  ['payload.from.seq', 'execution.checkpoint', { from: { runId: 'r', seq: 0 } }],
  ['payload.sourceSeq', 'system.workflow_forked', { sourceRunId: 'r', sourceSeq: 0 }],
  ['payload.threadId', 'system.workflow_started', { threadId: 5 }],
]

async function assertNothingWritten(world: World): Promise<void> {
  const store = await world.openStore()
  const { events, runs, values } = (await store.info('stats')).stats
  assertEqual([events, runs, values], [0, 0, 0], 'events, runs and values in the store')
}

export const refusalTests: readonly StoreTest[] = [
  {
    rule: 'E4',
    title: 'a bad envelope is refused by field, found and expected, alone and in a batch',
    async run(world) {
      const ledger = await world.open()
      for (const [field, event] of ENVELOPES) {
        const error = await assertRefused(() => ledger.append([event as EventInput]), 'bad_envelope', {
          field,
        })
        assert(
          error.fields['found'] !== undefined && error.fields['expected'] !== undefined,
          `${field}: found, expected`,
        )
        const batch = [note('r'), note('other'), event as EventInput, note('r')]
        await assertRefused(() => ledger.append(batch), 'bad_envelope', { field, item: 2 })
      }
      await assertNothingWritten(world)
    },
  },
  {
    rule: 'E4',
    title: 'a payload that does not fit its own type is refused by field',
    async run(world) {
      const ledger = await world.open()
      for (const [field, eventType, payload] of PAYLOADS) {
        const event = { eventType, correlationId: 'r', payload }
        await assertRefused(() => ledger.append([event]), 'bad_payload', { field, eventType })
        await assertRefused(() => ledger.append([note('r'), event]), 'bad_payload', { field, item: 1 })
      }
      await assertNothingWritten(world)
    },
  },
  {
    rule: 'E4',
    title: 'a value that cannot be stored is refused by path: functions, symbols, unknown classes',
    async run(world) {
      const ledger = await world.open()
      for (const [path, payload] of VALUES) {
        await assertRefused(() => ledger.record(note('r', payload)), 'bad_value', { path })
        await assertRefused(() => ledger.append([note('r'), note('r', payload)]), 'bad_value', {
          path,
          item: 1,
        })
      }
      await assertNothingWritten(world)
    },
  },
  {
    rule: 'E4',
    title: 'cycles and 10,000 levels of nesting are refused, 500 levels are kept',
    async run(world) {
      const ledger = await world.open()
      await assertRefused(() => ledger.record(note('r', cycle())), 'bad_value')
      await assertRefused(() => ledger.record(note('r', { deep: nested(10_000) })), 'bad_value')
      const line = JSON.stringify({ event_type: 'execution.x', correlation_id: 'r', payload: {} })
      const deep = line.replace('{}}', `{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`)
      await assertRefused(() => ledger.import([deep]), 'bad_value')
      await assertNothingWritten(world)
      const payload = { deep: nested(500) }
      const event = await ledger.record(note('r', payload))
      assertEqual((await ledger.getEvent(event.eventId))?.payload, payload, 'payload of 500 levels')
    },
  },
  {
    rule: 'E4',
    title: 'a payload over the limit is refused before anything is written',
    async run(world) {
      const ledger = await world.open()
      const large = note('r', { text: 'x'.repeat(64 * 1024 * 1024) })
      const error = await assertRefused(() => ledger.record(large), 'too_large')
      assert(Number(error.fields['size']) > Number(error.fields['most']), 'size and most are told')
      await assertRefused(() => ledger.append([note('r'), large]), 'too_large', { item: 1 })
      await assertNothingWritten(world)
    },
  },
  {
    rule: 'E4',
    title: 'options out of range are refused, each by its name',
    async run(world) {
      const ledger = await world.open()
      await ledger.record(note('r'))
      const drain = async (stream: AsyncGenerator): Promise<void> => void (await stream.next())
      const calls: readonly (readonly [string, ErrorCode, () => unknown])[] = [
        ['limit', 'bad_option', () => ledger.listRuns({ limit: 0 })],
        ['limit', 'bad_option', () => ledger.listRuns({ limit: 1.5 })],
        ['limit', 'bad_option', () => ledger.listRuns({ limit: Number.NaN })],
        ['cursor', 'bad_option', () => ledger.listRuns({ cursor: 'not a cursor' })],
        ['since', 'bad_option', () => ledger.listRuns({ since: 'not a time' })],
        ['afterSeq', 'bad_option', () => drain(ledger.read('r', { afterSeq: 0.5 }))],
        ['afterSeq', 'bad_option', () => drain(ledger.read('r', { afterSeq: -1 }))],
        ['limit', 'bad_option', () => drain(ledger.read('r', { limit: Number.NaN }))],
        ['limit', 'bad_option', () => drain(ledger.read('r', { limit: 2.5 }))],
        ['afterPosition', 'bad_option', () => drain(ledger.follow({ afterPosition: Number.NaN }))],
        ['expectedSeq', 'bad_option', () => ledger.append([note('r')], { expectedSeq: -1 })],
        ['epoch', 'bad_option', () => ledger.append([note('r')], { epoch: 0.5 })],
        ['workspace', 'bad_option', () => world.open({ workspace: 'a b' })],
      ]
      for (const [option, code, call] of calls) await assertRefused(call, code, { option })
      assertEqual((await ledger.stats()).events, 1, 'events')
      assertEqual(await ledger.append([]), [], 'an empty batch')
    },
  },
]
