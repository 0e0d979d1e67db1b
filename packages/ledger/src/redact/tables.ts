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
const isInserted: Judge = (cell) => isPasswordCell(cell) || isSaidWord(cell)

const TUPLE = /\s{0,4}\(((?:'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^()'"]){1,2000})\)\s{0,4},?/y
const ITEM = /\s*(N?'(?:[^'\\]|''|\\.)*'|"[^"]*"|[^,'"]*)\s*(?:,|$)/y

/** `INSERT INTO t (name, password) VALUES ('a', '…'), …`. */
function inTuples(match: RegExpExecArray): Place[] {
  const { input: text, groups } = match
  const names = (groups?.names ?? '').split(',').map((name) => name.replace(/[\s"'`[\]\\]/g, ''))
  const judges = names.map((name, at) =>
    HARD.test(name) || (at > 0 && SHORTER.test(name))
      ? isInserted
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

export const inserted: Detector = {
  kind: 'password',
  anchor: '[vV](?=[aA][lL][uU][eE][sS]\\s{0,8}\\()',
  pattern: /\((?<names>[^()'=]{1,600})\)\s{0,8}(?:VALUES|values|Values)(?=\s{0,8}\()/g,
  locate: inTuples,
  unsettled: unsettledTuple,
}
