import type { ClewEvent } from '../event/envelope.ts'

/** Foreign writers put anything anywhere, so a fold takes a field only if it has the expected type. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise

export const isErased = (event: Pick<ClewEvent, 'ledger'>): boolean => event.ledger.erased === true

/** The step and the attempt that an event names, whatever its type. */
export function stepOf({ payload }: { readonly payload: object }): {
  stepId: string | null
  attempt: number
} {
  const { stepId, attempt }: { readonly stepId?: unknown; readonly attempt?: unknown } = payload
  return { stepId: textOf(stepId), attempt: numberOf(attempt, 1) }
}

/** Actor of an event: the name in `by`, else the producer. */
export function whoOf({ payload, source }: Pick<ClewEvent<string, object>, 'payload' | 'source'>): string {
  const { by }: { readonly by?: unknown } = payload
  return textOf(by) ?? `${source.origin}/${source.runtime}`
}
