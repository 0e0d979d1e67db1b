import { expect, it } from 'vitest'
import { parseSince } from '../operations/since.ts'
import { formatClock, formatDuration, formatLocal, formatRelative } from './time.ts'

it.each([
  [0, '0 ms'],
  [38.4, '38 ms'],
  [1234, '1.2 s'],
  [59_949, '59.9 s'],
  [59_990, '1 m 00 s'],
  [185_000, '3 m 05 s'],
  [7_800_000, '2 h 10 m'],
  [97 * 3_600_000, '4 d 1 h'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

it('tells near times by their distance and far ones by the clock', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  const ago = (ms: number): string => formatRelative(new Date(now - ms).toISOString(), now)
  expect([ago(1000), ago(42_000), ago(180_000), ago(7_200_000)]).toEqual([
    'just now',
    '42 s ago',
    '3 min ago',
    '2 h ago',
  ])
  expect(ago(3 * 86_400_000)).toMatch(/^2026-11-1\d \d\d:\d\d:\d\d$/)
  expect(ago(-3_600_000)).toMatch(/^2026-11-15 /)
  expect(formatClock('2026-11-15T07:17:00.123Z')).toMatch(/^\d\d:\d\d:00\.123$/)
  expect(formatLocal('no time')).toBe('no time')
})

it('reads how long ago, or a date', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(parseSince('1h', now).toISOString()).toBe('2026-11-15T11:00:00.000Z')
  expect(parseSince('2w', now).toISOString()).toBe('2026-11-01T12:00:00.000Z')
  expect(parseSince('2026-11-01', now).toISOString()).toBe('2026-11-01T00:00:00.000Z')
  for (const bad of ['', 'yesterday', '1y', '-1h', '2026-99-99'])
    expect(() => parseSince(bad, now)).toThrow(/cannot be read/)
})
