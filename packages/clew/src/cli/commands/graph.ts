import { formatMermaid, type TaskEdge, type TaskGraph, type TaskNode } from '@clew/ledger'
import { formatCount } from '../../format-count.ts'
import { graph } from '../../operations/graph.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusMark, statusText } from '../marks.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable } from '../text.ts'
import { formatDuration } from '../time.ts'

const MAX_NODES = 100
const MAX_EDGES = 4
const DEEPEST = 12

export const graphCommand: Command<InputOf<typeof graph>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const data = await withLedger(async (ledger) =>
    graph.run(ledger, { runId: await resolveRun(ledger, input.runId) }),
  )
  if (flags['mermaid'] === true && !terminal.json) {
    await terminal.print(formatMermaid(data).trimEnd().split('\n').map(printable))
    return EXIT.fine
  }
  await terminal.answer(data, () => lines(terminal, data, printable(data.runId ?? input.runId)))
  return EXIT.fine
}

function lines({ output, width, next }: Terminal, { nodes, edges, status }: TaskGraph, id: string): string[] {
  const { colour } = output
  const names = new Map(nodes.map((node) => [node.id, printable(node.name)]))
  const decided = new Set(
    edges.filter(({ kind }) => kind === 'decision').map(({ from, to }) => `${from} ${to}`),
  )
  const drawn = edges.filter(({ kind, from, to }) => kind !== 'sequence' || !decided.has(`${from} ${to}`))
  const leaving = Map.groupBy(drawn, (edge) => edge.from)
  const rows = inTree(nodes)
  const result = [`${colour.bold(id)}${status === null ? '' : `  ${statusText(colour, status)}`}`, '']
  for (const { node, depth } of rows.slice(0, MAX_NODES)) {
    const indent = '  '.repeat(Math.min(depth, DEEPEST))
    const mark = node.status === null ? colour.dim('·') : statusMark(colour, node.status)
    const facts = cut(printable(factsOf(node)), Math.max(20, width - indent.length - 10))
    result.push(
      `${indent}${mark} ${cut(printable(node.name), 60)}${facts === '' ? '' : `  ${colour.dim(facts)}`}`,
    )
    const own = leaving.get(node.id) ?? []
    for (const edge of own.slice(0, MAX_EDGES))
      result.push(
        colour.dim(cut(`${indent}  ${arrow(edge)} ${names.get(edge.to) ?? ''}${times(edge)}`, width)),
      )
    if (own.length > MAX_EDGES)
      result.push(colour.dim(`${indent}  … ${plural(own.length - MAX_EDGES, 'more edge')}`))
  }
  if (rows.length > MAX_NODES)
    result.push(colour.dim(`… ${plural(rows.length - MAX_NODES, 'more node')}: --json`))
  if (nodes.length === 0) result.push('Nothing ran yet.')
  const counts = `${plural(nodes.length, 'node')}, ${plural(edges.length, 'edge')}`
  return [
    ...result,
    '',
    colour.dim(`${counts} · ${next(`clew graph ${id} --mermaid`)} · ${next(`clew timeline ${id}`)}`),
  ]
}

const ARROWS: Readonly<Record<TaskEdge['kind'], string>> = {
  sequence: '→',
  decision: '⇒ decides',
  cause: '⇢ causes',
  handoff: '→ hands over to',
  child_run: '→ runs',
}
const arrow = ({ kind }: TaskEdge): string => ARROWS[kind]
const times = ({ count }: TaskEdge): string => (count > 1 ? ` ×${formatCount(count)}` : '')

function factsOf(node: TaskNode): string {
  const { statuses } = node
  const retried = node.attempts - node.count
  return [
    node.kind === 'step' ? (node.stepKind ?? '') : node.kind,
    node.count > 1 ? `×${formatCount(node.count)}` : '',
    node.loops > 0 ? `${formatCount(node.loops)} again` : '',
    retried > 0 && node.kind === 'step'
      ? `${retried} more attempts`.replace(/^1 more attempts/, '1 more attempt')
      : '',
    statuses.failed ? `${statuses.failed} failed` : '',
    node.totalMs > 0 ? formatDuration(node.totalMs) : '',
    node.kind === 'run' ? node.runIds.slice(0, 2).join(', ') : '',
  ]
    .filter(Boolean)
    .join(' · ')
}

function inTree(nodes: readonly TaskNode[]): { node: TaskNode; depth: number }[] {
  const children = Map.groupBy(nodes, (node) => node.parent)
  const rows: { node: TaskNode; depth: number }[] = []
  const stack = (children.get(null) ?? []).toReversed().map((node) => ({ node, depth: 0 }))
  for (let at = stack.pop(); at; at = stack.pop()) {
    rows.push(at)
    const { node, depth } = at
    for (const child of (children.get(node.id) ?? []).toReversed())
      stack.push({ node: child, depth: depth + 1 })
  }
  return rows
}
