import {
  ClewError,
  type ForgetOptions,
  type Ledger,
  type MemoryContext,
  type MemoryContextOptions,
  type MemoryFilter,
  type MemoryHit,
  type MemoryInput,
  type MemoryItem,
  type MemoryListOptions,
  type MemoryName,
  type MemoryReceipt,
  type MemoryScope,
  type MemorySearchOptions,
  type PromotionReport,
  type PromotionRule,
} from '@clew/ledger'
import type { Run } from '../run/run.ts'
import { inheritShort } from './inherit-short.ts'
import { findScopes, type RunScopes } from './run-scopes.ts'

/** Owner of long memory, default `workspace`; `agent` is this agent. Short memory is the run's, session the thread's. */
type InRun<T> = Omit<T, 'scope'> & {
  readonly scope?: 'workspace' | 'agent' | `agent:${string}` | `user:${string}` | undefined
}

/**
 * `ledger.memory` as a run sees it. Every call is an effect: its result is in the record, given back on resume and on
 * replay (D3); a write has an event id made from the call, so that nothing is written twice. Unless `scopes` says
 * otherwise, what is read is that of the run, its thread, its agent, the workspace, and of the run's subjects as users.
 */
export interface RunMemory {
  put(
    input: InRun<MemoryInput>,
    options?: { readonly ifVersion?: number | undefined },
  ): Promise<MemoryReceipt>
  get<Value = unknown>(name: InRun<MemoryName>): Promise<MemoryItem<Value> | null>
  list(options?: MemoryListOptions): Promise<{ items: MemoryItem[]; nextCursor: string | null }>
  search(query: string, options?: MemorySearchOptions): Promise<MemoryHit[]>
  forget(
    name: InRun<MemoryName>,
    options?: Pick<ForgetOptions, 'ifVersion' | 'reason'>,
  ): Promise<MemoryReceipt | null>
  /** Promotes items of this run and its thread that match a rule of the agent or of the ledger. */
  promote(): Promise<PromotionReport>
  context(options: MemoryContextOptions): Promise<MemoryContext>
}

interface RunMemoryParts {
  readonly effect: Run['effect']
  readonly runId: string
  readonly threadId: string | null
  readonly agent: string
  readonly ledger: Ledger | undefined
  readonly promote: readonly PromotionRule[] | undefined
}

// Items were redacted when written. So a placeholder in a result is the stored value, and the call may be repeated.
const AGAIN = { refresh: true } as const
const READ = { ...AGAIN, safety: 'read' } as const

export function createRunMemory({
  effect,
  runId,
  threadId,
  agent,
  ledger,
  promote,
}: RunMemoryParts): RunMemory {
  let found: Promise<RunScopes> | undefined

  function used(): Ledger {
    if (ledger) return ledger
    throw new ClewError(
      'bad_option',
      'A run without a ledger has no memory',
      'Start it on a ledger, or compile the graph with one as its checkpointer.',
    )
  }

  async function scopes(): Promise<RunScopes> {
    found ??= findScopes(used(), runId, agent, threadId)
    return found
  }

  async function scopeOf({
    layer,
    scope,
  }: {
    layer: string
    scope?: string | undefined
  }): Promise<MemoryScope> {
    const own = await scopes()
    if (layer === 'short') {
      await inheritShort(used(), own.run)
      return { layer, scope: runId }
    }
    if (layer === 'session') {
      if (own.threadId !== null) return { layer, scope: own.threadId }
      throw new ClewError(
        'bad_option',
        `Run ${runId} belongs to no thread, so it has no session memory`,
        'Start it with a threadId, or use the layer short or long.',
        { runId, option: 'layer' },
      )
    }
    // The ledger rejects an unknown layer.
    return { layer: layer as 'long', scope: scope === 'agent' ? `agent:${agent}` : (scope ?? 'workspace') }
  }

  async function visible<T extends MemoryFilter>(options: T): Promise<T> {
    const own = await scopes()
    await inheritShort(used(), own.run)
    return { ...options, scopes: options.scopes ?? own.visible }
  }

  return {
    put: (input, options = {}) =>
      effect(
        'memory.put',
        { ...input, ...options },
        async (_, { idempotencyKey }) =>
          used().memory.put(
            { ...input, ...(await scopeOf(input)) },
            { ...options, eventId: idempotencyKey, runId },
          ),
        AGAIN,
      ),
    get: <Value>(name: InRun<MemoryName>) =>
      effect(
        'memory.get',
        name,
        async () => used().memory.get({ ...name, ...(await scopeOf(name)) }),
        READ,
      ) as Promise<MemoryItem<Value> | null>,
    list: (options = {}) =>
      effect('memory.list', options, async () => used().memory.list(await visible(options)), READ),
    search: (query, options = {}) =>
      effect(
        'memory.search',
        { query, ...options },
        async () => used().memory.search(query, await visible(options)),
        READ,
      ),
    forget: (name, options = {}) =>
      effect(
        'memory.forget',
        { ...name, ...options },
        async (_, { idempotencyKey }) =>
          used().memory.forget(
            { ...name, ...(await scopeOf(name)) },
            { ...options, eventId: idempotencyKey, runId },
          ),
        AGAIN,
      ),
    promote: () =>
      effect(
        'memory.promote',
        {},
        async (_, { idempotencyKey }) => {
          const { scopes: own = [] } = await visible<MemoryFilter>({})
          const from = own.filter(({ layer }) => layer !== 'long')
          return used().memory.promote({ scopes: from, rules: promote, callId: idempotencyKey })
        },
        AGAIN,
      ),
    context: (options) =>
      effect('memory.context', options, async () => used().memory.context(await visible(options)), READ),
  }
}
