import { listPaths, readFiles, type SourceFile } from '../architecture/source-files.ts'

/** README.md and docs/guide: what users read first. */
export function readGuide(): SourceFile[] {
  return [
    readPage('README.md'),
    ...readFiles(listPaths().filter((path) => /^docs\/guide\/.*\.md$/.test(path))),
  ]
}

export function readPage(path: string): SourceFile {
  const [page] = readFiles([path])
  if (page === undefined) throw new Error(`${path} does not exist. Write it: the docs tests read it`)
  return page
}

/** Whether a file or folder is part of the repository; what git ignores would be missing in a fresh clone. */
export function createExists(paths: readonly string[] = listPaths()): (path: string) => boolean {
  const known = new Set(['.'])
  for (const path of paths)
    for (let part = path; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('/'))))
      known.add(part)
  return (path) => known.has(path.replace(/(?<=.)\/$/, ''))
}
