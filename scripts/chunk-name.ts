/** What a bundler knows of a module; one that stays outside the bundle has no code here. */
interface ModuleInfo {
  readonly code: string | null
  readonly isEntry: boolean
  readonly importers: readonly string[]
  readonly dynamicImporters: readonly string[]
  readonly importedIds: readonly string[]
  readonly dynamicallyImportedIds: readonly string[]
}

export interface ModuleGraph {
  getModuleInfo(id: string): ModuleInfo | null
}

/** What everything needs, or costs nothing; `node:http` costs more than all of a small command. */
const FREE = /^(?:node:(?!http)|@clew\/ledger$)/

/**
 * The chunk of a module. Those that the same entries load stand together; what is also loaded late stands apart from
 * the rest, with what needs the same packages, now or late, so that a late part never loads a package for nothing, and a
 * bundler does not take in packages that only its neighbours would load.
 *
 * Code of bundled packages stands apart from the sources, by the packages that the sources import: what two of them
 * share has a chunk of its own.
 *
 * No chunks import each other in a circle: what a module imports is loaded by at least the same entries, is late when
 * it is, and needs at most the same packages; what a bundled module imports belongs to at least the same packages.
 */
export function chunkName(id: string, graph: ModuleGraph): string | null {
  const above = reach(id, graph, 'importers')
  const entries = above.filter((each) => graph.getModuleInfo(each)?.isEntry)
  if (entries.includes(id)) return null
  if (packageOf(id)) return joinNames(above.filter((each) => isImportedBySources(each, graph)))
  const isLate = above.some((each) => graph.getModuleInfo(each)?.dynamicImporters.length)
  const packages = isLate
    ? reach(id, graph, 'importedIds')
        .flatMap((each) => [each, ...(graph.getModuleInfo(each)?.dynamicallyImportedIds ?? [])])
        .filter((each) => isPackage(each, graph))
    : []
  const names = joinNames([...entries, ...packages])
  return isLate ? ['late', ...(names ? [names] : [])].join('+') : names
}

const joinNames = (ids: readonly string[]): string =>
  [...new Set(ids.map((each) => packageOf(each) ?? shortName(each)))].sort().join('+')

/** The module itself, and all that is found by going on in one direction; downwards, as far as the packages that the sources import. */
function reach(id: string, graph: ModuleGraph, direction: 'importers' | 'importedIds'): string[] {
  const found = new Set([id])
  for (const each of found) {
    if (direction === 'importedIds' && packageOf(each)) continue
    for (const next of graph.getModuleInfo(each)?.[direction] ?? []) found.add(next)
  }
  return [...found]
}

/** True for the module of a bundled package by which the sources enter it. */
function isImportedBySources(id: string, graph: ModuleGraph): boolean {
  const info = graph.getModuleInfo(id)
  const importers = [...(info?.importers ?? []), ...(info?.dynamicImporters ?? [])]
  return packageOf(id) !== undefined && importers.some((each) => packageOf(each) === undefined)
}

const isPackage = (id: string, graph: ModuleGraph): boolean =>
  !FREE.test(id) && (packageOf(id) !== undefined || (graph.getModuleInfo(id)?.code ?? null) === null)

/** The bundled package that a module is of. */
const packageOf = (id: string): string | undefined =>
  /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/
    .exec(id)?.[1]
    ?.replace(/^@/, '')
    .replaceAll(/[\\/]/g, '.')

/** `…/src/conformance/index.ts` is conformance, `@clew/server/tokens` is clew.server.tokens. */
const shortName = (id: string): string =>
  id
    .replace(/^.*[\\/]src[\\/]|^@|^node:/, '')
    .replace(/(?:[\\/]index)?\.tsx?$/, '')
    .replaceAll(/[\\/]/g, '.')
