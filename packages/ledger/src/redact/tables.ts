import { isGenerated, isPassword, isRandom, isTemplate, looksAssigned } from './checks.ts'
import { isCertain } from './certain.ts'
import { type Detector, type Place } from './detector.ts'
import { anyCase } from './keys.ts'
import { PASSWORD } from './said.ts'

/** A name at the head of a column, or in the list of an INSERT, and the values further down. */

const MOST_ROWS = 64
const MOST_CELLS = 24
const LINE_END = /\r?\n|\\{1,9}n/
const LONGEST_LINE = 800
const EDGE = '[^\\s,;|:"\'`\\\\*]'
const SHORT = '(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|[cC]lave|senha|wachtwoord|heslo|salasana|adgangskode)'
const HARD_NAME = `(?:[A-Za-z]{1,16}[_ -])?(?:${PASSWORD})(?:[_ -](?:plain|text|clear|raw|value|initial|temp|new|old|default))?`
/** Behind the comma of a sentence more than one word follows. */
const NO_PROSE = '(?! [a-z]+ [a-z0-9])'
const SHORT_NAME = `(?:[A-Za-z]{1,16}[_-])?${SHORT}`
const SOFT_NAME = `(?:[A-Za-z]{1,16}[_-])?${anyCase('(?:api[ _-]?key|secret(?:[ _-]access)?(?:[ _-]key)?|token|credential)')}`

const HARD = new RegExp(`^(?:${HARD_NAME})$`)
const SHORTER = new RegExp(`^(?:${SHORT_NAME})$`)
const SOFT = new RegExp(`^(?:${SOFT_NAME})$`)

type Judge = (cell: string) => boolean
const isPasswordCell: Judge = (cell) =>
  !isTemplate(cell) && !/[\s/]|^[\d.,-]+$/.test(cell) && (isPassword(cell) || looksAssigned(cell))
const isSecretCell: Judge = (cell) =>
  (!/[\s/]/.test(cell) && isGenerated(cell)) || (/^[A-Za-z0-9+/]{40}$/.test(cell) && isRandom(cell))

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

interface Cell {
  readonly start: number
  readonly text: string
}

