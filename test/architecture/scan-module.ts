import { type Token, tokenize } from './tokens.ts'

export interface ImportFound {
  /** What is imported; `undefined` when it is computed at run time. */
  readonly specifier: string | undefined
  readonly how: 'static' | 'dynamic' | 're-export' | 'require' | 'reference'
  /** Whether it disappears when the types are stripped. */
  readonly typeOnly: boolean
  readonly line: number
}

export interface ModuleScan {
  readonly imports: readonly ImportFound[]
  /** Names under which things are exported, `default` included; `*` for `export * from`. */
  readonly exports: readonly string[]
}

const DECLARING = new Set('const let var function class interface type enum namespace'.split(' '))
const MODIFIERS = new Set(['declare', 'abstract', 'async'])
/** Before a call of `import(…)`; before a method that is named `import` stands something else. */
const BEFORE_CALL = new Set('await return void yield typeof new = => ( [ , ? : & | ! < .'.split(' '))

/** Finds every import and export of a module: static, dynamic, type-only, re-export, `require`, `/// <reference>`. */
export function scanModule(source: string): ModuleScan {
  const tokens = tokenize(source)
  const imports: ImportFound[] = scanReferences(source)
  const exports: string[] = []
  const isMark = (index: number, ...texts: string[]): boolean =>
    tokens[index]?.kind === 'punctuation' && texts.includes(tokens[index].text)
  const isWord = (index: number, ...texts: string[]): boolean =>
    tokens[index]?.kind === 'word' && texts.includes(tokens[index].text)

  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || isMark(index - 1, '.', '?.')) continue
    if (token.text === 'import') scanImport(index, token)
    else if (token.text === 'export') scanExport(index, token)
    else if (token.text === 'require' && isMark(index + 1, '(') && tokens[index + 2]?.kind === 'string')
      imports.push({ specifier: tokens[index + 2]?.text, how: 'require', typeOnly: false, line: token.line })
  }
  return { imports, exports }

  function scanImport(index: number, { line }: Token): void {
    const next = tokens[index + 1]
    if (next?.kind === 'string') {
      imports.push({ specifier: next.text, how: 'static', typeOnly: false, line })
    } else if (isMark(index + 1, '(')) {
      // `import('x').Foo` in the place of a type is told from a call by what follows only, so both count as code.
      if (tokens[index + 2]?.kind === 'string')
        imports.push({ specifier: tokens[index + 2]?.text, how: 'dynamic', typeOnly: false, line })
      else if (BEFORE_CALL.has(tokens[index - 1]?.text ?? '=') && !isMark(closing(index + 1) + 1, '{'))
        imports.push({ specifier: undefined, how: 'dynamic', typeOnly: false, line })
    } else {
      // `import type from 'x'` imports a value named type.
      const leading = isWord(index + 1, 'type') && !isWord(index + 2, 'from') && !isMark(index + 2, ',', '=')
      const { from, names } = readClause(leading ? index + 2 : index + 1)
      if (from === undefined) return
      const typeOnly = leading || (names.length > 0 && names.every((name) => name.typeOnly))
      imports.push({ specifier: from, how: 'static', typeOnly, line })
    }
  }

  function scanExport(index: number, { line }: Token): void {
    let at = index + 1
    if (isWord(at, 'default')) {
      exports.push('default')
      return
    }
    const leading = isWord(at, 'type') && isMark(at + 1, '{', '*')
    if (leading) at++
    if (isMark(at, '{', '*')) {
      const { from, names } = readClause(at)
      exports.push(...names.map((name) => name.exported))
      const typeOnly =
        leading || (isMark(at, '{') && names.length > 0 && names.every((name) => name.typeOnly))
      if (from !== undefined) imports.push({ specifier: from, how: 're-export', typeOnly, line })
      return
    }
    while (MODIFIERS.has(tokens[at]?.text ?? '')) at++
    if (!DECLARING.has(tokens[at]?.text ?? '')) return
    if (isWord(at, 'const') && isWord(at + 1, 'enum')) at++
    at++
    if (isMark(at, '*')) at++
    if (isMark(at, '{', '[')) {
      // `export const { a, b: c } = …`: the last word before a comma or the end is the name.
      for (let inside = at + 1, end = closing(at); inside <= end; inside++)
        if (isMark(inside, ',', '}', ']') && tokens[inside - 1]?.kind === 'word')
          exports.push(tokens[inside - 1]?.text ?? '')
    } else if (tokens[at]?.kind === 'word') exports.push(tokens[at]?.text ?? '')
  }

  /** Reads `a, * as b, { c, type d as e } from 'x'` up to its specifier. */
  function readClause(start: number): { from?: string; names: { exported: string; typeOnly: boolean }[] } {
    const names: { exported: string; typeOnly: boolean }[] = []
    let at = start
    for (; at < tokens.length; at++) {
      const token = tokens[at]
      if (isMark(at, '*')) {
        const named = isWord(at + 1, 'as')
        names.push({ exported: named ? (tokens[at + 2]?.text ?? '') : '*', typeOnly: false })
        if (named) at += 2
      } else if (isMark(at, '{')) {
        const end = closing(at)
        let first = at + 1
        for (let inside = first; inside <= end; inside++) {
          if (inside < end && !isMark(inside, ',')) continue
          if (inside > first) {
            // `{ type }` and `{ type as x }` name a value, `{ type x }` and `{ type x as y }` a type.
            const typeOnly = isWord(first, 'type') && inside - first > 1 && (inside - first) % 2 === 0
            names.push({ exported: tokens[inside - 1]?.text ?? '', typeOnly })
          }
          first = inside + 1
        }
        at = end
      } else if (isWord(at, 'from') && tokens[at + 1]?.kind === 'string') {
        return { from: tokens[at + 1]?.text ?? '', names }
      } else if (token?.kind === 'word') {
        if (names.length > 0 && !isMark(at - 1, ',')) break
        names.push({ exported: token.text, typeOnly: false })
      } else if (!isMark(at, ',')) break
    }
    // `import x = require('y')` is found at its `require`.
    return { names }
  }

  /** The index of the bracket that closes the one at `start`. */
  function closing(start: number): number {
    let depth = 0
    for (let at = start; at < tokens.length; at++) {
      if (isMark(at, '(', '[', '{')) depth++
      else if (isMark(at, ')', ']', '}') && --depth === 0) return at
    }
    return tokens.length
  }
}

/** `/// <reference types="node" />` brings a package in through a comment. */
function scanReferences(source: string): ImportFound[] {
  const found: ImportFound[] = []
  for (const [index, text] of source.split('\n').entries()) {
    const reference = /^\s*\/\/\/\s*<reference\s+(types|path)\s*=\s*["']([^"']+)["']/.exec(text)
    if (reference) found.push({ specifier: reference[2], how: 'reference', typeOnly: true, line: index + 1 })
    else if (text.trim() !== '' && !text.trim().startsWith('//')) break
  }
  return found
}
