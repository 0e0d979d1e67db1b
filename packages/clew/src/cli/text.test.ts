import { describe, expect, it } from 'vitest'
import { createColours, wantsColour } from './colour.ts'
import { compact, previewPayload } from './preview.ts'
import { cut, jsonText, pad, printable, textWidth, wrap } from './text.ts'

const HOSTILE = '\u001b]0;owned\u0007 \u009b2J \u202egnp.exe \u2028 \u0000 \ud800 \u007f'
// oxlint-disable-next-line no-control-regex -- what must not get through
const DRIVES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

describe('printable', () => {
  it('spells out whatever could drive a terminal', () => {
    expect(printable(HOSTILE)).not.toMatch(DRIVES)
    expect(printable('a\nb\tc\u001b[0m\u009b')).toBe('a\\nb\\tc\\e[0m\\u009b')
  })

  it('leaves every language as it is', () => {
    const text = 'Grüße, 你好, שלום, नमस्ते, 👩‍👩‍👧 – ok'
    expect(printable(text)).toBe(text)
  })
})

it('jsonText is safe to print and still the same JSON', () => {
  const value = { text: HOSTILE.replace('\ud800', ''), nested: ['\n'] }
  expect(jsonText(value)).not.toMatch(DRIVES)
  expect(JSON.parse(jsonText(value))).toEqual(value)
  expect(JSON.parse(jsonText(value, 2))).toEqual(value)
})

describe('widths', () => {
  it('counts columns, not code units, and no colours', () => {
    expect(textWidth('abc')).toBe(3)
    expect(textWidth('你好')).toBe(4)
    expect(textWidth('e\u0301')).toBe(1)
    expect(textWidth(createColours(true).red('abc'))).toBe(3)
  })

  it('cuts to a width with an ellipsis and never through a wide character', () => {
    expect(cut('abcdef', 6)).toBe('abcdef')
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(textWidth(cut('你好世界', 4))).toBeLessThanOrEqual(4)
    expect(cut('abc', 0)).toBe('')
    expect(pad('a', 3)).toBe('a  ')
    expect(pad('a', 3, 'right')).toBe('  a')
  })

  it('wraps at spaces, and inside a word only when it is wider than the line', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('abcdefghij k', 4)).toEqual(['abcd', 'efgh', 'ij k'])
    expect(wrap('', 10)).toEqual([''])
    for (const line of wrap('你好世界 hello wide 世界 words', 7))
      expect(textWidth(line)).toBeLessThanOrEqual(7)
  })
})

describe('previews', () => {
  it('says what matters of a payload, on one line', () => {
    expect(previewPayload('execution.message', { role: 'user', content: 'hi\nthere' })).toBe(
      'user: hi\\nthere',
    )
    expect(previewPayload('execution.step_started', { stepId: 'a#0', attempt: 2 })).toBe('a#0 attempt 2')
    expect(previewPayload('execution.custom', { a: { b: [1, 'x'] } })).toBe('{ a: { b: [1, "x"] } }')
  })

  it('never looks further than it shows', () => {
    const endless = new Proxy([1, 2, 3], {
      get(target, key, receiver) {
        if (key === 'length') return 10_000_000
        return typeof key === 'string' && /^\d+$/.test(key)
          ? 'item'
          : (Reflect.get(target, key, receiver) as unknown)
      },
    })
    expect(compact(endless).length).toBeLessThan(500)
    expect(compact({ long: 'x'.repeat(1_000_000) }).length).toBeLessThan(500)
  })
})

it('colours only for people at a terminal who did not say no', () => {
  expect(wantsColour(true, {})).toBe(true)
  expect(wantsColour(false, {})).toBe(false)
  expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false)
  expect(wantsColour(true, { TERM: 'dumb' })).toBe(false)
  expect(createColours(false).red('a')).toBe('a')
})
