import type { StepEvent } from './record.ts'

/** Limits of a run; beyond them the run is stopped before its next step. */
export interface Budget {
  /** Attempts of steps. */
  readonly steps?: number | undefined
  /** Input and output tokens together. */
  readonly tokens?: number | undefined
  /** US dollars of the calls whose price is known. */
  readonly cost?: number | undefined
  /** Milliseconds of work, over all resumes; what is in flight then is stopped. Waiting for answers and sleeping do not count. */
  readonly timeMs?: number | undefined
}

export type UsageTotals = Readonly<Record<'steps' | 'tokens' | 'cost', number>>

export interface BudgetCount {
  /** Counts one more attempt; the reason to stop when that, or what was used before, is too much. */
  overStep(): string | undefined
  count(event: StepEvent): void
  /** Adds the usage of a child run. */
  add(used: UsageTotals): void
  /** False when nothing is counted. */
  readonly isLimited: boolean
}

const NONE: BudgetCount = { overStep: () => undefined, count: () => {}, add: () => {}, isLimited: false }
const NOTHING: UsageTotals = { steps: 0, tokens: 0, cost: 0 }
const ENDLESS = Number.POSITIVE_INFINITY

export function createBudget(budget: Budget | undefined, before: UsageTotals = NOTHING): BudgetCount {
  if (!budget) return NONE
  const { steps = ENDLESS, tokens = ENDLESS, cost = ENDLESS } = budget
  const used = { ...before }
  return {
    isLimited: true,
    add(more) {
      used.steps += more.steps
      used.tokens += more.tokens
      used.cost += more.cost
    },
    overStep() {
      if (used.steps >= steps) return `budget: ${steps} steps are used up`
      if (used.tokens >= tokens) return `budget: ${used.tokens} of ${tokens} tokens are used up`
      if (used.cost >= cost) return `budget: $${used.cost.toFixed(4)} of $${cost} are used up`
      used.steps++
      return undefined
    },
    count({ payload }) {
      const { usage } = payload
      if (!usage) return
      used.tokens += (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
      used.cost += amountOf(payload.cost)
    },
  }
}

function amountOf(cost: unknown): number {
  const amount: unknown = typeof cost === 'object' && cost !== null ? Reflect.get(cost, 'amount') : cost
  return typeof amount === 'number' ? amount : 0
}
