import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import { SYSTEM_RUN_PREFIX } from '../event/system-run.ts'
import { isTerminal, RUN_STATUSES, type RunStatus } from '../fold/run-summary.ts'
import { isObject } from '../json.ts'
import { MEMORY_LAYERS, type MemoryLayer } from '../memory/item.ts'
import { parseAge, parseBytes } from './limits.ts'
import { refused } from './refused.ts'

/** Runs that a rule applies to; all given conditions must hold. Without any: all runs except system runs. */
export interface RetentionMatch {
  readonly workspace?: string | undefined
  readonly agent?: string | undefined
  /** How runs ended. */
  readonly status?: readonly RunStatus[] | undefined
  /** System runs of this kind: `stream` for `clew:stream/…`. */
  readonly systemRun?: string | undefined
  /** System runs of this layer of memory. */
  readonly layer?: MemoryLayer | undefined
  /** Only events of these types, out of runs that stay otherwise. */
  readonly types?: readonly string[] | undefined
}

export interface RetentionRule {
  /** Recorded in the audit run with everything the rule deletes. */
  readonly name: string
  readonly match: RetentionMatch
  /** Age of the last event: `90d`, `36h`. */
  readonly olderThanMs?: number | undefined
  /** Number of newest runs to keep, or of newest events in each system run. */
  readonly newest?: number | undefined
  /** The oldest, until those that fit take no more than this. */
  readonly maxBytes?: number | undefined
}

/** Rule for runs that are kept whatever other rules say. */
export interface KeepRule {
  readonly name: string
  readonly match: Omit<RetentionMatch, 'types'>
  /** Only as long as it is not older than this. */
  readonly youngerThanMs?: number | undefined
}

/** P4, R10: what may go. Nothing goes that no rule names. */
export interface RetentionPolicy {
  readonly rules: readonly RetentionRule[]
  readonly keep: readonly KeepRule[]
}

/** The same as people write it, in a file or as an option. */
export interface RetentionPolicyInput {
  readonly rules: readonly {
    readonly name?: string | undefined
    readonly match?: RetentionMatch | undefined
    readonly olderThan?: string | undefined
    readonly newest?: number | undefined
    readonly maxBytes?: number | string | undefined
  }[]
  readonly keep?:
    | readonly {
        readonly name?: string | undefined
        readonly match?: Omit<RetentionMatch, 'types'> | undefined
        readonly youngerThan?: string | undefined
      }[]
    | undefined
}

const MATCHES = ['workspace', 'agent', 'status', 'systemRun', 'layer', 'types']
/** Without these events a run could not be resumed, replayed or distinguished from one that never ended. */
const NEEDED = /^(?:system\.|execution\.(?:step_|checkpoint$|completed$|handoff$|memory_)|ui\.input_)/

/** Checks what people wrote; says which part of it is wrong and how it should be. */
export function parsePolicy(given: unknown): RetentionPolicy {
  const { rules, keep = [] } = fields(given, 'the policy', ['rules', 'keep'])
  const policy: RetentionPolicy = {
    rules: list(rules, 'rules').map((rule, at) => parseRule(rule, `rules[${at}]`, at)),
    keep: list(keep, 'keep').map((rule, at) => parseKeep(rule, `keep[${at}]`, at)),
  }
  assertAgreeing(policy)
  return policy
}

function parseRule(given: unknown, path: string, at: number): RetentionRule {
  const rule = fields(given, path, ['name', 'match', 'olderThan', 'newest', 'maxBytes'])
  const match = parseMatch(rule['match'] ?? {}, `${path}.match`)
  const { newest } = rule
  if (newest !== undefined && !(Number.isSafeInteger(newest) && Number(newest) >= 0))
    throw refused(`${path}.newest`, 'is not a whole number from 0 on', 'Say how many of the newest stay.')
  const parsed: RetentionRule = {
    name: nameOf(rule['name'], path, `rule ${at + 1}`),
    match,
    olderThanMs: parseAge(rule['olderThan'], `${path}.olderThan`),
    newest: newest as number | undefined,
    maxBytes: parseBytes(rule['maxBytes'], `${path}.maxBytes`),
  }
  const limits = [parsed.olderThanMs, parsed.newest, parsed.maxBytes].filter((limit) => limit !== undefined)
  if (limits.length !== 1)
    throw refused(
      path,
      limits.length === 0 ? 'has no limit' : 'has several limits',
      'Give one of olderThan, newest and maxBytes; make one rule of each.',
    )
  assertFitting(parsed, path)
  return parsed
}

function assertFitting(
  { match: { types, layer, systemRun, status }, olderThanMs, maxBytes }: RetentionRule,
  path: string,
): void {
  const isByAge = olderThanMs !== undefined
  if (status?.includes('pending') && !isByAge)
    throw refused(
      `${path}.match.status`,
      'names pending without olderThan',
      'What was only recorded has no end: say from which age on it may go.',
    )
  if (types && !isByAge)
    throw refused(path, 'takes events of a type and has no olderThan', 'Say from which age on they go.')
  if (layer !== undefined && !isByAge)
    throw refused(
      path,
      'counts a layer of memory',
      'Give olderThan; how many items it holds is limited where it is written.',
    )
  if (systemRun !== undefined && maxBytes !== undefined)
    throw refused(
      path,
      'limits the bytes of system runs',
      'Give olderThan, or the number of newest events to keep in each.',
    )
  if (types && (layer ?? systemRun) !== undefined)
    throw refused(
      path,
      'deletes events of a type from system runs',
      'Leave the types out, or take them out of runs.',
    )
}

