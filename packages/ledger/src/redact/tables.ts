import { isGenerated, isPassword, isTemplate, looksAssigned } from './checks.ts'
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
const HARD_NAME = `(?:[A-Za-z]{1,16}[_ -])?(?:${PASSWORD})`
/** Behind the comma of a sentence more than one word follows. */
const NO_PROSE = '(?! [a-z]+ [a-z0-9])'
const SHORT_NAME = `(?:[A-Za-z]{1,16}[_-])?${SHORT}`
const SOFT_NAME = `(?:[A-Za-z]{1,16}[_-])?${anyCase('(?:api[ _-]?key|secret(?:[ _-]key)?|token|credential)')}`

const HARD = new RegExp(`^(?:${HARD_NAME})$`)
const SHORTER = new RegExp(`^(?:${SHORT_NAME})$`)
const SOFT = new RegExp(`^(?:${SOFT_NAME})$`)

type Judge = (cell: string) => boolean
const isPasswordCell: Judge = (cell) =>
  !isTemplate(cell) && !/[\s/]|^[\d.,-]+$/.test(cell) && (isPassword(cell) || looksAssigned(cell))
const isSecretCell: Judge = (cell) => !/[\s/]/.test(cell) && isGenerated(cell)

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

function below(match: RegExpExecArray, isSecret: Judge): Place[] {
  const { input: text, index } = match
  const head = lineAround(text, index)
  if (head.end - head.start > 400) return []
  for (const [by, least] of SEPARATORS) {
    const names = cellsOf(text, head, by)
    const column = names.findIndex((cell) => cell.start <= index && index < cell.start + cell.text.length)
    if (names.length < least) continue
    const name = names[column]?.text
    if (
      name !== match[0] ||
      names.length > MOST_CELLS ||
      names.some(({ text: cell }) => cell.length > 40 || /(?: \S+){3}|[=(){}]/.test(cell))
    )
      return []
    return rowsBelow(text, head, by, names.length, column, isSecret)
  }
  return []
}

function rowsBelow(
  text: string,
  head: Line,
  by: RegExp,
  width: number,
  column: number,
  isSecret: Judge,
): Place[] {
  const places: Place[] = []
  let line = head
  for (let row = 0; row < MOST_ROWS; row++) {
    const start = nextStart(text, line)
    if (start === undefined) break
    line = lineFrom(text, start)
    if (line.end - line.start > LONGEST_LINE) break
    if (/^[\s|+:=-]*$/.test(text.slice(line.start, line.end)) && line.end > line.start) continue
    const cells = cellsOf(text, line, by)
    const cell = cells[column]
    if (cells.length !== width || cell === undefined) break
    if (isSecret(cell.text)) places.push({ start: cell.start, end: cell.start + cell.text.length })
  }
  return places
}

const TUPLE = /\s{0,4}\(((?:'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^()'"]){1,2000})\)\s{0,4},?/y
const ITEM = /\s*('(?:[^'\\]|''|\\.)*'|"[^"]*"|[^,'"]*)\s*(?:,|$)/y

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
      const quoted = /^(['"])(.*)\1$/s.exec(item[1] ?? '')?.[2]
      if (quoted === undefined || !judge?.(quoted)) continue
      const at = start + item.index + item[0].indexOf(quoted)
      places.push({ start: at, end: at + quoted.length })
    }
  }
  return places
}

const columns = (names: string, anchor: Detector['anchor'], isSecret: Judge): Detector => ({
  kind: isSecret === isPasswordCell ? 'password' : 'secret',
  anchor,
  pattern: new RegExp(`(?:(?<!${EDGE})|(?<=\\\\[nrt]))${names}(?!${EDGE}|\\\\{0,9}["'\`]? {0,3}[=])`, 'g'),
  locate: (match) => below(match, isSecret),
})

const inserted: Detector = {
  kind: 'password',
  anchor: [],
  pattern: /\((?<names>[^()'=]{1,600})\)\s{0,8}(?:VALUES|values|Values)(?=\s{0,8}\()/g,
  locate: inTuples,
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

const CELL = '[^,;|\\t:\\r\\n]{0,44}'
const SPACED = '\\S{1,40}(?: \\S{1,24}){0,2}'
const LINE_START = '(?<=^ ?|[\\r\\n]|\\\\n)(?! )'
const ANY_NAME = `(?:${HARD_NAME}|${SHORT_NAME}|${SOFT_NAME})`
const BELOW = '(?:(?!\\n\\n)[^]){0,8000}'

/** Not the comma of a sentence: who watches an agent write must not wait for the end of each line. */
const BETWEEN = '(?:[|\\t]|[,;](?! ))'

/** A line that may be the head of a table, a head and the rows so far, an INSERT. */
export const TABLE_OPEN: readonly string[] = [
  `${LINE_START}(?:${CELL}(?:${BETWEEN}${CELL}){1,23}|${SPACED}(?: {2,}${SPACED}){1,23} {0,9})`,
  `${LINE_START}(?=[^\\r\\n]{0,400}${ANY_NAME})(?=${CELL}(?:[,;|\\t:]${CELL}){1,23}|${SPACED} {2})${BELOW}`,
  `\\((?=[^()]{0,600}${ANY_NAME})[^()]{0,600}(?:\\)\\s{0,8}(?:[vV][^;]{0,8000})?)?`,
  '(?:[iI]nsert|INSERT)(?: (?:(?:[iI]nto|INTO) [^;]{0,8000})?)?',
]