function cellsOf(text: string, { start, end }: Line, by: RegExp): Cell[] {
  const cells: Cell[] = []
  let at = start
  for (const part of text.slice(start, end).split(by)) {
    const found = text.indexOf(part, at)
    const bare = part.replace(/^[\s"'`*\\]+/, '')
    cells.push({ start: found + part.length - bare.length, text: bare.replace(/[\s"'`*\\]+$/, '') })
    at = found + part.length
  }
  return cells
}

const SEPARATORS: readonly (readonly [RegExp, number])[] = [
  [/\|/, 2],
  [/;/, 2],
  [/\t|\\{1,9}t/, 2],
  [/,/, 2],
  [/:/, 4],
  [/ {2,}/, 2],
]

interface Column {
  readonly head: Line
  readonly by: RegExp
  readonly width: number
  readonly at: number
  readonly name: string
}

/** The column of which the match is the name. */
function columnOf({ 0: wanted, input: text, index }: RegExpExecArray): Column | undefined {
  const head = lineAround(text, index)
  if (head.end - head.start > 400) return undefined
  for (const [by, least] of SEPARATORS) {
    const names = cellsOf(text, head, by)
    const at = names.findIndex((cell) => cell.start <= index && index < cell.start + cell.text.length)
    if (names.length < least) continue
    const isHead =
      names[at]?.text === wanted &&
      names.length <= MOST_CELLS &&
      names.every(({ text: cell }) => cell.length <= 40 && !/(?: \S+){3}|[=(){}]/.test(cell))
    return isHead ? { head, by, width: names.length, at, name: wanted } : undefined
  }
  return undefined
}

/** The cells of a column, as far as the rows are alike; `rest` is where the row stands that the end of the text cuts off. */
function cellsBelow(
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
    if (/^[\s|+:=-]*$/.test(text.slice(line.start, line.end)) && line.end > line.start) continue
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

const OF_USER = /(?<![a-z])(?:user(?:[-_ ]?name)?|login|e-?mail|account)(?![a-z])/i

function below(match: RegExpExecArray, isSecret: Judge): Place[] {
  const column = columnOf(match)
  // Beside the name of a user, any word is the password.
  const isOfUser =
    isSecret === isPasswordCell &&
    column !== undefined &&
    OF_USER.test(match.input.slice(column.head.start, column.head.end))
  return column === undefined
    ? []
    : cellsBelow(match.input, column)
        .cells.filter(({ text }) => isSecret(text) || (isOfUser && isCertain(text)))
        .map(({ start, text }) => ({ start, end: start + text.length }))
}

/** A row is one of the table when all of it is there. */
function unsettledBelow(match: RegExpExecArray): ReturnType<NonNullable<Detector['unsettled']>> {
  const { input: text } = match
  const column = columnOf(match)
  const rest = column && cellsBelow(text, column).rest
  if (column === undefined || rest === undefined) return undefined
  const cell = rest === column.head ? undefined : cellsOf(text, rest, column.by)[column.at]
  return { from: cell?.start ?? text.length, head: column.head.start }
}

const TUPLE = /\s{0,4}\(((?:'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^()'"]){1,2000})\)\s{0,4},?/y
const ITEM = /\s*(N?'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^,'"]*)\s*(?:,|$)/y

/** `INSERT INTO t (name, password) VALUES ('a', '…'), …`. */
function inTuples(match: RegExpExecArray): Place[] {
  const { input: text, groups } = match
  const names = (groups?.names ?? '').split(',').map((name) => name.replace(/[\s"'`[\]\\]/g, ''))
  const judges = names.map((name, at) =>
    HARD.test(name) || (at > 0 && SHORTER.test(name))
      ? isPasswordCell
      : at > 0 && SOFT.test(name)
        ? isSecretCell
        : undefined,
  )
  const places: Place[] = []
  TUPLE.lastIndex = match.index + match[0].length
  for (let row = 0, tuple = TUPLE.exec(text); tuple && row < MOST_ROWS; row++, tuple = TUPLE.exec(text)) {
    const body = tuple[1] ?? ''
    const start = tuple.index + tuple[0].indexOf('(') + 1
    ITEM.lastIndex = 0
    for (const judge of judges) {
      const item = ITEM.exec(body)
      if (!item) break
      const quoted = /^N?(['"])(.*)\1$/s.exec(item[1] ?? '')?.[2]
      if (quoted === undefined || !judge?.(quoted)) continue
      const at = start + item.index + item[0].indexOf(quoted)
      places.push({ start: at, end: at + quoted.length })
    }
  }
  return places
}

const TUPLE_BEGUN =
  /\s{0,4}\((?:'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^()'"]){0,2000}(?:'(?:[^'\\]|''|\\.)*\\?|"[^"]*)?$/y

/** The tuple that the end of the text cuts off. */
function unsettledTuple(match: RegExpExecArray): ReturnType<NonNullable<Detector['unsettled']>> {
  const { input: text, index: head } = match
  let from = head + match[0].length
  TUPLE.lastIndex = from
  for (let row = 0; row < MOST_ROWS && TUPLE.test(text); row++) from = TUPLE.lastIndex
  TUPLE_BEGUN.lastIndex = from
  if (TUPLE_BEGUN.test(text)) return { from, head }
  return /^\s{0,4}$/.test(text.slice(from, from + 5)) ? { from: text.length, head } : undefined
}

const columns = (names: string, anchor: Detector['anchor'], isSecret: Judge): Detector => ({
  kind: isSecret === isPasswordCell ? 'password' : 'secret',
  anchor,
  pattern: new RegExp(`(?:(?<!${EDGE})|(?<=\\\\[nrt]))${names}(?!${EDGE}|\\\\{0,9}["'\`]? {0,3}[=])`, 'g'),
  locate: (match) => below(match, isSecret),
  unsettled: unsettledBelow,
})

const inserted: Detector = {
  kind: 'password',
  anchor: [],
  pattern: /\((?<names>[^()'=]{1,600})\)\s{0,8}(?:VALUES|values|Values)(?=\s{0,8}\()/g,
  locate: inTuples,
  unsettled: unsettledTuple,
}

/** Their anchor is the word itself. */
export const passwordTables: readonly Detector[] = [columns(HARD_NAME, [], isPasswordCell), inserted]

export const secretTables: readonly Detector[] = [
  inserted,
  columns(`(?<=[,;|]${NO_PROSE}[ "'\\\\]{0,4})${SHORT_NAME}`, [], isPasswordCell),
  columns(
    `(?<=[,;|]${NO_PROSE}[ "'\\\\]{0,4})${SOFT_NAME}`,
    `[,;|]${NO_PROSE}(?=[ "'\\\\]{0,4}(?:${SHORT_NAME}|${SOFT_NAME})["'\\\\ ]{0,4}(?:[,;|)\\r\\n]|n))`,
    isSecretCell,
  ),
]
