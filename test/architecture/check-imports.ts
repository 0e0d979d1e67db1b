import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { COMPOSITION_ROOT, type Room, type Table } from './rooms.ts'
import { type ImportFound, scanModule } from './scan-module.ts'
import { isSource, isTest, type SourceFile } from './source-files.ts'

const TEST_TOOLS = new Set(['vitest', 'fast-check'])
const BUILTIN = new Set(builtinModules)

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, unknown>>
}

/**
 * Compares every import in `packages/<room>/src` with the table, and every bare specifier with the dependencies
 * that the room's own package.json declares: hoisting lets undeclared ones work here and fail at a user's.
 * Each violation is one sentence that starts with `path:line`.
 */
export function checkImports(files: readonly SourceFile[], table: Table): string[] {
  const manifests = readManifests(files)
  const violations: string[] = []
  for (const file of files) {
    if (!isSource(file.path)) continue
    const name = file.path.split('/')[1] ?? ''
    const room = table[name]
    if (room === undefined) {
      violations.push(`${file.path}:1 is in packages/${name}, which the table of rooms does not know`)
      continue
    }
    for (const found of scanModule(file.text).imports) {
      const wrong = judge(file.path, name, room, found, table, manifests)
      if (wrong !== undefined) violations.push(`${file.path}:${found.line} ${wrong}`)
    }
  }
  return violations
}

function judge(
  path: string,
  name: string,
  room: Room,
  found: ImportFound,
  table: Table,
  manifests: ReadonlyMap<string, Manifest>,
): string | undefined {
  const { specifier } = found
  if (specifier === undefined)
    return name === COMPOSITION_ROOT || isTest(path)
      ? undefined
      : `imports something computed at run time, which only ${COMPOSITION_ROOT} may do`
  if (found.how === 'require') return `requires '${specifier}'; write an import`
  if (specifier.startsWith('.')) return judgeRelative(path, name, specifier)
  if (specifier.startsWith('/') || /^(file|https?|data):/.test(specifier))
    return `imports the address '${specifier}'; import a package or a relative file`
  if (specifier.startsWith('node:') || BUILTIN.has(specifier) || isNodeTypes(found))
    return judgeBuiltin(path, room, name, specifier, found)

  const other = roomOf(specifier)
  const bare = packageOf(specifier)
  if (isTest(path) && TEST_TOOLS.has(bare)) return undefined
  if (other === undefined) return judgeDeclared(bare, name, room, manifests)
  if (other.room === name && (isTest(path) || name === COMPOSITION_ROOT))
    return judgeExported(other.room, other.part, specifier, manifests)
  return (
    judgeRoom(name, room, found, other, table) ??
    judgeDeclared(bare, name, room, manifests) ??
    judgeExported(other.room, other.part, specifier, manifests)
  )
}

function judgeRelative(path: string, name: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(path), specifier)
  if (!target.startsWith(`packages/${name}/`))
    return `reaches '${specifier}' outside packages/${name}; import the package by its name`
  if (isTest(target) && !isTest(path)) return `imports the test file '${specifier}'`
  return undefined
}

const isNodeTypes = (found: ImportFound): boolean => found.how === 'reference' && found.specifier === 'node'

function judgeBuiltin(path: string, room: Room, name: string, specifier: string, found: ImportFound) {
  if (room.world !== 'node' && !isTest(path))
    return `imports '${specifier}', but ${name} also runs in the browser; take it by injection`
  if (!specifier.startsWith('node:') && !isNodeTypes(found))
    return `imports '${specifier}'; write 'node:${specifier}'`
  return undefined
}

function judgeRoom(
  name: string,
  room: Room,
  found: ImportFound,
  other: { room: string; part: string },
  table: Table,
): string | undefined {
  if (other.room === COMPOSITION_ROOT) return `imports ${COMPOSITION_ROOT}, which nobody may import`
  if (table[other.room] === undefined) return `imports '${found.specifier}', a room the table does not know`
  if (room.uses.includes(other.room)) return undefined
  const parts = room.usesPartsOf?.[other.room]
  if (parts !== undefined)
    return parts.includes(other.part)
      ? undefined
      : `imports '${found.specifier}', but of ${other.room} may use only ${parts.join(', ')}`
  return `imports from ${other.room}, but ${name} may use ${room.uses.join(', ') || 'no other room'}`
}

function judgeDeclared(bare: string, name: string, room: Room, manifests: ReadonlyMap<string, Manifest>) {
  const manifest = manifests.get(name)
  if (manifest === undefined) return `imports '${bare}', but packages/${name} has no package.json`
  if (manifest.dependencies?.[bare] ?? manifest.peerDependencies?.[bare]) return undefined
  if (room.isBundled && manifest.devDependencies?.[bare] !== undefined) return undefined
  return `imports '${bare}', which packages/${name}/package.json does not declare`
}

function judgeExported(
  room: string,
  part: string,
  specifier: string,
  manifests: ReadonlyMap<string, Manifest>,
) {
  const key = part === '' ? '.' : `./${part}`
  if (manifests.get(room)?.exports?.[key] !== undefined) return undefined
  return `imports '${specifier}', which packages/${room}/package.json does not export`
}

function roomOf(specifier: string): { room: string; part: string } | undefined {
  const match = /^(?:@clew\/([^/]+)|(clew))(?:\/(.+))?$/.exec(specifier)
  return match ? { room: match[1] ?? match[2] ?? '', part: match[3] ?? '' } : undefined
}

function packageOf(specifier: string): string {
  const [scope = '', name = ''] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

function readManifests(files: readonly SourceFile[]): Map<string, Manifest> {
  const manifests = new Map<string, Manifest>()
  for (const { path, text } of files) {
    const room = /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1]
    if (room !== undefined) manifests.set(room, JSON.parse(text) as Manifest)
  }
  return manifests
}
