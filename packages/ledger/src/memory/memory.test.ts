import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClewEvent } from '../event/envelope.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { expandToWholeItems, foldMemory } from './fold.ts'
import { MEMORY_LAYERS, memoryRunId, type MemoryRow, parseMemoryRunId } from './item.ts'
import { compareNames, isWithin } from './names.ts'
import { parseWords } from './parse-words.ts'
import { type ContextCandidate, pickContext } from './pick-context.ts'

const eventOf = (seq: number, type: string, payload: Record<string, unknown>, erased = false): ClewEvent => ({
  eventId: `e${seq}`,
  eventType: `execution.memory_${type}`,
  timestamp: '2026-01-01T00:00:00Z',
  source: { origin: 'agent', runtime: 'clew' },
  correlationId: 'clew:memory/long/workspace',
  causationId: null,
  payload: erased ? {} : payload,
  ledger: {
    workspace: 'w',
    seq,
    position: seq * 3,
    recordedAt: '2026-01-01T00:00:00.000Z',
    hash: '',
    schemaVersion: 1,
    ...(erased && { erased: true as const }),
  },
})

const candidates: fc.Arbitrary<ContextCandidate[]> = fc.uniqueArray(
  fc.record({
    layer: fc.constantFrom(...MEMORY_LAYERS),
    position: fc.integer({ min: 1, max: 1000 }),
    updatedAt: fc.integer({ min: 0, max: 40 }).map((day) => new Date(day * 86_400_000).toISOString()),
    relevance: fc.double({ min: 0, max: 1, noNaN: true }),
    tokens: fc.integer({ min: 1, max: 50 }),
  }),
  { selector: ({ position }) => position, maxLength: 30 },
)

describe('M2 a context', () => {
  it('keeps to its budget, leaves nothing out that fits, and hangs neither on order nor on time', () => {
    fc.assert(
      fc.property(candidates, fc.integer({ min: 1, max: 300 }), fc.integer(), (given, budget, seed) => {
        const { picked, tokens, left } = pickContext(given, budget)
        expect(tokens).toBe(picked.reduce((sum, each) => sum + each.tokens, 0))
        expect(tokens).toBeLessThanOrEqual(budget)
        expect(left).toBe(given.length - picked.length)
        for (const each of given)
          if (!picked.includes(each)) expect(tokens + each.tokens).toBeGreaterThan(budget)
        const turned = given.toSorted((a, b) => ((a.position * seed) % 97) - ((b.position * seed) % 97))
        expect(pickContext(turned, budget).picked).toEqual(picked)
        const later = given.map((each) => ({
          ...each,
          updatedAt: new Date(Date.parse(each.updatedAt) + 86_400_000).toISOString(),
        }))
        expect(pickContext(later, budget).picked.map(({ position }) => position)).toEqual(
          picked.map(({ position }) => position),
        )
      }),
    )
  })

  it('prefers the nearer layer, the better fit and the newer', () => {
    const base = {
      layer: 'long',
      position: 1,
      updatedAt: '2026-01-01T00:00:00.000Z',
      relevance: 0.2,
      tokens: 5,
    } as const
    const first = (...more: Partial<ContextCandidate>[]): number | undefined =>
      pickContext([base, ...more.map((each, n) => ({ ...base, position: n + 2, ...each }))], 5).picked[0]
        ?.position
    expect(first({ layer: 'short' })).toBe(2)
    expect(first({ relevance: 0.9 })).toBe(2)
    expect(first({ updatedAt: '2026-02-01T00:00:00.000Z' })).toBe(2)
    expect(first({ layer: 'short', relevance: 0, updatedAt: '2025-01-01T00:00:00.000Z' })).toBe(1)
  })
})

