import { describe, expect, it, test } from 'vitest'
import { fitsRecorded } from './fits-recorded.ts'

const one = '[redacted:case:f1f1f1f1f1]'
const renamed = '[redacted:file:f1f1f1f1f1]'
const other = '[redacted:case:e2e2e2e2e2]'

describe('D2 what fits a recorded value', () => {
  it.each([
    ['text in place of a placeholder', one, 'anything at all', true],
    ['a number in its place, for rules by key name take those out, too', { pin: one }, { pin: 4711 }, true],
    ['nothing in its place', { a: one, b: 1 }, { b: 1 }, false],
    ['null in its place', [one], [null], false],
    ['text around it', `a ${one} b ${other} c`, 'a x b y c', true],
    ['another text around it', `a ${one} b`, 'a x c', false],
    ['a text that is shorter than what stands around it', `aa ${one} aa`, 'aa a', false],
    ['a placeholder of another rule', { a: one }, { a: renamed }, true],
    ['keys with a placeholder', { [`n ${one}`]: { x: one }, b: 1 }, { 'n case-1': { x: 'y' }, b: 1 }, true],
    ['keys with a placeholder and other values', { [`n ${one}`]: 1 }, { 'n case-1': 2 }, false],
    ['one key more', { [`n ${one}`]: 1 }, { 'n case-1': 1, b: 2 }, false],
    ['properties that are undefined', { a: 1 }, { a: 1, b: undefined }, true],
    ['another order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['a longer list', [1], [1, 2], false],
    ['a list for an object', { 0: 1 }, [1], false],
    ['a key of the prototype', { a: 1 }, { a: 1, toString: 2 }, false],
  ])('D2 %s', (_, recorded, received, isFitting) => {
    expect(fitsRecorded(recorded, received)).toBe(isFitting)
  })

  it('D2 what is neither JSON nor text is compared by who knows how', () => {
    const isSame = (a: unknown, b: unknown): boolean => Number(a) === Number(b)
    expect(fitsRecorded({ at: new Date(1), a: one }, { at: new Date(1), a: 'x' })).toBe(false)
    expect(fitsRecorded({ at: new Date(1), a: one }, { at: new Date(1), a: 'x' }, { isSame })).toBe(true)
    expect(fitsRecorded({ at: new Date(1) }, { at: new Date(2) }, { isSame })).toBe(false)
  })

  it('D2 anything fits where it is volatile, also a longer list', () => {
    const isVolatile = (path: readonly (string | number)[]): boolean => path.join('.') === 'in.list.1'
    expect(fitsRecorded({ list: [1] }, { list: [1, 2] }, { isVolatile, path: ['in'] })).toBe(true)
    expect(fitsRecorded({ list: [1] }, { list: [2, 2] }, { isVolatile, path: ['in'] })).toBe(false)
  })

  it('L4 by their secrets, placeholders are compared by fingerprint, whatever their kind', () => {
    const bySecret = { bySecret: true }
    expect(fitsRecorded(`a ${one}`, `a ${renamed}`, bySecret)).toBe(true)
    expect(fitsRecorded(`a ${one}`, `a ${other}`, bySecret)).toBe(false)
    expect(fitsRecorded(`a ${one}`, 'a case-1', bySecret)).toBe(true)
  })
})

test('D2 a recorded placeholder fits inside of maps, sets, URLs and errors, and NaN fits NaN', () => {
  const place = '[redacted:code:0123456789]'
  const pairs: [unknown, unknown, unknown][] = [
    [new Map([['a', place]]), new Map([['a', 'x']]), new Map([['b', 'x']])],
    [new Set([`see ${place}`]), new Set(['see x']), new Set(['saw x'])],
    [new Error(`no ${place}`), new Error('no x'), new Error('yes x')],
    [
      { n: Number.NaN, s: place },
      { n: Number.NaN, s: 'x' },
      { n: 1, s: 'x' },
    ],
  ]
  for (const [was, fitting, other] of pairs) {
    expect(fitsRecorded(was, fitting)).toBe(true)
    expect(fitsRecorded(was, other)).toBe(false)
  }
})
