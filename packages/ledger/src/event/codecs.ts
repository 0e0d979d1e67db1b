import { ClewError } from '../errors.ts'
import { formatPath, type JsonObject, type JsonValue, setKey } from '../json.ts'

/** Makes one kind of value that JSON lacks travel as tagged JSON, so that it is stored, shared and hashed like any other. */
export interface Codec {
  /** Unique name, written into the record: keep it for ever. */
  readonly tag: string
  matches(value: unknown): boolean
  /** May return further rich values. */
  encode(value: unknown): unknown
  decode(data: unknown): unknown
}

const MAX_DEPTH = 512
const TAG = '$clew'
const TAG_TEXT = `"${TAG}"`

const codec = <T>(
  tag: string,
  matches: (value: unknown) => value is T,
  encode: (value: T) => unknown,
  decode: (data: never) => T,
): Codec => ({ tag, matches, encode, decode })

const instanceOf =
  <T>(type: new (...args: never[]) => T) =>
  (value: unknown): value is T =>
    value instanceof type

const BUILT_IN: readonly Codec[] = [
  codec(
    'date',
    instanceOf(Date),
    (d) => (Number.isNaN(d.getTime()) ? null : d.toISOString()),
    (text: string | null) => new Date(text ?? Number.NaN),
  ),
  codec(
    'map',
    instanceOf(Map),
    (m) => [...m],
    (entries: [unknown, unknown][]) => new Map(entries),
  ),
  codec(
    'set',
    instanceOf(Set),
    (s) => [...s],
    (items: unknown[]) => new Set(items),
  ),
  codec('bytes', instanceOf(Uint8Array), toBase64, fromBase64),
  codec(
    'regexp',
    instanceOf(RegExp),
    (r) => [r.source, r.flags],
    ([source, flags]: [string, string]) => new RegExp(source, flags),
  ),
  codec('error', instanceOf(Error), encodeError, decodeError),
  codec(
    'url',
    instanceOf(URL),
    (url) => url.href,
    (href: string) => new URL(href),
  ),
]

function encodeError(error: Error): unknown {
  const { name, message, stack, cause } = error
  const code: unknown = Reflect.get(error, 'code')
  return {
    name,
    message,
    stack,
    ...(cause !== undefined && { cause }),
    ...(typeof code === 'string' && { code }),
  }
}

function decodeError(data: {
  name: string
  message: string
  stack?: string
  cause?: unknown
  code?: string
}): Error {
  const error = new Error(data.message, 'cause' in data ? { cause: data.cause } : undefined)
  for (const key of ['name', 'stack', 'code'] as const)
    if (data[key] !== undefined)
      Object.defineProperty(error, key, { value: data[key], configurable: true, writable: true })
  return error
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Written out because neither `Buffer` nor `btoa` is at hand in every place this package runs. */
function toBase64(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b, c] = [bytes[i], bytes[i + 1], bytes[i + 2]]
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0)
    const digit = (shift: number): string => BASE64[(bits >> shift) & 63] as string
    parts.push(
      digit(18) + digit(12) + (b === undefined ? '=' : digit(6)) + (c === undefined ? '=' : digit(0)),
    )
  }
  return parts.join('')
}

