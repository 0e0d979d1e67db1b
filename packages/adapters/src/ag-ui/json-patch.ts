import { canonicalText, type JsonObject, type JsonValue } from '@clew/ledger'
import { isObject, refuse } from '../foreign.ts'

/** A path of RFC 6901 as its names; undefined for the whole document. */
export function parsePointer(path: JsonValue | undefined, field: string): readonly string[] {
  if (path === '') return []
  if (typeof path !== 'string' || !path.startsWith('/')) return refuse(field, path, 'a path such as /a/b')
  const names = path.slice(1).split('/')
  if (names.length > MAX_DEPTH) return refuse(field, path, `a path of at most ${MAX_DEPTH} names`)
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const MAX_DEPTH = 128

type Change = (before: JsonValue | undefined) => JsonValue | undefined

/** RFC 6902. What is not touched is shared with the document before; what does not fit is refused by its place. */
export function applyPatch(document: JsonValue, patch: readonly JsonValue[]): JsonValue {
  let result = document
  for (const [nth, operation] of patch.entries()) {
    const field = `delta[${nth}]`
    if (!isObject(operation)) return refuse(field, operation, 'an operation: an object with op and path')
    result = applyOne(result, operation, field)
  }
  return result
}

function applyOne(document: JsonValue, operation: JsonObject, field: string): JsonValue {
  const { op, value } = operation
  const path = parsePointer(operation['path'], `${field}.path`)
  const change = (names: readonly string[], make: Change, inserts: boolean): JsonValue =>
    changeAt(document, names, make, inserts, `${field}.path`) ?? null
  switch (op) {
    case 'add':
      return change(path, () => given(value, field), true)
    case 'replace':
      return change(path, (before) => (before === undefined ? gone(field) : given(value, field)), false)
    case 'remove':
      return change(path, (before) => (before === undefined ? gone(field) : undefined), false)
    case 'test':
      if (canonicalText(valueAt(document, path, field)) === canonicalText(value ?? null)) return document
      return refuse(field, value, 'what the state holds there')
    case 'copy':
    case 'move': {
      const from = parsePointer(operation['from'], `${field}.from`)
      const moved = valueAt(document, from, field)
      const without =
        op === 'copy' ? document : (changeAt(document, from, () => undefined, false, field) ?? null)
      return changeAt(without, path, () => moved, true, `${field}.path`) ?? null
    }
    default:
      return refuse(`${field}.op`, op, 'one of add, remove, replace, move, copy, test')
  }
}

const given = (value: JsonValue | undefined, field: string): JsonValue =>
  value === undefined ? refuse(`${field}.value`, value, 'a value') : value

const gone = (field: string): never => refuse(`${field}.path`, undefined, 'a place that the state has')

function valueAt(document: JsonValue, names: readonly string[], field: string): JsonValue {
  let value: JsonValue | undefined = document
  for (const name of names) {
    if (Array.isArray(value)) value = value[indexOf(name, value.length, field)]
    else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (value === undefined) return gone(field)
  }
  return value
}

function indexOf(name: string, length: number, field: string): number {
  if (name === '-') return length
  if (!/^(?:0|[1-9]\d{0,9})$/.test(name)) return refuse(field, name, 'the index of an item')
  return Number(name)
}

function changeAt(
  document: JsonValue,
  names: readonly string[],
  make: Change,
  inserts: boolean,
  field: string,
): JsonValue | undefined {
  const [name, ...rest] = names
  if (name === undefined) return make(document)
  if (Array.isArray(document)) return changeList(document, name, rest, make, inserts, field)
  if (!isObject(document)) return gone(field)
  const before = Object.hasOwn(document, name) ? document[name] : undefined
  if (rest.length > 0 && before === undefined) return gone(field)
  const after = rest.length > 0 ? changeAt(before as JsonValue, rest, make, inserts, field) : make(before)
  const copy: JsonObject = { ...document }
  if (after === undefined) delete copy[name]
  else
    Object.defineProperty(copy, name, { value: after, writable: true, enumerable: true, configurable: true })
  return copy
}

function changeList(
  list: readonly JsonValue[],
  name: string,
  rest: readonly string[],
  make: Change,
  inserts: boolean,
  field: string,
): JsonValue {
  const index = indexOf(name, list.length, field)
  const copy = [...list]
  if (rest.length === 0 && inserts) {
    if (index > list.length) return gone(field)
    copy.splice(index, 0, make(undefined) as JsonValue)
    return copy
  }
  const before = list[index]
  if (before === undefined) return gone(field)
  const after = rest.length === 0 ? make(before) : changeAt(before, rest, make, inserts, field)
  if (after === undefined) copy.splice(index, 1)
  else copy[index] = after
  return copy
}
