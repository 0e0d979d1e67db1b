import { posix } from 'node:path'
import type { SourceFile } from '../architecture/source-files.ts'
import { readMarkdown } from './markdown.ts'

/** Names that no page shows in code. */
export function findUndocumented(names: readonly string[], pages: readonly SourceFile[]): string[] {
  const code = pages.map((page) => readMarkdown(page.text).code).join('\n')
  return names.filter((name) => !new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(code))
}

/** Commands without a section, and sections `clew <word>` without a command. */
export function checkCommands(commands: readonly string[], page: SourceFile): string[] {
  const headings = readMarkdown(page.text).headings.map((heading) => heading.replaceAll('`', '').trim())
  const sections = headings.flatMap(
    (heading) => /^clew\s+([a-z][\w-]*(?: [a-z][\w-]*)?)/.exec(heading)?.[1] ?? [],
  )
  return [
    ...commands
      .filter((name) => !sections.includes(name))
      .map(
        (name) => `${page.path}: the command '${name}' has no section; add a heading '## \`clew ${name}\`'`,
      ),
    ...sections
      .filter((name) => !commands.includes(name))
      .map((name) => `${page.path}: the section 'clew ${name}' is about a command that does not exist`),
  ]
}

/** Relative links to files that do not exist. `exists` gets a path from the root of the repository. */
export function checkLinks(pages: readonly SourceFile[], exists: (path: string) => boolean): string[] {
  return pages.flatMap(({ path, text }) =>
    readMarkdown(text)
      .links.filter(({ target }) => !/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target))
      .filter(({ target }) => {
        const [file = ''] = target.replaceAll('%20', ' ').split(/[#?]/)
        return !exists(file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(path), file))
      })
      .map(({ target, line }) => `${path}:${line} links to ${target}, which does not exist`),
  )
}

/** Pages in docs/decisions that are not named `YYYY-MM-DD-title.md`. */
export function checkDecisions(paths: readonly string[]): string[] {
  return paths
    .filter((path) => path.startsWith('docs/decisions/'))
    .filter((path) => {
      const [, date] = /^docs\/decisions\/(\d{4}-\d{2}-\d{2})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.exec(path) ?? []
      return date === undefined || Number.isNaN(Date.parse(date))
    })
    .map((path) => `${path} is not named YYYY-MM-DD-title.md`)
}

const TESTS = /\.(?:test\.tsx?|e2e\.ts)$|^packages\/ledger\/src\/conformance\//

/** Rows of tables `| promise | test |` without a link to tests; a link to a file that does not exist is for `checkLinks`. */
export function checkPromises({ path, text }: SourceFile): string[] {
  const rows = text.split('\n\n').flatMap((part) => {
    const [head, , ...own] = part.split('\n')
    return head === '| promise | test |' ? own.filter((row) => row.startsWith('|')) : []
  })
  if (rows.length === 0) return [`${path} has no table of promises and tests`]
  return rows.flatMap((row) => {
    const [, promise = '', tests = ''] = row.split(/ *\| */)
    const files = [...tests.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) =>
      posix.join(posix.dirname(path), target),
    )
    if (files.length === 0) return [`${path}: no test is named for: ${promise}`]
    return files
      .filter((file) => !TESTS.test(file))
      .map((file) => `${path}: ${file} is no test of: ${promise}`)
  })
}
