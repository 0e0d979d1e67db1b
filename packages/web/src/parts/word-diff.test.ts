import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffWords } from './word-diff.ts'

it('V10 shows which words went and came', () => {
  expect(diffWords('Book pier 9, please.', 'Book pier 4, please.')).toEqual([
    { kind: 'same', text: 'Book pier ' },
    { kind: 'gone', text: '9' },
    { kind: 'new', text: '4' },
    { kind: 'same', text: ', please.' },
  ])
})

it('V10 the parts make up both texts again, whatever they are', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 30 }), fc.lorem({ maxCount: 30 }), (a, b) => {
      const parts = diffWords(a, b)
      const side = (left: 'gone' | 'new'): string =>
        parts
          .filter(({ kind }) => kind !== left)
          .map(({ text }) => text)
          .join('')
      expect(side('new')).toBe(a)
      expect(side('gone')).toBe(b)
    }),
  )
})