describe('M1 the fold of a memory run', () => {
  const name = fc.record({ namespace: fc.constantFrom('a', 'a/b'), key: fc.constantFrom('k', 'l') })
  const steps = fc.array(
    fc.tuple(name, fc.constantFrom('written', 'promoted', 'forgotten'), fc.integer({ min: 0, max: 12 })),
    { maxLength: 12 },
  )
  const toEvents = (given: [{ namespace: string; key: string }, string, number][]): ClewEvent[] =>
    given.map(([where, type, version], at) => eventOf(at + 1, type, { ...where, value: at, version }))
  const foldAll = (events: readonly ClewEvent[]): Map<string, MemoryRow> => {
    const rows = new Map<string, MemoryRow>()
    for (const event of events) foldMemory(rows, event)
    return rows
  }

  it('is the same whether it is made at once or goes on from any seq', () => {
    fc.assert(
      fc.property(steps, fc.nat(12), (given, cut) => {
        const events = toEvents(given)
        const rows = foldAll(events.slice(0, cut))
        for (const event of events.slice(cut)) foldMemory(rows, event)
        expect(rows).toEqual(foldAll(events))
      }),
    )
  })

  it('P5 without all events of some items is the fold without these items', () => {
    fc.assert(
      fc.property(steps, fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }), (given, seqs) => {
        const events = toEvents(given)
        const gone = new Set(expandToWholeItems(events, new Set(seqs)).map(({ ledger }) => ledger.seq))
        const erased = events.map((event) =>
          gone.has(event.ledger.seq) ? eventOf(event.ledger.seq, 'written', {}, true) : event,
        )
        const kept = [...foldAll(events)].filter(([, row]) => !gone.has(row.seq))
        expect([...foldAll(erased)]).toEqual(kept)
      }),
    )
  })

  it('forgets the version that was seen, and not one that came after', () => {
    const put = (seq: number) => eventOf(seq, 'written', { namespace: 'a', key: 'k', value: seq })
    const forget = (seq: number, version: number) =>
      eventOf(seq, 'forgotten', { namespace: 'a', key: 'k', version })
    expect(foldAll([put(1), forget(2, 1)]).size).toBe(0)
    expect(foldAll([put(1), put(2), forget(3, 1)]).size).toBe(1)
    expect(foldAll([put(1), put(2), forget(3, 2)]).size).toBe(0)
  })
})

describe('M1 names', () => {
  it('are compared as databases compare UTF-8', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 4 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareNames(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
    expect(compareNames('\u{1F989}', '\uFB01')).toBeGreaterThan(0)
    expect(compareNames('\uFB01', '\u{1F989}')).toBeLessThan(0)
  })

  it('of memory runs tell their scope, whatever it holds', () => {
    for (const scope of ['workspace', 'user:a/b', 'a/b/c', 'clew:memory/long/x'])
      expect(parseMemoryRunId(memoryRunId({ layer: 'session', scope }))).toEqual({ layer: 'session', scope })
    expect(parseMemoryRunId('clew:memory/middle/x')).toBeUndefined()
    expect(parseMemoryRunId('run-1')).toBeUndefined()
    expect([isWithin('a/b', 'a'), isWithin('ab', 'a'), isWithin('a', 'a')]).toEqual([true, false, true])
  })
})

describe('M2 words', () => {
  it('are read from any text', () => {
    const { words, all, none } = parseWords('What does "Ann B" like? -coffee "gre"* tea* (now')
    const shown = (phrases: typeof words) =>
      phrases.map(({ tokens, prefix }) => tokens.join(' ') + (prefix ? '*' : ''))
    expect([shown(words), shown(all), shown(none)]).toEqual([
      ['what', 'does', 'like', 'tea*', 'now'],
      ['ann b', 'gre*'],
      ['coffee'],
    ])
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseWords(text)))
  })

  it('are counted as tokens, rather too many', () => {
    expect([
      estimateTokens(''),
      estimateTokens('four'),
      estimateTokens('fours'),
      estimateTokens('東京'),
    ]).toEqual([0, 1, 2, 2])
  })
})
