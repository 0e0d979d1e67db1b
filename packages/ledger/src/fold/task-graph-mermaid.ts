import type { TaskEdge, TaskGraph, TaskNode } from './task-graph.ts'

/** Limits that drawing programs have by default; larger drawings are hard to read, too. */
const MAX_NODES = 200
const MAX_EDGES = 400

const SHAPES: Readonly<Record<TaskNode['kind'], readonly [string, string]>> = {
  step: ['["', '"]'],
  call: ['[["', '"]]'],
  message: ['(["', '"])'],
  agent: ['{{"', '"}}'],
  run: ['[/"', '"/]'],
  target: ['("', '")'],
}
const ARROWS: Readonly<Record<TaskEdge['kind'], string>> = {
  sequence: '-->',
  decision: '==>',
  cause: '-.->',
  handoff: '-->',
  child_run: '-->',
}

/** V5 as a Mermaid flowchart; a step points with a dotted line at the steps inside it. */
export function formatMermaid({ nodes, edges }: TaskGraph): string {
  const shown = nodes.slice(0, MAX_NODES)
  const ids = new Set(shown.map((node) => node.id))
  const lines = ['flowchart TD']
  for (const node of shown) {
    const [open, close] = SHAPES[node.kind]
    lines.push(`  ${node.id}${open}${label(node)}${close}`)
  }
  for (const { id, parent, kind } of shown)
    if (parent !== null && ids.has(parent) && kind !== 'run') lines.push(`  ${parent} -. in .-> ${id}`)
  const decided = new Set(
    edges.filter(({ kind }) => kind === 'decision').map(({ from, to }) => `${from} ${to}`),
  )
  const drawn = edges
    .filter(({ from, to }) => ids.has(from) && ids.has(to))
    .filter(({ from, to, kind }) => kind === 'decision' || !decided.has(`${from} ${to}`))
  for (const { from, to, kind, count } of drawn.slice(0, MAX_EDGES)) {
    const text = [WORDS[kind], count > 1 ? `×${count}` : ''].filter(Boolean).join(' ')
    lines.push(`  ${from} ${ARROWS[kind]}${text === '' ? '' : `|${text}|`} ${to}`)
  }
  const failed = shown.filter((node) => (node.statuses.failed ?? 0) > 0).map((node) => node.id)
  if (failed.length > 0) lines.push('  classDef failed stroke:#c00', `  class ${failed.join(',')} failed`)
  const left = nodes.length - shown.length
  const leftEdges = Math.max(0, drawn.length - MAX_EDGES)
  if (left > 0 || leftEdges > 0) lines.push(`  %% left out: ${left} nodes, ${leftEdges} edges`)
  return `${lines.join('\n')}\n`
}

const WORDS: Readonly<Record<TaskEdge['kind'], string>> = {
  sequence: '',
  decision: 'decides',
  cause: 'causes',
  handoff: 'hands over',
  child_run: 'runs',
}

function label({ name, count, statuses, loops }: TaskNode): string {
  const facts = [
    count > 1 ? `×${count}` : '',
    loops > 0 ? `${loops} again` : '',
    statuses.failed ? `${statuses.failed} failed` : '',
    statuses.running ? `${statuses.running} running` : '',
    statuses.paused ? `${statuses.paused} paused` : '',
  ].filter(Boolean)
  return `${escape(name)}${facts.length === 0 ? '' : `<br/>${facts.join(' · ')}`}`
}

/** Only letters, digits and a few signs go as they are; the rest as entities, so that no name can draw. */
const escape = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- what must not reach a page
  [...text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ')]
    .slice(0, 60)
    .map((char) => (/[\p{L}\p{N}\p{M} _.,:/-]/u.test(char) ? char : `#${char.codePointAt(0)};`))
    .join('')