function parseKeep(given: unknown, path: string, at: number): KeepRule {
  const rule = fields(given, path, ['name', 'match', 'youngerThan'])
  const { types, ...match } = parseMatch(rule['match'] ?? {}, `${path}.match`)
  if (types)
    throw refused(`${path}.match.types`, 'cannot be kept apart', 'Keep whole runs, or change the rule.')
  return {
    name: nameOf(rule['name'], path, `keep ${at + 1}`),
    match,
    youngerThanMs: parseAge(rule['youngerThan'], `${path}.youngerThan`),
  }
}

function parseMatch(given: unknown, path: string): RetentionMatch {
  const match = fields(given, path, MATCHES)
  const text = (name: string): string | undefined => {
    const value = match[name]
    if (value === undefined || (typeof value === 'string' && value !== '')) return value
    throw refused(`${path}.${name}`, 'is not a text', `Give one ${name}, or leave it out.`)
  }
  const texts = (name: string): readonly string[] | undefined => {
    const value = match[name]
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string'))
      return value
    throw refused(`${path}.${name}`, 'is not a list of texts', `Give a list, or leave ${name} out.`)
  }
  const parsed = {
    workspace: text('workspace'),
    agent: text('agent'),
    status: texts('status') as readonly RunStatus[] | undefined,
    systemRun: text('systemRun'),
    layer: text('layer') as MemoryLayer | undefined,
    types: texts('types'),
  }
  assertMatch(parsed, path)
  return parsed
}

function assertMatch({ status, systemRun, layer, agent, types }: RetentionMatch, path: string): void {
  for (const each of status ?? []) {
    if (!RUN_STATUSES.includes(each))
      throw refused(`${path}.status`, `names ${each}, which is no status`, `Use ${RUN_STATUSES.join(', ')}.`)
    if ((!isTerminal(each) && each !== 'pending') || each === 'deleted')
      throw refused(`${path}.status`, `names ${each}`, 'Only runs that have ended go: stop them first.')
  }
  if (layer !== undefined && !(MEMORY_LAYERS as readonly string[]).includes(layer))
    throw refused(`${path}.layer`, `names ${layer}, which is no layer`, `Use ${MEMORY_LAYERS.join(', ')}.`)
  if (systemRun === 'audit' || systemRun?.startsWith(SYSTEM_RUN_PREFIX) || systemRun === 'memory')
    throw refused(
      `${path}.systemRun`,
      systemRun === 'audit' ? `names ${AUDIT_RUN_ID}, which proves what went` : `names ${systemRun}`,
      systemRun === 'memory' ? 'Use layer.' : 'Name a kind of system run, such as stream.',
    )
  if ((systemRun !== undefined || layer !== undefined) && (agent !== undefined || status !== undefined))
    throw refused(path, 'matches system runs by agent or status', 'System runs have neither: leave them out.')
  if (systemRun !== undefined && layer !== undefined)
    throw refused(
      path,
      'names a system run and a layer',
      'A layer selects the system runs of memory: leave one out.',
    )
  for (const type of types ?? [])
    if (NEEDED.test(type))
      throw refused(
        `${path}.types`,
        `names ${type}, which tells how a run went`,
        'Let whole runs go, or name types such as execution.reasoning.',
      )
}

/** Rules that cannot both be meant. */
function assertAgreeing({ rules, keep }: RetentionPolicy): void {
  const names = new Set<string>()
  for (const { name } of [...rules, ...keep]) {
    if (names.has(name)) throw refused(`the name ${name}`, 'stands twice', 'Name each rule once.')
    names.add(name)
  }
  const seen = new Map<string, RetentionRule>()
  for (const rule of rules) {
    const kind = (['olderThanMs', 'newest', 'maxBytes'] as const).find((limit) => rule[limit] !== undefined)
    const key = `${kind} ${keyOf(rule.match)}`
    const other = seen.get(key)
    if (other)
      throw refused(
        rule.name,
        `and ${other.name} limit the same runs in the same way`,
        'Leave one of them out.',
      )
    seen.set(key, rule)
    const winner = keep.find((each) => each.youngerThanMs === undefined && covers(each.match, rule.match))
    if (winner)
      throw refused(rule.name, `takes nothing, for ${winner.name} keeps it all`, 'Leave one of them out.')
  }
}

/** Everything that `rule` is about is kept by `keep`. */
const covers = (keep: KeepRule['match'], { types: _, ...rule }: RetentionMatch): boolean =>
  Object.entries(keep).every(([name, value]) => {
    if (value === undefined) return true
    const other = rule[name as keyof typeof rule]
    if (Array.isArray(value)) return Array.isArray(other) && other.every((each) => value.includes(each))
    return other === value
  }) &&
  ((keep.systemRun ?? keep.layer) !== undefined || (rule.systemRun ?? rule.layer) === undefined)

const keyOf = (match: RetentionMatch): string =>
  JSON.stringify(MATCHES.map((name) => Reflect.get(match, name)))

function fields(given: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (!isObject(given)) throw refused(path, 'is not an object', 'See docs/guide/retention.md for an example.')
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw refused(`${path}.${name}`, 'is not known', `Use ${known.join(', ')}.`)
  return given
}

function list(given: unknown, path: string): unknown[] {
  if (Array.isArray(given)) return given
  throw refused(path, 'is not a list', 'See docs/guide/retention.md for an example.')
}

function nameOf(given: unknown, path: string, otherwise: string): string {
  if (given === undefined) return otherwise
  if (typeof given === 'string' && given.trim() !== '' && given.length <= 100) return given
  throw refused(
    `${path}.name`,
    'is not a text of up to 100 characters',
    'Name the rule, or leave the name out.',
  )
}