function fromBase64(text: string): Uint8Array {
  const clean = text.replace(/=+$/, '')
  const bytes = new Uint8Array(Math.floor((clean.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (const char of clean) {
    bits = (bits << 6) | BASE64.indexOf(char)
    held += 6
    if (held >= 8) {
      held -= 8
      bytes[at++] = (bits >> held) & 255
    }
  }
  return bytes
}

export interface Codecs {
  /** The value as JSON, the very same object if it was JSON already; refuses what no codec takes, by path. */
  encode(value: unknown): JsonValue
  /** Takes JSON that arrived as JSON, its tags included; refuses only what is nested too deep. */
  accept(value: unknown): JsonValue
  /** Gives rich values back. `text`, when at hand, saves the walk for the many payloads without any. */
  decode(value: JsonValue, text?: string): unknown
  /** Decodes the encoded value into a copy that shares nothing with it; refuses the same values as `encode`. */
  copy(value: unknown): unknown
}

export function createCodecs(own: readonly Codec[] = []): Codecs {
  const all = [...own, ...BUILT_IN]
  const byTag = new Map<string, Codec>()
  for (const each of all) {
    if (byTag.has(each.tag) || ['object', 'number', 'bigint', 'undefined'].includes(each.tag))
      throw new ClewError(
        'bad_option',
        `Two codecs claim the tag "${each.tag}"`,
        'Give each codec a tag of its own.',
        { tag: each.tag },
      )
    byTag.set(each.tag, each)
  }

  const path: (string | number)[] = []

  function tagged(tag: string, data: unknown, depth: number): JsonValue {
    return { [TAG]: tag, value: encode(data, depth + 1) }
  }

  function encode(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (Number.isFinite(value) && !Object.is(value, -0)) return value
        return { [TAG]: 'number', value: Object.is(value, -0) ? '-0' : String(value) }
      case 'bigint':
        return { [TAG]: 'bigint', value: String(value) }
      case 'undefined':
        return { [TAG]: 'undefined', value: null }
      case 'object':
        if (value === null) return null
        if (depth > MAX_DEPTH) refuse(`lies deeper than ${MAX_DEPTH} levels, or refers to itself`)
        if (Array.isArray(value)) return encodeArray(value, depth)
        return encodeObject(value, depth)
      case 'function':
      case 'symbol':
        refuse(`is a ${typeof value}, which cannot be stored`)
    }
  }

  function encodeArray(array: readonly unknown[], depth: number): JsonValue {
    let copy: JsonValue[] | undefined
    const at = path.length
    for (let i = 0; i < array.length; i++) {
      path[at] = i
      const item = array[i]
      const json = encode(item, depth + 1)
      if (copy) copy.push(json)
      else if (json !== item) copy = [...(array.slice(0, i) as JsonValue[]), json]
    }
    if (array.length > 0) path.pop()
    return copy ?? (array as JsonValue[])
  }

  function encodeObject(object: object, depth: number): JsonValue {
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null) return encodeInstance(object, depth)
    const keys = Object.keys(object)
    const source = object as Record<string, unknown>
    const at = path.length
    let copy: JsonObject | undefined
    let escape = false
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      path[at] = key
      if (key === TAG) escape = true
      const item = source[key]
      // As in JSON, a property that is undefined is absent.
      const json = item === undefined ? undefined : encode(item, depth + 1)
      if (json === item && json !== undefined) {
        if (copy) setKey(copy, key, json)
        continue
      }
      if (!copy) {
        copy = {}
        for (const before of keys.slice(0, i)) setKey(copy, before, source[before] as JsonValue)
      }
      if (json !== undefined) setKey(copy, key, json)
    }
    if (keys.length > 0) path.pop()
    const json = copy ?? (source as JsonObject)
    return escape ? { [TAG]: 'object', value: json } : json
  }

  function encodeInstance(object: object, depth: number): JsonValue {
    const found = all.find((each) => each.matches(object))
    if (!found) refuse(`is an instance of ${className(object)}, for which there is no codec`)
    return tagged(found.tag, found.encode(object), depth)
  }

  function refuse(what: string): never {
    const place = formatPath(path)
    path.length = 0
    throw new ClewError(
      'bad_value',
      `The value at ${place} ${what}`,
      'Pass plain data, or open the ledger with a codec for it (openLedger(url, { codecs })); nothing was written.',
      { path: place },
    )
  }

  function decode(value: JsonValue): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return mapArray(value)
    const tag = Object.hasOwn(value, TAG) ? value[TAG] : undefined
    if (typeof tag === 'string') return decodeTagged(tag, value)
    return mapObject(value)
  }

  function mapArray(array: JsonValue[]): unknown[] {
    const decoded = array.map(decode)
    return decoded.every((item, i) => item === array[i]) ? array : decoded
  }

  function mapObject(object: JsonObject): unknown {
    const decoded: Record<string, unknown> = {}
    let changed = false
    for (const key of Object.keys(object)) {
      const item = object[key] as JsonValue
      const rich = decode(item)
      changed ||= rich !== item
      setKey(decoded, key, rich)
    }
    return changed ? decoded : object
  }

  function decodeTagged(tag: string, tree: JsonObject): unknown {
    const data = tree['value'] as JsonValue
    if (tag === 'number') return Number(data)
    if (tag === 'bigint' && typeof data === 'string' && /^-?\d+$/.test(data)) return BigInt(data)
    if (tag === 'undefined') return undefined
    if (tag === 'object' && typeof data === 'object' && data !== null) return mapObject(data as JsonObject)
    const found = byTag.get(tag)
    // A tag of a codec this process does not have: the tagged JSON itself, which loses nothing.
    if (!found) return mapObject(tree)
    try {
      return found.decode(decode(data))
    } catch {
      // Tagged by hand with data that does not fit: kept as it came, like an unknown tag.
      return mapObject(tree)
    }
  }

  function copy(value: unknown, depth: number): unknown {
    if (typeof value === 'function' || typeof value === 'symbol' || depth > MAX_DEPTH) encode(value, depth)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return Array.from(value as unknown[], (item) => copy(item, depth + 1))
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return copyInstance(value, depth)
    const copied: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const item = (value as Record<string, unknown>)[key]
      if (item !== undefined) setKey(copied, key, copy(item, depth + 1))
    }
    return copied
  }

  function copyInstance(value: object, depth: number): unknown {
    const found = all.find((each) => each.matches(value))
    if (!found) return encode(value, depth)
    // Base64 and back would take a hundred times as long.
    if (found.tag === 'bytes' && BUILT_IN.includes(found)) return new Uint8Array(value as Uint8Array)
    return found.decode(copy(found.encode(value), depth + 1))
  }

  function assertDepth(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null) return
    if (depth > MAX_DEPTH) refuse(`lies deeper than ${MAX_DEPTH} levels`)
    for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value))
      assertDepth(item, depth + 1)
  }

  return {
    encode(value) {
      if (path.length > 0) path.length = 0
      return encode(value, 0)
    },
    accept(value) {
      path.length = 0
      assertDepth(value, 0)
      return value as JsonValue
    },
    decode: (value, text) => (text !== undefined && !text.includes(TAG_TEXT) ? value : decode(value)),
    copy(value) {
      try {
        return copy(value, 0)
      } catch {
        // Refuses the value once more, with its path.
        path.length = 0
        return decode(encode(value, 0))
      }
    },
  }
}

/** For those who pass on what is stored: JSON goes in and comes out as it is, tags included. */
export const plainCodecs = ({ accept, copy }: Codecs): Codecs => ({
  accept,
  copy,
  encode: accept,
  decode: (value) => value,
})

function className(object: object): string {
  const { constructor } = object
  return typeof constructor === 'function' && constructor.name ? constructor.name : 'an unnamed class'
}
