import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BodyRecord } from './body-record.ts'
import { readUsage } from './read-usage.ts'

const body = (...texts: string[]): BodyRecord => ({ chunks: texts.map((text) => [0, text]), startedAt: 0 })
const sse = (...values: unknown[]): string =>
  values.map((value) => `event: x\ndata: ${JSON.stringify(value)}\n\n`).join('')
const counts = (inputTokens: number, outputTokens: number, more: object = {}) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...more,
})
const JSON_TYPE = 'application/json; charset=utf-8'
const STREAM = 'text/event-stream'

describe('V7 what a model call on the tape used', () => {
  it('is read from answers of the common makers', () => {
    const chat = {
      model: 'gpt-4o',
      usage: { prompt_tokens: 12, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 4 } },
    }
    expect(readUsage(body(JSON.stringify(chat)), JSON_TYPE)).toEqual({
      ...counts(12, 8, { cacheReadTokens: 4 }),
      model: 'gpt-4o',
    })
    const claude = {
      model: 'claude-x',
      usage: { input_tokens: 2, cache_read_input_tokens: 10, output_tokens: 8 },
    }
    expect(readUsage(body(JSON.stringify(claude)), JSON_TYPE)).toEqual({
      ...counts(12, 8, { cacheReadTokens: 10 }),
      model: 'claude-x',
    })
    const gemini = {
      modelVersion: 'gemini-x',
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 8 },
    }
    expect(readUsage(body(JSON.stringify(gemini)), JSON_TYPE)).toEqual({
      ...counts(12, 8),
      model: 'gemini-x',
    })
  })

  it('is put together from a stream, wherever its chunks were cut', () => {
    const chat = sse(
      { model: 'gpt-4o', choices: [{ delta: { content: '"usage":' } }], usage: null },
      { model: 'gpt-4o', choices: [], usage: { prompt_tokens: 12, completion_tokens: 8 } },
    )
    const claude = sse(
      { message: { model: 'gpt-4o', usage: { input_tokens: 12, output_tokens: 1 } } },
      { delta: {}, usage: { output_tokens: 8 } },
    )
    const responses = sse(
      { response: { model: 'gpt-4o', usage: null } },
      { response: { model: 'gpt-4o', usage: { input_tokens: 12, output_tokens: 8 } } },
    )
    const told = { ...counts(12, 8), model: 'gpt-4o' }
    fc.assert(
      fc.property(fc.constantFrom(chat, claude, responses), fc.array(fc.nat(400)), (text, cuts) => {
        const places = [0, ...cuts.filter((at) => at < text.length).toSorted((a, b) => a - b), text.length]
        const chunks = places.slice(1).map((at, nth) => text.slice(places[nth], at))
        expect(readUsage(body(...chunks, 'data: [DONE]\n\n'), STREAM)).toEqual(told)
      }),
    )
  })

  it('is what was known when the stream broke off', () => {
    const start = sse({ message: { model: 'claude-x', usage: { input_tokens: 12, output_tokens: 1 } } })
    expect(readUsage(body(start, 'data: {"delta":'), STREAM)).toEqual({ ...counts(12, 1), model: 'claude-x' })
  })

  it.each([
    ['no model', JSON_TYPE, '{"usage":{"input_tokens":3}}'],
    ['no tokens', JSON_TYPE, '{"model":"x","usage":{"disk":3}}'],
    ['no usage', JSON_TYPE, '{"model":"x"}'],
    ['a list', JSON_TYPE, '[{"model":"x","usage":{"input_tokens":3}}]'],
    ['no JSON', JSON_TYPE, '"usage": {'],
    ['a page', 'text/html', '{"model":"x","usage":{"input_tokens":3}}'],
  ])('is nothing for %s', (_, type, text) => {
    expect(readUsage(body(text), type)).toBeUndefined()
  })

  it('is nothing for bytes', () => {
    expect(readUsage({ ...body('eyJ1c2FnZSI6'), encoding: 'base64' }, JSON_TYPE)).toBeUndefined()
  })
})
