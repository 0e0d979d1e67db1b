import type { Detector } from './detector.ts'

/** The rows of a table below the name of one of its columns, as programs print them and people paste them. */

const MOST_ROWS = 64
const MOST_CELLS = 24
const LINE_END = /\r?\n|\\{1,9}n/
const LONGEST_LINE = 800

interface Line {
  readonly start: number
  readonly end: number
}

/** The line in which a place stands, as the text or its escaped form ends lines. */
function lineAround(text: string, at: number): Line {
  const before = text.slice(Math.max(0, at - 400), at)
  const head = Math.max(
    before.lastIndexOf('\n') + 1,
    before.lastIndexOf('\\n') + 1 && before.lastIndexOf('\\n') + 2,
  )
  return lineFrom(text, at - before.length + head, at)
}

function lineFrom(text: string, start: number, from = start): Line {
  const found = LINE_END.exec(text.slice(from, from + LONGEST_LINE + 8))
  return { start, end: found ? from + found.index : Math.min(text.length, from + LONGEST_LINE + 8) }
}

const nextStart = (text: string, { end }: Line): number | undefined => {
  const found = LINE_END.exec(text.slice(end, end + 12))
  return found?.index === 0 ? end + found[0].length : undefined
}

export interface Cell {
  readonly start: number
  readonly text: string
}

/** Commas between quotation marks part nothing. */
function partsOf(line: string, by: RegExp): string[] {
  if (by !== COMMA || !line.includes('"')) return line.split(by)
  const parts: string[] = []
  let [start, quoted] = [0, false]
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') quoted = !quoted
    else if (line[at] === ',' && !quoted) {
      parts.push(line.slice(start, at))
      start = at + 1
    }
  }
  return quoted ? line.split(by) : [...parts, line.slice(start)]
}

function cellsOf(text: string, { start, end }: Line, by: RegExp): Cell[] {
  const cells: Cell[] = []
  let at = start
  // A row may be a list: `["a", "b"],`.
  const line = text.slice(start, end).replace(/(?<=^\s*\[.*\])[\],\s]+$/, '')
  for (const part of partsOf(line, by)) {
    const found = text.indexOf(part, at)
    const bare = part.replace(/^[\s"'`*\\[]+/, '')
    cells.push({ start: found + part.length - bare.length, text: bare.replace(/[\s"'`*\\]+(?:\]+$)?$/, '') })
    at = found + part.length
  }
  return cells
}

const COMMA = /,/
/** What parts the columns, how many there are at least, and what the head must have. */
const SEPARATORS: readonly (readonly [RegExp, number, RegExp?])[] = [
  [/(?:<\/?(?:t[dhr]|table|thead|tbody)(?: [^<>]{0,80})?>)+/, 3],
  [/[|│┃]/, 2],
  [/;/, 2],
  // Several tabs in a row align the columns of a listing.
  [/(?:\t|\\{1,9}t)+/, 2, /\t\t|t\\{1,9}t/],
  [/\t|\\{1,9}t/, 2],
  [COMMA, 2],
  [/ \/ /, 3],
  [/:/, 4],
  [/ {2,}/, 2],
]

export interface Column {
  readonly head: Line
  readonly by: RegExp
  readonly width: number
  readonly at: number
  readonly name: string
}

/** The column of which the match is the name. */
export function columnOf({ 0: wanted, input: text, index }: RegExpExecArray): Column | undefined {
  const head = lineAround(text, index)
  if (head.end - head.start > 400) return undefined
  for (const [by, least, mark] of SEPARATORS) {
    if (mark && !mark.test(text.slice(head.start, head.end))) continue
    const names = cellsOf(text, head, by)
    const at = names.findIndex((cell) => cell.start <= index && index < cell.start + cell.text.length)
    if (names.length < least) continue
    // Nothing but an indented word, or one of a type that is a choice of words.
    if (/^\s+(?:\| )?\S+$/.test(text.slice(head.start, head.end))) return undefined
    const isHead =
      names[at]?.text === wanted &&
      names.length <= MOST_CELLS &&
      names.every(
        ({ text: cell }, n) => cell.length <= 40 && (n === at || !/(?: \S+){3}|[=(){}]|:$/.test(cell)),
      )
    return isHead ? { head, by, width: names.length, at, name: wanted } : undefined
  }
  return undefined
}

/** The cells of a column, as far as the rows are alike; `rest` is where the row stands that the end of the text cuts off. */
export function cellsBelow(
  text: string,
  { head, by, width, at, name }: Column,
): { cells: Cell[]; rest: Line | undefined } {
  const cells: Cell[] = []
  let line = head
  for (let row = 0; row < MOST_ROWS; row++) {
    const start = nextStart(text, line)
    if (start === undefined) return { cells, rest: line.end === text.length ? line : undefined }
    line = lineFrom(text, start)
    if (line.end - line.start > LONGEST_LINE) break
    if (/^[\s|+:=─━┼├┤╞╡┌┐└┘┬┴-]*$/.test(text.slice(line.start, line.end)) && line.end > line.start) continue
    const found = cellsOf(text, line, by)
    const cell = found[at]
    if (found.length !== width || cell === undefined)
      return { cells, rest: line.end === text.length && found.length <= width ? line : undefined }
    // The head of the next table, which is asked for itself.
    if (cell.text === name) break
    cells.push(cell)
  }
  return { cells, rest: undefined }
}

/** A row is one of the table when all of it is there. */
export function unsettledBelow(match: RegExpExecArray): ReturnType<NonNullable<Detector['unsettled']>> {
  const { input: text } = match
  const column = columnOf(match)
  const rest = column && cellsBelow(text, column).rest
  if (column === undefined || rest === undefined) return undefined
  const cell = rest === column.head ? undefined : cellsOf(text, rest, column.by)[column.at]
  return { from: cell?.start ?? text.length, head: column.head.start }
}
