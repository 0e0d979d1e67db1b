import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClewEvent } from '../envelope.ts'
import { auditFold } from './audit.ts'
import { complianceFold } from './compliance.ts'
import { type Fold, foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { formatMermaid } from './task-graph-mermaid.ts'
import { taskGraphFold } from './task-graph.ts'
import { timelineFold } from './timeline.ts'
import { toChatMessages } from './transcript-chat.ts'
import { formatTranscriptMarkdown } from './transcript-markdown.ts'
import { formatTranscriptText } from './transcript-text.ts'
import type { TranscriptState } from './transcript-state.ts'
import { transcriptFold } from './transcript.ts'
import { OWN_EVENT_TYPES } from '../catalogue.ts'

// Few ids, names and causes, so that things meet: twice, too early, in circles, never.
const few = fc.constantFrom('a#0', 'a#1', 'a#0/b#0', 'b#0', 'x#0/y#0', 'odd')
const payload = fc.record(
  {
    stepId: few,
    parentStepId: few,
    name: fc.constantFrom('a', 'b', '__proto__', '\u001b[2J\u202e'),
    attempt: fc.constantFrom(1, 2),
    toolCallId: fc.constantFrom('c1', 'c2'),
    callId: fc.constantFrom('c1', 'c2'),
    pauseId: fc.constantFrom('p1', 'p2'),
    messageId: fc.constantFrom('m1', 'm2'),
    role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'odd'),
    content: fc.oneof(fc.string(), fc.constant([{ type: 'text', text: 'part' }]), fc.jsonValue()),
    decision: fc.constantFrom('a', 'b', 'END'),
    childRunId: fc.constantFrom('run-2', 'run-3'),
    safety: fc.constantFrom('read', 'write', 'odd'),
    error: fc.oneof(fc.constant('no'), fc.jsonValue()),
    durationMs: fc.integer(),
    result: fc.jsonValue(),
    arguments: fc.jsonValue(),
    answer: fc.constant('[redacted:api-key:ff]'),
    options: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const happening: fc.Arbitrary<EventFixture> = fc.record(
  {
    type: fc.constantFrom(...OWN_EVENT_TYPES, 'execution.my_own_type'),
    payload,
    cause: fc.oneof(fc.constant(null), fc.nat(30)),
    atMs: fc.integer({ min: -50, max: 1000 }),
    origin: fc.constantFrom('agent', 'system', 'ui', 'integration'),
    erased: fc.boolean(),
  },
  { requiredKeys: ['type'] },
)
const history = fc.array(happening, { maxLength: 40 }).map((list) => buildEvents(list))
const cuts = fc.array(fc.nat(40), { maxLength: 5 })

/** Takes a view after each cut: the last must be that of a fold from scratch, and none may change afterwards. */
function checkCuts<State, View>(
  fold: Fold<State, View>,
  events: readonly ClewEvent[],
  after: readonly number[],
): void {
  const taken: { view: View; text: string; count: number }[] = []
  let state = fold.begin()
  for (const [at, event] of events.entries()) {
    if (after.includes(at)) {
      const view = fold.view(state)
      taken.push({ view, text: JSON.stringify(view), count: at })
    }
    state = fold.apply(state, event)
  }
  expect(fold.view(state)).toEqual(foldEvents(fold, events))
  for (const { view, text, count } of taken) {
    expect(JSON.stringify(view)).toBe(text)
    expect(view).toEqual(foldEvents(fold, events.slice(0, count)))
  }
}

const folds: readonly (readonly [string, Fold<never, unknown>])[] = [
  ['V3 transcript', transcriptFold as unknown as Fold<never, unknown>],
  ['V4 timeline', timelineFold as unknown as Fold<never, unknown>],
  ['V5 task graph', taskGraphFold as unknown as Fold<never, unknown>],
  ['V6 audit', auditFold as unknown as Fold<never, unknown>],
  ['V8 compliance', complianceFold as unknown as Fold<never, unknown>],
]

describe('random histories, cut anywhere', () => {
  it.each(folds)('%s: as it grows it equals the fold from scratch, and views stay', (_, fold) => {
    fc.assert(fc.property(history, cuts, (events, after) => checkCuts(fold, events, after)))
  })

  it('V3 every event is told, joined or counted; each seq at most once', () => {
    fc.assert(
      fc.property(history, (events) => {
        const view = foldEvents(transcriptFold, events)
        const seqs = view.entries.map((entry) => entry.seq)
        expect(new Set(seqs).size).toBe(seqs.length)
        const calls = view.entries.filter((entry) => entry.kind === 'tool_call')
        const outcomes = events.filter(({ eventType }) =>
          /^execution\.tool_(?:result|error)$/.test(eventType),
        )
        const told = calls.filter((entry) => entry.outcome !== null).length
        expect(told).toBeGreaterThanOrEqual(outcomes.length)
        formatTranscriptText(view)
        formatTranscriptMarkdown(view)
      }),
    )
  })

  it('V3 `types` names the events that make entries: reading only those gives the same entries', () => {
    const types: ReadonlySet<string> = new Set(transcriptFold.types)
    fc.assert(
      fc.property(history, (events) => {
        const needed = events.filter(({ eventType }) => types.has(eventType))
        expect(foldEvents(transcriptFold, needed).entries).toEqual(foldEvents(transcriptFold, events).entries)
      }),
    )
    const items = [{ role: 'user', content: 'hi' }]
    const operations = [{ op: 'append', channel: 'messages', items }]
    const payload = { stepId: 'a#0', name: 'a', kind: 'effect', operations }
    const makesEntry = (type: string): boolean =>
      foldEvents(transcriptFold, buildEvents([{ type, payload }])).entries.length > 0
    expect(OWN_EVENT_TYPES.filter(makesEntry).toSorted()).toEqual(transcriptFold.types.toSorted())
  })

  it('V3 chat messages always pair calls with results', () => {
    fc.assert(
      fc.property(history, (events) => {
        const open: string[] = []
        for (const message of toChatMessages(foldEvents(transcriptFold, events))) {
          if (message.tool_call_id !== undefined) expect(message.tool_call_id).toBe(open.shift())
          else expect(open).toEqual([])
          open.push(...(message.tool_calls ?? []).map((call) => call.id))
        }
        expect(open).toEqual([])
      }),
    )
  })

  it('V4 every item comes after the one it lies in, and siblings in one lane never overlap', () => {
    fc.assert(
      fc.property(history, (events) => {
        const { items } = foldEvents(timelineFold, events)
        const ends = new Map<string, number>()
        for (const [at, item] of items.entries()) {
          expect(item.parent === null || item.parent < at).toBe(true)
          expect(item.depth).toBe(item.parent === null ? 0 : (items[item.parent]?.depth ?? 0) + 1)
        }
        for (const item of items.toSorted((a, b) => a.startMs - b.startMs)) {
          if (item.kind === 'event') continue
          const lane = `${item.parent} ${item.lane}`
          expect(ends.get(lane) ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(item.startMs)
          ends.set(lane, Math.max(item.startMs, item.endMs ?? Number.POSITIVE_INFINITY))
        }
      }),
    )
  })

  it('V5 edges join nodes that are there', () => {
    fc.assert(
      fc.property(history, (events) => {
        const graph = foldEvents(taskGraphFold, events)
        const ids = new Set(graph.nodes.map((node) => node.id))
        for (const { from, to } of graph.edges) expect(ids.has(from) && ids.has(to)).toBe(true)
        for (const { parent } of graph.nodes) expect(parent === null || ids.has(parent)).toBe(true)
        formatMermaid(graph)
      }),
    )
  })

  it('V3 a fold that changes what it has shown is found', () => {
    const planted: Fold<TranscriptState, ReturnType<typeof transcriptFold.view>> = {
      ...transcriptFold,
      apply(state, event) {
        for (const entry of state.entries) if (entry) Object.assign(entry, { erased: true })
        return transcriptFold.apply(state, event)
      },
    }
    expect(() =>
      fc.assert(
        fc.property(history, cuts, (events, after) => checkCuts(planted, events, after)),
        { numRuns: 1000, seed: 7 },
      ),
    ).toThrow()
  })
})
