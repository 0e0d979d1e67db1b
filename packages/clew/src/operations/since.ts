import { ClewError } from '@clew/ledger'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 }

/** `90s`, `15m`, `1h`, `7d`, `2w` before now, or a date or time in ISO 8601. */
export function parseSince(text: string, now: number): Date {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return new Date(now - Number(count) * (UNIT_MS[unit] ?? 0))
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (!Number.isNaN(date.getTime())) return date
  throw new ClewError(
    'bad_option',
    `The time ${JSON.stringify(text.slice(0, 40))} cannot be read`,
    'Write how long ago (90s, 15m, 1h, 7d, 2w) or a date such as 2026-11-15 or 2026-11-15T07:17:00Z.',
    { option: 'since' },
  )
}
