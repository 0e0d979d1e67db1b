import type { SpanAttributes } from './span-attributes.ts'

export type SpanKind =
  | 'model'
  | 'embedding'
  | 'tool'
  | 'agent'
  | 'workflow'
  | 'chain'
  | 'retriever'
  | 'reranker'
  | 'guardrail'
  | 'evaluator'
  | 'prompt'
  | 'memory'
  | 'question'
  | 'mcp'
  | 'span'

type Kinds = Readonly<Record<string, SpanKind>>

const LANGFUSE: Kinds = {
  generation: 'model',
  embedding: 'embedding',
  agent: 'agent',
  tool: 'tool',
  chain: 'chain',
  span: 'chain',
  retriever: 'retriever',
  evaluator: 'evaluator',
  guardrail: 'guardrail',
}

const OPENINFERENCE: Kinds = {
  LLM: 'model',
  EMBEDDING: 'embedding',
  CHAIN: 'chain',
  RETRIEVER: 'retriever',
  RERANKER: 'reranker',
  TOOL: 'tool',
  AGENT: 'agent',
  GUARDRAIL: 'guardrail',
  EVALUATOR: 'evaluator',
  PROMPT: 'prompt',
}

const GEN_AI: Kinds = {
  chat: 'model',
  generate_content: 'model',
  text_completion: 'model',
  completion: 'model',
  embeddings: 'embedding',
  retrieval: 'retriever',
  search_memory: 'retriever',
  execute_tool: 'tool',
  create_agent: 'agent',
  invoke_agent: 'agent',
  invoke_workflow: 'workflow',
  plan: 'agent',
  create_memory: 'memory',
  update_memory: 'memory',
  upsert_memory: 'memory',
  delete_memory: 'memory',
  create_memory_store: 'memory',
  delete_memory_store: 'memory',
}

const TRACELOOP: Kinds = { workflow: 'workflow', task: 'chain', agent: 'agent', tool: 'tool' }

const LANGSMITH: Kinds = {
  llm: 'model',
  chain: 'chain',
  tool: 'tool',
  retriever: 'retriever',
  embedding: 'embedding',
  prompt: 'prompt',
  parser: 'chain',
}

const MLFLOW: Kinds = {
  LLM: 'model',
  CHAT_MODEL: 'model',
  EMBEDDING: 'embedding',
  CHAIN: 'chain',
  AGENT: 'agent',
  TOOL: 'tool',
  RETRIEVER: 'retriever',
  RERANKER: 'reranker',
  PARSER: 'chain',
  WORKFLOW: 'workflow',
  GUARDRAIL: 'guardrail',
  EVALUATOR: 'evaluator',
  MEMORY: 'memory',
}

const MASTRA: Kinds = {
  agent_run: 'agent',
  model_generation: 'chain',
  model_step: 'chain',
  model_inference: 'model',
  tool_call: 'tool',
  mcp_tool_call: 'tool',
  client_tool_call: 'tool',
  provider_tool_call: 'tool',
  workflow_run: 'workflow',
  workflow_step: 'chain',
  processor_run: 'guardrail',
  scorer_run: 'evaluator',
}

const CLAUDE_CODE: Kinds = {
  'claude_code.interaction': 'agent',
  'claude_code.llm_request': 'model',
  'claude_code.tool': 'tool',
}

/** Each way to name a kind, the one that knows most first. */
const NAMED: readonly (readonly [attribute: string, kinds: Kinds])[] = [
  ['langfuse.observation.type', LANGFUSE],
  ['openinference.span.kind', OPENINFERENCE],
  ['gen_ai.operation.name', GEN_AI],
]
const NAMED_LESS: typeof NAMED = [
  ['traceloop.span.kind', TRACELOOP],
  ['langsmith.span.kind', LANGSMITH],
  ['mastra.span.type', MASTRA],
]

/** `ai.generateText` is the loop, `ai.generateText.doGenerate` a call of the model in it. */
function aiSdkKind(operationId: string): SpanKind | undefined {
  if (operationId === 'ai.toolCall') return 'tool'
  const own = /^ai\.\w+(\.do\w+)?/.exec(operationId)
  if (!own) return undefined
  if (own[1] === undefined) return 'chain'
  return own[1].startsWith('.doEmbed') ? 'embedding' : own[1] === '.doRerank' ? 'reranker' : 'model'
}

function mcpKind(method: string): SpanKind {
  if (method === 'tools/call') return 'tool'
  return method === 'elicitation/create' ? 'question' : 'mcp'
}

const kindIn = (kinds: Kinds, name: string | undefined): SpanKind | undefined =>
  name !== undefined && Object.hasOwn(kinds, name) ? kinds[name] : undefined

function findNamed(facts: SpanAttributes, named: typeof NAMED): SpanKind | undefined {
  for (const [attribute, kinds] of named) {
    const kind = kindIn(kinds, facts.text(attribute))
    if (kind) return kind
  }
  return undefined
}

/** Kind of a span by the attribute names of conventions and SDKs; `span` if none is known. */
export function classifySpan(facts: SpanAttributes, spanName: string): SpanKind {
  const named = findNamed(facts, NAMED)
  if (named) return named
  const operationId = facts.text('ai.operationId')
  const aiSdk = operationId === undefined ? undefined : aiSdkKind(operationId)
  if (aiSdk) return aiSdk
  const method = facts.text('mcp.method.name')
  if (method !== undefined) return mcpKind(method)
  return (
    findNamed(facts, NAMED_LESS) ??
    kindIn(MLFLOW, facts.text('mlflow.spanType')?.replaceAll('"', '')) ??
    kindIn(CLAUDE_CODE, spanName) ??
    guessKind(facts)
  )
}

/** Some SDKs leave the operation out and name a tool or a model all the same. */
function guessKind(facts: SpanAttributes): SpanKind {
  if (facts.has('gen_ai.tool.name') || facts.has('gen_ai.tool.call.id')) return 'tool'
  const model = facts.text('gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name')
  if (model !== undefined || facts.has('llm.request.type')) return 'model'
  return facts.text('gen_ai.agent.name') === undefined ? 'span' : 'agent'
}
