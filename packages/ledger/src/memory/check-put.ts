import { ClewError } from '../errors.ts'
import { isoText } from '../event/iso-text.ts'
import { LAST_MS } from './fold.ts'
import { type MemoryItem, type MemoryScope, memoryRunId } from './item.ts'
import { isNamespace, isPlainName, MAX_NAME_CHARS } from './names.ts'
import { checkLayer } from './policy.ts'

/** An item to store, with its scope and name. */
export interface MemoryInput {
  readonly layer: MemoryItem['layer']
  /** A run id for `short`, a thread id for `session`; for `long` `workspace` (default), `agent:NAME` or `user:ID`. */
  readonly scope?: string | undefined
  /** Parts between strokes: `facts/people`. */
  readonly namespace: string
  readonly key: string
  readonly value: unknown
  readonly tags?: readonly string[] | undefined
  /** Expiry of the item: after a duration, or at a time. */
  readonly ttlMs?: number | undefined
  readonly expiresAt?: string | Date | undefined
  /** Ids of the people it is about, for erasure. */
  readonly subjects?: readonly string[] | undefined
}

/** Longest id of a memory run is that of a run, less what stands before the scope in it. */
const MAX_SCOPE_CHARS = 480

const refuse = (what: string, hint: string, option: string): never => {
  throw new ClewError('bad_option', what, `${hint} Nothing was changed.`, { option })
}

export function checkScope(given: { layer: string; scope?: string | undefined }): MemoryScope {
  const layer = checkLayer(given.layer)
  const scope = given.scope ?? (layer === 'long' ? 'workspace' : undefined)
  if (scope === undefined)
    return refuse(
      `Memory of the layer ${layer} needs a scope`,
      `Give the id of the ${layer === 'short' ? 'run' : 'thread'} it belongs to.`,
      'scope',
    )
  if (typeof scope !== 'string' || scope.trim() === '' || scope.length > MAX_SCOPE_CHARS)
    refuse(`The scope is no id`, `Use a text of 1 to ${MAX_SCOPE_CHARS} characters.`, 'scope')
  if (layer === 'long' && !/^(?:workspace|(?:agent|user):.+)$/s.test(scope))
    refuse('Long memory has no such scope', 'Use workspace, agent:NAME or user:ID.', 'scope')
  return { layer, scope }
}

export function checkNamespace(given: unknown): string {
  if (typeof given === 'string' && isNamespace(given)) return given
  return refuse(
    'The namespace is not usable',
    `Use 1 to ${MAX_NAME_CHARS} characters, parts between strokes such as facts/people.`,
    'namespace',
  )
}

export function checkKey(given: unknown): string {
  if (typeof given === 'string' && isPlainName(given)) return given
  return refuse('The key is not usable', `Use a text of 1 to ${MAX_NAME_CHARS} characters.`, 'key')
}

export function checkNames(option: 'tags' | 'subjects', given: unknown): readonly string[] {
  if (given === undefined) return []
  const isFine = Array.isArray(given) && given.every((each) => typeof each === 'string' && isPlainName(each))
  if (isFine && given.length <= 64) return [...new Set(given as string[])]
  return refuse(
    `The ${option} are not usable`,
    `Give a list of up to 64 texts of 1 to ${MAX_NAME_CHARS} characters.`,
    option,
  )
}

/** Expiry as text; null for never. A time in the past is refused. */
function checkExpiry(
  { ttlMs, expiresAt }: Pick<MemoryInput, 'ttlMs' | 'expiresAt'>,
  nowMs: number,
): string | null {
  if (ttlMs === undefined && expiresAt === undefined) return null
  if (ttlMs !== undefined && expiresAt !== undefined)
    refuse('Both ttlMs and expiresAt were given', 'Give one of them.', 'expiresAt')
  const at = ttlMs === undefined ? toMs(expiresAt) : nowMs + ttlMs
  const option = ttlMs === undefined ? 'expiresAt' : 'ttlMs'
  if (!(at <= LAST_MS))
    refuse(`The option ${option} is not a time`, 'Use one such as 2027-01-31T12:00:00Z.', option)
  if (at <= nowMs)
    refuse(`The option ${option} lies in the past`, 'Give a time to come, or forget the item.', option)
  return isoText(Math.ceil(at))
}

const toMs = (given: string | Date | undefined): number =>
  given instanceof Date ? given.getTime() : Date.parse(given ?? '')

export interface CheckedPut extends MemoryScope {
  readonly memoryRun: string
  readonly namespace: string
  readonly key: string
  readonly value: unknown
  readonly tags: readonly string[]
  readonly subjects: readonly string[]
  readonly expiresAt: string | null
}

export function checkPut(input: MemoryInput, nowMs: number): CheckedPut {
  const scope = checkScope(input)
  return {
    ...scope,
    memoryRun: memoryRunId(scope),
    namespace: checkNamespace(input.namespace),
    key: checkKey(input.key),
    value: input.value ?? null,
    tags: checkNames('tags', input.tags),
    subjects: checkNames('subjects', input.subjects),
    expiresAt: checkExpiry(input, nowMs),
  }
}
