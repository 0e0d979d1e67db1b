import type { DocumentInterface } from '@langchain/core/documents'
import { type BaseMessage, isBaseMessage } from '@langchain/core/messages'
import type { LLMResult } from '@langchain/core/outputs'
import type { Payload } from '@clew/ledger'
import { readArguments } from '../foreign.ts'
import { callIdOf, createEnds, stop, within } from './ends.ts'
import type { Entry, IdentifiedEvent } from './entry.ts'
import type { GraphRun } from './graph-run.ts'
import { type JoinedGraph, openJoinedGraph } from './joined-graph.ts'
import { interruptsOf, isAbort, parentCommandOf } from './interrupts.ts'
import { startLiveStep } from './live-step.ts'
import { answerEvents, questionEvents } from './model-answer.ts'
import { openRun, type RunChoice } from './open-run.ts'
import type { NodePlace, OpenStep, RecordedRun, Scope } from './recorded-run.ts'
import { toSources } from './sources.ts'
import { toErrorRecord, toRecord, toText } from './to-record.ts'
import { askedModel, providerOf } from './usage.ts'

type Fields = Readonly<Record<string, unknown>>

interface Start {
  readonly runId: string
  readonly parentRunId: string | undefined
  readonly name: string
  readonly tags: readonly string[]
  readonly metadata: Fields
}

export interface Recorder {
  readonly sessionId: string | undefined
  /** The name of the graph that was called on the thread, unless it is the framework's own. */
  joinGraph(thread: string, graph: GraphRun): string | undefined
  startChain(start: Start & { readonly inputs: unknown; readonly isDeferred: boolean }): Promise<void>
  endChain(runId: string, outputs: unknown, inputs: unknown): Promise<void>
  startModel(
    start: Start & {
      readonly extra: Fields | undefined
      readonly messages?: readonly BaseMessage[]
      readonly prompts?: readonly string[]
    },
  ): Promise<void>
  token(runId: string, text: string): void
  endModel(runId: string, result: LLMResult): Promise<void>
  startTool(start: Start & { readonly input: string; readonly toolCallId: string | undefined }): Promise<void>
  endTool(runId: string, output: unknown): Promise<void>
  startRetriever(start: Start & { readonly query: string }): Promise<void>
  endRetriever(runId: string, documents: readonly DocumentInterface[]): Promise<void>
  fail(runId: string, thrown: unknown): Promise<void>
  think(runId: string, text: string, decision: string): Promise<void>
  conclude(runId: string, values: unknown): Promise<void>
  note(runId: string, name: string, data: unknown): Promise<void>
}

interface StepWanted {
  readonly kind: Entry['kind']
  readonly input?: unknown
  readonly cause?: string | undefined
  readonly live?: string | undefined
  readonly more?: Partial<Entry>
  /** Events recorded before the start of the step. */
  before?(run: RecordedRun, cause: string | null): readonly IdentifiedEvent[]
  /** Event recorded with the start of the step. */
  call?(run: RecordedRun, step: OpenStep, cause: string | null): IdentifiedEvent
}

interface Placed {
  readonly run: RecordedRun
  readonly scope: Scope
  readonly isTop: boolean
  readonly joined?: JoinedGraph | undefined
}

/** LangGraph's name of a graph that was compiled without one. */
const UNNAMED_GRAPH = 'LangGraph'

