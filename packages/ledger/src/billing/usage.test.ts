import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { normaliseUsage, storedUsage } from './usage.ts'

const usage = (inputTokens: number, outputTokens: number, more = {}) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...more,
})

describe('usage in any spelling', () => {
  it.each<[string, JsonObject, object]>([
    [
      'its own',
      { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4 },
      usage(10, 2, { cacheReadTokens: 4 }),
    ],
    [
      'OpenAI chat',
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
      usage(100, 20, { cacheReadTokens: 64, reasoningTokens: 8 }),
    ],
    [
      'OpenAI responses',
      { input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 64 } },
      usage(100, 20, { cacheReadTokens: 64 }),
    ],
    [
      'Anthropic, which leaves the cache out',
      {
        input_tokens: 2,
        output_tokens: 9,
        cache_read_input_tokens: 84_562,
        cache_creation_input_tokens: 100,
      },
      usage(84_664, 9, { cacheReadTokens: 84_562, cacheWriteTokens: 100 }),
    ],
    [
      'Gemini, which counts thoughts beside the output',
      { promptTokenCount: 50, candidatesTokenCount: 10, thoughtsTokenCount: 30, cachedContentTokenCount: 20 },
      usage(50, 40, { cacheReadTokens: 20, reasoningTokens: 30 }),
    ],
    [
      'LangChain',
      { input_tokens: 50, output_tokens: 10, input_token_details: { cache_read: 20, cache_creation: 5 } },
      usage(50, 10, { cacheReadTokens: 20, cacheWriteTokens: 5 }),
    ],
    [
      'said to be exclusive',
      { inputTokens: 100, outputTokens: 1, cacheReadTokens: 40, cacheTokens: 'exclusive' },
      usage(140, 1, { cacheReadTokens: 40 }),
    ],
    [
      'smaller than its own cached part',
      { inputTokens: 2, outputTokens: 1, cacheReadTokens: 40 },
      usage(42, 1, { cacheReadTokens: 40 }),
    ],
    ['Ollama', { prompt_eval_count: 7, eval_count: 3 }, usage(7, 3)],
  ])('V7 reads %s', (_, raw, expected) => {
    expect(normaliseUsage(raw)).toEqual(expected)
  })

  it.each([
    null,
    undefined,
    3,
    'x',
    [],
    {},
    { inputTokens: 'many' },
    { inputTokens: -1 },
    { inputTokens: Number.NaN },
  ])('V7 finds nothing in %j', (raw) => {
    expect(normaliseUsage(raw)).toBeNull()
  })

  it('V7 storing and reading again changes nothing more', () => {
    const names = [
      'inputTokens',
      'input_tokens',
      'prompt_tokens',
      'outputTokens',
      'output_tokens',
      'cacheReadTokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
      'thoughtsTokenCount',
      'candidatesTokenCount',
    ]
    const count = fc.nat(1000)
    const raw = fc
      .tuple(
        fc.dictionary(fc.constantFrom(...names), count),
        fc.constantFrom(undefined, 'exclusive', 'inclusive'),
      )
      .map(([counts, cacheTokens]): JsonObject => ({ ...counts, ...(cacheTokens && { cacheTokens }) }))
    fc.assert(
      fc.property(raw, (given) => {
        const found = normaliseUsage(given)
        if (!found) return
        const stored = storedUsage(given, found)
        expect(normaliseUsage(stored)).toEqual(found)
        expect(storedUsage(stored, found)).toBe(stored)
      }),
    )
  })

  it('V7 what is in its own names already stays the same object', () => {
    const given = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4, note: 'x' }
    expect(storedUsage(given, usage(10, 2, { cacheReadTokens: 4 }))).toBe(given)
  })
})
