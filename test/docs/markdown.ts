export interface Fence {
  /** What stands after the opening marks: `ts`, `sh`, `ts no-run: needs a server`. */
  readonly info: string
  readonly text: string
  /** Of the opening marks, from 1. */
  readonly line: number
}

export interface Link {
  readonly target: string
  readonly line: number
}

export interface Markdown {
  readonly fences: readonly Fence[]
  readonly headings: readonly string[]
  readonly links: readonly Link[]
  /** Everything that is set as code, in fences and between backticks. */
  readonly code: string
}

const OPENING = /^([\s>]*)(`{3,}|~{3,})\s*([^`]*)$/
const CODE_SPAN = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g
const LINK_PATTERNS = [
  /\]\(\s*<?([^\s)>]+)>?(?:\s+["'(][^)]*)?\)/g,
  /^\s*\[[^\]]+\]:\s+<?([^\s>]+)/g,
  /\b(?:src|href)\s*=\s*["']([^"']+)["']/g,
]

/** Reads of a page what the tests ask about: fenced blocks, headings, links and code. */
export function readMarkdown(text: string): Markdown {
  const fences: Fence[] = []
  const headings: string[] = []
  const links: Link[] = []
  const spans: string[] = []
  let open: { indent: string; marks: string; info: string; line: number; lines: string[] } | undefined

  const close = (): void => {
    if (open) fences.push({ info: open.info, line: open.line, text: `${open.lines.join('\n')}\n` })
    open = undefined
  }
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (open) {
      const bare = line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart()
      if (bare.startsWith(open.marks) && /^(`+|~+)\s*$/.test(bare)) close()
      else open.lines.push(bare)
      continue
    }
    const opening = OPENING.exec(line)
    if (opening) {
      const [, indent = '', marks = '', info = ''] = opening
      open = { indent, marks, info: info.trim(), line: index + 1, lines: [] }
      continue
    }
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1]
    if (heading !== undefined) headings.push(heading)
    for (const span of line.matchAll(CODE_SPAN)) spans.push(span[2] ?? '')
    const prose = line.replaceAll(CODE_SPAN, '')
    for (const pattern of LINK_PATTERNS)
      for (const link of prose.matchAll(pattern)) links.push({ target: link[1] ?? '', line: index + 1 })
  }
  close()
  return { fences, headings, links, code: [...fences.map((fence) => fence.text), ...spans].join('\n') }
}
