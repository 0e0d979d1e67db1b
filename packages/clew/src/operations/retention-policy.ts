import { MEMORY_LAYERS, RUN_STATUSES } from '@clew/ledger'
import { z } from 'zod'

const match = z.object({
  workspace: z.string().optional(),
  agent: z.string().optional(),
  status: z.array(z.enum(RUN_STATUSES)).readonly().optional(),
  systemRun: z.string().optional(),
  layer: z.enum(MEMORY_LAYERS).optional(),
  types: z.array(z.string()).readonly().optional(),
})
const name = z.string().optional()

/** A retention policy as it is answered with. What is sent is checked by the ledger, which says what is wrong with it. */
export const retentionPolicy = z.object({
  rules: z
    .array(
      z.object({
        name,
        match: match.optional(),
        olderThan: z.string().optional(),
        newest: z.int().optional(),
        maxBytes: z.union([z.int(), z.string()]).optional(),
      }),
    )
    .readonly(),
  keep: z
    .array(
      z.object({ name, match: match.omit({ types: true }).optional(), youngerThan: z.string().optional() }),
    )
    .readonly()
    .optional(),
})
