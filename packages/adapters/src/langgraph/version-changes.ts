import type { Seen, Versions } from './next-nodes.ts'
import { setKey } from './rich-values.ts'
import type { Saved, TaskWrites, Write } from './saved.ts'

/**
 * The version of all that is new, where that is what the one node which was ready wrote to and what is empty now, and
 * it has seen what it was triggered by: then one number tells both (`afterRun`).
 */
export function ranVersion(
  before: Saved | undefined,
  carrier: TaskWrites | undefined,
  drop: readonly string[],
  versions: Versions | undefined,
  seen: Seen | undefined,
): number | string | undefined {
  const [task, another] = before?.ready ?? []
  if (!before || !carrier || !versions || !seen || !task || another) return undefined
  const { node, trigger } = task
  const own = Object.hasOwn(seen, node) ? seen[node] : undefined
  if (!own || Object.keys(seen).length !== 1 || Object.keys(own).length !== 1) return undefined
  if (own[trigger] === undefined || own[trigger] !== before.versions[trigger]) return undefined
  const { writes } = carrier
  const version = versions[writes[0]?.channel ?? '']
  const isNew = (channel: string): boolean => Object.hasOwn(versions, channel)
  for (const channel of Object.keys(versions))
    if (
      versions[channel] !== version ||
      !(writes.some((each) => each.channel === channel) || drop.includes(channel))
    )
      return undefined
  return writes.every(({ channel }) => isNew(channel)) && drop.every(isNew) ? version : undefined
}

const NONE: Versions = {}

/** Undefined when one is gone, which changes cannot say. */
export function versionChanges(before: Versions | undefined, now: Versions): Versions | undefined {
  let changed: Record<string, number | string> | undefined
  let kept = 0
  for (const channel of Object.keys(now)) {
    const version = now[channel] as number | string
    const isKnown = before !== undefined && Object.hasOwn(before, channel)
    if (isKnown) kept++
    if (!isKnown || before[channel] !== version) setKey((changed ??= {}), channel, version)
  }
  return before && kept < Object.keys(before).length ? undefined : (changed ?? NONE)
}

export function seenChanges(before: Seen | undefined, now: Seen): Seen | undefined {
  const changed: Record<string, Versions> = {}
  if (before) for (const node of Object.keys(before)) if (!Object.hasOwn(now, node)) return undefined
  for (const node of Object.keys(now)) {
    const isKnown = before !== undefined && Object.hasOwn(before, node)
    const own = versionChanges(isKnown ? before[node] : undefined, now[node] as Versions)
    if (own === undefined) return undefined
    if (!isKnown || hasKeys(own)) setKey(changed, node, own)
  }
  return changed
}

/** Version changes after the ready node has run; `version` is that of all new values. */
export function afterRun(
  { ready, versions: before }: Pick<Saved, 'ready' | 'versions'>,
  version: number | string,
  written: readonly Write[],
  drop: readonly string[] = [],
): { readonly versions: Versions; readonly seen: Seen } {
  const versions: Record<string, number | string> = {}
  const seen: Record<string, Versions> = {}
  for (const { channel } of written) setKey(versions, channel, version)
  for (const channel of drop) setKey(versions, channel, version)
  for (const { node, trigger } of ready) setKey(seen, node, { [trigger]: before[trigger] ?? version })
  return { versions, seen }
}

export function mergeSeen(before: Seen, change: Seen | undefined): Seen {
  if (!change) return before
  const merged: Record<string, Versions> = { ...before }
  for (const [node, versions] of Object.entries(change))
    setKey(merged, node, { ...merged[node], ...versions })
  return merged
}

export function hasKeys(content: object): boolean {
  for (const _ in content) return true
  return false
}
