import type { AgentAction, AgentFinish } from '@langchain/core/agents'
import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { DocumentInterface } from '@langchain/core/documents'
import type { Serialized } from '@langchain/core/load/serializable'
import type { BaseMessage } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'
import type { Ledger } from '@clew/ledger'
import type { GraphRun } from './graph-run.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { SessionTrace } from './session-trace.ts'

export interface ClewCallbackOptions {
  readonly ledger: Ledger
  /** The run to record into. Without one: the Clew run around the call, else a run of its own for each call at the top. */
  readonly runId?: string | undefined
  /** The thread of the runs that are begun; left out, it is the `thread_id` that LangGraph was called with. */
  readonly threadId?: string | undefined
  /** Name of the agent of runs that are begun; left out, it is the name of the chain. */
  readonly agent?: string | undefined
  /**
   * A session of a `TraceEmitter`: told of steps and of tokens while they come (tokens are not stored), and never ended here.
   * Runs that are begun lie below it.
   */
  readonly session?: SessionTrace | undefined
  /**
   * False (default): if something cannot be recorded, LangChain prints a warning and the call goes on; the record then has a
   * hole. True fails the call.
   */
  readonly raiseError?: boolean | undefined
}

type Fields = Record<string, unknown>

/** Records callbacks of LangChain and LangGraph in a ledger. Each callback resolves after its commit. */
export class ClewCallbackHandler extends BaseCallbackHandler {
  readonly name = 'clew'
  // Also in the background mode of LangChain: acknowledged means committed (L5), and order is cause.
  override awaitHandlers = true
  readonly ledger: Ledger
  readonly #recorder: Recorder

  constructor({ raiseError = false, ...options }: ClewCallbackOptions) {
    super({ raiseError, _awaitHandler: true })
    this.ledger = options.ledger
    this.#recorder = createRecorder(options)
  }

  /** The session that its runs lie below. */
  get sessionId(): string | undefined {
    return this.#recorder.sessionId
  }

  /**
   * Called by a `ClewSaver` on the same ledger when a graph begins: events of it are recorded in the run of the saver. Returns
   * the name of the graph if it has one.
   */
  joinGraph(thread: string, graph: GraphRun): string | undefined {
    return this.#recorder.joinGraph(thread, graph)
  }

  /** One handler may be attached to many concurrent calls; a copy would not know the steps started by the first. */
  override copy(): BaseCallbackHandler {
    return this
  }

  // The declared order of the last arguments is not the one in which they come.
  override async handleChainStart(
    chain: Serialized,
    inputs: Fields,
    runId: string,
    parentRunId?: string,
    tags: string[] = [],
    metadata: Fields = {},
    _runType?: string,
    runName?: string,
    extra: Fields = {},
  ): Promise<void> {
    const name = runName ?? nameOf(chain)
    await this.#recorder.startChain({
      runId,
      parentRunId,
      name,
      tags,
      metadata,
      inputs,
      isDeferred: extra['lc_defers_inputs'] === true,
    })
  }

  override async handleChainEnd(
    outputs: Fields,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    more: { inputs?: Fields } = {},
  ): Promise<void> {
    await this.#recorder.endChain(runId, outputs, more.inputs)
  }

  override async handleChainError(error: unknown, runId: string): Promise<void> {
    await this.#recorder.fail(runId, error)
  }

  override async handleChatModelStart(
    model: Serialized,
    messages: BaseMessage[][],
    runId: string,
    parentRunId?: string,
    extra?: Fields,
    tags: string[] = [],
    metadata: Fields = {},
    runName?: string,
  ): Promise<void> {
    const name = runName ?? nameOf(model)
    await this.#recorder.startModel({
      runId,
      parentRunId,
      name,
      tags,
      metadata,
      extra,
      messages: messages.flat(),
    })
  }

  override async handleLLMStart(
    model: Serialized,
    prompts: string[],
    runId: string,
    parentRunId?: string,
    extra?: Fields,
    tags: string[] = [],
    metadata: Fields = {},
    runName?: string,
  ): Promise<void> {
    const name = runName ?? nameOf(model)
    await this.#recorder.startModel({ runId, parentRunId, name, tags, metadata, extra, prompts })
  }

  override handleLLMNewToken(token: string, _index: unknown, runId: string): void {
    this.#recorder.token(runId, token)
  }

  override async handleLLMEnd(output: LLMResult, runId: string): Promise<void> {
    await this.#recorder.endModel(runId, output)
  }

  override async handleLLMError(error: unknown, runId: string): Promise<void> {
    await this.#recorder.fail(runId, error)
  }

  override async handleToolStart(
    tool: Serialized,
    input: string,
    runId: string,
    parentRunId?: string,
    tags: string[] = [],
    metadata: Fields = {},
    runName?: string,
    toolCallId?: string,
  ): Promise<void> {
    const name = runName ?? nameOf(tool)
    await this.#recorder.startTool({ runId, parentRunId, name, tags, metadata, input, toolCallId })
  }

  override async handleToolEnd(output: unknown, runId: string): Promise<void> {
    await this.#recorder.endTool(runId, output)
  }

  override async handleToolError(error: unknown, runId: string): Promise<void> {
    await this.#recorder.fail(runId, error)
  }

  override async handleRetrieverStart(
    retriever: Serialized,
    query: string,
    runId: string,
    parentRunId?: string,
    tags: string[] = [],
    metadata: Fields = {},
    name?: string,
  ): Promise<void> {
    await this.#recorder.startRetriever({
      runId,
      parentRunId,
      name: name ?? nameOf(retriever),
      tags,
      metadata,
      query,
    })
  }

  override async handleRetrieverEnd(documents: DocumentInterface[], runId: string): Promise<void> {
    await this.#recorder.endRetriever(runId, documents)
  }

  override async handleRetrieverError(error: unknown, runId: string): Promise<void> {
    await this.#recorder.fail(runId, error)
  }

  override async handleAgentAction(action: AgentAction, runId: string): Promise<void> {
    await this.#recorder.think(runId, action.log, action.tool)
  }

  override async handleAgentEnd(finish: AgentFinish, runId: string): Promise<void> {
    await this.#recorder.conclude(runId, finish.returnValues)
  }

  override async handleCustomEvent(eventName: string, data: unknown, runId: string): Promise<void> {
    await this.#recorder.note(runId, eventName, data)
  }
}

/** The last part of a class's path, where the call has no name of its own. */
const nameOf = (serialized: Serialized | undefined): string => serialized?.id?.at(-1) ?? 'chain'
