import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { BUNDLED_VERSION, createPrice } from './create-price.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-prices-'))
afterAll(() => rmSync(folder, { recursive: true }))

const at = '2026-01-01T00:00:00.000Z'
const usage = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  reasoningTokens: 0,
})

describe('bundled prices', () => {
  it('V7 knows models, with and without a provider, and takes cached tokens at their own price', async () => {
    const price = await createPrice(undefined)
    const plain = price('gpt-4o', 'openai', usage(1_000_000, 0), at)
    expect(plain).toMatchObject({ source: '@pydantic/genai-prices', version: BUNDLED_VERSION })
    expect(plain?.amount).toBeGreaterThan(0)
    expect(price('gpt-4o', undefined, usage(1_000_000, 0), at)?.amount).toBe(plain?.amount)
    expect(price('openai/gpt-4o', undefined, usage(1_000_000, 0), at)?.amount).toBe(plain?.amount)
    expect(price('gpt-4o', 'openai', usage(1_000_000, 0, 1_000_000), at)?.amount).toBeLessThan(
      plain?.amount ?? 0,
    )
  })

  it('V7 what it does not know has no price, and what contradicts itself neither', async () => {
    const price = await createPrice(undefined)
    expect(price('no-such-model', undefined, usage(1, 1), at)).toBeNull()
    expect(price('gpt-4o', 'no-such-provider', usage(1, 1), at)).toBeNull()
    expect(price('gpt-4o', 'openai', usage(1, 1, 100), at)).toBeNull()
  })

  it('V7 the version is that of the package', () => {
    const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
    const manifest = readFileSync(join(dirname(entry), '../package.json'), 'utf8')
    expect(BUNDLED_VERSION).toBe((JSON.parse(manifest) as { version: string }).version)
  })
})

describe('prices of one’s own', () => {
  it('V7 win over the bundled ones, the most exact first', async () => {
    const price = await createPrice({
      version: '2026-11',
      models: {
        'gpt-4o': { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 4 },
        'home/gpt-4o': { input: 0, output: 0 },
        'own-*': { input: 10, output: 10 },
        'own-small*': { input: 3, output: 3 },
        embed: { input: 0.02 },
      },
    })
    expect(price('gpt-4o', 'openai', usage(1_000_000, 500_000, 200_000, 100_000), at)).toEqual({
      amount: 0.7 + 0.1 + 0.4 + 1,
      source: 'prices',
      version: '2026-11',
    })
    expect(price('gpt-4o', 'home', usage(5, 5), at)?.amount).toBe(0)
    expect(price('own-small-1', undefined, usage(1_000_000, 0), at)?.amount).toBe(3)
    expect(price('own-large', undefined, usage(1_000_000, 0), at)?.amount).toBe(10)
    expect(price('embed', undefined, usage(1_000_000, 0), at)?.amount).toBe(0.02)
    expect(price('embed', undefined, usage(1, 1), at)).toBeNull()
    expect(price('gpt-4o-mini', 'openai', usage(1, 1), at)?.source).toBe('@pydantic/genai-prices')
  })

  it('V7 a file in the form of LiteLLM is taken, with its steps by length', async () => {
    const file = join(folder, 'litellm.json')
    const entry = {
      litellm_provider: 'x',
      input_cost_per_token: 2e-6,
      output_cost_per_token: 1e-5,
      cache_read_input_token_cost: 1e-6,
      input_cost_per_token_above_200k_tokens: 4e-6,
    }
    writeFileSync(file, JSON.stringify({ sample_spec: {}, picture: { output_cost_per_image: 1 }, m: entry }))
    const price = await createPrice(file)
    expect(price('m', undefined, usage(100_000, 1000), at)).toMatchObject({
      amount: 0.21,
      version: expect.stringMatching(/^sha256:[0-9a-f]{12}$/),
    })
    expect(price('m', undefined, usage(300_000, 0), at)?.amount).toBe(1.2)
    expect(price('picture', undefined, usage(1, 0), at)).toBeNull()
  })

  it.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['nothing in it', '{}'],
    ['a wrong price', '{"models":{"m":{"input":"2"}}}'],
    ['a negative price', '{"models":{"m":{"input":-2}}}'],
    ['no input', '{"models":{"m":{"output":2}}}'],
  ])('V7 a file with %s is refused when the ledger is opened', async (_, text) => {
    const file = join(folder, 'bad.json')
    writeFileSync(file, text)
    await expect(openLedger('memory:', { prices: file })).rejects.toMatchObject({ code: 'bad_option' })
  })

  it('V7 an event carries the price it was recorded at', async () => {
    const ledger = await openLedger('memory:', { prices: { models: { m: { input: 1, output: 1 } } } })
    const { payload } = await ledger.record({
      eventType: 'integration.response',
      correlationId: 'r',
      payload: { model: 'm', usage: { prompt_tokens: 10, completion_tokens: 5 } },
    })
    expect(payload['cost']).toMatchObject({ amount: 0.000015, currency: 'USD', source: 'prices' })
    await ledger.close()
  })
})
