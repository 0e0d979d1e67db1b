import { expect, test } from 'vitest'
import { mayPrecedeDigit } from './digit-ahead.ts'

test.each([
  '(?=\\d{2})',
  '(?=[a-f0-9]{4})',
  '(?=a?\\d)',
  '(?= {0,3}\\w)',
  '(?=x|5)',
  '(?=x*)',
  '(?<=auth.)',
  '(?!x)',
  '(?:(?=a)|(?<=b.))',
])('a digit may follow where %s fits', (looks) => {
  expect(mayPrecedeDigit(looks)).toBe(true)
})

test.each([
  '(?=p )',
  '(?=\\/\\/)',
  '(?=[A-Z]\\d)',
  '(?= {1,3}\\d)',
  '(?<=auth.)(?=x|y)',
  '(?:(?=a)|(?=b))(?=\\w)',
])('no digit follows where %s fits', (looks) => {
  expect(mayPrecedeDigit(looks)).toBe(false)
})
