import * as messages from '@langchain/core/messages'
import { Document } from '@langchain/core/documents'
import { DeltaSnapshot } from '@langchain/langgraph-checkpoint'
import { ClewError } from '@clew/ledger'

/**
 * Values of channels on their way into a payload and back. Messages, documents and delta snapshots become tagged plain
 * objects here; what JSON lacks besides (Date, Map, BigInt, Error …) and classes of the user's own are left to the
 * ledger's codecs. Nothing is revived that was not tagged by us: data that looks like a serialised object stays data.
 */
const TAG = '$langgraph'
const MAX_DEPTH = 400

type Fields = Readonly<Record<string, unknown>>
type MessageClass = new (fields: Fields) => object

const MESSAGES: ReadonlyMap<string, MessageClass> = new Map(
  Object.entries(messages as unknown as Record<string, MessageClass>).filter(
    ([name]) => /^[A-Z]\w*Message(?:Chunk)?$/.test(name) && !name.startsWith('Base'),
  ),
)
/** Fields of a message that its constructor does not take. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  'lc_serializable',
  'lc_kwargs',
  'lc_namespace',
  'lc_direct_tool_output',
  'type',
])
/** Fields that a constructor fills with an empty object by itself. */
const FILLED: ReadonlySet<string> = new Set(['additional_kwargs', 'response_metadata'])

interface MessageLike {
  readonly lc_kwargs: Fields
  readonly lc_id: readonly string[]
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A key named `__proto__` is data too. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

function isMessage(value: object): value is MessageLike {
  const { lc_serializable, lc_namespace, lc_kwargs } = value as Record<string, unknown>
  return (
    lc_serializable === true &&
    Array.isArray(lc_namespace) &&
    lc_namespace[0] === 'langchain_core' &&
    lc_namespace[1] === 'messages' &&
    isObject(lc_kwargs)
  )
}

/** The name under which a message can be made again; undefined for a class of the user's own. */
const messageName = (value: MessageLike): string | undefined => {
  const name = value.lc_id.at(-1)
  return name !== undefined && MESSAGES.has(name) ? name : undefined
}

function fieldsOf(message: object): string[] {
  const keys: string[] = []
  for (const key of Object.keys(message)) {
    if (NO_FIELDS.has(key)) continue
    const value: unknown = Reflect.get(message, key)
    if (value === undefined || (FILLED.has(key) && isEmpty(value))) continue
    keys.push(key)
  }
  return keys
}

function isEmpty(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const _ in value) return false
  return true
}

const isDocument = (value: object): boolean =>
  value instanceof Document ||
  (value.constructor?.name === 'Document' && 'pageContent' in value && 'metadata' in value)

const named = (value: object, name: string): boolean => Reflect.get(value, 'lg_name') === name

