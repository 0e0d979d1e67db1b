import type { MemoryContext } from '@clew/ledger'
import { z } from 'zod'
import {
  FILTER_OPTIONS,
  NAME_ARGUMENTS,
  filterFields,
  hit,
  item,
  nameFields,
  toFilter,
} from './memory-schemas.ts'
import { answering, streaming } from './operation.ts'

export const memoryList = answering({
  name: 'memoryList',
  summary: 'List memory items by layer, scope, namespace and key',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/memory' },
  input: z.object({
    ...filterFields,
    limit: z.int().min(1).max(1000).default(50).describe('page size in items, 1 to 1000'),
    cursor: z.string().optional().describe('cursor that the previous page returned'),
  }),
  output: z.object({ items: z.array(item), nextCursor: z.string().nullable() }),
  example: {
    command: 'clew memory list --layer long --namespace facts',
    input: { layer: 'long', namespace: 'facts' },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'list'],
    options: { ...FILTER_OPTIONS, limit: '--limit <count>', cursor: '--cursor <cursor>' },
  },
  run: (ledger, { limit, cursor, ...given }) => ledger.memory.list({ ...toFilter(given), limit, cursor }),
})

export const memoryGet = answering({
  name: 'memoryGet',
  summary: 'Show one memory item with its value and its origin',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/memory/item' },
  input: z.object(nameFields),
  output: z.object({ item: item.nullable() }),
  example: {
    command: 'clew memory get facts/people ann --layer long',
    input: { namespace: 'facts/people', key: 'ann', layer: 'long' },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'get'],
    arguments: NAME_ARGUMENTS,
    options: { layer: FILTER_OPTIONS.layer, scope: FILTER_OPTIONS.scope },
  },
  run: async (ledger, name) => ({ item: await ledger.memory.get(name) }),
})

export const memorySearch = answering({
  name: 'memorySearch',
  summary: 'Search memory items; rare words and new items rank first',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/memory/search' },
  mcp: { tool: 'memory_search' },
  input: z.object({
    query: z.string().min(1).max(4000).describe('words, "exact words", begin*, -not'),
    ...filterFields,
    limit: z.int().min(1).max(1000).default(20).describe('how many items, 1 to 1000'),
  }),
  output: z.object({ hits: z.array(hit) }),
  example: { command: 'clew memory search green tea', input: { query: 'green tea' } },
  cli: {
    group: 'Remember',
    words: ['memory', 'search'],
    arguments: [
      { word: 'query', field: 'query', required: true, many: true, about: 'what to look for, in words' },
    ],
    options: { ...FILTER_OPTIONS, limit: '--limit <count>' },
  },
  run: async (ledger, { query, limit, ...given }) => ({
    hits: await ledger.memory.search(query, { ...toFilter(given), limit }),
  }),
})

export const memoryContext = answering({
  name: 'memoryContext',
  summary: 'Select the memory items that fit a prompt best, within a number of tokens',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/memory/context' },
  input: z.object({
    query: z.string().max(4000).optional().describe('the purpose, in plain words'),
    budgetTokens: z.int().min(1).max(10_000_000).default(1000).describe('maximum number of tokens'),
    ...filterFields,
  }),
  output: z.object({
    text: z.string(),
    items: z.array(item).readonly(),
    tokens: z.int().min(0),
    left: z.int().min(0),
  }) satisfies z.ZodType<MemoryContext>,
  example: {
    command: 'clew memory context which tea does ann like --budget 500',
    input: { query: 'which tea does ann like', budgetTokens: 500 },
  },
  cli: {
    group: 'Remember',
    words: ['memory', 'context'],
    arguments: [
      { word: 'query', field: 'query', required: false, many: true, about: 'the purpose, in plain words' },
    ],
    options: { ...FILTER_OPTIONS, budgetTokens: '--budget <tokens>' },
  },
  run: (ledger, { query, budgetTokens, ...given }) =>
    ledger.memory.context({ ...toFilter(given), query, budgetTokens }),
})

export const memoryExport = streaming({
  name: 'memoryExport',
  summary: 'Export memory items as NDJSON, one per line',
  scope: 'read',
  surfaces: ['cli'],
  input: z.object(filterFields),
  output: z.string().describe('one line of NDJSON'),
  example: { command: 'clew memory export --layer long -o memory.ndjson', input: { layer: 'long' } },
  cli: {
    group: 'Remember',
    words: ['memory', 'export'],
    options: FILTER_OPTIONS,
    flags: { '-o, --output <file>': 'write to this file instead of the standard output' },
  },
  run: (ledger, given) => ledger.memory.export(toFilter(given)),
})
