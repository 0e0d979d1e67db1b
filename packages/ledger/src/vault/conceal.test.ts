import { describe, expect, it } from 'vitest'
import { createConcealment } from './conceal.ts'

const HIDDEN = '[not shown: holds a restored secret, or a part of one]'

describe('P3 originals that code was given', () => {
  it('P3 are hidden in reports: whole, inside of a text, cut, and in keys; everything else stays', () => {
    const { add, conceal } = createConcealment()
    const value = {
      as: ['app', 'hunter2-Zq9!xKpw77'],
      cut: 'failed for hunter2-',
      'Zq9!xKpw77': 1,
      n: 2,
      fine: 'hunt',
    }
    expect(conceal(value)).toBe(value)
    add('hunter2-Zq9!xKpw77')
    expect(conceal(value)).toEqual({ as: ['app', HIDDEN], cut: HIDDEN, [HIDDEN]: 1, n: 2, fine: 'hunt' })
  })

  it('P3 of a few characters are found too', () => {
    const { add, conceal } = createConcealment()
    add('4711')
    expect(conceal(['pin 4711', 'pin 4712'])).toEqual([HIDDEN, 'pin 4712'])
  })

  it('P3 are forgotten beyond a limit, the oldest first', () => {
    const { add, conceal } = createConcealment()
    for (let n = 0; n < 1100; n++) add(`secret number ${String(n).padStart(5, '0')}`.slice(-8))
    expect(conceal('er 00000')).toBe('er 00000')
    expect(conceal('er 01099')).toBe(HIDDEN)
  })
})
