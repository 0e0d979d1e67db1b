import { END, type GraphDefinition } from './definition.ts'

type Ways = Pick<GraphDefinition, 'nodes' | 'edges' | 'joins' | 'branches'>

/** Possible successors of each node and of START: by edges, joins, decisions and declared commands. */
export function successorsOf({
  nodes,
  edges,
  joins,
  branches,
}: Ways): ReadonlyMap<string, ReadonlySet<string>> {
  const successors = new Map<string, Set<string>>()
  const lead = (from: string, to: string): void => {
    if (to === END) return
    const known = successors.get(from)
    if (known) known.add(to)
    else successors.set(from, new Set([to]))
  }
  for (const { from, to } of edges) lead(from, to)
  for (const { sources, target } of joins) for (const source of sources) lead(source, target)
  for (const { from, targets } of branches) for (const { target } of targets) lead(from, target)
  for (const { name, targets } of nodes) for (const target of targets ?? []) lead(name, target)
  return successors
}

/** All that can run after `from`; itself only when it lies on a circle. */
export function reachableFrom(
  successors: ReadonlyMap<string, ReadonlySet<string>>,
  from: string,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [from]
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const next of successors.get(at) ?? [])
      if (!reached.has(next)) {
        reached.add(next)
        open.push(next)
      }
  return reached
}
