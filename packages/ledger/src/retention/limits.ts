import { refused } from './refused.ts'

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

const SIZES: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

/** `90d` in milliseconds. */
export function parseAge(given: unknown, path: string): number | undefined {
  if (given === undefined) return undefined
  const [, count, unit] = (typeof given === 'string' && /^(\d{1,6}(?:\.\d+)?)([smhdwy])$/.exec(given)) || []
  const ms = Number(count) * (UNITS[unit ?? ''] ?? Number.NaN)
  if (ms > 0) return ms
  throw refused(path, 'is not an age above 0', 'Write it like 36h, 90d, 2w or 1y.')
}

/** `10GB`, or a number of bytes. */
export function parseBytes(given: unknown, path: string): number | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  const [, count, unit] = (typeof given === 'string' && /^(\d+(?:\.\d+)?) ?([KMGT]?B)$/.exec(given)) || []
  const bytes = Math.round(Number(count) * (SIZES[unit ?? ''] ?? Number.NaN))
  if (bytes >= 0) return bytes
  throw refused(path, 'is not a size', 'Write it like 500MB or 10GB, or as a number of bytes.')
}
