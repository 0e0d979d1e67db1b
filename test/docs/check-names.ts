import { isSource, isTest, type SourceFile } from '../architecture/source-files.ts'
import { readMarkdown } from './markdown.ts'

/** Everything in Clew that has a name. */
export interface KnownNames {
  readonly exports: ReadonlySet<string>
  /** Members of types, and statuses of runs. */
  readonly members: ReadonlySet<string>
  readonly eventTypes: ReadonlySet<string>
  /** Commands with their flags: `token create` has `--scope`. */
  readonly commands: ReadonlyMap<string, readonly string[]>
  /** Subpaths of the package: `clew/react`. */
  readonly subpaths: ReadonlySet<string>
  /** Source text, in which routes and environment variables are looked up. */
  readonly source: string
}

/** Names of members that interfaces, types and classes declare, one per line. */
export function findMembers(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path) && !isTest(path))
    .flatMap(({ text }) =>
      [...text.matchAll(/^ {2,}(?:readonly |static |async |get )*([A-Za-z]\w*)\??(?:<[^>\n]*>)?[(:]/gm)].map(
        ([, name = '']) => name,
      ),
    )
}

/** Names in the right columns of a page's tables that nothing in Clew has. */
export function checkNames({ path, text }: SourceFile, known: KnownNames): string[] {
  return text.split('\n').flatMap((line, index) => {
    const cells = line.split(/(?<!\\)\|/)
    if (!line.startsWith('|') || cells.length < 4 || /^\|[-\s|]+$/.test(line)) return []
    const spans = readMarkdown(cells.at(-2) ?? '').code.split('\n')
    return spans
      .flatMap((span) => findUnknown(span.trim(), known))
      .map((name) => `${path}:${index + 1} names ${name}, which does not exist`)
  })
}

function findUnknown(span: string, known: KnownNames): string[] {
  if (span === '') return []
  if (span.startsWith('clew/')) return known.subpaths.has(span) ? [] : [span]
  if (span.startsWith('clew ')) return isCommand(span.slice('clew '.length), known) ? [] : [span]
  if (/^(?:execution|system|ui|integration)\.\w+$/.test(span)) return known.eventTypes.has(span) ? [] : [span]
  if (/^(?:\/|CLEW_)/.test(span)) return known.source.includes(`'${span}'`) ? [] : [span]
  return namesIn(span).filter(
    (word) => !known.exports.has(word) && (/^[A-Z]/.test(word) || !known.members.has(word)),
  )
}

function isCommand(text: string, { commands }: KnownNames): boolean {
  const words = text.split(' ').filter((word) => !word.startsWith('-'))
  const flags = text.split(' ').filter((word) => word.startsWith('-'))
  const found = [...commands].filter(
    ([name]) => name === words.join(' ') || name.startsWith(`${words.join(' ')} `),
  )
  return found.length > 0 && flags.every((flag) => found.some(([, its]) => its.includes(flag)))
}

/** Words of a piece of code without texts and plain arguments; `{ keys }` of arguments count. */
function namesIn(span: string): string[] {
  const code = span
    .replaceAll(/'[^']*'/g, '')
    .replaceAll(/\(([^()]*)\)/g, (_, args: string) => ` ${/\{[^}]*\}/.exec(args)?.[0] ?? ''}`)
  return (code.match(/[A-Za-z_$][\w$]*/g) ?? []).filter(
    (word) => !['ledger', 'run', 'graph', 'agent'].includes(word),
  )
}
