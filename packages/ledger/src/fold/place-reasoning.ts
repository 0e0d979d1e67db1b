import type { TranscriptEntry } from './transcript-entry.ts'

const FROM_OUTSIDE: ReadonlySet<string> = new Set(['user', 'human', 'system', 'developer', 'tool'])

/** Entries that reasoning can lead to: a model's message or call. */
function isDeed(entry: TranscriptEntry): boolean {
  if (entry.kind === 'message') return !FROM_OUTSIDE.has(entry.role ?? '')
  return entry.kind === 'tool_call' || entry.kind === 'structured_output'
}

/** A step shown as a call: reasoning recorded after it belongs to the next attempt. */
const isAttempt = (entry: TranscriptEntry): boolean => entry.kind === 'tool_call' && entry.toolCallId === null

/**
 * Puts each reasoning right above the message or tool call that it led to: the one it caused; else the next one of
 * its step; else, where it was recorded late, the last one of its step that has no reasoning yet. Entries come by seq.
 */
export function placeReasoning(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const targets = findTargets(entries)
  const above = new Map<number, TranscriptEntry[]>()
  for (const [at, target] of targets) {
    const reasoning = entries[at] as Extract<TranscriptEntry, { kind: 'reasoning' }>
    const placed = { ...reasoning, about: entries[target]?.seq ?? null }
    const list = above.get(target)
    if (list) list.push(placed)
    else above.set(target, [placed])
  }
  const result: TranscriptEntry[] = []
  for (const [at, entry] of entries.entries()) {
    for (const reasoning of above.get(at) ?? []) result.push(reasoning)
    if (!targets.has(at)) result.push(entry)
  }
  return result
}

/** For each reasoning, by its index, the index of what it belongs to; those that belong nowhere stay where they are. */
function findTargets(entries: readonly TranscriptEntry[]): Map<number, number> {
  const targets = new Map<number, number>()
  const caused = new Map<string, number>()
  const nextOf = new Map<string, number>()
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at] as TranscriptEntry
    if (isDeed(entry)) {
      if (entry.causationId !== null) caused.set(entry.causationId, at)
      if (entry.stepId !== null) nextOf.set(entry.stepId, at)
    } else if (entry.kind === 'reasoning' && entry.stepId !== null) {
      const next = nextOf.get(entry.stepId)
      if (next !== undefined) targets.set(at, next)
    }
  }
  // An entry that already has its reasoning takes none that was recorded after it.
  const explained = new Set(targets.values())
  const lastOf = new Map<string, number>()
  for (const [at, entry] of entries.entries()) {
    if (entry.kind === 'reasoning') {
      const late = lastOf.get(entry.stepId ?? '')
      const free = late === undefined || explained.has(late) ? undefined : late
      const next = targets.get(at)
      // Parts of one event belong together, whatever the outcome.
      const said = next !== undefined && entries[next]?.seq === entry.seq ? next : undefined
      const target = said ?? caused.get(entry.eventId) ?? next ?? free
      if (target !== undefined) targets.set(at, target)
    } else if (entry.stepId !== null && isDeed(entry) && !isAttempt(entry)) lastOf.set(entry.stepId, at)
  }
  return targets
}
