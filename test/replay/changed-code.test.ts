import type { ClewEvent, Ledger } from '@clew/ledger'
import { type DivergenceKind, replay, type ReplayReport, type ReplayTarget } from '@clew/runtime'
import { openLedger } from 'clew'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { live, scenarios } from '../runtime/lives.ts'
import { createWorld, toAgent } from '../runtime/random-agents.ts'
import { type Change, researcher } from './changed-agents.ts'
import { researchGraph } from './changed-graphs.ts'

/** Code at rest does nothing of its own here. */
const graceMs = 30
type Found = readonly [DivergenceKind, string | null]

interface Row {
  readonly change: Change
  /** Of the function and of the graph, each one after the other and with two steps at once. */
  readonly functions: readonly [Found, Found]
  readonly graphs: readonly [Found, Found]
}

const both = (kind: DivergenceKind, step: string | null): [Found, Found] => [
  [kind, step],
  [kind, step],
]

const MATRIX: readonly Row[] = [
  {
    change: 'reordered',
    functions: both('order', 'read#0'),
    graphs: both('order', 'read@s2'),
  },
  { change: 'renamed', functions: both('name', 'search#0'), graphs: both('name', 'search@s2') },
  { change: 'inserted', functions: both('extra', 'check#0'), graphs: both('extra', 'check@s3') },
  { change: 'inserted computation', functions: both('extra', 'think#0'), graphs: both('extra', 'check@s3') },
  {
    change: 'removed',
    functions: both('missing', 'read#0'),
    graphs: [
      ['missing', 'read@s3'],
      ['missing', 'read@s2'],
    ],
  },
  {
    change: 'returns early',
    functions: [
      ['unconsumed', 'read#0'],
      ['unconsumed', 'deep#0'],
    ],
    graphs: both('decision', 'search@s2'),
  },
  {
    change: 'extra at the end',
    functions: both('extra', 'tell#0'),
    graphs: [
      ['decision', 'model@s4'],
      ['decision', 'model@s3'],
    ],
  },
  {
    change: 'other argument',
    functions: both('input', 'search#0'),
    graphs: both('input', 'search@s2/find#0'),
  },
  {
    change: 'other prompt',
    functions: both('input', 'model#0'),
    graphs: [
      ['input', 'model@s4/ask#0'],
      ['input', 'model@s3/ask#0'],
    ],
  },
  {
    change: 'other model',
    functions: both('input', 'model#0'),
    graphs: [
      ['input', 'model@s4/ask#0'],
      ['input', 'model@s3/ask#0'],
    ],
  },
  {
    change: 'other branch',
    functions: both('name', 'deep#0'),
    graphs: [
      ['decision', 'model@s4'],
      ['decision', 'model@s3'],
    ],
  },
  {
    change: 'other kind',
    functions: both('kind', 'plan#0'),
    graphs: [
      ['kind', 'model@s4/ask#0'],
      ['kind', 'model@s3/ask#0'],
    ],
  },
  { change: 'random in a body', functions: both('output', 'plan#0'), graphs: both('output', 'plan@s1') },
  {
    change: 'clock in an argument',
    functions: both('input', 'search#0'),
    graphs: both('input', 'search@s2/find#0'),
  },
  { change: 'other result', functions: both('output', null), graphs: both('output', 'plan@s1') },
  {
    change: 'fails',
    functions: both('output', null),
    graphs: [
      ['output', 'model@s4'],
      ['output', 'model@s3'],
    ],
  },
  {
    change: 'other shape',
    functions: both('order', 'read#0'),
    graphs: both('order', 'read@s2'),
  },
]

interface Form {
  readonly name: string
  start(ledger: Ledger, isParallel: boolean): Promise<string>
  target(ledger: Ledger, isParallel: boolean, change: Change): ReplayTarget
  found(row: Row, isParallel: boolean): Found
}

const FORMS: readonly Form[] = [
  {
    name: 'function',
    start: async (ledger, isParallel) =>
      (await researcher(isParallel).start(ledger, { topic: 'owls' })).runId,
    target: (_, isParallel, change) => researcher(isParallel, change),
    found: ({ functions }, isParallel) => functions[isParallel ? 1 : 0],
  },
  {
    name: 'graph',
    start: async (ledger, isParallel) =>
      (await researchGraph(ledger, isParallel).invoke({ topic: 'owls' })).runId,
    target: researchGraph,
    found: ({ graphs }, isParallel) => graphs[isParallel ? 1 : 0],
  },
]

