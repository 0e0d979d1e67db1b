import type { JsonObject } from '@clew/ledger'
import { isObject } from '../foreign.ts'
import type { SpanAttributes } from './span-attributes.ts'

/** Names of providers in price lists. Other names are left out, because a wrong price is worse than none. */
const PROVIDERS: readonly (readonly [beginning: string, provider: string])[] = [
  ['azure', 'azure'],
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['aws', 'aws'],
  ['amazon', 'aws'],
  ['bedrock', 'aws'],
  ['gcp', 'google'],
  ['google', 'google'],
  ['vertex', 'google'],
  ['gemini', 'google'],
  ['mistral', 'mistral'],
  ['cohere', 'cohere'],
  ['groq', 'groq'],
  ['deepseek', 'deepseek'],
  ['x_ai', 'x-ai'],
  ['xai', 'x-ai'],
  ['fireworks', 'fireworks'],
  ['together', 'together'],
  ['openrouter', 'openrouter'],
  ['perplexity', 'perplexity'],
]

function providerOf(facts: SpanAttributes): string | undefined {
  const said = facts
    .text('gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider', 'llm.provider', 'llm.system')
    ?.toLowerCase()
  return said && PROVIDERS.find(([beginning]) => said.startsWith(beginning))?.[1]
}

/** The model that answered, else the one that was asked: a name stands for several versions. */
const modelOf = (facts: SpanAttributes): string | undefined =>
  facts.text(
    'gen_ai.response.model',
    'llm.response.model_name',
    'ai.response.model',
    'llm.model_name',
    'gen_ai.request.model',
    'llm.request.model_name',
    'ai.model.id',
    'langfuse.observation.model.name',
    'llm.request.model',
    'mlflow.llm.model',
    'model',
  )

const NAMES: Readonly<Record<string, readonly string[]>> = {
  inputTokens: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
    'llm.usage.prompt_tokens',
  ],
  outputTokens: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
    'llm.usage.completion_tokens',
  ],
  cacheReadTokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
  ],
  cacheWriteTokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
  ],
  reasoningTokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'ai.usage.outputTokenDetails.reasoningTokens',
  ],
}

/** Claude Code's input tokens exclude what was read from and written to the cache. */
const CLAUDE_CODE: Readonly<Record<string, string>> = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_tokens',
  cacheWriteTokens: 'cache_creation_tokens',
}

/** Tokens of a call. Input includes cached tokens, as in the conventions. */
function usageOf(facts: SpanAttributes): JsonObject | undefined {
  const usage: JsonObject = {}
  for (const name in NAMES) addCount(usage, name, facts.count(...(NAMES[name] as readonly string[])))
  if (Object.keys(usage).length > 0) return usage
  for (const name in CLAUDE_CODE) addCount(usage, name, facts.count(CLAUDE_CODE[name] as string))
  if (Object.keys(usage).length > 0) return { ...usage, cacheTokens: 'exclusive' }
  const detailed = facts.take('langfuse.observation.usage_details', 'mlflow.chat.tokenUsage')
  if (!isObject(detailed)) return undefined
  addCount(usage, 'inputTokens', detailed['input'] ?? detailed['input_tokens'] ?? detailed['prompt_tokens'])
  const output = detailed['output'] ?? detailed['output_tokens'] ?? detailed['completion_tokens']
  addCount(usage, 'outputTokens', output)
  addCount(usage, 'cacheReadTokens', detailed['input_cached_tokens'] ?? detailed['cache_read_input_tokens'])
  return Object.keys(usage).length > 0 ? usage : undefined
}

function addCount(usage: JsonObject, name: string, count: unknown): void {
  if (typeof count === 'number' && count >= 0 && count <= Number.MAX_SAFE_INTEGER)
    // Adding 0 makes 0 of -0, which JSON lacks.
    usage[name] = Math.round(count) + 0
}

/** Cost in dollars as the producer reports it. */
function costOf(facts: SpanAttributes): number | undefined {
  const said = facts.count('llm.cost.total', 'gen_ai.usage.cost', 'gen_ai.cost.total_cost', 'cost_usd')
  if (said !== undefined) return said
  const detailed = facts.take('langfuse.observation.cost_details')
  const total = isObject(detailed) ? detailed['total'] : undefined
  return typeof total === 'number' && total >= 0 ? total : undefined
}

/** Returns model, provider, tokens and cost of a call of a model. */
export function readModelUse(facts: SpanAttributes): JsonObject {
  const use: JsonObject = {}
  const model = modelOf(facts)
  const provider = providerOf(facts)
  const usage = usageOf(facts)
  const cost = costOf(facts)
  if (model !== undefined) use['model'] = model
  if (provider !== undefined) use['provider'] = provider
  if (usage !== undefined) use['usage'] = usage
  if (cost !== undefined) use['cost'] = { amount: cost, currency: 'USD' }
  return use
}

/** Returns the sums that a span around calls of models reports. They are not counted, because the calls are. */
export function readTotalUse(facts: SpanAttributes): JsonObject {
  const { usage, cost } = readModelUse(facts)
  return { ...(usage !== undefined && { totalUsage: usage }), ...(cost !== undefined && { totalCost: cost }) }
}
