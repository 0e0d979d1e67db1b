import { createLedger, createInProcessStore, type EventInput, type Ledger } from '@clew/ledger'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSchema, nodePorts } from '../test/server.ts'
import { openLedger } from '../test/harness.ts'

const WORDS = [
  'owl',
  'owls',
  'barn',
  'fox',
  'Žluť',
  '静か',
  '404',
  'web_search',
  'x1',
  "o'hara",
  'run',
  '#run',
]
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(' '))
const event = fc.record({
  correlationId: fc.constantFrom('r1', 'r2', 'r3', 'r-4'),
  eventType: fc.constantFrom('execution.note', 'execution.tool_call', 'execution.tool_error', 'ui.clicked'),
  payload: fc.record({
    name: fc.constantFrom('web_search', 'read', 'wéb'),
    error: text,
    content: text,
    data: text,
  }),
})
const phrase = fc
  .tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([words, isPrefix]) => `"${words.join(' ')}"${isPrefix ? '*' : ''}`)
const filter = fc.constantFrom(
  'tool:web_search',
  'tool:w*',
  'tool:none',
  'type:note',
  'type:execution.*',
  'run:r*',
  'run:r1,r2',
  'status:running',
)
const query = fc
  .array(fc.tuple(fc.boolean(), fc.oneof(phrase, phrase, filter)), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([isNegated, part]) => `${isNegated ? '-' : ''}${part}`).join(' '))

let postgres: Ledger
let memory: Ledger
let drop: () => Promise<void>
beforeAll(async () => {
  const place = await createSchema()
  drop = place.drop
  postgres = await openLedger(place.url)
  const heads = { verify: async () => false }
  memory = createLedger({
    store: createInProcessStore(nodePorts),
    ports: nodePorts,
    secret: 'a secret',
    heads,
  })
})
afterAll(async () => {
  await postgres.close()
  await drop()
})

async function found(ledger: Ledger, text: string): Promise<unknown[]> {
  const { hits } = await ledger.search(text, { catchUpMs: 30_000, limit: 100 })
  return hits.map(({ run, found: count }) => `${run.runId} ${count}`).toSorted()
}

describe('L1 search on PostgreSQL', () => {
  it('finds what going through all events finds', async () => {
    const events: EventInput[] = fc.sample(event, { numRuns: 120, seed: 7 })
    for (const ledger of [postgres, memory]) await ledger.append(events)
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        expect([text, await found(postgres, text)]).toEqual([text, await found(memory, text)])
      }),
      { numRuns: 150, seed: 11 },
    )
  })

  it('finds phrases beyond what a tsvector can tell: the 300th place of a word, the 20,000th word', async () => {
    const often = Array.from({ length: 400 }, (_, n) => `needle n${n}`).join(' ')
    const long = { content: '静'.repeat(9000), error: '静'.repeat(9000), data: 'far away' }
    const events = [
      { eventType: 'execution.note', correlationId: 'often', payload: { data: often } },
      { eventType: 'execution.note', correlationId: 'long', payload: long },
    ]
    for (const ledger of [postgres, memory]) await ledger.append(events)
    const cases = [
      '"needle n399"',
      '"n399 needle"',
      '"needle n39"*',
      '"far away"',
      '"away far"',
      '"静 far"',
      'away',
      '"静静静"',
    ]
    for (const text of cases)
      expect([text, await found(postgres, text)]).toEqual([text, await found(memory, text)])
    expect(await found(postgres, '"needle n399"')).toEqual(['often 1'])
  })

  it('stands what PostgreSQL cannot keep: NUL in names and queries, and names of any length', async () => {
    const call = (name: string) => ({
      eventType: 'execution.tool_call',
      correlationId: 'odd',
      payload: { name },
    })
    await postgres.append([call('a\u0000b'), call('e'.repeat(5000))])
    for (const text of [
      'tool:a*',
      `tool:${'e'.repeat(100)}*`,
      'agent:x\u0000*',
      'thread:\u0000',
      'run:\u0000*',
      'tool:\u0000x',
    ])
      await found(postgres, text).catch((error: unknown) =>
        expect(error).toMatchObject({ code: 'bad_option' }),
      )
    expect(await found(postgres, 'tool:e*')).toEqual(['odd 1'])
  })
})
