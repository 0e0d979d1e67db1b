import { expect, it } from 'vitest'
import { readMode } from './read-mode.ts'

const ALL = { write: true, resume: true, replay: true }
const NONE = { write: false, resume: false, replay: false }

it.each([
  [undefined, ALL],
  ['', ALL],
  [' , ', ALL],
  ['read', NONE],
  ['write', { ...NONE, write: true }],
  ['write,resume', { ...ALL, replay: false }],
  ['Resume, REPLAY', { ...ALL, write: false }],
  ['read,write', { ...NONE, write: true }],
])('R11 CLEW_MODE %o', (text, mode) => {
  expect(readMode(text)).toEqual(mode)
})

it('R11 a word that is no switch is refused: a typing error must not switch anything on', () => {
  expect(() => readMode('write,resum')).toThrow(/CLEW_MODE names "resum", .*write, resume and replay/)
})
