import { ClewError } from './errors.ts'
import { SCORE_OPERATORS, type ScoreAndTagFilter, type ScoreFilter } from './fold/scores-and-tags.ts'
import { isObject } from './json.ts'
import { DURABILITIES, type Durability } from './ledger.ts'

export function checkWorkspace(name: string): string {
  if (/^[\w.:@-]{1,128}$/.test(name)) return name
  throw new ClewError(
    'bad_option',
    'The workspace name is not usable',
    'Use 1 to 128 letters, digits and the characters . _ : @ -',
    { option: 'workspace' },
  )
}

export function checkDurability(given: string): Durability {
  const durability = DURABILITIES.find((each) => each === given)
  if (durability) return durability
  throw new ClewError(
    'bad_option',
    `The option durability is ${JSON.stringify(given).slice(0, 40)}`,
    `Use one of ${DURABILITIES.join(', ')}.`,
    { option: 'durability' },
  )
}

/** Places and counts are whole numbers; an endless limit is none. */
export function checkCount(option: string, value: number | undefined): void {
  if (
    value === undefined ||
    value === Number.POSITIVE_INFINITY ||
    (Number.isSafeInteger(value) && value >= 0)
  )
    return
  throw new ClewError('bad_option', `The option ${option} is ${value}`, 'Use a whole number from 0 on.', {
    option,
  })
}

export function checkSince(since: string | Date | undefined): string | undefined {
  if (since === undefined) return undefined
  const ms = since instanceof Date ? since.getTime() : Date.parse(since)
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new ClewError(
    'bad_option',
    'The option since is not a time',
    'Use one such as 2026-11-15T07:17:00Z.',
    { option: 'since' },
  )
}

/** Refuses a filter by tags or scores that could not fit anything, by the option it is in. */
export function checkScoresAndTags({ tags, hasTags, scores }: ScoreAndTagFilter): void {
  if (tags !== undefined && !(isObject(tags) && Object.values(tags).every((tag) => typeof tag === 'string')))
    throw new ClewError(
      'bad_option',
      'The option tags is not a map of texts',
      'Use one such as { env: "prod" }.',
      {
        option: 'tags',
      },
    )
  if (
    hasTags !== undefined &&
    !(Array.isArray(hasTags) && hasTags.every((name: unknown) => typeof name === 'string'))
  )
    throw new ClewError(
      'bad_option',
      'The option hasTags is not a list of names',
      'Use one such as ["env"].',
      { option: 'hasTags' },
    )
  if (scores !== undefined && !(Array.isArray(scores) && scores.every(isScoreFilter)))
    throw new ClewError(
      'bad_option',
      'The option scores is not a list of conditions',
      `Use conditions such as { name: "accuracy", op: ">=", value: 0.5 }, with op one of ${SCORE_OPERATORS.join(' ')}; < and > take numbers.`,
      { option: 'scores' },
    )
}

function isScoreFilter(given: unknown): given is ScoreFilter {
  if (!isObject(given) || typeof given['name'] !== 'string') return false
  const { op, value } = given
  if (!SCORE_OPERATORS.some((each) => each === op)) return false
  if (typeof value === 'number') return Number.isFinite(value)
  return (op === '=' || op === '!=') && (typeof value === 'string' || typeof value === 'boolean')
}

export function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit
  throw new ClewError(
    'bad_option',
    `The limit ${limit} is out of range`,
    'Use a whole number from 1 to 10,000 and page with the cursor.',
    { option: 'limit' },
  )
}

export function missingRun(runId: string): ClewError {
  return new ClewError(
    'not_found',
    `There is no run ${runId} in this workspace`,
    'List the runs with `clew runs` or ledger.listRuns().',
    { runId },
  )
}
