import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClewEvent } from '../event/envelope.ts'
import { searchedText, toDocument } from './extract.ts'
import { highlight } from './highlight.ts'
import { parseQuery } from '../query/parse-query.ts'
import { indexedTokens, indexText, tokenize } from './tokens.ts'

const eventOf = (payload: Record<string, unknown>, eventType = 'execution.note'): ClewEvent => ({
  eventId: 'e',
  eventType,
  timestamp: '2026-01-01T00:00:00Z',
  source: { origin: 'agent', runtime: 'clew' },
  correlationId: 'r',
  causationId: null,
  payload,
  ledger: {
    workspace: 'w',
    seq: 1,
    position: 1,
    recordedAt: '2026-01-01T00:00:00Z',
    hash: '',
    schemaVersion: 0,
  },
})

describe('L1 words', () => {
  it('are folded, split between signs, and left out above 64 characters', () => {
    const texts = (text: string): string[] => tokenize(text).map((token) => token.text)
    expect(texts('Žluťoučký KŮŇ, web_search! ½ ﬁne')).toEqual([
      'zlutoucky',
      'kun',
      'web',
      'search',
      '12',
      'fine',
    ])
    expect(texts('東京タワーへ12 go')).toEqual(['東', '京', 'タ', 'ワ', 'ー', 'へ', '12', 'go'])
    expect(texts(`${'a'.repeat(64)} ${'b'.repeat(65)} c`)).toEqual(['a'.repeat(64), 'c'])
  })

  it('of an indexed text are the words of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(indexedTokens(indexText(text))).toEqual(tokenize(text).map((token) => token.text))
      }),
    )
  })
})

describe('L1 what is searched of an event', () => {
  it('is told apart: names, errors, messages, the rest; ids and counters are left out', () => {
    const texts = searchedText(
      eventOf({
        name: 'search',
        stepId: 'search#0',
        error: { name: 'Bad', message: 'went wrong' },
        content: [{ type: 'text', text: 'hello' }],
        arguments: { q: 'owls', n: 3, toolCallId: 'c1' },
        usage: { inputTokens: 5 },
      }),
    )
    expect(texts).toEqual({
      name: 'search',
      error: 'Bad \nwent wrong',
      message: 'text \nhello',
      data: 'owls \n3',
    })
  })

  it('has an end, however large, deep or strange the payload; the newest items of a list come first', () => {
    let deep: unknown = 'bottom'
    for (let i = 0; i < 50_000; i++) deep = [deep]
    expect(searchedText(eventOf({ deep })).data).toBe('')
    const list = Array.from({ length: 20_000 }, (_, n) => `item${n} ${'x'.repeat(50)}`)
    const { data } = searchedText(eventOf({ list }))
    expect(data.length).toBeLessThan(20_000)
    expect(data).toContain('item19999')
    expect(data).not.toContain('item0 ')
    const odd: Record<string, unknown> = JSON.parse('{"__proto__":"kept","$clew":{"a":"tagged"}}')
    expect(toDocument(eventOf(odd)).fields.data).toContain('kept')
  })

  it('tells the tool of calls, results and errors only', () => {
    expect(toDocument(eventOf({ name: 'a' }, 'execution.tool_result')).tool).toBe('a')
    expect(toDocument(eventOf({ name: 'a' }, 'execution.step_started')).tool).toBeNull()
  })
})

describe('L1 highlights', () => {
  it('mark words and phrases where they stand, without overlap', () => {
    const { all } = parseQuery('"barn owl" fring* owl', 0)
    const texts = { name: '', error: '', data: '', message: 'The Barn  Owl has fringes; an owl is quiet.' }
    const found = highlight(texts, all)
    expect(found?.marks.map(([from, to]) => found.text.slice(from, to))).toEqual([
      'Barn  Owl',
      'fringes',
      'owl',
    ])
  })

  it('stay inside a piece of the text', () => {
    const { all } = parseQuery('needle', 0)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ maxLength: 400 }), (a, b) => {
        const text = `${a} needle ${b}`
        const found = highlight({ name: '', error: '', message: '', data: text }, all)
        expect(text).toContain(found?.text)
        expect(found?.marks.length).toBeGreaterThan(0)
        for (const [from, to] of found?.marks ?? [])
          expect(found?.text.slice(from, to).toLowerCase()).toBe('needle')
      }),
    )
  })
})
