import { ClewError, type JsonObject, type JsonValue } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { applyPatch } from './json-patch.ts'

describe('A3 RFC 6902', () => {
  it.each([
    [{ a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    [{ a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    [{ a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    [{ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    [{ a: [1, 2] }, [{ op: 'remove', path: '/a/0' }], { a: [2] }],
    [{ a: null }, [{ op: 'replace', path: '/a', value: 5 }], { a: 5 }],
    [{ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
    [{ a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
    [
      { 'a/b': 1, '~': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/~0' },
      ],
      {},
    ],
    [
      { a: 1 },
      [
        { op: 'test', path: '/a', value: 1 },
        { op: 'add', path: '', value: [] },
      ],
      [],
    ],
  ])('%j with %j', (before, patch, after) => {
    const copy = structuredClone(before)
    expect(applyPatch(before as JsonValue, patch as JsonValue[])).toEqual(after)
    expect(before).toEqual(copy)
  })

  it.each([
    [{ op: 'add', path: 'a', value: 1 }],
    [{ op: 'add', path: '/x/y', value: 1 }],
    [{ op: 'add', path: '/list/5', value: 1 }],
    [{ op: 'add', path: '/list/01', value: 1 }],
    [{ op: 'add', path: '/a' }],
    [{ op: 'replace', path: '/x', value: 1 }],
    [{ op: 'remove', path: '/list/-' }],
    [{ op: 'test', path: '/a', value: 2 }],
    [{ op: 'jump', path: '/a' }],
    [{ op: 'move', from: '/x', path: '/a' }],
    [7],
  ])('refuses %j', (operation) => {
    expect(() => applyPatch({ a: 1, list: [] }, [operation as JsonValue])).toThrow(ClewError)
  })

  it('does not let a name reach the prototype', () => {
    const patch = [{ op: 'add', path: '/__proto__', value: { bad: 1 } }]
    const after = applyPatch({}, patch) as JsonObject
    expect(Object.hasOwn(after, '__proto__')).toBe(true)
    expect(Reflect.get({}, 'bad')).toBeUndefined()
    expect(() => applyPatch({}, [{ op: 'add', path: '/constructor/prototype/bad', value: 1 }])).toThrow(
      ClewError,
    )
  })
})
