import { ClewError } from '../errors.ts'
import { isObject } from '../json.ts'
import { MEMORY_LAYERS, type MemoryItem, type MemoryLayer } from './item.ts'
import { isNamespace } from './names.ts'

/** Conditions on an item; all given ones must hold. */
export interface MemoryCondition {
  /** In one of these namespaces, or below it. */
  readonly namespaces?: readonly string[] | undefined
  /** With all of these tags. */
  readonly tags?: readonly string[] | undefined
  /** Time since the last change. */
  readonly olderThanMs?: number | undefined
}

/** Rule for promoting items to a higher layer. Nothing else is ever promoted (M2). */
export interface PromotionRule {
  readonly from: MemoryLayer
  readonly to: MemoryLayer
  /** A pure function, or what the item must be like. */
  readonly when: MemoryCondition | ((item: MemoryItem) => boolean)
  /**
   * Whose long memory it becomes; default `workspace`. `agent` is the agent of the run that wrote it, `user` the first
   * subject of the item, or else of that run.
   */
  readonly scope?: 'workspace' | 'agent' | 'user' | `agent:${string}` | `user:${string}` | undefined
  /** Why, in words: stands in the event of each promotion. Default: what `when` asks for. */
  readonly reason?: string | undefined
}

/** M3: what a layer keeps, in each of its scopes. */
export interface LayerRetention {
  /** Age counts from the run's end (short), from the last event of the thread (session), or from the last write (long). */
  readonly ttlMs?: number | undefined
  /** Number of newest items that stay. */
  readonly maxItems?: number | undefined
  /** The newest stay as long as their values have no more in all. */
  readonly maxBytes?: number | undefined
}

export interface MemoryPolicy {
  readonly promote?: readonly PromotionRule[] | undefined
  readonly retention?: Partial<Readonly<Record<MemoryLayer, LayerRetention>>> | undefined
}

const bad = (what: string, hint: string, option: string): never => {
  throw new ClewError('bad_option', what, `${hint} Nothing was changed.`, { option })
}

export function checkLayer(given: unknown, option = 'layer'): MemoryLayer {
  const layer = MEMORY_LAYERS.find((each) => each === given)
  if (layer) return layer
  const shown = typeof given === 'string' && /^[\w-]{1,40}$/.test(given) ? ` ${given}` : ''
  return bad(`There is no layer${shown} of memory`, `Layers are ${MEMORY_LAYERS.join(', ')}.`, option)
}

/** Refuses a policy that contradicts itself, before anything is done by it. */
export function checkMemoryPolicy(policy: MemoryPolicy | undefined): MemoryPolicy {
  for (const [layer, limits] of Object.entries(policy?.retention ?? {}))
    checkRetention(checkLayer(layer, 'memory.retention'), limits)
  const seen = new Set<string>()
  for (const [at, rule] of (policy?.promote ?? []).entries()) {
    const option = `memory.promote[${at}]`
    checkRule(rule, option)
    // The same items twice to the same place, once for this reason and once for that.
    const same =
      typeof rule.when === 'function' ? '' : JSON.stringify([rule.from, rule.to, rule.scope, rule.when])
    if (same !== '' && seen.has(same))
      bad(`The rule ${option} asks for the same as one before it`, 'Leave one of them out.', option)
    seen.add(same)
  }
  return policy ?? {}
}

function checkRule(rule: PromotionRule, option: string): void {
  const { from, to, when, scope, reason } = rule
  const [lower, higher] = [checkLayer(from, `${option}.from`), checkLayer(to, `${option}.to`)]
  if (MEMORY_LAYERS.indexOf(lower) >= MEMORY_LAYERS.indexOf(higher))
    bad(
      `The rule ${option} promotes from ${from} to ${to}`,
      `Promote upwards: ${MEMORY_LAYERS.join(' → ')}.`,
      option,
    )
  if (scope !== undefined && to !== 'long')
    bad(
      `The rule ${option} names a scope for the layer ${to}`,
      'Only long memory has scopes to choose from.',
      option,
    )
  if (scope !== undefined && !/^(?:workspace|agent|user|(?:agent|user):.+)$/s.test(scope))
    bad(
      `The rule ${option} has a scope that there is not`,
      'Use workspace, agent, user, agent:NAME or user:ID.',
      option,
    )
  if (reason !== undefined && (typeof reason !== 'string' || reason.trim() === ''))
    bad(`The rule ${option} has an empty reason`, 'Say why such items are promoted, or leave it out.', option)
  if (typeof when !== 'function') checkCondition(when, option)
}

function checkCondition(when: unknown, option: string): void {
  if (!isObject(when) || Object.values(when).every((each) => each === undefined))
    return bad(
      `The rule ${option} has no condition`,
      'Say which items it is about: when: { tags }, { namespaces }, { olderThanMs } or a function.',
      option,
    )
  const { namespaces = [], tags = [], olderThanMs = 0 } = when as MemoryCondition
  if (
    !Array.isArray(namespaces) ||
    !namespaces.every((each) => typeof each === 'string' && isNamespace(each))
  )
    bad(
      `The rule ${option} names something that is no namespace`,
      'Use names such as facts or facts/people.',
      option,
    )
  if (!Array.isArray(tags) || !tags.every((each) => typeof each === 'string' && each !== ''))
    bad(`The rule ${option} has tags that are no texts`, 'Give a list of texts.', option)
  if (!(Number.isFinite(olderThanMs) && olderThanMs >= 0))
    bad(`The rule ${option} has an olderThanMs of ${olderThanMs}`, 'Give milliseconds, 0 or more.', option)
}

function checkRetention(layer: MemoryLayer, limits: LayerRetention | undefined): void {
  const option = `memory.retention.${layer}`
  const { ttlMs, maxItems, maxBytes } = limits ?? {}
  const given = Object.entries({ ttlMs, maxItems, maxBytes }).filter(([, value]) => value !== undefined)
  if (given.length === 0)
    bad(
      `The retention of ${layer} memory limits nothing`,
      'Give ttlMs, maxItems or maxBytes, or leave it out.',
      option,
    )
  for (const [name, value] of given)
    if (!(Number.isSafeInteger(value) && (value as number) > 0))
      bad(
        `The ${name} of ${layer} memory is ${String(value)}`,
        'Give a whole number of 1 or more; forget what must go at once.',
        option,
      )
}
