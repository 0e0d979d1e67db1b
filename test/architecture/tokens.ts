/**
 * TypeScript 7 has no JavaScript API, so these tests read sources with a small tokenizer of their own. It knows
 * comments, strings, templates and regular expressions, which is what it takes not to be fooled by their contents.
 */
export type TokenKind =
  | 'word'
  /** Also a template without substitutions. */
  | 'string'
  /** A part of a template before a substitution, and the part after the last one. */
  | 'template'
  | 'template-end'
  | 'number'
  | 'regexp'
  | 'punctuation'

export interface Token {
  readonly kind: TokenKind
  /** The word or mark itself; for strings and templates their content, escapes left as written. */
  readonly text: string
  /** From 1. */
  readonly line: number
}

/** After these words a slash starts a regular expression, after any other word it divides. */
const BEFORE_EXPRESSION = new Set(
  'return typeof case in of delete void throw new instanceof await yield else do extends default'.split(' '),
)
/** `if (x) /re/.test(y)`: the closing bracket of these ends no value. */
const BEFORE_CONDITION = new Set(['if', 'while', 'for', 'with'])

const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y
const REGEXP = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[\p{ID_Continue}$]*/uy
const MARK = /=>|\.\.\.|\?\.|[^]/uy
const SINGLE_QUOTED = /'((?:\\[^]|[^'\\\n])*)'/y
const DOUBLE_QUOTED = /"((?:\\[^]|[^"\\\n])*)"/y
const BLANK = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//y
const TEMPLATE_PART = /(?:\\[^]|\$(?!\{)|[^`\\$])*/y

/** Splits a source into tokens, without comments. What is no valid program is still split, mark by mark. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  /** Open brackets: the index of their token, or 'template' for a `${`. */
  const open: (number | 'template')[] = []
  let at = source.startsWith('#!') ? Math.max(source.indexOf('\n'), 0) : 0
  let line = 1
  let lineAt = 0

  const lineOf = (offset: number): number => {
    for (; lineAt < offset; lineAt++) if (source[lineAt] === '\n') line++
    return line
  }
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  const push = (kind: TokenKind, text: string, length: number): void => {
    tokens.push({ kind, text, line: lineOf(at) })
    at += length
  }
  /** From a backtick or the end of a substitution to the next substitution or the closing backtick. */
  const template = (kindAtEnd: 'string' | 'template-end'): void => {
    const text = match(TEMPLATE_PART)?.[0] ?? ''
    const substitutes = source.startsWith('${', at + text.length)
    push(substitutes ? 'template' : kindAtEnd, text, text.length + (substitutes ? 2 : 1))
    if (substitutes) open.push('template')
  }
  let closedCondition = false

  while (at < source.length) {
    const blank = match(BLANK)
    if (blank) {
      at += blank[0].length
      continue
    }
    const char = source[at]
    if (char === '`') {
      at++
      template('string')
      continue
    }
    const quoted = char === "'" ? match(SINGLE_QUOTED) : char === '"' ? match(DOUBLE_QUOTED) : null
    if (quoted) {
      push('string', quoted[1] ?? '', quoted[0].length)
      continue
    }
    const word = match(WORD)
    if (word) {
      push('word', word[0], word[0].length)
      continue
    }
    const number = match(NUMBER)
    if (number) {
      push('number', number[0], number[0].length)
      continue
    }
    if (char === '/' && startsExpression(tokens.at(-1), closedCondition)) {
      const regexp = match(REGEXP)
      if (regexp) {
        push('regexp', regexp[0], regexp[0].length)
        continue
      }
    }
    if (char === '}' && open.at(-1) === 'template') {
      open.pop()
      at++
      template('template-end')
      continue
    }
    const mark = match(MARK)?.[0] ?? char ?? ''
    if (mark === '(' || mark === '[' || mark === '{') open.push(tokens.length)
    if (mark === ')' || mark === ']' || mark === '}') {
      const opened = open.pop()
      const before = typeof opened === 'number' ? tokens[opened - 1] : undefined
      closedCondition = mark === ')' && before?.kind === 'word' && BEFORE_CONDITION.has(before.text)
    }
    push('punctuation', mark, mark.length)
  }
  return tokens
}

function startsExpression(before: Token | undefined, closedCondition: boolean): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_EXPRESSION.has(before.text)
  if (before.kind === 'template') return true
  if (before.kind !== 'punctuation') return false
  if (before.text === ')') return closedCondition
  return before.text !== ']' && before.text !== '}'
}
