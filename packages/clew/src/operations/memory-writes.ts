import { ClewError, MEMORY_LAYERS, type MemoryImportReport, type MemorySweepReport } from '@clew/ledger'
import { z } from 'zod'
import { FILTER_OPTIONS, NAME_ARGUMENTS, nameFields, receipt } from './memory-schemas.ts'
import { answering } from './operation.ts'

const ifVersion = z
  .int()
  .min(0)
  .optional()
  .describe('only if the item has this version; 0: only if it does not exist')

export const memoryPut = answering({
  name: 'memoryPut',
  summary: 'Store a value in memory',
  scope: 'write',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/memory' },
  mcp: {
    tool: 'remember',
    effect: 'Writes a value that agents will read, into a namespace that the policy opens to agents.',
  },
  input: z.object({
    ...nameFields,
    value: z.unknown().describe('any JSON; on the command line also plain text'),
    tags: z.array(z.string().min(1).max(256)).max(64).optional().describe('tags, separated by commas'),
    ttlMs: z.int().min(1).optional().describe('after how many milliseconds it expires'),
    expiresAt: z.string().optional().describe('when it expires, such as 2027-01-31T12:00:00Z'),
    subjects: z
      .array(z.string().min(1).max(256))
      .max(64)
      .optional()
      .describe('ids of the people it is about, separated by commas'),
    ifVersion,
  }),
  output: receipt,
  example: {
    command: 'clew memory put facts/people ann likes-tea --tags person',
    input: { namespace: 'facts/people', key: 'ann', value: 'likes-tea', tags: ['person'] },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'put'],
    arguments: [
      ...NAME_ARGUMENTS,
      { word: 'value', field: 'value', required: true, about: 'JSON or plain text' },
    ],
    options: {
      layer: FILTER_OPTIONS.layer,
      scope: FILTER_OPTIONS.scope,
      tags: FILTER_OPTIONS.tags,
      ttlMs: '--ttl-ms <ms>',
      expiresAt: '--expires-at <time>',
      subjects: '--subjects <ids>',
      ifVersion: '--if-version <version>',
    },
  },
  run: (ledger, { ifVersion: version, value, ...input }) =>
    ledger.memory.put({ ...input, value: value ?? null }, { ifVersion: version }),
})

export const memoryForget = answering({
  name: 'memoryForget',
  summary: 'Forget one memory item; the record keeps that it existed',
  scope: 'write',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/memory/forget' },
  mcp: {
    tool: 'forget',
    effect: 'Makes agents forget a value in a namespace that the policy opens to agents.',
  },
  input: z.object({
    ...nameFields,
    reason: z.string().min(1).max(2000).optional().describe('why; recorded in the event'),
    ifVersion,
  }),
  output: z.object({ forgotten: receipt.nullable().describe('null when there was nothing to forget') }),
  example: {
    command: 'clew memory forget facts/people ann --reason outdated',
    input: { namespace: 'facts/people', key: 'ann', reason: 'outdated' },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'forget'],
    arguments: NAME_ARGUMENTS,
    options: {
      layer: FILTER_OPTIONS.layer,
      scope: FILTER_OPTIONS.scope,
      reason: '--reason <text>',
      ifVersion: '--if-version <version>',
    },
  },
  run: async (ledger, { reason, ifVersion: version, ...name }) => ({
    forgotten: await ledger.memory.forget(name, { reason, ifVersion: version }),
  }),
})

const layer = z.enum(MEMORY_LAYERS)
const reason = z.enum(['expired', 'ttl', 'max_items', 'max_bytes'])
const limit = z.int().min(1).optional()

export const memorySweep = answering({
  name: 'memorySweep',
  summary: 'Forget expired memory items, and those beyond the limits of a layer',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/memory/sweep' },
  input: z.object({
    layer: layer
      .optional()
      .describe(`only this layer: ${MEMORY_LAYERS.join(', ')}; needed for the limits below`),
    ttlMs: limit.describe('forget items that were unused for this many milliseconds'),
    maxItems: limit.describe('keep this many newest items in each scope'),
    maxBytes: limit.describe('keep the newest items of each scope up to this many bytes'),
    dryRun: z.boolean().optional().describe('say what would go, and change nothing'),
  }),
  output: z.object({
    dryRun: z.boolean(),
    scopes: z.int().min(0),
    checked: z.int().min(0),
    forgotten: z.int().min(0),
    held: z.int().min(0),
    bytes: z.int().min(0),
    byReason: z.array(z.object({ layer, reason, items: z.int(), bytes: z.int() })).readonly(),
    items: z
      .array(
        z.object({
          layer,
          scope: z.string(),
          namespace: z.string(),
          key: z.string(),
          version: z.int(),
          bytes: z.int(),
          reason,
        }),
      )
      .readonly(),
  }) satisfies z.ZodType<MemorySweepReport>,
  example: {
    command: 'clew memory sweep --layer session --ttl-ms 2592000000 --dry-run',
    input: { layer: 'session', ttlMs: 2_592_000_000, dryRun: true },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'sweep'],
    options: {
      layer: FILTER_OPTIONS.layer,
      ttlMs: '--ttl-ms <ms>',
      maxItems: '--max-items <count>',
      maxBytes: '--max-bytes <bytes>',
      dryRun: '--dry-run',
    },
  },
  run(ledger, { layer: only, dryRun, ...limits }) {
    const isLimited = Object.values(limits).some((each) => each !== undefined)
    if (isLimited && only === undefined)
      throw new ClewError(
        'bad_option',
        'Limits were given without their layer',
        'Name it with --layer, too.',
        {
          option: 'layer',
        },
      )
    const retention = only && isLimited ? { [only]: limits } : undefined
    return ledger.memory.sweep({ dryRun, layers: only && [only], retention })
  },
})

export const memoryImport = answering({
  name: 'memoryImport',
  summary: 'Import memory items from an export; existing items stay unchanged',
  scope: 'write',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({
    written: z.int().min(0),
    unchanged: z.int().min(0),
    expired: z.int().min(0),
  }) satisfies z.ZodType<MemoryImportReport>,
  example: { command: 'clew memory import memory.ndjson', input: {} },
  cli: {
    group: 'Remember',
    words: ['memory', 'import'],
    arguments: [
      { word: 'file', required: true, about: 'what clew memory export wrote; - for the standard input' },
    ],
  },
  run: (ledger, _, { files = [] } = {}) => ledger.memory.import(files[0]?.body ?? []),
})
