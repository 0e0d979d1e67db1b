import { isBaseMessage } from '@langchain/core/messages'
import { isObject } from '../foreign.ts'
import { toMessageRecord } from './messages.ts'

const MAX_DEPTH = 100

/**
 * Values of callbacks contain classes, signals, functions and cycles. Returns the part that can be recorded: messages and
 * documents in a form of their own, plain data as it is, and a placeholder word for all else.
 * A value that cannot be kept never fails the call that is being recorded.
 */
export function toRecord(value: unknown): unknown {
  return convert(value, new Set())
}

function convert(value: unknown, around: Set<object>): unknown {
  if (typeof value === 'function') return `[function ${value.name || 'without a name'}]`
  if (typeof value === 'symbol') return `[${String(value)}]`
  if (typeof value !== 'object' || value === null) return value
  if (around.has(value)) return '[refers to itself]'
  if (around.size >= MAX_DEPTH) return '[too deep]'
  around.add(value)
  try {
    return convertObject(value, around)
  } finally {
    around.delete(value)
  }
}

function convertObject(value: object, around: Set<object>): unknown {
  if (Array.isArray(value)) return value.map((item) => convert(item, around))
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [convert(key, around), convert(item, around)]))
  if (value instanceof Set) return new Set([...value].map((item) => convert(item, around)))
  if (value instanceof Date || value instanceof URL || value instanceof RegExp) return value
  if (value instanceof Error) return toErrorRecord(value)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (isBaseMessage(value)) return copyFields(toMessageRecord(value), around)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return copyFields(value, around)
  if (isDocument(value)) return copyFields({ ...value }, around)
  // A Command or Send of LangGraph says in its JSON what it asks for.
  const json: unknown = 'lg_name' in value && 'toJSON' in value ? tryToJson(value) : undefined
  if (isObject(json)) return copyFields(json, around)
  return `[${value.constructor.name || 'an object'}]`
}

function tryToJson(value: object): unknown {
  try {
    return (value as { toJSON(): unknown }).toJSON()
  } catch {
    return undefined
  }
}

const isDocument = (value: object): boolean => 'pageContent' in value && 'metadata' in value

function copyFields(source: object, around: Set<object>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(source))
    if (item !== undefined)
      Object.defineProperty(copy, key, {
        value: convert(item, around),
        writable: true,
        enumerable: true,
        configurable: true,
      })
  return copy
}

export interface ErrorRecord {
  readonly name: string
  readonly message: string
  readonly code?: string
}

export function toErrorRecord(thrown: unknown): ErrorRecord {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) }
  const code: unknown = Reflect.get(thrown, 'code') ?? Reflect.get(thrown, 'lc_error_code')
  return { name: thrown.name, message: thrown.message, ...(typeof code === 'string' && { code }) }
}

/** Text for a line in a trace. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? ''
}
