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
export function readyTasks(
  values: ReadonlyMap<string, unknown>,
  versions: Versions,
  seen: Seen,
): ReadyTask[] {
  const ready: ReadyTask[] = []
  const sends = values.get(TASKS)
  if (Array.isArray(sends))
    for (const [index, packet] of sends.entries())
      if (isObject(packet) && typeof packet['node'] === 'string')
        ready.push({ node: packet['node'], trigger: TASKS, index })
  for (const [channel, value] of values) {
    const node = triggeredBy(channel, value)
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

/** Ids of tasks are derived by the framework from the checkpoint and the node; so a write tells which node it is of. */
export function findTask(
  ready: readonly ReadyTask[],
  taskId: string,
  { ns, step, checkpointId }: { ns: string; step: number; checkpointId: string },
): ReadyTask | undefined {
  try {
    return ready.find(({ node, trigger, index }) => {
      const path = ns === '' ? node : `${ns}|${node}`
      const parts = index === undefined ? ['__pregel_pull', [trigger]] : ['__pregel_push', String(index)]
      return isDerived(taskId, JSON.stringify([path, String(step), node, ...parts]), checkpointId)
    })
  } catch {
    // An id of the caller's own making is no UUID: nothing can be derived from it.
    return undefined
  }
}
