import { END, START } from './definition.ts'
import type { GraphStructure } from './structure.ts'

export interface DrawnNode {
  readonly id: string
  readonly label: string
  readonly kind: 'start' | 'end' | 'node' | 'gate' | 'graph' | 'join'
  /** The sub-graph that it lies in. */
  readonly parent: string | null
  readonly defer: boolean
}

export interface DrawnEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'edge' | 'branch' | 'join' | 'command'
  readonly label?: string | undefined
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly edges: readonly DrawnEdge[]
}

/** Nodes and edges to draw; a sub-graph is nested in its node, with its own start and end. */
export function drawData(structure: GraphStructure): Drawing {
  const nodes: DrawnNode[] = []
  const edges: DrawnEdge[] = []
  drawInto({ nodes, edges }, structure, '', null)
  return { nodes, edges }
}

function drawInto(
  drawing: { nodes: DrawnNode[]; edges: DrawnEdge[] },
  { nodes, edges, joins, branches }: GraphStructure,
  prefix: string,
  parent: string | null,
): void {
  const ids = new Map(nodes.map(({ name }, i) => [name, `${prefix}n${i}`]))
  // Not `end`, which closes a block in Mermaid.
  ids.set(START, `${prefix}s`).set(END, `${prefix}e`)
  const idOf = (name: string): string => ids.get(name) as string
  const add = (id: string, label: string, kind: DrawnNode['kind'], defer = false): number =>
    drawing.nodes.push({ id, label, kind, parent, defer })
  const drawn: DrawnEdge[] = []
  const lead = (from: string, to: string, kind: DrawnEdge['kind'], label?: string): number =>
    drawn.push({ from, to, kind, ...(label !== undefined && { label }) })

  for (const { from, to } of edges) lead(idOf(from), idOf(to), 'edge')
  for (const { from, targets } of branches)
    for (const { label, target } of targets) lead(idOf(from), idOf(target), 'branch', label ?? undefined)
  for (const { name, targets } of nodes)
    for (const target of targets ?? []) lead(idOf(name), idOf(target), 'command', 'command')
  joins.forEach(({ sources, target }, i) => {
    for (const source of sources) lead(idOf(source), `${prefix}j${i}`, 'join')
    lead(`${prefix}j${i}`, idOf(target), 'join')
  })

  // A branch that leads nowhere ends there.
  const leading = new Set(drawn.map(({ from }) => from))
  for (const { name } of nodes) if (!leading.has(idOf(name))) lead(idOf(name), idOf(END), 'edge')

  add(idOf(START), 'start', 'start')
  for (const { name, kind, defer, graph } of nodes) {
    add(idOf(name), name, kind, defer)
    if (graph) drawInto(drawing, graph.structure, `${idOf(name)}_`, idOf(name))
  }
  joins.forEach((_, i) => add(`${prefix}j${i}`, 'all', 'join'))
  if (drawn.some(({ to }) => to === idOf(END))) add(idOf(END), 'end', 'end')
  drawing.edges.push(...drawn)
}

const SHAPES: Readonly<Record<Exclude<DrawnNode['kind'], 'graph'>, readonly [string, string]>> = {
  start: ['(["', '"])'],
  end: ['(["', '"])'],
  node: ['["', '"]'],
  gate: ['{"', '"}'],
  join: ['(("', '"))'],
}

/** The graph as a Mermaid flowchart. */
export function drawMermaid(structure: GraphStructure): string {
  const { nodes, edges } = drawData(structure)
  const lines = ['flowchart TD']
  drawNodes(lines, nodes, null, '  ')
  for (const { from, to, kind, label } of edges) {
    const arrow = kind === 'branch' || kind === 'command' ? '-.->' : '-->'
    lines.push(`  ${from} ${arrow}${label === undefined ? '' : `|"${escape(label)}"|`} ${to}`)
  }
  const deferred = nodes.filter(({ defer }) => defer).map(({ id }) => id)
  if (deferred.length > 0)
    lines.push('  classDef deferred stroke-dasharray: 4 3', `  class ${deferred.join(',')} deferred`)
  return `${lines.join('\n')}\n`
}

function drawNodes(
  lines: string[],
  nodes: readonly DrawnNode[],
  parent: string | null,
  indent: string,
): void {
  for (const { id, label, kind } of nodes.filter((node) => node.parent === parent)) {
    if (kind === 'graph') {
      lines.push(`${indent}subgraph ${id}["${escape(label)}"]`)
      drawNodes(lines, nodes, id, `${indent}  `)
      lines.push(`${indent}end`)
    } else {
      const [open, close] = SHAPES[kind]
      lines.push(`${indent}${id}${open}${escape(label)}${close}`)
    }
  }
}

/** Only letters, digits and a few signs go as they are; the rest as entities, so that no name can draw. */
const escape = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- what must not reach a page
  [...text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ')]
    .slice(0, 60)
    .map((char) => (/[\p{L}\p{N}\p{M} _.,:/-]/u.test(char) ? char : `#${char.codePointAt(0)};`))
    .join('')
