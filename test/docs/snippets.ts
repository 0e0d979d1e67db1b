import type { SourceFile } from '../architecture/source-files.ts'
import { scanModule } from '../architecture/scan-module.ts'
import { readMarkdown } from './markdown.ts'

export interface Snippet {
  /** `docs/guide/first-run.md:12` */
  readonly where: string
  readonly text: string
  /** Why it is not run; absent when it is. An empty reason is a mistake. */
  readonly skipped?: string
}

const LANGUAGE = /^(?:ts|typescript|js|javascript)(?=\s|$)/
const NO_RUN = /^\S+\s+no-run\b[\s:—-]*(.*)$/

/** The blocks that a reader could copy into a file and run: TypeScript or JavaScript that imports clew. */
export function findSnippets(pages: readonly SourceFile[]): Snippet[] {
  return pages.flatMap(({ path, text }) =>
    readMarkdown(text)
      .fences.filter((fence) => LANGUAGE.test(fence.info) && importsClew(fence.text))
      .map((fence): Snippet => {
        const where = `${path}:${fence.line}`
        const skipped = NO_RUN.exec(fence.info)?.[1]
        return skipped === undefined ? { where, text: fence.text } : { where, text: fence.text, skipped }
      }),
  )
}

/** Snippets that opt out and do not say why. */
export function checkSnippets(snippets: readonly Snippet[]): string[] {
  return snippets
    .filter((snippet) => snippet.skipped !== undefined && snippet.skipped.trim().split(/\s+/).length < 2)
    .map(({ where }) => `${where} says no-run without a reason; write it as: ts no-run: needs a server`)
}

const importsClew = (text: string): boolean =>
  scanModule(text).imports.some((found) => /^clew(\/|$)/.test(found.specifier ?? ''))
