import type { RunSummary } from '@clew/ledger'
import { formatCount } from '../format-count.ts'

/** `$1.23`, `$0.0041`, `< $0.0001`; `–` when nothing is known. */
export function formatMoney(amount: number | null): string {
  if (amount === null) return '–'
  const size = Math.abs(amount)
  if (size > 0 && size < 0.0001) return '< $0.0001'
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 3 : 4
  const [whole = '', part = ''] = size.toFixed(digits).split('.')
  return `${amount < 0 ? '-' : ''}$${formatCount(Number(whole))}.${part}`
}

/** The same for a run, with a plus where some of its calls have no known price. */
export const formatCost = ({ cost, unpricedCalls }: Pick<RunSummary, 'cost' | 'unpricedCalls'>): string =>
  `${formatMoney(cost)}${cost !== null && unpricedCalls > 0 ? '+' : ''}`
