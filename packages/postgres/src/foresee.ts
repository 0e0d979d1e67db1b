import { type AppendCall, childIds, type PreparedEvent, type RunKey } from '@clew/ledger'
import { type Known, type Needs, noNeeds, scopeKeyOf } from './load.ts'
import { keyOf, type Remembered, scopeName } from './remembered.ts'

type Tree = NonNullable<PreparedEvent['tree']>

interface EventOfRun extends RunKey {
  readonly event: PreparedEvent
}

function eventsOf(calls: readonly AppendCall[]): EventOfRun[] {
  return calls.flatMap(({ workspace, events }) =>
    events.map((event) => ({ workspace, runId: event.correlationId, event })),
  )
}

const textIn = (event: PreparedEvent, field: string): string | undefined => {
  const value = event.payload?.[field]
  return typeof value === 'string' ? value : undefined
}

/** The runs that calls speak of: those they append to, and those they fork from. */
export function keysOf(calls: readonly AppendCall[]): RunKey[] {
  const keys = new Map<string, RunKey>()
  const add = (workspace: string, runId: string): void => {
    const key = { workspace, runId }
    keys.set(keyOf(key), key)
  }
  for (const { workspace, events } of calls) {
    // Most events follow one of the same run.
    let latest: string | undefined
    for (const { correlationId: runId, eventType, sealed, payload } of events) {
      if (runId !== latest) add(workspace, runId)
      latest = runId
      if (eventType !== 'system.workflow_forked') continue
      const source = sealed?.forkedFrom?.runId ?? payload?.['sourceRunId']
      if (typeof source === 'string') add(workspace, source)
    }
  }
  return [...keys.values()]
}

/** All that will be asked about runs that are not remembered, so that it is read together with them. */
export function foresee(
  calls: readonly AppendCall[],
  keys: readonly RunKey[],
  strange: ReadonlySet<string>,
  remembered: Remembered,
): Needs {
  const needs = noNeeds()
  needs.runs.push(...keys.filter((key) => strange.has(keyOf(key))))
  let nodes = 0
  for (const { workspace, runId, event } of eventsOf(calls)) {
    if (!strange.has(keyOf({ workspace, runId }))) continue
    if (!event.fresh) needs.events.push({ workspace, runId, eventId: event.eventId })
    needs.steps.push(...stepOf({ workspace, runId, event }))
    const threadId = textIn(event, 'threadId')
    if (threadId !== undefined) needs.scopes.push({ workspace, name: scopeName(runId, threadId) })
    for (const hash of hashesOf(event)) {
      nodes++
      needs.nodes.push({ workspace, runId, scope: null, hash })
    }
  }
  const ids = strange.size + nodes
  if (remembered.idsLeft() < ids) needs.ids = ids
  return needs
}

/** What is lacking, and what will be lacking next for the same reason, so that it is not read one by one. */
export function widen(needs: Needs, calls: readonly AppendCall[], known: Known): Needs {
  if (needs.ids > 0)
    needs.ids = eventsOf(calls).reduce((count, { event }) => count + 1 + hashesOf(event).length, 0)
  if (needs.steps.length > 0) needs.steps.push(...eventsOf(calls).flatMap(stepOf))
  if (needs.nodes.length > 0) needs.nodes.push(...nodesOf(calls, known, needs.nodes[0]?.scope ?? null))
  if (needs.nodeIds.length > 0)
    for (const found of known.events.values())
      if (found?.event.body) needs.nodeIds.push(...childIds(found.event.body))
  return needs
}

function stepOf({ workspace, runId, event }: EventOfRun): Needs['steps'] {
  const stepId = textIn(event, 'stepId')
  const attempt = Number(event.payload?.['attempt'] ?? 1)
  return stepId === undefined || !Number.isSafeInteger(attempt) ? [] : [{ workspace, runId, stepId, attempt }]
}

/** Values of all events, each within the scope of its thread where that is known, else within the one asked for. */
function nodesOf(calls: readonly AppendCall[], known: Known, asked: number | null): Needs['nodes'] {
  const events = eventsOf(calls)
  const scopes = new Map<string, number>()
  for (const { workspace, runId, event } of events) {
    const threadId = textIn(event, 'threadId')
    const scope = threadId && known.scopes.get(scopeKeyOf(workspace, scopeName(runId, threadId)))
    if (typeof scope === 'number') scopes.set(keyOf({ workspace, runId }), scope)
  }
  return events.flatMap(({ workspace, runId, event }) => {
    const scope = scopes.get(keyOf({ workspace, runId })) ?? asked
    return hashesOf(event).map((hash) => ({ workspace, runId, scope, hash }))
  })
}

/** Hashes of all values below the payload itself. */
function hashesOf({ tree }: PreparedEvent): string[] {
  const found: string[] = []
  const open: Tree[] = tree ? [tree] : []
  for (let node = open.pop(); node; node = open.pop())
    for (const { item } of node.entries)
      if (typeof item !== 'string') {
        found.push(item.hash)
        open.push(item)
      }
  return found
}
