import { costOf } from '../billing/cost.ts'
import { fromNano } from '../billing/money.ts'
import type { Usage } from '../billing/usage.ts'
import { createUsageCounter } from '../billing/usage-counter.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from './fields.ts'
import type { Fold } from './fold.ts'

export const COST_GROUPS = ['run', 'model', 'agent', 'thread', 'day'] as const
export type CostGrouping = (typeof COST_GROUPS)[number]

/** Tokens and money of some calls. */
export interface CostGroup {
  /** Run, model, agent, thread or day; null for calls that do not say. */
  readonly key: string | null
  readonly modelCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** US dollars of the calls whose price is known; null when none is. */
  readonly amount: number | null
  readonly unpricedCalls: number
  /** False: the amount is only a part, some calls have no known price in US dollars. */
  readonly complete: boolean
}

export interface UnpricedModel {
  readonly model: string | null
  readonly provider: string | null
  readonly modelCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** V7. */
export interface CostReport {
  readonly by: CostGrouping
  /** Dearest first; days in their order. */
  readonly groups: readonly CostGroup[]
  readonly total: CostGroup
  /** Calls that had no known price when they were recorded. */
  readonly unpriced: readonly UnpricedModel[]
  /** Costs that producers gave in other money: never added to the dollars. */
  readonly otherCurrencies: readonly {
    readonly currency: string
    readonly amount: number
    readonly modelCalls: number
  }[]
  /** Events whose payload was erased: their calls are not counted. */
  readonly erasedEvents: number
}

type Sum = {
  -readonly [K in keyof Omit<CostGroup, 'key' | 'amount' | 'complete'>]: CostGroup[K]
} & { nano: number; priced: number }

interface RunInfo {
  readonly agent: string | null
  readonly threadId: string | null
}

interface RunTally extends RunInfo {
  readonly count: (event: ClewEvent) => Usage | null
}

/** A builder that `apply` changes in place: a view is of the events applied so far, and only of these. */
export interface CostState {
  readonly runs: Map<string, RunTally>
  readonly groups: Map<string | null, Sum>
  readonly total: Sum
  readonly unpriced: Map<string, UnpricedModel>
  readonly other: Map<string, { nano: number; modelCalls: number }>
  erasedEvents: number
}

export interface CostFoldOptions {
  readonly by?: CostGrouping | undefined
  /** Looks up agent and thread of a run whose events do not name them, such as a fork. */
  readonly runOf?: ((runId: string) => RunInfo | undefined) | undefined
  /** Which counted calls belong to the report; the others still decide what counts twice. */
  readonly takes?: ((event: ClewEvent) => boolean) | undefined
}

export function costFold({ by = 'model', runOf, takes }: CostFoldOptions = {}): Fold<CostState, CostReport> {
  return {
    name: `cost by ${by}`,
    version: 1,
    begin: () => ({
      runs: new Map(),
      groups: new Map(),
      total: nothing(),
      unpriced: new Map(),
      other: new Map(),
      erasedEvents: 0,
    }),
    apply(state, event) {
      const run = tallyOf(state, event, runOf)
      if (event.ledger.erased) state.erasedEvents++
      const usage = run.count(event)
      if (!usage || (takes && !takes(event))) return state
      const key = keyOf(by, event, run)
      let group = state.groups.get(key)
      if (!group) state.groups.set(key, (group = nothing()))
      const { nano, currency } = costOf(event.payload)
      const dollars = currency === 'USD' ? nano : undefined
      add(group, usage, dollars)
      add(state.total, usage, dollars)
      if (nano === undefined) addUnpriced(state, event, usage)
      else if (currency !== 'USD') {
        const before = state.other.get(currency) ?? { nano: 0, modelCalls: 0 }
        state.other.set(currency, { nano: before.nano + nano, modelCalls: before.modelCalls + 1 })
      }
      return state
    },
    view: (state) => ({
      by,
      groups: [...state.groups]
        .map(([key, sum]) => toGroup(key, sum))
        .toSorted(by === 'day' ? byKey : dearestFirst),
      total: toGroup(null, state.total),
      unpriced: [...state.unpriced.values()].toSorted((a, b) => b.modelCalls - a.modelCalls),
      otherCurrencies: [...state.other].map(([currency, { nano, modelCalls }]) => ({
        currency,
        amount: fromNano(nano),
        modelCalls,
      })),
      erasedEvents: state.erasedEvents,
    }),
  }
}

function tallyOf(state: CostState, event: ClewEvent, runOf: CostFoldOptions['runOf']): RunTally {
  const known = state.runs.get(event.correlationId)
  if (known) return known
  const { agent, threadId } = event.payload
  const given = runOf?.(event.correlationId)
  const run = {
    agent: given?.agent ?? (typeof agent === 'string' ? agent : null),
    threadId: given?.threadId ?? (typeof threadId === 'string' ? threadId : null),
    count: createUsageCounter(),
  }
  state.runs.set(event.correlationId, run)
  return run
}

function keyOf(by: CostGrouping, event: ClewEvent, run: RunInfo): string | null {
  switch (by) {
    case 'run':
      return event.correlationId
    case 'agent':
      return run.agent
    case 'thread':
      return run.threadId
    case 'day':
      return event.timestamp.slice(0, 10)
    case 'model':
      return modelOf(event)
  }
}

const modelOf = ({ payload: { model } }: ClewEvent): string | null => textOf(model)

const nothing = (): Sum => ({
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  unpricedCalls: 0,
  nano: 0,
  priced: 0,
})

function add(sum: Sum, usage: Usage, nano: number | undefined): void {
  sum.modelCalls++
  sum.inputTokens += usage.inputTokens
  sum.outputTokens += usage.outputTokens
  sum.cacheReadTokens += usage.cacheReadTokens
  sum.cacheWriteTokens += usage.cacheWriteTokens
  sum.reasoningTokens += usage.reasoningTokens
  if (nano === undefined) sum.unpricedCalls++
  else {
    sum.priced++
    sum.nano += nano
  }
}

function addUnpriced(state: CostState, event: ClewEvent, { inputTokens, outputTokens }: Usage): void {
  const model = modelOf(event)
  const provider = textOf(event.payload.provider)
  const key = JSON.stringify([provider, model])
  const before = state.unpriced.get(key) ?? {
    model,
    provider,
    modelCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
  }
  state.unpriced.set(key, {
    ...before,
    modelCalls: before.modelCalls + 1,
    inputTokens: before.inputTokens + inputTokens,
    outputTokens: before.outputTokens + outputTokens,
  })
}

function toGroup(key: string | null, { nano, priced, ...sum }: Sum): CostGroup {
  return { key, ...sum, amount: priced === 0 ? null : fromNano(nano), complete: sum.unpricedCalls === 0 }
}

const compareKeys = (a: string | null, b: string | null): number =>
  (a ?? '') < (b ?? '') ? -1 : a === b ? 0 : 1
const byKey = (a: CostGroup, b: CostGroup): number => compareKeys(a.key, b.key)
const dearestFirst = (a: CostGroup, b: CostGroup): number =>
  (b.amount ?? -1) - (a.amount ?? -1) || b.inputTokens - a.inputTokens || byKey(a, b)