/** A private copy for a payload. `path` names the place in errors. */
export function toPayload(value: unknown, path: string, depth = 0): unknown {
  switch (typeof value) {
    case 'undefined':
      return { [TAG]: 'undefined' }
    case 'function':
    case 'symbol':
      return refuse(path, `is a ${typeof value}, which cannot be stored`)
    case 'object':
      break
    default:
      return value
  }
  if (value === null) return null
  if (depth > MAX_DEPTH) return refuse(path, 'lies too deep, or refers to itself')
  const inside = (item: unknown, key: string | number): unknown =>
    toPayload(item, typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`, depth + 1)
  if (Array.isArray(value)) return Array.from(value, inside)
  if (isPlain(value)) {
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(value)) setKey(copy, key, inside(Reflect.get(value, key), key))
    return Object.hasOwn(value, TAG) ? { [TAG]: 'object', value: copy } : copy
  }
  if (isMessage(value)) {
    const name = messageName(value)
    if (name === undefined) return value
    const fields: Record<string, unknown> = {}
    for (const key of fieldsOf(value)) setKey(fields, key, inside(Reflect.get(value, key), key))
    return { [TAG]: name, fields }
  }
  if (value instanceof Date) return new Date(value)
  if (value instanceof Map)
    return new Map([...value].map(([k, v]) => [inside(k, '<key>'), inside(v, String(k))]))
  if (value instanceof Set) return new Set([...value].map((item, i) => inside(item, i)))
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (value instanceof URL) return new URL(value)
  if (value instanceof RegExp) return new RegExp(value)
  if (named(value, 'DeltaSnapshot'))
    return { [TAG]: 'delta', value: inside(Reflect.get(value, 'value'), 'value') }
  // As the framework's own serialiser writes them: it takes the plain form for the same thing.
  if (named(value, 'Send')) {
    const { node, args, timeout } = value as Record<string, unknown>
    return {
      node,
      args: inside(args, 'args'),
      ...(timeout !== undefined && { timeout: inside(timeout, 'timeout') }),
    }
  }
  if (named(value, 'Overwrite')) return { __overwrite__: inside(Reflect.get(value, 'value'), 'value') }
  if (isDocument(value)) {
    const { pageContent, metadata, id } = value as Record<string, unknown>
    return {
      [TAG]: 'document',
      fields: { pageContent, metadata: inside(metadata, 'metadata'), ...(id !== undefined && { id }) },
    }
  }
  return value
}

function refuse(path: string, what: string): never {
  throw new ClewError(
    'bad_value',
    `The value at ${path} ${what}`,
    'Keep plain data, messages or values for which the ledger has a codec in the state (openLedger(url, { codecs })); nothing was written.',
    { path },
  )
}

/** A fresh copy for the graph, which may change it; the stored one stays as it is. */
export function fromPayload(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null) return stored
  if (Array.isArray(stored)) {
    const list: unknown[] = []
    for (const item of stored as unknown[]) list.push(fromPayload(item))
    return list
  }
  if (isPlain(stored)) {
    const tag = Object.hasOwn(stored, TAG) ? (stored as Fields)[TAG] : undefined
    return typeof tag === 'string' ? revive(tag, stored as Fields) : copyObject(stored)
  }
  if (stored instanceof Date) return new Date(stored)
  if (stored instanceof Map) return new Map([...stored].map(([k, v]) => [fromPayload(k), fromPayload(v)]))
  if (stored instanceof Set) return new Set([...stored].map(fromPayload))
  if (stored instanceof Uint8Array) return Uint8Array.from(stored)
  if (stored instanceof URL) return new URL(stored)
  if (stored instanceof RegExp) return new RegExp(stored)
  return stored
}

function copyObject(stored: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(stored)) setKey(copy, key, fromPayload(Reflect.get(stored, key)))
  return copy
}

function revive(tag: string, stored: Fields): unknown {
  if (tag === 'undefined') return undefined
  if (tag === 'object') return copyObject(stored['value'] as object)
  if (tag === 'delta') return new DeltaSnapshot(fromPayload(stored['value']))
  const fields = copyObject(stored['fields'] ?? {})
  if (tag === 'document') return new Document(fields as unknown as ConstructorParameters<typeof Document>[0])
  const Message = MESSAGES.get(tag)
  return Message ? new Message(fields) : copyObject(stored)
}

/**
 * Whether `toPayload(live)` would give `stored`, without making it. It walks the objects and compares texts by
 * reference where it can, so that a list of a thousand messages costs a tenth of a millisecond; comparing the
 * elements by identity alone would miss a message that a node changed in place.
 */
export function isSame(live: unknown, stored: unknown): boolean {
  if (typeof live !== 'object' || live === null) {
    if (live === undefined) return isTagged(stored, 'undefined')
    return Object.is(live, stored)
  }
  if (typeof stored !== 'object' || stored === null) return false
  if (Array.isArray(live)) return Array.isArray(stored) && isSameList(live, stored, live.length)
  if (isPlain(live)) {
    if (Object.hasOwn(live, TAG))
      return isTagged(stored, 'object') && isSameObject(live, (stored as Fields)['value'] as object)
    return (
      isPlain(stored) && !Array.isArray(stored) && !Object.hasOwn(stored, TAG) && isSameObject(live, stored)
    )
  }
  if (isMessage(live)) {
    const name = messageName(live)
    if (name === undefined || !isTagged(stored, name)) return false
    return isSameObject(live, (stored as Fields)['fields'] as object, fieldsOf(live))
  }
  if (live instanceof Date) return stored instanceof Date && Object.is(live.getTime(), stored.getTime())
  if (live instanceof URL) return stored instanceof URL && live.href === stored.href
  if (live instanceof RegExp) return stored instanceof RegExp && String(live) === String(stored)
  if (live instanceof Uint8Array)
    return (
      stored instanceof Uint8Array &&
      live.length === stored.length &&
      live.every((byte, i) => byte === stored[i])
    )
  if (live instanceof Map)
    return stored instanceof Map && isSameList([...live].flat(), [...stored].flat(), live.size * 2)
  if (live instanceof Set) return stored instanceof Set && isSameList([...live], [...stored], live.size)
  return false
}

const isTagged = (stored: unknown, tag: string): boolean =>
  isObject(stored) && Object.hasOwn(stored, TAG) && stored[TAG] === tag

/** The first `count` items, all of `stored` among them when it is no longer than that. */
export function isSameList(live: readonly unknown[], stored: readonly unknown[], count: number): boolean {
  if (live.length < count || stored.length !== count) return false
  for (let i = 0; i < count; i++) if (!isSame(live[i], stored[i])) return false
  return true
}

function isSameObject(live: object, stored: object, keys: readonly string[] = Object.keys(live)): boolean {
  const given = Object.keys(stored)
  if (keys.length !== given.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (key !== given[i] || !isSame(Reflect.get(live, key), Reflect.get(stored, key))) return false
  }
  return true
}

/** Holds an object of a class that only the ledger's codecs know: each reader must get one of its own. */
export function isOpaque(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false
  if (Array.isArray(stored)) return stored.some(isOpaque)
  if (isPlain(stored)) {
    for (const key in stored) if (isOpaque(Reflect.get(stored, key))) return true
    return false
  }
  if (stored instanceof Map) return [...stored].flat().some(isOpaque)
  if (stored instanceof Set) return [...stored].some(isOpaque)
  return !(
    stored instanceof Date ||
    stored instanceof URL ||
    stored instanceof RegExp ||
    stored instanceof Uint8Array
  )
}

/** About how many characters of JSON it has. */
export function sizeOf(stored: unknown): number {
  if (typeof stored === 'string') return stored.length + 2
  if (typeof stored !== 'object' || stored === null) return 4
  let size = 2
  if (Array.isArray(stored)) for (const item of stored) size += 1 + sizeOf(item)
  else for (const key in stored) size += key.length + 4 + sizeOf(Reflect.get(stored, key))
  return size
}
