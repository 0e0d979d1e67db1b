import { ClewError } from '../errors.ts'
import type { MemoryParts } from './catch-up-memory.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { type MemoryItem, MEMORY_LAYERS, type MemoryRow, type MemoryScope, parseMemoryRunId } from './item.ts'
import type { MemoryContext, MemoryContextOptions } from './ledger-memory.ts'
import { isWordless, parseWords } from './parse-words.ts'
import { pickContext } from './pick-context.ts'
import { rankRows } from './rank.ts'
import { ask, toItems } from './read-items.ts'

/** Candidates per layer: this many of the newest items and this many of the best matches. */
const NEWEST = 300

/** One line of a prompt. Texts as they are, everything else as JSON. */
const formatItem = ({ namespace, key, value }: Pick<MemoryItem, 'namespace' | 'key' | 'value'>): string =>
  `- ${namespace}/${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`

/** Fields of an export line beside the value. */
const frameTokens = ({ namespace, key }: MemoryRow): number => estimateTokens(`- ${namespace}/${key}: \n`)

export async function buildContext(
  parts: MemoryParts,
  { query = '', budgetTokens, ...given }: MemoryContextOptions,
): Promise<MemoryContext> {
  if (!(Number.isSafeInteger(budgetTokens) && budgetTokens > 0))
    throw new ClewError(
      'bad_option',
      `The option budgetTokens is ${String(budgetTokens)}`,
      'Give the number of tokens that the context may have, 1 or more.',
      { option: 'budgetTokens' },
    )
  const { index, filter } = await ask(parts, given)
  const found = new Map<number, { row: MemoryRow; relevance: number }>()
  const words = parseWords(query)
  if (!isWordless(words)) {
    const ranked = (await rankRows(index, filter, words)).slice(0, NEWEST)
    const relevances = new Map(ranked.map(({ position, relevance }) => [position, relevance]))
    const positions = [...relevances.keys()]
    for (const row of await index.list({ ...filter, positions, limit: NEWEST }))
      found.set(row.position, { row, relevance: relevances.get(row.position) ?? 0 })
  }
  for (const layer of MEMORY_LAYERS.filter((each) => filter.layers.includes(each)))
    for (const row of await index.list({ ...filter, layers: [layer], order: 'newest', limit: NEWEST }))
      if (!found.has(row.position)) found.set(row.position, { row, relevance: 0 })
  const candidates = [...found.values()].map(({ row, relevance }) => ({
    row,
    relevance,
    layer: (parseMemoryRunId(row.memoryRun) as MemoryScope).layer,
    position: row.position,
    updatedAt: row.updatedAt,
    tokens: row.tokens + frameTokens(row),
  }))
  const { picked, tokens, left } = pickContext(candidates, budgetTokens)
  const items = await toItems(
    parts,
    picked.map(({ row }) => row),
  )
  return { text: items.map(formatItem).join('\n'), items, tokens, left }
}
