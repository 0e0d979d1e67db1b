import type { SourceFile } from './source-files.ts'

/** In pieces, so that this file does not contain what it looks for. */
const REGISTRY = ['registry', 'npmjs'].join('.')
const FOLDERS = ['work', 'root'].map((name) => ['', name, ''].join('/'))
const NEEDLES = [
  new RegExp(REGISTRY.replace('.', '\\.')),
  ...FOLDERS.map((folder) => new RegExp(`(?<![\\w.~*-])${folder}(?=[\\w.@-])`)),
]

interface Lock {
  readonly packages?: Readonly<Record<string, { readonly resolved?: string; readonly link?: boolean }>>
}

/** No file names the registry or the machine on which it was written; the lockfile resolves local links only. */
export function checkAddresses(files: readonly SourceFile[]): string[] {
  const violations: string[] = []
  for (const { path, text } of files) {
    for (const needle of NEEDLES) {
      const at = text.search(needle)
      if (at >= 0)
        violations.push(
          `${path}:${text.slice(0, at).split('\n').length} names an address of one machine: ${needle.source}`,
        )
    }
    if (!/(^|\/)package-lock\.json$/.test(path)) continue
    for (const [name, entry] of Object.entries((JSON.parse(text) as Lock).packages ?? {}))
      if (entry.resolved !== undefined && entry.link !== true)
        violations.push(
          `${path}:1 resolves ${name} to an address; install with omit-lockfile-registry-resolved`,
        )
  }
  return violations
}