export function createRecorder(options: RunChoice): Recorder {
  const { ledger, session } = options
  const entries = new Map<string, Entry>()
  /** Graphs that a saver on this ledger keeps, by thread. */
  const graphs = new Map<string, GraphRun>()
  /** Graphs that were called and have called nothing yet: a saver may still announce that it records them. */
  const waiting = new Map<
    string,
    { readonly start: Start; readonly input: unknown; entry?: Promise<Entry> }
  >()

  /** The entry of a graph, once it is known who writes its run. */
  async function entryOf(lcRunId: string): Promise<Entry | undefined> {
    const held = waiting.get(lcRunId)
    if (!held) return entries.get(lcRunId)
    held.entry ??= openGraph(held.start, held.input)
    const entry = await held.entry
    waiting.delete(lcRunId)
    return entry
  }

  async function openGraph(start: Start, input: unknown): Promise<Entry> {
    const { runId: lcRunId, name, metadata } = start
    const graph = graphs.get(String(metadata['thread_id']))
    const joined = graph && (await openJoinedGraph(ledger, graph))
    const run = joined ? await joined.runOf('') : await openRun(options, { lcRunId, name, metadata, input })
    const isTop = true
    const base = { lcRunId, name, run, scope: run.scope, step: undefined, decisions: [], isTop }
    const entry: Entry = { ...base, kind: joined ? 'hidden' : 'root', joined }
    entries.set(lcRunId, entry)
    return entry
  }

  /** Steps that an invocation of a joined graph leaves running end with it. */
  async function leave({ joined, lcRunId, isTop }: Entry): Promise<void> {
    entries.delete(lcRunId)
    if (!joined || !isTop) return
    for (const opened of joined.runs.values()) {
      const run = await opened
      const stops = run.unfinishedSteps(true).map((step) => stop(run, lcRunId, step, null))
      if (stops.length > 0) await run.append(stops)
    }
  }

  /** The call around this one, or the run that it is the first call of. */
  async function findPlace(start: Start, input: unknown): Promise<Placed> {
    const around = start.parentRunId === undefined ? undefined : await entryOf(start.parentRunId)
    if (around) return { run: around.run, scope: around.scope, isTop: false, joined: around.joined }
    const { runId: lcRunId, name, metadata } = start
    const run = await openRun(options, { lcRunId, name, metadata, input })
    return { run, scope: run.scope, isTop: true }
  }

  async function startStep(
    start: Start,
    { run, scope, isTop, joined }: Placed,
    wanted: StepWanted,
  ): Promise<void> {
    const { runId: lcRunId, name } = start
    const { kind, more, input } = wanted
    const { step, event } = run.begin({
      lcRunId,
      scope,
      name,
      kind,
      node: kind === 'node' ? placeOf(start.metadata) : undefined,
      cause: wanted.cause,
      // In a run of another writer the number of earlier steps with this name is unknown.
      key: isTop && !run.owns ? lcRunId : undefined,
      // A node's input is the state, which checkpoints keep.
      ...(kind !== 'node' && { input }),
    })
    const cause = event?.causationId ?? scope.startId
    const before = run.isJoined ? [] : (wanted.before?.(run, cause) ?? [])
    const led = before.at(-1)?.eventId ?? cause
    const call = event && !(run.isJoined && kind === 'tool') && wanted.call?.(run, step, led)
    const live = wanted.live === undefined ? undefined : await startLiveStep(session, ledger, wanted.live)
    entries.set(lcRunId, {
      lcRunId,
      kind,
      name,
      run,
      scope: step,
      step,
      isTop,
      joined,
      live,
      decisions: [],
      callEventId: call ? call.eventId : undefined,
      ...more,
    })
    await run.append([...before, ...(event ? [{ ...event, causationId: led }] : []), ...(call ? [call] : [])])
  }

  const { endStep, endRoot, failTool, pause } = createEnds(entries)

  return {
    sessionId: session?.sessionId,
    joinGraph(thread, graph) {
      graphs.set(thread, graph)
      const called = [...waiting.values()].findLast(({ start }) => start.metadata['thread_id'] === thread)
      return called && called.start.name !== UNNAMED_GRAPH ? called.start.name : undefined
    },

    async startChain({ inputs, isDeferred, ...start }) {
      const input = isDeferred ? undefined : inputs
      const { runId: lcRunId, name, metadata } = start
      if (start.parentRunId === undefined && options.runId === undefined && isKept(metadata))
        return void waiting.set(lcRunId, { start, input })
      const around = start.parentRunId === undefined ? undefined : await entryOf(start.parentRunId)
      const isNode = start.tags.some((tag) => tag.startsWith('graph:step:'))
      if (around?.joined && (isNode || start.tags.includes('langsmith:hidden'))) {
        const { joined } = around
        const { run, scope } = isNode ? await joined.nodeOf(name, metadata) : around
        const base = { lcRunId, name, run, scope, step: undefined, decisions: [], joined }
        return void entries.set(lcRunId, { ...base, kind: 'hidden', isTop: false })
      }
      const placed = await findPlace(start, input)
      const { run, scope, isTop } = placed
      const entry = { lcRunId, name, run, scope, step: undefined, decisions: [] }
      if (isTop && run.owns) return void entries.set(lcRunId, { ...entry, kind: 'root', isTop })
      // The framework tags its internal calls.
      if (!isTop && start.tags.includes('langsmith:hidden'))
        return void entries.set(lcRunId, { ...entry, kind: 'hidden', isTop })
      const given = input === undefined || isNode ? undefined : toRecord(input)
      await startStep(start, placed, { kind: isNode ? 'node' : 'chain', input: given })
    },

    async endChain(lcRunId, outputs, inputs) {
      const entry = await entryOf(lcRunId)
      if (!entry) return
      if (entry.kind === 'hidden') return leave(entry)
      const output = toRecord(outputs)
      const given = inputs === undefined ? {} : { input: toRecord(inputs) }
      if (entry.kind === 'root') return endRoot(entry, { output, ...given })
      const decision = entry.decisions.length > 0 ? { decision: entry.decisions } : {}
      await endStep(
        entry,
        [],
        { type: 'execution.step_completed', payload: { output, ...given, ...decision } },
        {},
      )
    },

    async startModel({ extra, messages = [], prompts = [], ...start }) {
      const input = messages.length > 0 ? { messages: toRecord(messages) } : { prompts }
      await startStep(start, await findPlace(start, input), {
        kind: 'model',
        input,
        live: 'thinking',
        more: { model: askedModel(extra, start.metadata), provider: providerOf(start.metadata) },
        before: (run, cause) => questionEvents(run, start.runId, { messages, prompts }, cause),
      })
    },

    token(lcRunId, text) {
      entries.get(lcRunId)?.live?.token(text)
    },

    async endModel(lcRunId, result) {
      const entry = entries.get(lcRunId)
      if (!entry?.step) return
      const { run, step, model, provider } = entry
      const { events, content, messageId, toolNames } = answerEvents(
        { run, lcRunId, stepId: step.stepId, cause: step.startId, model, provider },
        result,
      )
      const decision = toolNames.length > 0 ? { decision: toolNames } : {}
      const first = events.find(({ eventType }) => eventType === 'execution.message')
      const { usage, model: answering } = first?.payload ?? {}
      const counted = {
        ...(usage !== undefined && { usage }),
        ...(answering !== undefined && { model: answering }),
        ...(provider !== undefined && { provider }),
      }
      const end = {
        type: 'execution.step_completed',
        payload: { output: toRecord(content), ...decision, ...(run.isJoined && counted) },
      } as const
      await endStep(entry, run.isJoined ? [] : events, end, {
        content: toText(content),
        ...(messageId !== undefined && { messageId }),
      })
    },

    async startTool({ input, toolCallId, ...start }) {
      const given = readArguments(input)
      const placed = await findPlace(start, given['arguments'])
      await startStep(start, placed, {
        kind: 'tool',
        input: given['arguments'],
        live: 'tool_call',
        cause: toolCallId === undefined ? undefined : placed.run.asked.get(toolCallId),
        more: { toolCallId },
        call: (run, { stepId }, cause) =>
          run.draft({
            type: 'execution.tool_call',
            key: [start.runId],
            cause,
            payload: { ...(toolCallId !== undefined && { toolCallId }), name: start.name, stepId, ...given },
          }),
      })
    },

    async endTool(lcRunId, output) {
      const entry = entries.get(lcRunId)
      if (!entry?.step) return
      const failed = isBaseMessage(output) && Reflect.get(output, 'status') === 'error'
      const result = toRecord(isBaseMessage(output) ? output.content : output)
      if (failed) return failTool(entry, { name: 'ToolError', message: toText(result) })
      const given: unknown = isBaseMessage(output) ? Reflect.get(output, 'tool_call_id') : undefined
      const answer = entry.run.draft({
        type: 'execution.tool_result',
        key: [lcRunId],
        cause: entry.callEventId ?? entry.step?.startId ?? null,
        origin: 'integration',
        payload: { ...callIdOf(entry, given), name: entry.name, ...within(entry), result: result ?? null },
      })
      const end = { type: 'execution.step_completed', payload: { output: result ?? null } } as const
      await endStep(entry, entry.run.isJoined ? [] : [answer], end, { content: toText(result) })
    },

    async startRetriever({ query, ...start }) {
      await startStep(start, await findPlace(start, query), {
        kind: 'retriever',
        input: query,
        live: 'workspace_search',
        call: (run, { stepId }, cause) =>
          run.draft({
            type: 'integration.call',
            key: [start.runId],
            cause,
            payload: { callId: start.runId, service: start.name, operation: 'retrieve', query, stepId },
          }),
      })
    },

    async endRetriever(lcRunId, documents) {
      const entry = entries.get(lcRunId)
      if (!entry?.step) return
      const sources = toSources(documents)
      const answer = entry.run.draft({
        type: 'integration.response',
        key: [lcRunId],
        cause: entry.callEventId ?? entry.step?.startId ?? null,
        origin: 'integration',
        payload: { callId: lcRunId, service: entry.name, operation: 'retrieve', sources, ...within(entry) },
      })
      const end = { type: 'execution.step_completed', payload: { output: toRecord(documents) } } as const
      await endStep(entry, [answer], end, { sources })
    },

    async fail(lcRunId, thrown) {
      const entry = await entryOf(lcRunId)
      if (!entry) return
      if (entry.kind === 'hidden') return leave(entry)
      const interrupts = interruptsOf(thrown)
      if (interrupts) return pause(entry, interrupts)
      const command = parentCommandOf(thrown)
      if (command !== undefined && entry.step)
        return endStep(
          entry,
          [],
          { type: 'execution.step_completed', payload: { output: toRecord(command) } },
          {},
        )
      const error = toErrorRecord(thrown)
      if (entry.kind === 'root')
        return endRoot(entry, isAbort(thrown) ? { stopped: error.message } : { error })
      if (isAbort(thrown)) {
        const stopped = { type: 'execution.step_stopped', payload: { reason: error.message } } as const
        return endStep(entry, [], stopped, {})
      }
      if (entry.kind === 'tool') return failTool(entry, error)
      const end = { type: 'execution.step_failed', payload: { error } } as const
      await endStep(entry, [], end, { content: error.message })
    },

    async think(lcRunId, text, decision) {
      const entry = entries.get(lcRunId)
      if (!entry) return
      entry.decisions.push(decision)
      await tell(
        entry,
        'execution.reasoning',
        { role: 'assistant', content: text },
        String(entry.decisions.length),
      )
    },

    async conclude(lcRunId, values) {
      const entry = entries.get(lcRunId)
      if (entry) await tell(entry, 'execution.structured_output', { value: toRecord(values) }, 'end')
    },

    async note(lcRunId, name, data) {
      const entry = entries.get(lcRunId)
      // A note may be the same twice, so it has an id of its own.
      if (entry) await tell(entry, 'execution.custom_event', { name, data: toRecord(data) }, undefined)
    },
  }

  async function tell(entry: Entry, type: string, payload: Payload, key: string | undefined): Promise<void> {
    const { run, lcRunId, scope } = entry
    const event = run.draft({
      type,
      key: [lcRunId, key ?? ''],
      cause: scope.startId,
      payload: { ...payload, ...within(entry) },
    })
    await run.append([key === undefined ? { ...event, eventId: undefined } : event])
  }
}

/** A graph that has a thread, so that a saver may keep it. */
const isKept = (metadata: Fields): boolean =>
  metadata['ls_integration'] === 'langgraph' && metadata['thread_id'] !== undefined

/** Task in which LangGraph runs a node: the same when it runs the node again after a failure or an answer. */
function placeOf({ langgraph_step: superstep, langgraph_path: path }: Fields): NodePlace {
  const step = typeof superstep === 'number' ? superstep : 0
  const sent = Array.isArray(path) && path[0] === '__pregel_push' ? `.${path.slice(1).flat(9).join('.')}` : ''
  return { superstep: step, key: `s${step}${sent}` }
}
