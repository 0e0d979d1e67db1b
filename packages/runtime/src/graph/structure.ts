import { canonicalText, ClewError, type JsonValue } from '@clew/ledger'
import { END, type GraphDefinition, START } from './definition.ts'

/** A graph without its code: plain JSON, equal for equal graphs. */
export interface GraphStructure {
  readonly channels: readonly { readonly name: string; readonly kind: string }[]
  /** In order of declaration. */
  readonly nodes: readonly NodeStructure[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
  readonly joins: readonly { readonly sources: readonly string[]; readonly target: string }[]
  readonly branches: readonly BranchStructure[]
}

export interface NodeStructure {
  readonly name: string
  readonly kind: 'node' | 'gate' | 'graph'
  readonly defer: boolean
  /** Declared targets of its commands. */
  readonly targets: readonly string[] | null
  readonly graph: { readonly name: string; readonly structure: GraphStructure } | null
}

export interface BranchStructure {
  readonly from: string
  readonly targets: readonly { readonly label: string | null; readonly target: string }[]
}

export function structureOf({ channels, nodes, edges, joins, branches }: GraphDefinition): GraphStructure {
  const place = new Map([START, ...nodes.map(({ name }) => name), END].map((name, i) => [name, i]))
  const at = (name: string): number => place.get(name) ?? -1
  return {
    channels: Object.entries(channels).map(([name, { kind }]) => ({ name, kind })),
    nodes: nodes.map((node) => ({
      name: node.name,
      kind: node.kind,
      defer: node.defer,
      targets: node.targets && [...node.targets],
      graph: node.kind === 'graph' ? { name: node.graph.name, structure: node.graph.structure } : null,
    })),
    // In whatever order edges were added, the graph is the same.
    edges: edges
      .map(({ from, to }) => ({ from, to }))
      .sort((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to)),
    joins: joins.map(({ sources, target }) => ({ sources: [...sources], target })),
    branches: branches
      .map(({ from, targets }) => ({
        from,
        targets: targets.map(({ label, target }) => ({ label, target })),
      }))
      .sort((a, b) => at(a.from) - at(b.from)),
  }
}

export const structureHash = (sha256: (text: string) => string, structure: GraphStructure): string =>
  sha256(canonicalText(structure as unknown as JsonValue))

/**
 * Signature of a node. Recorded ends are reused in a changed graph if it is equal: kind, channels read, and channels
 * written (for a gate, the targets that it chooses from).
 */
export function nodeSignature(structure: GraphStructure, name: string): string {
  const node = structure.nodes.find((each) => each.name === name)
  if (!node)
    throw new ClewError(
      'not_found',
      `This graph has no node "${name}"`,
      `Its nodes are: ${structure.nodes.map((each) => each.name).join(', ')}.`,
      { node: name },
    )
  const inputs = sorted(structure.channels.map((channel) => `${channel.kind} ${channel.name}`))
  const chosen = structure.branches.filter(({ from }) => from === name).flatMap(({ targets }) => targets)
  const outputs = node.kind === 'gate' ? sorted(chosen.map(({ target }) => target)) : inputs
  return canonicalText({
    kind: node.kind,
    inputs,
    outputs,
    ...(node.graph && { graph: node.graph as unknown as JsonValue }),
  })
}

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

/** The signatures of all nodes, short enough to be recorded with every run. */
export const signaturesOf = (
  sha256: (text: string) => string,
  structure: GraphStructure,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    structure.nodes.map(({ name }) => [name, sha256(nodeSignature(structure, name)).slice(0, 12)]),
  )
