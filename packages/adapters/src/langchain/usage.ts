import type { BaseMessage } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'
import { isObject } from '../foreign.ts'

/** Usage of a call as the provider reported it; the ledger reads all spellings. */
export function usageOf(message: BaseMessage | undefined, { llmOutput }: LLMResult): unknown {
  const metadata = (message?.response_metadata ?? {}) as Record<string, unknown>
  const output = (llmOutput ?? {}) as Record<string, unknown>
  return [
    message && Reflect.get(message, 'usage_metadata'),
    output['usage_metadata'],
    output['tokenUsage'],
    output['usage'],
    output['estimatedTokenUsage'],
    metadata['usage'],
    metadata['tokenUsage'],
    metadata['estimatedTokenUsage'],
  ].find((usage) => isObject(usage) && Object.values(usage).some((count) => typeof count === 'number'))
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The model that answered says more than the one that was asked: `gpt-4o` is answered by one of its editions. */
export function modelOf(
  message: BaseMessage | undefined,
  { llmOutput }: LLMResult,
  asked: string | undefined,
): string | undefined {
  const metadata = (message?.response_metadata ?? {}) as Record<string, unknown>
  return (
    text(metadata['model_name']) ??
    text(metadata['model']) ??
    text(metadata['modelId']) ??
    text(llmOutput?.['model_name']) ??
    text(llmOutput?.['model']) ??
    asked
  )
}

export function askedModel(
  extra: Readonly<Record<string, unknown>> | undefined,
  metadata: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const given = extra?.['invocation_params']
  const params = isObject(given) ? given : {}
  return (
    text(params['model']) ??
    text(params['model_name']) ??
    text(params['modelName']) ??
    text(metadata?.['ls_model_name'])
  )
}

/** Names that price lists know; of another one a wrong guess would be worse than none. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure',
  azure_openai: 'azure',
  anthropic: 'anthropic',
  google_genai: 'google',
  google_vertexai: 'google',
  google: 'google',
  amazon_bedrock: 'aws',
  bedrock: 'aws',
  mistral: 'mistral',
  mistralai: 'mistral',
  cohere: 'cohere',
  groq: 'groq',
  deepseek: 'deepseek',
  xai: 'x-ai',
  fireworks: 'fireworks',
  together: 'together',
  openrouter: 'openrouter',
}

export function providerOf(metadata: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const said = metadata?.['ls_provider']
  return typeof said === 'string' && Object.hasOwn(PROVIDERS, said) ? PROVIDERS[said] : undefined
}
