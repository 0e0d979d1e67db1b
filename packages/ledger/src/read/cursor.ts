import { ClewError } from '../errors.ts'

/** The cursor of a listing: the key of the last run that was shown. */
export function parseCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw new ClewError(
    'bad_option',
    'The cursor is not one that a listing gave',
    'Use nextCursor of the page before, or none.',
    { option: 'cursor' },
  )
}
