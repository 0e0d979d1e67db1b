import { ClewError } from '../errors.ts'
import type { MemoryLayer } from '../memory/item.ts'
import type { Growth } from './growth.ts'
import { parsePolicy, type RetentionPolicyInput } from './policy.ts'

export interface ProposalFacts {
  readonly growth: Growth
  /** A policy in force is extended: none of its rules is removed or changed. */
  readonly inForce: RetentionPolicyInput | null
  /** How many scopes of memory there are. */
  readonly memory: Readonly<Record<MemoryLayer, number>>
}

export interface ProposedPolicy {
  /** Ready to be saved, and to be given to `gc`. */
  readonly policy: RetentionPolicyInput
  /** Rules that the proposal adds to the policy in force, with reasons. */
  readonly adds: readonly { readonly name: string; readonly why: string }[]
}

type Rule = RetentionPolicyInput['rules'][number]
type Keep = NonNullable<RetentionPolicyInput['keep']>[number]

/** Ages for runs that are completed: the longest that fits. */
const AGES = ['1y', '180d', '90d', '30d'] as const
const AGE_DAYS: Readonly<Record<(typeof AGES)[number], number>> = {
  '1y': 365,
  '180d': 180,
  '90d': 90,
  '30d': 30,
}
/** Bytes that the events of that period may take. */
const ROOM_BYTES = 5e9

/**
 * R10: short-term memory ends a day after its run, session memory after 30 idle days, completed runs go at the age that
 * fits the growth. Runs that failed, wait or are held are in no rule. Null when the policy in force says all of that.
 */
export function proposePolicy({ growth, inForce, memory }: ProposalFacts): ProposedPolicy | null {
  let policy: RetentionPolicyInput = inForce ?? { rules: [] }
  const adds: { name: string; why: string }[] = []

  /** Omits proposals that contradict the policy in force. */
  function add(part: { rule: Rule } | { keep: Keep }, why: string): void {
    const name = freeName(policy, ('rule' in part ? part.rule : part.keep).name ?? '')
    const next =
      'rule' in part
        ? { ...policy, rules: [...policy.rules, { ...part.rule, name }] }
        : { ...policy, keep: [...(policy.keep ?? []), { ...part.keep, name }] }
    try {
      parsePolicy(next)
    } catch (error) {
      if (error instanceof ClewError) return
      throw error
    }
    policy = next
    adds.push({ name, why })
  }

  const has = (fits: (match: NonNullable<Rule['match']>) => boolean): boolean =>
    (inForce?.rules ?? []).some(({ match }) => fits(match ?? {}))
  if (!has(({ layer }) => layer === 'short'))
    add(
      { rule: { name: 'short-term memory', match: { layer: 'short' }, olderThan: '24h' } },
      `ends a day after its run; ${scopes(memory.short, 'run')} of it now`,
    )
  if (!has(({ layer }) => layer === 'session'))
    add(
      { rule: { name: 'session memory', match: { layer: 'session' }, olderThan: '30d' } },
      `ends when its thread was idle for 30 days; ${scopes(memory.session, 'thread')} of it now`,
    )
  const age = ageFor(growth)
  if (age && !has(({ layer, systemRun, types }) => (layer ?? systemRun ?? types) === undefined)) {
    add(
      { rule: { name: 'completed runs', match: { status: ['completed'] }, olderThan: age.olderThan } },
      age.why,
    )
    add({ keep: { name: 'failed runs', match: { status: ['failed'] } } }, 'stay, whatever rules come later')
  }
  return adds.length === 0 ? null : { policy, adds }
}

function ageFor({ week, month }: Growth): { olderThan: string; why: string } | null {
  const bytesPerDay = Math.max(week?.bytesPerDay ?? 0, month?.bytesPerDay ?? 0)
  if (bytesPerDay === 0) return null
  const fitting = AGES.find((each) => AGE_DAYS[each] * bytesPerDay <= ROOM_BYTES)
  const olderThan = fitting ?? '30d'
  const size = megabytes(AGE_DAYS[olderThan] * bytesPerDay)
  const days = `${AGE_DAYS[olderThan]} days are about ${size} at this pace`
  return { olderThan, why: fitting ? days : `${days}: more than 5 GB, so think of less` }
}

/** Two rules of one name would be refused. */
function freeName({ rules, keep = [] }: RetentionPolicyInput, wanted: string): string {
  // Rules without a name are called by their place, also those that come before this one.
  const taken = new Set([
    ...rules.map(({ name }, at) => name ?? `rule ${at + 1}`),
    ...keep.map(({ name }, at) => name ?? `keep ${at + 1}`),
  ])
  let name = wanted
  for (let n = 2; taken.has(name); n++) name = `${wanted} ${n}`
  return name
}

const scopes = (count: number, of: string): string =>
  count === 0 ? 'there is none' : `${count} ${of}${count === 1 ? ' has' : 's have'} some`

const megabytes = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(1)} GB`
    : bytes >= 1e6
      ? `${Math.round(bytes / 1e6)} MB`
      : 'less than 1 MB'
