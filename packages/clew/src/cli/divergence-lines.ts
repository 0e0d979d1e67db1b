import type { Change, Divergence, ItemReference } from '@clew/ledger'
import type { Colours } from './colour.ts'
import { cut, printable, wrap } from './text.ts'

const SAYS: Readonly<Record<Divergence['kind'], string>> = {
  order: 'the same thing in another place',
  name: 'another one in its place',
  kind: 'something of another kind in its place',
  input: 'the same with another input',
  output: 'the same with another outcome',
  decision: 'the same with another decision',
  missing: 'it is missing in the second run',
  extra: 'the second run has it in addition',
}

/** Shows a divergence of two runs: both items, and the values that differ. */
export function divergenceLines(colour: Colours, width: number, found: Divergence, shared = 0): string[] {
  const says = colour.dim(`  ${found.kind}: ${SAYS[found.kind]}`)
  return [says, ...bothSides(colour, width, found, shared), ...changeLines(colour, width, found.changes)]
}

/** Shows the last equal item, and the next item of each run. */
export function bothSides(colour: Colours, width: number, found: Divergence, shared = 0): string[] {
  const { dim, red, green } = colour
  const lines: string[] = []
  if (found.after) lines.push(side(dim('after'), found.after, width, dim))
  else if (shared > 0) lines.push(dim(`  after the ${shared} events that both share`))
  lines.push(side(red('-    '), found.expected, width), side(green('+    '), found.received, width))
  return lines
}

function side(
  mark: string,
  item: ItemReference | null,
  width: number,
  paint = (text: string): string => text,
): string {
  const text = item === null ? 'the run ends here' : `#${item.seq} ${printable(item.label)}`
  return `  ${mark} ${paint(cut(text, width - 10))}`
}

export function changeLines(
  { dim, red, green }: Colours,
  width: number,
  changes: readonly Change[],
): string[] {
  return changes.flatMap(({ path, expected, received }) => [
    `    ${dim(cut(printable(path), width - 4))}`,
    ...value(red, '-', expected, width),
    ...value(green, '+', received, width),
  ])
}

function value(paint: (text: string) => string, mark: string, text: string | null, width: number): string[] {
  const shown = wrap(printable(text ?? 'nothing'), width - 8).slice(0, 3)
  return shown.map((line, at) => `      ${paint(`${at === 0 ? mark : ' '} ${line}`)}`)
}
