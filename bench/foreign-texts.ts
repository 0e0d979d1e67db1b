import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ForeignText {
  readonly file: string
  readonly text: string
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  JavaScript: ['js', 'mjs', 'cjs'],
  'type declarations': ['d.ts', 'd.mts', 'd.cts'],
  Markdown: ['md'],
  JSON: ['json'],
  CSS: ['css'],
  'source maps': ['map'],
}
const MOST_CHARS = 5_000_000
const MOST_PER_FILE = 60_000

/** Files of the installed packages by kind, cut into pieces; base64 and what is written about passwords are made of them. */
export function foreignTexts(folder: string, piece: number): Map<string, readonly ForeignText[]> {
  const found = new Map<string, readonly ForeignText[]>()
  for (const [kind, endings] of Object.entries(KINDS)) {
    const files = endings.flatMap((ending) => globSync(`**/*.${ending}`, { cwd: folder })).toSorted()
    const every = Math.max(1, Math.floor(files.length / 2000))
    const texts: ForeignText[] = []
    let size = 0
    for (let at = 0; at < files.length && size < MOST_CHARS; at += every) {
      const file = files[at] as string
      const text = readFileSync(join(folder, file), 'utf8').slice(0, MOST_PER_FILE)
      size += text.length
      texts.push(...cut(file, text, piece))
    }
    found.set(kind, texts)
  }
  const all = [...found.values()].flat()
  found.set(
    'base64',
    all.slice(0, 200).map(({ file, text }) => ({ file, text: Buffer.from(text).toString('base64') })),
  )
  const about = (found.get('Markdown') ?? [])
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => /password|secret|token|api.?key|cookie/i.test(line))
    .join('\n')
  found.set('lines about passwords and tokens', cut('Markdown', about, piece))
  const diff = all.slice(0, 300).map(({ file, text }, at) => ({
    file,
    text: text.replaceAll(/^/gm, at % 2 ? '+' : '-'),
  }))
  found.set('diffs', diff)
  return found
}

const cut = (file: string, text: string, piece: number): ForeignText[] =>
  Array.from({ length: Math.ceil(text.length / piece) }, (_, at) => ({
    file,
    text: text.slice(at * piece, (at + 1) * piece),
  }))