describe.each(FORMS)('D2 a changed $name', (form) => {
  describe.each([false, true])('D2 with steps at once: %s', (isParallel) => {
    const ledger = createMemoryWorld().open()
    const recorded = form.start(ledger, isParallel)
    const replayed = async (change: Change): Promise<ReplayReport> =>
      replay(form.target(ledger, isParallel, change), { ledger, runId: await recorded, graceMs })

    it('D2 is not taken for changed when it is not', async () => {
      const { verdict, divergences, path } = await replayed('none')
      expect([verdict, divergences]).toEqual(['identical', []])
      expect(new Set(path.map(({ match }) => match))).toEqual(new Set(['same']))
    })

    it.each(MATRIX)('D2 $change: found, with its kind, at its step', async (row) => {
      const { verdict, divergences, path } = await replayed(row.change)
      const [first] = divergences
      expect([verdict, first?.kind, first?.stepId]).toEqual(['diverged', ...form.found(row, isParallel)])
      // What the record has of it can be looked up.
      const hasSeq = first?.kind !== 'extra'
      expect(typeof first?.seq).toBe(hasSeq ? 'number' : 'object')
      const isAboutPath =
        row.change !== 'other result' && row.change !== 'fails' && row.change !== 'other shape'
      if (isAboutPath && row.change !== 'reordered')
        expect(path.some(({ match }) => match !== 'same')).toBe(true)
    })
  })
})

describe('D2 the report', () => {
  it('D2 shows expected and received, where they differ, and how the paths go on', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await researcher(false).start(ledger, { topic: 'owls' })
    const { divergences, path, outcome, recorded } = await replay(researcher(false, 'inserted computation'), {
      ledger,
      runId,
      graceMs,
    })
    expect(divergences).toEqual([
      {
        kind: 'extra',
        step: 'think',
        stepId: 'think#0',
        seq: null,
        expected: null,
        received: 'think#0',
        changes: [],
      },
    ])
    expect(path.map(({ stepId, match }) => `${stepId} ${match}`)).toEqual([
      'plan#0 same',
      'search#0 same',
      'think#0 new',
      'read#0 same',
      'deep#0 same',
      'model#0 same',
    ])
    expect([outcome, recorded]).toEqual([recorded, { status: 'completed', output: { said: 'so it is' } }])

    const other = await replay(researcher(false, 'other prompt'), { ledger, runId, graceMs })
    expect(other.divergences[0]).toMatchObject({
      expected: { model: 'big', prompt: 'Sum up.' },
      received: { model: 'big', prompt: 'Be brief.' },
      changes: [{ path: '$.prompt', expected: '"Sum up."', received: '"Be brief."' }],
    })
    expect(other.outcome).toEqual({ status: 'unfinished' })
  })

  it('D2 of a node that was given another state, says what in the state differs', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await researchGraph(ledger, false).invoke({ topic: 'owls' })
    const first = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
    const read: Ledger['read'] = async function* (...args) {
      for await (const event of ledger.read(...args))
        yield event.eventId === first[0]?.eventId
          ? { ...event, payload: { ...event.payload, input: { topic: 'bats' } } }
          : event
    }
    const { divergences } = await replay(researchGraph(ledger, false), {
      ledger: { ...ledger, read },
      runId,
      graceMs,
    })
    expect(divergences[0]).toMatchObject({ kind: 'input', stepId: 'plan@s1' })
  })
})

type Fault = (events: readonly ClewEvent[]) => readonly ClewEvent[]

const isEnd = ({ eventType }: ClewEvent): boolean => eventType === 'execution.step_completed'
const isStart = ({ eventType }: ClewEvent): boolean => eventType === 'execution.step_started'
const withPayload = (event: ClewEvent, payload: ClewEvent['payload']): ClewEvent => ({
  ...event,
  payload: { ...event.payload, ...payload },
})

const FAULTS: Readonly<Record<string, Fault>> = {
  'forgets a call'(events) {
    const lost = events.findLast(isStart)?.payload['stepId']
    return events.filter(
      ({ payload, eventType }) => !eventType.startsWith('execution.step') || payload['stepId'] !== lost,
    )
  },
  'has another input': (events) =>
    events.map((event) =>
      isStart(event) ? withPayload(event, { input: 'other', inputDigest: 'other' }) : event,
    ),
  'has another output of a body': (events) =>
    events.map((event) => (isEnd(event) ? withPayload(event, { output: { got: -1 } }) : event)),
  'has another cause'(events) {
    const [first] = events
    return events.map((event) => (isStart(event) ? { ...event, causationId: first?.eventId ?? null } : event))
  },
  'has another kind': (events) =>
    events.map((event) => (isStart(event) ? withPayload(event, { kind: 'handoff' }) : event)),
  'has other readings of the clock': (events) =>
    events.map((event) => (event.payload['clock'] === undefined ? event : withPayload(event, { clock: [] }))),
  'has another seed': ([first, ...rest]) => [withPayload(first as ClewEvent, { seed: 'other' }), ...rest],
}

/** The property of unchanged code can fail: so it does, when the record is not the code's own. */
describe('D1 goes red when the record', () => {
  it.each(Object.entries(FAULTS))('%s', async (_, fault) => {
    let isFound = false
    for (const scenario of fc.sample(scenarios, { numRuns: 60, seed: 7 })) {
      if (isFound) break
      const ledger = await openLedger('memory:')
      await live(scenario, ledger, [])
      const read: Ledger['read'] = async function* (runId, options) {
        yield* fault(await Array.fromAsync(ledger.read(runId, options)))
      }
      const target = toAgent(scenario.program, createWorld(), scenario.durability)
      const { verdict } = await replay(target, { ledger: { ...ledger, read }, runId: 'run', graceMs })
      isFound = verdict === 'diverged'
      await ledger.close()
    }
    expect(isFound).toBe(true)
  })
})
