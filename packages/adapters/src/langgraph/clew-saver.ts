import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import { ClewError, type Ledger } from '@clew/ledger'
import { cellValue } from './cells.ts'
import { listSaved } from './list-saved.ts'
import { readyTasks } from './next-nodes.ts'
import { fromPayload, setKey } from './rich-values.ts'
import { type Saved, settleWrites } from './saved.ts'
import { readConfig, readId, requireConfig, type NamespaceKey } from './namespace-key.ts'
import type { Handed } from './run-buffer.ts'
import type { ParentStep } from './run-drafts.ts'
import type { ThreadNamespace } from './thread-namespace.ts'
import { createThreadNamespaces, type ThreadNamespaces } from './thread-namespaces.ts'
import { settledLater } from './settled-later.ts'
import type { SecretsRule } from './whole-secrets.ts'

export interface ClewSaverOptions {
  /** The name under which the runs are listed. Default: the agent's name where the framework tells it, else `langgraph`. */
  readonly agent?: string | undefined
  /**
   * How long the failure of a checkpoint waits for a node that is still running to carry it, in milliseconds. LangGraph
   * looks at it only when the invocation ends; a rejection before that would end the process. Default 10,000.
   */
  readonly failureHoldMs?: number | undefined
  /**
   * Rule for a value of the state with a string that redaction would replace as a whole: refused (default), or
   * stored as its placeholder, which the graph then reads back. A secret inside a longer text is stored redacted either
   * way.
   */
  readonly secrets?: SecretsRule | undefined
}

/**
 * Keeps the checkpoints of LangGraph.js in a ledger: each invocation is a run, each checkpoint records what it changed,
 * a branch is a fork.
 */
export class ClewSaver extends BaseCheckpointSaver {
  readonly #ledger: Ledger
  readonly #spaces: ThreadNamespaces
  /** Invocations of which a write failed: what they go on putting is refused, since it hangs in the air. */
  readonly #failed = new WeakMap<object, unknown>()

  /** Sessions of callback handlers, by handler. */
  readonly #sessions = new WeakMap<object, ParentStep>()
  /** Names of graphs by invocation, as the callbacks were told them. */
  readonly #graphNames = new WeakMap<object, string>()
  readonly #heldFailures = new WeakMap<object, () => void>()
  readonly #holdMs: number

