import { isJoinedInQuotes } from './joined-words.ts'
import { isSaidWord } from './plain-words.ts'
import { type Detector, type Place } from './detector.ts'
import { anyCase } from './keys.ts'
import { PASSWORD } from './said.ts'
import { isPasswordCell, isSecretCell } from './table-columns.ts'

/** A name in the list of an INSERT, and the values further down. */

const MOST_ROWS = 64
const SHORT = '(?:[pP]ass|PASS|[pP]wd|PWD|[pP]w|[cC]lave|senha|wachtwoord|heslo|salasana|adgangskode)'
const HARD_NAME = `(?:[A-Za-z]{1,16}[_ -])?(?:${PASSWORD})(?:[_ -](?:plain|text|clear|raw|value|initial|temp|new|old|default))?`
const SHORT_NAME = `(?:[A-Za-z]{1,16}[_-])?${SHORT}`
const SOFT_NAME = `(?:[A-Za-z]{1,16}[_-])?${anyCase('(?:api[ _-]?key|secret(?:[ _-]access)?(?:[ _-]key)?|token|credential)')}`

const HARD = new RegExp(`^(?:${HARD_NAME})$`)
const SHORTER = new RegExp(`^(?:${SHORT_NAME})$`)
const SOFT = new RegExp(`^(?:${SOFT_NAME})$`)

type Judge = (cell: string) => boolean
const isInserted: Judge = (cell) => isPasswordCell(cell) || isSaidWord(cell) || isJoinedInQuotes(cell)

const TUPLE =
  /\s{0,4}\(((?:'(?:[^'\\]|''|\\.)*'|"[^"]*"|\((?:'[^'\\]*'|[^()'"]){0,200}\)|[^()'"]){1,2000})\)\s{0,4},?/y
/** In a call that makes a digest of it, too. */
const ITEM = /\s*(N?'(?:[^'\\]|''|\\.)*'|"[^"]*"|\w+\((?:'[^'\\]*'|[^()'"])*\)|[^,'"]*)\s*(?:,|$)/y

const namesOf = (list = ''): string[] => list.split(',').map((name) => name.replace(/[\s"'`[\]\\]/g, ''))
/** What stands in a column of that name. */
const isOf = (name: string, at: number): Judge | undefined =>
  HARD.test(name) || (at > 0 && SHORTER.test(name))
    ? isInserted
    : at > 0 && SOFT.test(name)
      ? isSecretCell
      : undefined

/** `INSERT INTO t (name, password) VALUES ('a', '…'), …`. */
function inTuples(match: RegExpExecArray): Place[] {
  const { input: text, groups } = match
  const judges = namesOf(groups?.names).map(isOf)
  const places: Place[] = []
  TUPLE.lastIndex = match.index + match[0].length
  for (let row = 0, tuple = TUPLE.exec(text); tuple && row < MOST_ROWS; row++, tuple = TUPLE.exec(text)) {
    const body = tuple[1] ?? ''
    const start = tuple.index + tuple[0].indexOf('(') + 1
    ITEM.lastIndex = 0
    for (const judge of judges) {
      const item = ITEM.exec(body)
      if (!item) break
      const quoted = /^(?:N|\w+\()?(['"])(.*?)\1(?:$|.*\)$)/s.exec(item[1] ?? '')?.[2]
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

const COPIED_ROW =
  /(?:\r?\n|\\n)((?:[^\t\r\n\\]|\\(?![nt.]))*(?:(?:\t|\\t)(?:[^\t\r\n\\]|\\(?![nt.]))*)+)(?=\r?\n|\\n)/y

/** The rows below, with tabs between their cells, up to the one that is cut off. */
function copiedRows(match: RegExpExecArray): { places: Place[]; rest: number } {
  const { input: text, groups } = match
  const judges = namesOf(groups?.names).map(isOf)
  const places: Place[] = []
  let rest = match.index + match[0].length
  COPIED_ROW.lastIndex = rest
  for (
    let row = 0, line = COPIED_ROW.exec(text);
    line && row < MOST_ROWS;
    row++, line = COPIED_ROW.exec(text)
  ) {
    rest = COPIED_ROW.lastIndex
    let at = rest - (line[1] ?? '').length
    for (const [index, cell] of (line[1] ?? '').split(/(\t|\\t)/).entries()) {
      if (index % 2 === 0 && judges[index / 2]?.(cell)) places.push({ start: at, end: at + cell.length })
      at += cell.length
    }
  }
  return { places, rest }
}

/** `COPY t (name, password) FROM stdin;`, as a dump of PostgreSQL has it. */
export const copied: Detector = {
  kind: 'password',
  anchor: 'C(?=OPY [\\w."]{1,80} \\()',
  pattern: /COPY [\w."]{1,80} \((?<names>[^()'=]{1,600})\) FROM stdin[^;\r\n]{0,60};/g,
  locate: (match) => copiedRows(match).places,
  unsettled(match) {
    const { rest } = copiedRows(match)
    const { input: text, index: head } = match
    return /^(?:\r?\n|\\n)?[^\r\n]{0,2000}$/.test(text.slice(rest)) ? { from: rest, head } : undefined
  },
}

export const inserted: Detector = {
  kind: 'password',
  anchor: '[vV](?=[aA][lL][uU][eE][sS]\\s{0,8}\\()',
  pattern: /\((?<names>[^()'=]{1,600})\)\s{0,8}(?:VALUES|values|Values)(?=\s{0,8}\()/g,
  locate: inTuples,
  unsettled: unsettledTuple,
}
