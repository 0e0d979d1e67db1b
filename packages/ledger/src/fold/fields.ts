import type { ClewEvent } from '../envelope.ts'

/** Foreign writers put anything anywhere, so a fold takes a field only if it has the expected type. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise

export const isErased = (event: ClewEvent): boolean => event.ledger.erased === true

/** Who did it, as far as the event says: a person's name in `by`, else the producer. */
export function whoOf({ payload, source }: ClewEvent): string {
  return textOf(payload['by']) ?? `${source.origin}/${source.runtime}`
}
