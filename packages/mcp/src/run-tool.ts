import { ClewError, type JsonObject } from '@clew/ledger'
import { controlOnce } from './control-once.ts'
import { estimateTokens } from './estimate-tokens.ts'
import type { McpParts } from './mcp-parts.ts'
import { isReadOnly, type Session, type Tool, type ToolContext } from './tool.ts'
import { type ReadArguments, readArguments } from './tool-schema.ts'
import { writeAnswer } from './write-answer.ts'

export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Name that the client gave itself. */
  readonly client: string
  readonly signal: AbortSignal
  readonly onProgress?: ((done: number, total?: number) => void) | undefined
}

/** The text of an answer. Throws ClewError. */
export async function runTool(parts: McpParts, session: Session, call: ToolCall): Promise<string> {
  const tool = findTool(parts, session, call.name)
  const read = readArguments(tool, call.arguments)
  const { maxTokens, format } = read
  const input = await parts.resolveIds(session.ledger, read.input)
  const output = isReadOnly(tool)
    ? await perform(tool, session, input, contextOf(tool, session, call))
    : await control(tool, session, { ...read, input }, call)
  call.signal.throwIfAborted()
  return format === 'json'
    ? inJson(tool, session, input, output, maxTokens, contextOf(tool, session, call))
    : writeAnswer(await tool.view(output, input, session.ledger), maxTokens, parts.randomHex)
}

function findTool({ tools }: McpParts, session: Session, name: string): Tool {
  const tool = tools.find((each) => each.name === name)
  if (!tool) {
    const offered = tools.filter((each) => session.may(each)).map((each) => each.name)
    throw new ClewError('not_found', `There is no tool ${name.slice(0, 80)}`, `Use ${offered.join(', ')}.`, {
      tool: name.slice(0, 80),
    })
  }
  if (session.may(tool)) return tool
  throw new ClewError(
    'forbidden',
    `The tool ${tool.name} needs the scope ${tool.scope}, which this connection does not have`,
    `${session.howToAllow(tool)} Nothing was done.`,
    { tool: tool.name, scope: tool.scope },
  )
}

/** Reading tools get no control: an explanation executes nothing. */
const contextOf = (tool: Tool, session: Session, { signal, onProgress }: ToolCall): ToolContext => ({
  signal,
  onProgress,
  ...(session.principal !== undefined && { by: session.principal }),
  ...(isReadOnly(tool) ? {} : { control: session.control }),
})

async function perform(
  { operation, collect }: Tool,
  { ledger }: Session,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<unknown> {
  if (collect) return collect(ledger, input, context)
  if (operation.kind === 'answer') return operation.run(ledger, { ...input }, context)
  return Array.fromAsync(operation.run(ledger, { ...input }, context))
}

async function control(
  tool: Tool,
  session: Session,
  { input, reason, key }: ReadArguments,
  call: ToolCall,
): Promise<unknown> {
  const { ledger, principal } = session
  await tool.assertAllowed?.(ledger, input)
  const by = [principal, call.client]
    .filter((each) => each !== undefined)
    .join(' via ')
    .slice(0, 200)
  const full = Object.hasOwn(tool.operation.input.shape, 'by') ? { ...input, by } : input
  return controlOnce(ledger, { tool, input: full, by, reason: reason ?? '', key }, (given) =>
    perform(tool, session, given, contextOf(tool, session, call)),
  )
}

/** REST's own JSON. A page that is too large is asked for again with fewer items; a cursor leads on from there. */
async function inJson(
  tool: Tool,
  session: Session,
  input: Readonly<Record<string, unknown>>,
  output: unknown,
  maxTokens: number,
  context: ToolContext,
): Promise<string> {
  let text = JSON.stringify(output)
  const { shape } = tool.operation.input
  const isPaged = isReadOnly(tool) && Object.hasOwn(shape, 'limit') && Object.hasOwn(shape, 'cursor')
  let limit = Number(input['limit'])
  while (isPaged && estimateTokens(text) > maxTokens && limit > 1) {
    limit = Math.max(1, Math.floor((limit * maxTokens) / estimateTokens(text) / 1.2))
    text = JSON.stringify(await perform(tool, session, { ...input, limit }, context))
  }
  const needed = estimateTokens(text)
  if (needed <= maxTokens) return text
  throw new ClewError(
    'bad_option',
    `The answer as JSON is about ${needed} tokens, more than max_tokens ${maxTokens}`,
    `Call again with max_tokens ${needed}, or with format text, which leaves out what does not fit and says so.`,
    { option: 'max_tokens', needed },
  )
}

/** The same body as REST's. Other errors than ClewError may quote anything, so nothing of them is told. */
export function errorBody(error: unknown): JsonObject {
  if (error instanceof ClewError) return { error: error.toJSON() as unknown as JsonObject }
  const hint = 'This is a defect in Clew; the log of the server has more.'
  return { error: { code: 'unexpected', message: `Something went wrong. ${hint}`, hint, fields: {} } }
}
