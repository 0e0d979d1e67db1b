import { readdirSync, readFileSync } from 'node:fs'
import type { Ledger, RunSummary } from '@clew/ledger'
import { openLedger } from 'clew'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMortal } from '../catalogue/mortal.ts'
import { createMachine } from '../catalogue/step-machine.ts'
import { hashOf, payloadHashOf, type SealedLine } from './independent-hash.ts'
import { AGENTS } from './programs.ts'

const folder = new URL('./', import.meta.url)
const textOf = (name: string): string => readFileSync(new URL(`${name}.ndjson`, folder), 'utf8')

async function load(text: string): Promise<Ledger> {
  const ledger = await openLedger('memory:')
  await ledger.import([text])
  return ledger
}

async function exportOf(ledger: Ledger): Promise<string> {
  let text = ''
  for await (const line of ledger.export()) text += line
  return text
}

/** A step in one line: id, attempt when it is not the first, kind, status, what it gave back. */
async function stepsOf(ledger: Ledger, runId: string): Promise<string[]> {
  return (await ledger.getSteps(runId)).map(({ stepId, attempt, kind, status, values, error, restored, superstep }) =>
    [
      superstep,
      attempt > 1 ? `${stepId} (${attempt})` : stepId,
      kind,
      restored ? 'restored' : status,
      error?.code ?? JSON.stringify(values),
    ].join(' '),
  )
}

interface Expected {
  readonly runs: Readonly<Record<string, { readonly summary: Partial<RunSummary>; readonly steps: readonly string[] }>>
  readonly replays?: readonly string[]
}

const completed = (agent: string, events: number, steps: number, more: Partial<RunSummary> = {}): Partial<RunSummary> => ({
  agent,
  status: 'completed',
  events,
  steps,
  errors: 0,
  pauses: [],
  error: null,
  forkedFrom: null,
  parentRunId: null,
  ...more,
})

