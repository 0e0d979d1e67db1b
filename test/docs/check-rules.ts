import { isTest, type SourceFile } from '../architecture/source-files.ts'
import { type Token, tokenize } from '../architecture/tokens.ts'

const IDS = /^(?:[ELVRDTMPAUS]\d{1,2}\b[\s,/·+&:]*(?:and\s+)?)+/
const ID = /[ELVRDTMPAUS]\d{1,2}\b/g
const REGISTERS_TESTS = new Set(['it', 'test', 'describe'])

/** Rules of SPEC.md: each id that stands in bold, as in `- **L12 It records …**` or `**V1** run summary`. */
export function findRules(spec: string): string[] {
  return [...spec.matchAll(/\*\*([ELVRDTMPAUS]\d{1,2})\b/g)].map((match) => match[1] ?? '')
}

/** Ids that are defined twice, and ids that start a test's name without being defined. */
export function checkRules(spec: string, files: readonly SourceFile[]): string[] {
  const rules = findRules(spec)
  const known = new Set(rules)
  const twice = rules.filter((id, index) => rules.indexOf(id) !== index)
  const unknown = files
    .filter((file) => isTest(file.path) || file.path.includes('/conformance/'))
    .flatMap((file) => findCited(file).filter((cited) => !known.has(cited.id)))
  return [
    ...twice.map((id) => `SPEC.md defines ${id} twice`),
    ...unknown.map(({ id, where }) => `${where} cites ${id}, which SPEC.md does not define`),
  ]
}

/** The ids at the start of the names of tests: `it('L4, L5 …')`, `describe('E1 …')`, `it.each(…)('R0 …')`. */
function findCited({ path, text }: SourceFile): { id: string; where: string }[] {
  return findNames(tokenize(text), path.includes('/conformance/')).flatMap((name) => {
    const ids = IDS.exec(name.text)?.[0].match(ID) ?? []
    return ids.map((id) => ({ id, where: `${path}:${name.line}` }))
  })
}

/** A suite that gets its `it` handed in, or lists its tests as data, can name them in any string. */
function findNames(tokens: readonly Token[], anyString: boolean): Token[] {
  const isName = (token: Token | undefined): token is Token =>
    token?.kind === 'string' || token?.kind === 'template'
  if (anyString) return tokens.filter(isName)
  const names: Token[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || !REGISTERS_TESTS.has(token.text) || tokens[index - 1]?.text === '.') continue
    // Follow `it.skipIf(x).each([…])('name'`: members and calls, one after the other.
    for (let at = index + 1; at < tokens.length; ) {
      const mark = tokens[at]?.kind === 'punctuation' ? tokens[at]?.text : undefined
      if (mark === '.') at += 2
      else if (mark === '(') {
        const first = tokens[at + 1]
        if (isName(first)) {
          names.push(first)
          break
        }
        at = afterBracket(tokens, at)
      } else break
    }
  }
  return names
}

function afterBracket(tokens: readonly Token[], start: number): number {
  let depth = 0
  for (let at = start; at < tokens.length; at++) {
    if (tokens[at]?.kind !== 'punctuation') continue
    if ('([{'.includes(tokens[at]?.text ?? ' ')) depth++
    else if (')]}'.includes(tokens[at]?.text ?? ' ') && --depth === 0) return at + 1
  }
  return tokens.length
}
