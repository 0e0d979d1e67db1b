import type { JsonValue } from '../json.ts'
import { isCookie, isSession } from './cookies.ts'
import { isSecretFlag } from './key-objects.ts'
import { keyStrength } from './keys.ts'
import { isIdName } from './long-runs.ts'
import { headBeside, headOf, isRows, questionBefore, textNameOf } from './messages.ts'
import type { Scan } from './scan.ts'
import {
  isCodeName,
  isDeclared,
  isDrawn,
  isShortName,
  isTypedName,
  isValueName,
  labelsOf,
  typesCode,
  typesPassword,
} from './members.ts'

const [CLEAN, TELLING, FOUND, ID, VALUE, TYPE, ROWS, TYPED] = [0, 1, 2, 4, 8, 16, 32, 64]
/** Keys are few, unless somebody uses ids as keys. */
const MOST_KEYS = 4096
const LONGEST_KEY = 64

/**
 * The quick look at a value: false when the walk would change nothing. Strings are asked one by one, so that the signs of
 * JSON alarm nobody, and each name of a key is judged once.
 */
export function createLook(scan: Scan, scanId: Scan, byKeyName: boolean): (value: JsonValue) => boolean {
  const judged = new Map<string, number>()

  const judge = (key: string): number => {
    let flags = CLEAN
    if (byKeyName && (keyStrength(key) !== undefined || isShortName(key) || isCodeName(key))) flags |= TELLING
    if (scan.mayFind(key)) flags |= FOUND
    if (isIdName(key)) flags |= ID
    if (isValueName(key)) flags |= VALUE
    if (key === 'type' && byKeyName) flags |= TYPE
    if (isRows(key) && byKeyName) flags |= ROWS
    if (isTypedName(key) && byKeyName) flags |= TYPED
    if (key.length <= LONGEST_KEY) {
      if (judged.size >= MOST_KEYS) judged.clear()
      judged.set(key, flags)
    }
    return flags
  }
  const flagsOf = (key: string): number => judged.get(key) ?? judge(key)
  const isTelling = (label: JsonValue | undefined): boolean =>
    typeof label === 'string' && label !== '' && (flagsOf(label) & TELLING) !== 0

  /** Whether the walk replaces what stands under a name that tells. */
  const isCovered = (value: JsonValue): boolean =>
    typeof value === 'string'
      ? value !== ''
      : Array.isArray(value) ||
        (typeof value === 'object' &&
          value !== null &&
          ('stringValue' in value || 'value' in value || 'Value' in value || 'val' in value || 'S' in value))

  /** Whether the other members may make a secret of the value. */
  const isBeside = (source: Readonly<Record<string, JsonValue>>): boolean =>
    'keyName' in source ||
    (byKeyName && (isDeclared(source) || typesPassword(source) || typesCode(source) || isCookie(source))) ||
    labelsOf(source).some((label) => isTelling(label) || isSession(label))

  const inArray = (items: readonly JsonValue[], isId: boolean): boolean => {
    for (const item of items) if (inValue(item, isId)) return true
    if (byKeyName && items.length > 1) {
      const name = textNameOf(items)
      for (let at = 1; name !== undefined && at < items.length; at++)
        if (questionBefore(items, at, name) !== undefined) return true
      if (headOf(items)?.some(isTelling)) return true
    }
    if (byKeyName && items.some((item) => isSecretFlag(item, items[0]))) return true
    // `["cookie", "…"]`: the walk sees whether this is a pair.
    return items.length === 2 && isTelling(items[0])
  }

  const inObject = (source: Readonly<Record<string, JsonValue>>): boolean => {
    for (const key in source) {
      const flags = flagsOf(key)
      const value = source[key] as JsonValue
      if ((flags & FOUND) !== 0) return true
      if (typeof value === 'number' || value === null) continue
      if ((flags & TELLING) !== 0 && isCovered(value)) return true
      if (inValue(value, (flags & ID) !== 0)) return true
      if ((flags & ROWS) !== 0 && headBeside(source, value)?.some(isTelling)) return true
      if ((flags & TYPED) !== 0 && (typesPassword(source) || typesCode(source))) return true
      if ((flags & VALUE) !== 0 && isBeside(source)) return true
      if ((flags & TYPE) !== 0 && isDrawn(source)) return true
      if (key === 'kty' && byKeyName) return true
    }
    return false
  }

  const inValue = (value: JsonValue, isId: boolean): boolean => {
    if (typeof value === 'string')
      return scan.mayFind(value) && (!isId || !/^[\w-]+$/.test(value) || scanId.mayFind(value))
    if (typeof value !== 'object' || value === null) return false
    return Array.isArray(value) ? inArray(value, isId) : inObject(value)
  }

  return (value) => inValue(value, false)
}
