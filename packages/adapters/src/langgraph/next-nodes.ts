import { isDerived } from './derived-id.ts'
import { isObject } from './rich-values.ts'

export type Versions = Readonly<Record<string, number | string>>
export type Seen = Readonly<Record<string, Versions>>

/** A node that is ready at a checkpoint, with what it was triggered by; `index` for a packet sent to it. */
export interface ReadyTask {
  readonly node: string
  readonly trigger: string
  readonly index?: number | undefined
}

const START = '__start__'
const TASKS = '__pregel_tasks'
const BRANCH = 'branch:to:'
const JOIN = 'join:'

/** Channels by which the framework steers itself: they are kept, but they are no part of what a reader calls state. */
export const isInternal = (channel: string): boolean =>
  channel.startsWith('__') || channel.startsWith(BRANCH) || channel.startsWith(JOIN)

/**
 * The nodes that run next, found as the framework finds them: a channel that triggers a node is there, in a version
 * which that node has not seen. It works for compiled graphs, whose channels name their nodes; where nodes are
 * subscribed to channels by hand the record cannot tell.
 */
export function readyTasks<Held>(
  values: ReadonlyMap<string, Held>,
  valueOf: (held: Held) => unknown,
  versions: Versions,
  seen: Seen,
): ReadyTask[] {
  const ready: ReadyTask[] = []
  const packets = values.get(TASKS)
  const sends = packets === undefined ? undefined : valueOf(packets)
  if (Array.isArray(sends))
    for (const [index, packet] of sends.entries())
      if (isObject(packet) && typeof packet['node'] === 'string')
        ready.push({ node: packet['node'], trigger: TASKS, index })
  for (const [channel, held] of values) {
    if (!isInternal(channel)) continue
    const node = triggeredBy(channel, valueOf(held))
    if (node !== undefined && isNewer(versions[channel], seen[node]?.[channel]))
      ready.push({ node, trigger: channel })
  }
  return ready
}

function triggeredBy(channel: string, value: unknown): string | undefined {
  if (channel === START) return START
  if (channel.startsWith(BRANCH))
    // A deferred node waits for the end: its channel holds the value and whether that has come.
    return Array.isArray(value) && value[1] === false ? undefined : channel.slice(BRANCH.length)
  if (!channel.startsWith(JOIN) || !Array.isArray(value)) return undefined
  const colon = channel.lastIndexOf(':')
  const deferred = Array.isArray(value[0])
  const come = new Set<unknown>(deferred ? (value[0] as unknown[]) : value)
  if (deferred && value[1] !== true) return undefined
  const awaited = channel.slice(JOIN.length, colon).split('+')
  return awaited.every((node) => come.has(node)) ? channel.slice(colon + 1) : undefined
}

const isNewer = (version: number | string | undefined, seen: number | string | undefined): boolean =>
  version !== undefined && (seen === undefined || version > seen)

/** True for graphs whose end can be seen: nothing is ready any more. */
export const showsItsEnd = (versions: Versions): boolean => versions[START] !== undefined

/** Ids of tasks are derived by the framework from the checkpoint and the node; so a write shows its node. */
export function findTask(
  ready: readonly ReadyTask[],
  taskId: string,
  { ns, step, checkpointId }: { ns: string; step: number; checkpointId: string },
): ReadyTask | undefined {
  try {
    for (const task of ready) if (isDerived(taskId, nameOf(task, ns, step), checkpointId)) return task
  } catch {
    // An id of the caller's own making is no UUID: nothing can be derived from it.
  }
  return undefined
}

/** Text from which the framework derives the id of a task: a list of texts as JSON. */
function nameOf({ node, trigger, index }: ReadyTask, ns: string, step: number): string {
  const own = JSON.stringify(node)
  const path = ns === '' ? own : JSON.stringify(`${ns}|${node}`)
  const call =
    index === undefined ? `"__pregel_pull",[${JSON.stringify(trigger)}]` : `"__pregel_push","${index}"`
  return `[${path},"${step}",${own},${call}]`
}
