import {
  ClewError,
  MEMORY_LAYERS,
  type MemoryFilter,
  type MemoryItem,
  type MemoryReceipt,
  SEARCH_FIELDS,
} from '@clew/ledger'
import { z } from 'zod'

const layer = z.enum(MEMORY_LAYERS)

export const item = z.object({
  layer,
  scope: z.string(),
  namespace: z.string(),
  key: z.string(),
  value: z.unknown(),
  tags: z.array(z.string()).readonly(),
  version: z.int().min(1),
  provenance: z.object({ eventId: z.string(), runId: z.string().nullable() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  expiresAt: z.string().nullable(),
  subjects: z.array(z.string()).readonly(),
}) satisfies z.ZodType<MemoryItem>

export const receipt = z.object({
  layer,
  scope: z.string(),
  namespace: z.string(),
  key: z.string(),
  version: z.int().min(1),
  eventId: z.string(),
  writtenAt: z.string(),
  expiresAt: z.string().nullable(),
}) satisfies z.ZodType<MemoryReceipt>

export const hit = z.object({
  item,
  score: z.number(),
  highlight: z
    .object({
      field: z.enum(SEARCH_FIELDS),
      text: z.string(),
      marks: z.array(z.tuple([z.int(), z.int()]).readonly()).readonly(),
    })
    .nullable(),
})

const scopeText =
  'a run id for short, a thread id for session, workspace, agent:NAME or user:ID for long; default workspace'

/** Names one item. */
export const nameFields = {
  namespace: z.string().min(1).max(256).describe('parts separated by slashes, such as facts/people'),
  key: z.string().min(1).max(256).describe('the key of the item in its namespace'),
  layer: layer.default('long').describe(`${MEMORY_LAYERS.join(', ')}; default long`),
  scope: z.string().min(1).max(480).optional().describe(scopeText),
}

export const NAME_ARGUMENTS = [
  {
    word: 'namespace',
    field: 'namespace',
    required: true,
    about: 'parts separated by slashes, such as facts/people',
  },
  { word: 'key', field: 'key', required: true, about: 'the key of the item in its namespace' },
] as const

/** Narrows down what is listed, searched or written out. */
export const filterFields = {
  layer: layer.optional().describe(`only this layer: ${MEMORY_LAYERS.join(', ')}`),
  scope: z.string().min(1).max(480).optional().describe(`only this scope of the layer: ${scopeText}`),
  namespace: z.string().min(1).max(256).optional().describe('only this namespace and those below it'),
  tags: z
    .array(z.string().min(1).max(256))
    .max(64)
    .optional()
    .describe('only with all of these tags, separated by commas'),
}

export const FILTER_OPTIONS = {
  layer: '--layer <layer>',
  scope: '--scope <id>',
  namespace: '--namespace <name>',
  tags: '--tags <tags>',
} as const

interface Given {
  readonly layer?: MemoryItem['layer'] | undefined
  readonly scope?: string | undefined
  readonly namespace?: string | undefined
  readonly tags?: readonly string[] | undefined
}

export function toFilter({ layer: only, scope, namespace, tags }: Given): MemoryFilter {
  if (scope !== undefined && only === undefined)
    throw new ClewError('bad_option', 'A scope was named without its layer', 'Name it with --layer, too.', {
      option: 'layer',
    })
  return {
    layers: only && [only],
    scopes: only && scope !== undefined ? [{ layer: only, scope }] : undefined,
    namespaces: namespace === undefined ? undefined : [namespace],
    tags,
  }
}
