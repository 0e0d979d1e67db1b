import { Buffer } from 'node:buffer'
import type { JsonObject, JsonValue } from '@clew/ledger'
import { isList } from './encode-protobuf.ts'
import { type OtlpAttributes, type OtlpValue, putAttribute } from './structure.ts'

/** Attributes of a span or a record. Those that were taken into an event are not repeated in `rest`. */
export interface SpanAttributes {
  readonly attributes: OtlpAttributes
  /** The first of these that is text and not empty. */
  text(...keys: readonly string[]): string | undefined
  /** The first of these that is a count. */
  count(...keys: readonly string[]): number | undefined
  has(key: string): boolean
  /** The first of these that is present, JSON in text parsed; it is no longer in `rest`. */
  take(...keys: readonly string[]): JsonValue | undefined
  /** Like `take`, for the first one for which `read` returns a value. */
  takeAs<T>(keys: readonly string[], read: (value: JsonValue) => T | undefined): T | undefined
  /** Like `take`, for attributes flattened below a prefix, such as `prefix.0.name`. */
  takeTree(prefix: string): JsonValue | undefined
  /** All attributes that were not taken. */
  rest(): JsonObject
}

export function createFacts(attributes: OtlpAttributes): SpanAttributes {
  let taken: Set<string> | undefined
  let prefixes: string[] | undefined
  const facts: SpanAttributes = {
    attributes,
    text(...keys) {
      for (const key of keys) {
        const value = attributes[key]
        if (typeof value === 'string' && value !== '') return value
      }
      return undefined
    },
    count(...keys) {
      for (const key of keys) {
        const value = attributes[key]
        const number = typeof value === 'string' && value !== '' ? Number(value) : value
        if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number
      }
      return undefined
    },
    has: (key) => attributes[key] !== undefined,
    take: (...keys) => facts.takeAs(keys, (value) => value),
    takeAs(keys, read) {
      for (const key of keys) {
        const value = attributes[key]
        if (value === undefined || value === null || value === '') continue
        const found = read(parseText(toJson(value), ALWAYS_JSON.test(key)))
        if (found === undefined) continue
        ;(taken ??= new Set()).add(key)
        return found
      }
      return undefined
    },
    takeTree(prefix) {
      const start = `${prefix}.`
      const flat: [string, OtlpValue][] = []
      for (const key in attributes)
        if (key.startsWith(start)) flat.push([key.slice(start.length), attributes[key] as OtlpValue])
      if (flat.length === 0) return undefined
      ;(prefixes ??= []).push(start)
      return unflatten(flat)
    },
    rest() {
      if (!taken && !prefixes && isJson(attributes)) return attributes
      const left: JsonObject = {}
      for (const key in attributes) {
        if (taken?.has(key) || prefixes?.some((prefix) => key.startsWith(prefix))) continue
        putAttribute(left, key, toJson(attributes[key] as OtlpValue))
      }
      return left
    },
  }
  return facts
}

/** Most attributes need no copy. */
function isJson(attributes: OtlpAttributes): attributes is JsonObject {
  for (const key in attributes) {
    const value = attributes[key]
    if (typeof value === 'bigint' || typeof value === 'object') return false
    if (typeof value === 'number' && !Number.isFinite(value)) return false
  }
  return true
}

/** JSON of a value. What JSON lacks becomes text: large whole numbers, NaN, infinities, bytes (base64). */
export function toJson(value: OtlpValue): JsonValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (isList(value)) return value.map(toJson)
  const copy: JsonObject = {}
  for (const key in value) putAttribute(copy, key, toJson(value[key] as OtlpValue))
  return copy
}

export const toJsonObject = (attributes: OtlpAttributes): JsonObject => toJson(attributes) as JsonObject

/** Deeper JSON stays text: payloads nest up to 512 levels, and this value is only a part of one. */
const MAX_PARSED_DEPTH = 128

/** Attributes that hold JSON whatever the value is, also a bare text in quotes. */
const ALWAYS_JSON = /^(?:traceloop\.entity|mlflow|gen_ai\.tool\.call|ai\.toolCall)\./

/** Parses JSON text, in which structures travel as attributes; other values are returned as they are. */
export function parseText(value: JsonValue, isAlwaysJson = false): JsonValue {
  if (typeof value !== 'string' || !(isAlwaysJson ? /^\s*[[{"]/ : /^\s*[[{]/).test(value)) return value
  try {
    const parsed = JSON.parse(value) as JsonValue
    return isShallow(parsed, MAX_PARSED_DEPTH) ? parsed : value
  } catch {
    return value
  }
}

function isShallow(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  for (const item of Object.values(value)) if (!isShallow(item, levels - 1)) return false
  return true
}

const MAX_TREE_DEPTH = 24

type Branch = Map<string, Branch | JsonValue>

/** Makes lists and objects of paths such as `0.message.role`. Keys that are all whole numbers make a list, in their order. */
function unflatten(flat: readonly (readonly [string, OtlpValue])[]): JsonValue {
  const root: Branch = new Map()
  for (const [path, value] of flat) {
    const names = path.split('.')
    if (names.length > MAX_TREE_DEPTH) names.splice(MAX_TREE_DEPTH - 1, names.length, path)
    const last = names.pop() as string
    let branch = root
    for (const name of names) {
      const next = branch.get(name)
      if (next instanceof Map) branch = next
      else {
        const made: Branch = new Map()
        branch.set(name, made)
        branch = made
      }
    }
    if (!(branch.get(last) instanceof Map)) branch.set(last, toJson(value))
  }
  return grow(root)
}

function grow(branch: Branch | JsonValue): JsonValue {
  if (!(branch instanceof Map)) return branch
  const entries = [...branch]
  if (entries.every(([name]) => /^\d{1,9}$/.test(name)))
    return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, item]) => grow(item))
  const made: JsonObject = {}
  for (const [name, item] of entries) putAttribute(made, name, grow(item))
  return made
}