const EXPECTED: Readonly<Record<string, Expected>> = {
  loop: {
    runs: {
      'run-loop': {
        summary: completed('countdown', 7, 2, { startedAt: '2026-11-15T08:01:01.000Z', durationMs: 6000 }),
        steps: ['0 tick#0 compute completed {"n":1}', '1 tick#1 compute completed {"n":0}'],
      },
    },
    replays: ['run-loop'],
  },
  'promise-all': {
    runs: {
      'run-prices': {
        summary: completed('prices', 11, 4),
        steps: [
          '0 quote#0 effect completed {"price":9}',
          '1 quote#1 effect completed {"price":8}',
          '2 quote#2 effect completed {"price":7}',
          '3 best#0 compute completed {"price":7}',
        ],
      },
    },
    replays: ['run-prices'],
  },
  race: {
    runs: {
      'run-mirror': {
        summary: completed('mirror', 11, 4),
        steps: [
          '0 fastest#0 compute completed {"from":"us","text":"hoo"}',
          '1 fastest#0/fetch#0 effect stopped null',
          '2 fastest#0/fetch#1 effect completed {"from":"us","text":"hoo"}',
          '3 note#0 effect completed null',
        ],
      },
    },
    replays: ['run-mirror'],
  },
  'fan-out': {
    runs: {
      'run-digest': {
        summary: completed('digest', 9, 3, { errors: 1, inputTokens: 200, outputTokens: 15 }),
        steps: [
          '0 summarise@a.md effect completed "about owls"',
          '1 summarise@notes%2fb.md effect failed overloaded',
          '2 summarise@notes%2fb.md (2) effect completed "about mice"',
        ],
      },
    },
    replays: ['run-digest'],
  },
  'pause-and-answer': {
    runs: {
      'run-publish': {
        summary: completed('publish', 13, 3),
        steps: [
          '0 draft#0 effect completed {"text":"Owls are awake."}',
          '1 interrupt#0 interrupt completed "yes"',
          '2 publish#0 effect completed {"url":"https://example.org/owls"}',
        ],
      },
    },
    replays: ['run-publish'],
  },
  'kill-inside-an-effect': {
    runs: {
      'run-remind': {
        summary: completed('remind', 15, 3),
        steps: [
          '0 search#0 effect interrupted null',
          '1 search#0 (2) effect completed {"desk":7}',
          '2 send#0 effect completed {"letter":"m-1"}',
        ],
      },
    },
    replays: ['run-remind'],
  },
  'child-run': {
    runs: {
      'run-trip': {
        summary: completed('trip', 6, 1),
        steps: ['0 book#0 child restored {"room":12}'],
      },
      '77777777-0000-4000-8000-0000000000c1': {
        summary: completed('hotel', 5, 1, { parentRunId: 'run-trip' }),
        steps: ['0 reserve#0 effect completed {"room":12}'],
      },
    },
    replays: ['run-trip', '77777777-0000-4000-8000-0000000000c1'],
  },
  fork: {
    runs: {
      'run-essay': {
        summary: completed('essay', 7, 2, { threadId: 'thread-essay' }),
        steps: ['0 outline#0 effect completed {"points":2}', '1 write#0 effect completed {"text":"plain"}'],
      },
      'run-essay-b': {
        summary: completed('essay', 5, 1, { threadId: 'thread-essay', forkedFrom: { runId: 'run-essay', seq: 3 } }),
        steps: ['0 outline#0 effect completed {"points":2}', '1 write#0 effect completed {"text":"vivid"}'],
      },
    },
  },
  'hand-off': {
    runs: {
      'run-help': {
        summary: completed('triage', 14, 2, { messages: 2, inputTokens: 40, outputTokens: 5, threadId: 'thread-help' }),
        steps: [
          '0 billing#0 handoff completed {"text":"It is corrected."}',
          '0 billing#0/lookup#0 effect completed {"due":12}',
        ],
      },
    },
  },
  'erased-payload': {
    runs: {
      'run-letter': {
        // What an erased event said of its step is gone with its payload; that it stood there is not.
        summary: completed('letter', 7, 2, { subjects: ['person-1'] }),
        steps: ['0 plan#0 compute running null'],
      },
      audit: { summary: { status: 'pending', events: 1, steps: 0 }, steps: [] },
    },
  },
  'sealed-values': {
    runs: { 'run-values': { summary: completed('values', 7, 0, { messages: 2 }), steps: [] } },
  },
}

test('L11 every history in this folder is expected here, and none is missing', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ndjson'))
  expect(files.map((name) => name.replace('.ndjson', '')).toSorted()).toEqual(Object.keys(EXPECTED).toSorted())
})

describe.each(Object.entries(EXPECTED))('%s', (name, { runs }) => {
  test('V1 V2 it loads, verifies and folds to what is written here', async () => {
    const ledger = await load(textOf(name))
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, problems: [] })
    expect((await ledger.listRuns()).runs.map(({ runId }) => runId).toSorted()).toEqual(Object.keys(runs).toSorted())
    for (const [runId, { summary, steps }] of Object.entries(runs)) {
      expect(await ledger.getRun(runId)).toMatchObject(summary)
      expect(await stepsOf(ledger, runId)).toEqual(steps)
    }
  })

  test('L11 it goes from ledger to ledger with its hashes', async () => {
    const first = await exportOf(await load(textOf(name)))
    const ledger = await load(first)
    expect(await exportOf(ledger)).toBe(first)
    expect((await ledger.verify()).ok).toBe(true)
  })

})

const REPLAYED = Object.entries(EXPECTED).filter(([, { replays }]) => replays !== undefined)

test.each(REPLAYED)('D1 D5 %s replays as identical, without a call outside and without an event', async (name, { replays = [] }) => {
  const watched = createMortal(await load(textOf(name)))
  const machine = createMachine({ ledger: watched.ledger })
  for (const runId of replays) {
    const agent = AGENTS.get((await watched.ledger.getRun(runId))?.agent ?? '')
    if (!agent) throw new Error(`no program for ${runId}`)
    expect(await machine.replay(agent, runId)).toMatchObject({ verdict: 'identical', divergence: undefined })
  }
  expect(watched.appends).toBe(0)
})

