import { describe, expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const now = (): number => performance.now()
const refuse = (pattern: RegExp) => () =>
  createRedactor({ rules: [{ kind: 'own', pattern }] }, (text) => text.slice(0, 4), now)

describe('P1 patterns of users', () => {
  it.each([/(a+)+$/, /^(?:\w+\s?)*$/, /ORD-(\d+)*-$/, /(x|x)*y/, /([a-z]+)*@/])(
    'P1 %s would run away and is refused',
    (pattern) => {
      expect(refuse(pattern)).toThrow(
        expect.objectContaining({
          code: 'bad_option',
          fields: expect.objectContaining({ kind: 'own' }) as object,
        }),
      )
    },
  )
  it.each([/ORD-\d{6}/, /\b[A-Z]{2}\d+\b/, /(?:\d{4}[ -]?){3}\d{4}/, /[\w.]+@[\w.]+/, /(?:[a-z]+\.)+[a-z]+/])(
    'P1 %s is taken',
    (pattern) => {
      expect(refuse(pattern)).not.toThrow()
    },
  )
})
