import type { Payload } from '@clew/ledger'
import { providerOf } from '../langchain/usage.ts'
import { cellValue } from './cells.ts'
import { isObject } from './rich-values.ts'
import type { Saved, Write } from './saved.ts'

type Fields = Readonly<Record<string, unknown>>

/** Tokens, model and provider of the answers that a task wrote. One that the state has already was counted when it came. */
export function usageIn(writes: readonly Write[], before: Saved): Payload {
  let known: Set<unknown> | undefined
  let usage: unknown
  let last: Fields = {}
  for (const { value } of writes)
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const message = messageFields(item)
      const told = message?.['usage_metadata']
      if (!message || !isObject(told)) continue
      const { id } = message
      if (id !== undefined && (known ??= messageIds(before)).has(id)) continue
      usage = addCounts(usage, told)
      last = isObject(message['response_metadata']) ? message['response_metadata'] : {}
    }
  if (usage === undefined) return {}
  const model = last['model_name'] ?? last['model']
  const provider = providerOf({ ls_provider: last['model_provider'] })
  return {
    usage,
    ...(typeof model === 'string' && { model }),
    ...(provider !== undefined && { provider }),
  }
}

/** Fields of a stored message. */
const messageFields = (stored: unknown): Fields | undefined =>
  isObject(stored) && typeof stored['$langgraph'] === 'string' && isObject(stored['fields'])
    ? stored['fields']
    : undefined

function messageIds({ values }: Saved): Set<unknown> {
  const ids = new Set<unknown>()
  for (const cell of values.values())
    if (cell.kind === 'list')
      for (const item of cellValue(cell) as readonly unknown[]) {
        const id = messageFields(item)?.['id']
        if (id !== undefined) ids.add(id)
      }
  return ids
}

/** Counts lie side by side and within objects of details. */
function addCounts(one: unknown, other: unknown): unknown {
  if (one === undefined) return other
  if (typeof one === 'number' && typeof other === 'number') return one + other
  if (!isObject(one) || !isObject(other)) return other ?? one
  const sum: Record<string, unknown> = { ...one }
  for (const [key, count] of Object.entries(other)) sum[key] = addCounts(sum[key], count)
  return sum
}
