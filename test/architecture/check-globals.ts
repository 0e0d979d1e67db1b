import type { Table } from './rooms.ts'
import { isSource, isTest, type SourceFile } from './source-files.ts'
import { tokenize } from './tokens.ts'

/** Of the page, of Node, and what the ledger takes through its ports. Words that also name data are left out. */
const FORBIDDEN = new Set(
  [
    'window document navigator localStorage sessionStorage indexedDB XMLHttpRequest HTMLElement',
    'requestAnimationFrame customElements MutationObserver fetch WebSocket EventSource',
    'process Buffer require __dirname __filename global',
    'setTimeout setInterval setImmediate crypto performance console',
  ]
    .join(' ')
    .split(' '),
)
const FORBIDDEN_MEMBERS = new Set(['Date.now', 'Math.random'])
const DECLARING = new Set(['const', 'let', 'var', 'function', 'class'])

/** Pure rooms run in Node, in a browser and under a test's own clock, so they touch no global of any of them. */
export function checkGlobals(files: readonly SourceFile[], table: Table): string[] {
  const violations: string[] = []
  for (const { path, text } of files) {
    const name = path.split('/')[1] ?? ''
    if (!isSource(path) || isTest(path) || table[name]?.world !== 'pure') continue
    const tokens = tokenize(text)
    const textAt = (index: number): string =>
      tokens[index]?.kind === 'string' ? '' : (tokens[index]?.text ?? '')
    const ownWords = new Set(
      tokens.filter((_, index) => DECLARING.has(textAt(index - 1))).map((token) => token.text),
    )
    for (const [index, token] of tokens.entries()) {
      if (token.kind !== 'word') continue
      const member = `${token.text}.${textAt(index + 2)}`
      if (textAt(index + 1) === '.' && textAt(index - 1) !== '.' && FORBIDDEN_MEMBERS.has(member))
        violations.push(`${path}:${token.line} uses ${member}; ${name} takes clock and dice by injection`)
      if (!FORBIDDEN.has(token.text) || ownWords.has(token.text)) continue
      const ofGlobalThis = textAt(index - 1).endsWith('.') && textAt(index - 2) === 'globalThis'
      const isMember = textAt(index - 1).endsWith('.') && textAt(index - 1) !== '...'
      const next = textAt(index + 1)
      const isKey = next === ':' || (next === '?' && textAt(index + 2) === ':')
      if (ofGlobalThis || (!isMember && !isKey))
        violations.push(
          `${path}:${token.line} uses the global ${token.text}; take it by injection, or give your own variable another name`,
        )
    }
  }
  return violations
}