  constructor(
    ledger: Ledger,
    { agent = 'langgraph', failureHoldMs = 10_000, secrets = 'refuse' }: ClewSaverOptions = {},
  ) {
    super()
    this.#ledger = ledger
    this.#holdMs = failureHoldMs
    this.#spaces = createThreadNamespaces(ledger, agent, secrets)
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const key = readConfig(config)
    if (!key) return undefined
    this.#failed.delete(invocationOf(config))
    if (key.ns === '' && key.checkpointId === undefined && isInvocation(config))
      await this.#spaces.whenQuiet(key, config.signal)
    if (key.ns === '' && isInvocation(config)) await this.#join(config, key.thread)
    return this.#spaces.reading(key, async (space) => {
      const { checkpointId } = key
      const saved = checkpointId === undefined ? await space.latest() : await space.find(checkpointId)
      if (saved && checkpointId !== undefined) space.grant(checkpointId)
      if (!saved && checkpointId === undefined) space.noteEmpty()
      return saved ? toTuple(key, saved, space) : undefined
    })
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { before, limit = Number.POSITIVE_INFINITY, filter } = options
    const key = readConfig(config)
    const ns = config.configurable?.['checkpoint_ns'] === undefined ? undefined : (key?.ns ?? readNs(config))
    const beforeId: unknown = before?.configurable?.['checkpoint_id']
    const wanted = {
      thread: key?.thread,
      ns,
      checkpointId: key?.checkpointId,
      before: beforeId === undefined ? undefined : readId('checkpoint_id of before', beforeId),
    }
    let left = limit
    if (left <= 0) return
    for await (const { key: own, saved } of listSaved(this.#ledger, this.#spaces, wanted)) {
      if (filter && !fits(saved, filter)) continue
      yield await this.#spaces.within(own, (space) => {
        space.grant(saved.id)
        return toTuple(own, saved, space)
      })
      left--
      if (left <= 0) return
    }
  }

  // Neither is `async` from here down to the ledger: a chain of promises took longer than what they waited for.
  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const failed = async (error: unknown): Promise<never> => {
      const first = this.#firstFailure(config, error)
      // An update is awaited by its caller, and the last checkpoint by the end of the invocation.
      if (metadata?.source === 'update' || !hasNext(checkpoint)) throw first
      return this.#hold(config, first)
    }
    try {
      this.#assertSound(config)
      const { thread, ns, checkpointId: parentId } = requireConfig(config, 'a checkpoint')
      const id = readId('id of the checkpoint', checkpoint.id)
      const key = { thread, ns }
      const { signal } = config
      const hasFailed = (): boolean => this.#failed.has(invocationOf(config))
      if (ns === '' && signal && hasNext(checkpoint)) this.#spaces.noteWriter(key, { signal, hasFailed })
      const agentName = (): string | undefined =>
        agentOf(config) ?? this.#graphNames.get(invocationOf(config))
      const handler = handlerOf(config, this.#ledger)
      const session = handler && this.#sessions.get(handler)
      const handed = this.#within(key, parentId, (space) => {
        const isEager = Reflect.get(config, 'durability') === 'async'
        return space.put({ parentId, checkpoint, metadata, newVersions, agentName, session, signal, isEager })
      })
      const thread_id: unknown = config.configurable?.['thread_id']
      const isExit = ns === '' && Reflect.get(config, 'durability') === 'exit'
      const done = isExit
        ? committed(handed).then(() => this.#spaces.stopAnswered(thread))
        : committed(handed)
      return done.then(() => ({ configurable: { thread_id, checkpoint_ns: ns, checkpoint_id: id } }), failed)
    } catch (error) {
      return failed(error)
    }
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const written = this.#putWrites(config, writes, taskId).catch((error: unknown) =>
      this.#afterOthers(config, error),
    )
    return settledLater(written, (error) => this.#firstFailure(config, error))
  }

  #putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<unknown> {
    try {
      this.#assertSound(config)
      const { thread, ns, checkpointId } = requireConfig(config, 'writes')
      if (checkpointId === undefined)
        throw new ClewError(
          'bad_option',
          'The config of writes has no checkpoint_id',
          'Name the checkpoint they are for; nothing was written.',
        )
      const { signal } = config
      const call = {
        checkpointId,
        given: writes,
        taskId: readId('task id', taskId),
        signal,
        isLate: signal?.aborted === true,
        isTold: handlerOf(config, this.#ledger) !== undefined,
        assertSound: () => this.#assertSound(config),
      }
      return committed(this.#within({ thread, ns }, checkpointId, (space) => space.putWrites(call)))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A value that is refused ends the invocation: what was put before is committed by then, for the next one. */
  async #afterOthers(config: RunnableConfig, error: unknown): Promise<never> {
    this.#firstFailure(config, error)
    const isRefused = error instanceof ClewError && error.code === 'bad_value'
    const key = isRefused ? readConfig(config) : undefined
    // The refusal is what the caller has to hear, whatever else fails.
    if (key) await this.#spaces.reading(key, () => undefined).catch(() => undefined)
    throw error
  }

  /** In the space of a thread, once it is known that the checkpoint to go on from is not of a life that is over. */
  #within(
    key: NamespaceKey,
    checkpointId: string | undefined,
    work: (space: ThreadNamespace) => Handed,
  ): Handed {
    return this.#spaces.within(key, (space) =>
      checkpointId === undefined || space.knows(checkpointId)
        ? work(space)
        : this.#spaces.assertAlive(key, checkpointId).then(() => work(space)),
    )
  }

  /**
   * From now on the thread is empty, and what is still running on it is refused. The record itself stays until it is
   * erased: this says that it is over, it does not make it unreadable.
   */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#spaces.recordThreadDeletion(
      readId('thread_id', typeof threadId === 'number' ? String(threadId) : threadId),
    )
  }

  /** Follows the very line of the checkpoint: writes that led to another branch do not count. */
  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const found: Record<string, { writes: CheckpointPendingWrite[]; seed?: unknown }> = {}
    for (const channel of channels) setKey(found, channel, { writes: [] })
    const key = readConfig(config)
    if (!key || channels.length === 0) return found
    const saved = await this.#spaces.reading(key, (space) =>
      key.checkpointId === undefined ? space.latest() : space.find(key.checkpointId),
    )
    const missing = new Set(channels)
    if (saved)
      for await (const { saved: ancestor, writes } of this.#spaces.reader.ancestors(saved)) {
        for (const { taskId, write } of byTask(settleWrites(writes)).toReversed())
          if (missing.has(write.channel))
            found[write.channel]?.writes.unshift([taskId, write.channel, fromPayload(write.value)])
        for (const channel of missing) {
          const cell = ancestor.values.get(channel)
          const entry = found[channel]
          if (!cell || !entry) continue
          entry.seed = fromPayload(cellValue(cell))
          missing.delete(channel)
        }
        if (missing.size === 0) break
      }
    return found
  }

  /** One answer is one run: a callback handler on the same ledger tells the run of the graph what it hears. */
  async #join(config: RunnableConfig, thread: string): Promise<void> {
    const handler = handlerOf(config, this.#ledger)
    if (!handler) return
    const join: unknown = Reflect.get(handler, 'joinGraph')
    // With `exit` there is no run before the graph has ended.
    const isLate = Reflect.get(config, 'durability') === 'exit'
    if (typeof join === 'function' && !isLate) {
      const name: unknown = join.call(handler, thread, this.#spaces.graphRun(thread))
      if (typeof name === 'string') this.#graphNames.set(invocationOf(config), name)
    }
    const sessionId: unknown = Reflect.get(handler, 'sessionId')
    if (typeof sessionId !== 'string' || this.#sessions.has(handler)) return
    let eventId: string | undefined
    for await (const event of this.#ledger.read(sessionId, { limit: 1 })) eventId = event.eventId
    this.#sessions.set(handler, { runId: sessionId, stepId: undefined, eventId })
  }

  #assertSound(config: RunnableConfig): void {
    const invocation = invocationOf(config)
    if (!this.#failed.has(invocation)) return
    this.#heldFailures.get(invocation)?.()
    throw this.#failed.get(invocation)
  }

  #firstFailure(config: RunnableConfig, error: unknown): unknown {
    const invocation = invocationOf(config)
    if (!this.#failed.has(invocation)) this.#failed.set(invocation, error)
    return this.#failed.get(invocation)
  }

  /** Waits with a failure until writes of the same invocation can carry it, see `settledLater`. */
  #hold(config: RunnableConfig, error: unknown): Promise<never> {
    return new Promise((_, reject) => {
      const timer = setTimeout(reject, this.#holdMs, error)
      this.#heldFailures.set(invocationOf(config), () => clearTimeout(timer))
    })
  }
}

const committed = (handed: Handed): Promise<unknown> =>
  handed instanceof Promise ? handed.then((wait) => wait()) : handed()

function readNs(config: RunnableConfig): string {
  return readId('checkpoint_ns', config.configurable?.['checkpoint_ns'], true)
}

function hasNext({ channel_values, channel_versions, versions_seen }: Checkpoint): boolean {
  const values = new Map(Object.entries(channel_values ?? {}))
  return readyTasks(values, (value) => value, channel_versions ?? {}, versions_seen ?? {}).length > 0
}

/** It begins: a look at the state of a thread has no control. */
const isInvocation = (config: RunnableConfig): boolean => invocationOf(config) !== config

/** The framework makes one of these for each invocation and hands it along with everything that belongs to it. */
function invocationOf(config: RunnableConfig): object {
  const control: unknown = (config as { control?: unknown } | undefined)?.control
  return typeof control === 'object' && control !== null ? control : (config ?? {})
}

/** The `ClewCallbackHandler` of an invocation, found by its name: `clew/langchain` may be another copy of the module. */
function handlerOf({ callbacks }: RunnableConfig, ledger: Ledger): object | undefined {
  const handlers: readonly object[] = Array.isArray(callbacks) ? callbacks : (callbacks?.handlers ?? [])
  return handlers.find(
    (handler) => Reflect.get(handler, 'name') === 'clew' && Reflect.get(handler, 'ledger') === ledger,
  )
}

const byTask = <T extends { readonly taskId: string; readonly write: { readonly index: number } }>(
  writes: T[],
): T[] =>
  writes.sort((a, b) => (a.taskId < b.taskId ? -1 : a.taskId > b.taskId ? 1 : a.write.index - b.write.index))

function agentOf({ metadata }: RunnableConfig): string | undefined {
  for (const name of ['lc_agent_name', 'graph_id', 'langgraph_node']) {
    const value: unknown = metadata?.[name]
    if (typeof value === 'string' && value !== '' && value.length <= 200) return value
  }
  return undefined
}

function fits({ metadata }: Saved, filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([key, value]) => Reflect.get(metadata, key) === value)
}

async function toTuple(
  { thread, ns }: NamespaceKey,
  saved: Saved,
  space: ThreadNamespace,
): Promise<CheckpointTuple> {
  const configOf = (id: string): RunnableConfig => ({
    configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id },
  })
  const channel_values: Record<string, unknown> = {}
  for (const [channel, cell] of saved.values) {
    const value =
      cell.kind === 'list' ? cell.items.slice(0, cell.length).map(fromPayload) : fromPayload(cell.value)
    setKey(channel_values, channel, value)
  }
  const channel_versions: Checkpoint['channel_versions'] = { ...saved.versions }
  const { id, ts, v, parent } = saved
  if (v < 4 && parent) await addPendingSends(channel_values, channel_versions, parent.id, space)
  return {
    config: configOf(id),
    checkpoint: { v, id, ts, channel_values, channel_versions, versions_seen: copySeen(saved) },
    metadata: fromPayload(saved.metadata) as CheckpointMetadata,
    ...(parent && { parentConfig: configOf(parent.id) }),
    pendingWrites: settleWrites(saved.writes).map(({ taskId, write }) => [
      taskId,
      write.channel,
      fromPayload(write.value),
    ]),
  }
}

function copySeen({ seen }: Saved): Checkpoint['versions_seen'] {
  const copy: Checkpoint['versions_seen'] = {}
  for (const [node, versions] of Object.entries(seen)) setKey(copy, node, { ...versions })
  return copy
}

/** Before version 4 packets to nodes were kept as writes of the checkpoint before. */
async function addPendingSends(
  values: Record<string, unknown>,
  versions: Checkpoint['channel_versions'],
  parentId: string,
  space: ThreadNamespace,
): Promise<void> {
  const parent = await space.find(parentId)
  const sends = settleWrites(parent?.writes ?? []).filter(({ write }) => write.channel === TASKS)
  values[TASKS] = sends.map(({ write }) => fromPayload(write.value))
  const known = Object.values(versions)
  versions[TASKS] = known.length > 0 ? maxChannelVersion(...known) : 1
}
