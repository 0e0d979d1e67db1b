import { type Adoption, childIds, type PreparedEvent } from '@clew/ledger'
import { hexOf } from './event-row.ts'
import { indexText } from './index-text.ts'
import {
  type EventOfRun,
  forkSourceOf,
  type Loaded,
  nodeKey,
  runKey,
  scopeKey,
  scopeName,
  textIn,
} from './loaded.ts'
import { readRows, type Sql } from './sql.ts'
import { arraysOf, bytesOf, type Column, unnest } from './unnest.ts'

type ScopeName = { readonly workspace: string; readonly name: string }
const SCOPE: readonly Column<ScopeName>[] = [
  ['workspace', 'text', ({ workspace }) => workspace],
  ['name', 'text', ({ name }) => indexText(name)],
]
/** A value by its scope, or by the name of the scope. */
type NodeOfScope = ScopeName & { readonly scope: number | null; readonly hash: string }
const NODE: readonly Column<NodeOfScope>[] = [
  ...SCOPE,
  ['scope', 'bigint', ({ scope }) => scope],
  ['hash', 'bytea', ({ hash }) => bytesOf(hash)],
]

const SCOPES = `SELECT s.id, s.workspace, s.name FROM ${unnest(SCOPE, 'k')}
  JOIN scopes s ON s.workspace = k.workspace AND s.name = k.name`
const SCOPE_OF_NODE = `coalesce(k.scope, (SELECT s.id FROM scopes s WHERE s.workspace = k.workspace AND s.name = k.name))`
const LOCK_SCOPES = `SELECT pg_advisory_xact_lock_shared(scope_lock(l.scope)) FROM (
    SELECT DISTINCT ${SCOPE_OF_NODE} AS scope FROM ${unnest(NODE, 'k')} ORDER BY 1
  ) l WHERE l.scope IS NOT NULL`
const NODES = `SELECT n.id, n.scope, n.hash FROM ${unnest(NODE, 'k')}
  JOIN nodes n ON n.scope = ${SCOPE_OF_NODE} AND n.hash = k.hash`
const NODE_HASHES = 'SELECT id, hash FROM nodes WHERE id = ANY ($1::bigint[])'
const IDS = `SELECT nextval('ids') AS id FROM generate_series(1, $1::int)`

/** Reads scopes and values (L8), for new runs and for payloads that are stored as trees; runs are loaded already. */
export async function loadValues(
  sql: Sql,
  events: readonly EventOfRun[],
  adopted: readonly Adoption[],
  loaded: Loaded,
): Promise<void> {
  const names = threadScopes(events, adopted, loaded)
  const scopes = [
    ...new Map(
      [...names.values()].flat().map((each) => [scopeKey(each.workspace, each.name), each]),
    ).values(),
  ]
  const nodes = events.flatMap((each): NodeOfScope[] => {
    const scope = loaded.runs.get(runKey(each))?.scope
    const of = scope === undefined ? (names.get(runKey(each)) ?? []) : [{ workspace: '', name: '', scope }]
    return hashesOf(each.event).flatMap((hash) => of.map((one) => ({ scope: null, ...one, hash })))
  })
  const ids = names.size + events.reduce((count, { event }) => count + hashesOf(event).length, 0)
  const children = [...loaded.events.values()].flatMap(({ body }) => (body === null ? [] : childIds(body)))
  const wanted = arraysOf(NODE, nodes)
  const [foundScopes, , foundNodes, hashes, foundIds] = await Promise.all([
    readRows(sql, 'load scopes', SCOPES, arraysOf(SCOPE, scopes)),
    readRows(sql, 'load lock scopes', LOCK_SCOPES, wanted),
    readRows(sql, 'load nodes', NODES, wanted),
    readRows(sql, 'load node hashes', NODE_HASHES, [children]),
    ids === 0 ? [] : readRows(sql, 'load ids', IDS, [ids]),
  ])
  for (const row of foundScopes)
    loaded.scopes.set(scopeKey(row['workspace'] as string, row['name'] as string), row['id'] as number)
  for (const row of foundNodes)
    loaded.nodes.set(nodeKey(row['scope'] as number, hexOf(row['hash'])), row['id'] as number)
  for (const row of [...foundNodes, ...hashes]) loaded.nodeHashes.set(row['id'] as number, hexOf(row['hash']))
  loaded.ids.push(...foundIds.map((row) => row['id'] as number))
}

/** For each new run the scopes of the threads it may be given: by its own events, or by the run it is forked from. */
function threadScopes(
  events: readonly EventOfRun[],
  adopted: readonly Adoption[],
  loaded: Loaded,
): Map<string, ScopeName[]> {
  const names = new Map<string, ScopeName[]>()
  for (const each of events) {
    if (loaded.runs.has(runKey(each))) continue
    const own = names.get(runKey(each)) ?? []
    names.set(runKey(each), own)
    const { workspace, runId } = each
    const add = (threadId: string | null | undefined): void => {
      if (typeof threadId === 'string') own.push({ workspace, name: scopeName(runId, threadId) })
    }
    add(textIn(each.event, 'threadId'))
    for (const source of forkSourceOf(each)) {
      add(loaded.runs.get(runKey(source))?.summary.threadId)
      own.push(...(names.get(runKey(source)) ?? []))
    }
  }
  for (const { workspace, runId, run } of adopted)
    if (!loaded.runs.has(runKey({ workspace, runId })))
      names.set(runKey({ workspace, runId }), [{ workspace, name: scopeName(runId, run.summary.threadId) }])
  return names
}

/** Hashes of all values below a payload that is stored as a tree. */
function hashesOf({ tree }: PreparedEvent): string[] {
  const found: string[] = []
  const open = tree ? [tree] : []
  for (let node = open.pop(); node; node = open.pop())
    for (const { item } of node.entries)
      if (typeof item !== 'string') {
        found.push(item.hash)
        open.push(item)
      }
  return found
}
