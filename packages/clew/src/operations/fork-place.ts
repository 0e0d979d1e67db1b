import { z } from 'zod'
import type { ForkAt } from '../control/run-control.ts'

/** `seq:N` an event, a number a superstep, anything else a step by its id or name. */
export const place = z.union([
  z.object({ step: z.string().min(1) }),
  z.object({ superstep: z.int().min(0) }),
  z.object({ seq: z.int().min(1) }),
  z.int().min(0),
  z.string().min(1),
])

export function readPlace(at: z.output<typeof place>): ForkAt {
  if (typeof at === 'object') return at
  if (typeof at === 'number') return { superstep: at }
  const seq = /^seq:(\d{1,15})$/.exec(at)?.[1]
  return seq === undefined ? { step: at } : { seq: Number(seq) }
}