describe.each(['erased-payload', 'sealed-values'])('%s', (name) => {
  test('L6 it keeps exactly the bytes and hashes it was sealed with', async () => {
    const sealed = textOf(name)
    const exported = await exportOf(await load(sealed))
    expect(exported.slice(0, sealed.length)).toBe(sealed)
    // An import records what it brings erased: an audit event of its own, behind what came.
    for (const line of exported.slice(sealed.length).split('\n').filter(Boolean))
      expect(JSON.parse(line)).toMatchObject({ correlation_id: 'clew:audit', payload: { target: 'import' } })
  })

  test('L6 an independent reading of the hash format comes to the same hashes', () => {
    const lines = textOf(name).trimEnd().split('\n').map((line) => JSON.parse(line) as SealedLine)
    const heads = new Map<string, string>()
    for (const line of lines) {
      const { correlation_id: runId, ledger } = line
      expect(hashOf(line, heads.get(runId) ?? '0'.repeat(64))).toBe(ledger.hash)
      if (ledger.salt !== null) expect(payloadHashOf(line)).toBe(ledger.payload_hash)
      heads.set(runId, ledger.hash)
    }
  })
})

test('L6 the independent reading agrees on any payload, whatever its size and shape', async () => {
  const ledger = await openLedger('memory:', { redact: false })
  const text = fc.string({ unit: 'grapheme', maxLength: 200 })
  const long = fc.tuple(text, fc.integer({ min: 1, max: 80 })).map(([part, times]) => part.repeat(times))
  const item = fc.oneof(fc.jsonValue({ maxDepth: 2 }), long, fc.record({ role: text, content: text }))
  const payloads = fc.record({
    list: fc.array(item, { size: 'large', maxLength: 150 }),
    state: fc.dictionary(text, item, { maxKeys: 60, size: 'large' }),
  })
  let runs = 0
  await fc.assert(
    fc.asyncProperty(payloads, async (payload) => {
      const runId = `run-${++runs}`
      await ledger.record({ eventType: 'execution.message', correlationId: runId, payload: { content: payload } })
      let line = ''
      for await (const each of ledger.export({ runId })) line += each
      const sealed = JSON.parse(line) as SealedLine
      expect(payloadHashOf(sealed)).toBe(sealed.ledger.payload_hash)
      expect(hashOf(sealed, '0'.repeat(64))).toBe(sealed.ledger.hash)
    }),
    { numRuns: 150 },
  )
})

test('R4 the state of the hand-off folds at each superstep without any merge rule', async () => {
  const ledger = await load(textOf('hand-off'))
  expect(await ledger.getState('run-help', { superstep: 0 })).toMatchObject({
    state: { due: 12, notes: ['looked up'], customer: { id: 4, draft: true } },
    next: ['reply'],
    checkpointId: 'checkpoint-0',
  })
  expect(await ledger.getState('run-help')).toMatchObject({
    state: { notes: ['looked up', 'corrected'], customer: { id: 4, name: 'Ada' } },
    superstep: 1,
    next: [],
    checkpointId: 'checkpoint-1',
  })
})

test('R7 the first own event of a fork follows and chains to the event it was forked at', async () => {
  const ledger = await load(textOf('fork'))
  const events = []
  for await (const { correlationId, ledger: place } of ledger.read('run-essay-b')) events.push([correlationId, place.seq])
  expect(events).toEqual([
    ...[1, 2, 3].map((seq) => ['run-essay', seq]),
    ...[4, 5, 6, 7, 8].map((seq) => ['run-essay-b', seq]),
  ])
})

test('L6 P5 an erased payload can be told from one that was cut out of the file', async () => {
  const cut = textOf('sealed-values').replace(/"salt":"[^"]+"/, '"salt":null')
  await expect(load(cut)).rejects.toMatchObject({ code: 'broken_import' })
})

test('L6 one changed byte in a sealed history is refused', async () => {
  const changed = textOf('sealed-values').replace('line 7 of', 'line 8 of')
  await expect(load(changed)).rejects.toMatchObject({ code: 'broken_import' })
})
