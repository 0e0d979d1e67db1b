import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { build, type InputOptions } from 'rolldown'
import { chunkName } from './chunk-name.ts'

/** `npm run build`: everything that is published. JavaScript in few files, declarations by tsc, the page by Vite. */

const ROOT = resolve(import.meta.dirname, '..')

/** Started by the path of their file, so no `exports` name them. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'packages/clew': [
    './src/cli/main.ts',
    './src/index-worker.ts',
    './src/ingest-worker.ts',
    './src/demo/chat/agent-process.ts',
  ],
}

/**
 * Resolution for code that runs in browsers, and in Node when a page is rendered there. The `browser` field of a
 * manifest is followed (engine.io-client has its WebSocket there), the `browser` condition is not: it leads to code that needs a document.
 */
const FOR_BROWSERS: InputOptions = {
  platform: 'neutral',
  resolve: { aliasFields: [['browser']], mainFields: ['module', 'main'] },
}
const RUNS_IN_BROWSERS = new Set(['packages/react'])

interface Manifest {
  readonly exports: Readonly<Record<string, string | { '@clew/source': string; default: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

interface Package {
  readonly name: string
  readonly version: string
}

/** The JavaScript alone, which takes a second. */
export async function bundlePackages(): Promise<void> {
  const { references } = readJson('tsconfig.build.json') as { references: { path: string }[] }
  for (const { path } of references) await bundlePackage(path)
}

async function bundlePackage(path: string): Promise<void> {
  const folder = join(ROOT, path)
  const dist = join(folder, 'dist')
  const { exports, dependencies, peerDependencies } = readJson(join(path, 'package.json')) as Manifest
  const doors = Object.values(exports).flatMap((place) =>
    typeof place === 'string' ? [] : [[entryName(place.default), place['@clew/source']]],
  )
  const programs = (PROGRAMS[path] ?? []).map((file) => [basename(file, '.ts'), file])
  // What users get with the package stays outside it: there is one copy at run time, and `instanceof` holds. All else is bundled.
  const outside = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
  for (const file of globSync('**/*.{js,js.map}', { cwd: dist })) rmSync(join(dist, file))
  const bundled = new Set<string>()
  // Programs have no chunk in common with exports: a user's bundler would take the command line and the server in with it.
  for (const entries of [doors, programs].filter(({ length }) => length > 0)) {
    const { output } = await build({
      cwd: folder,
      input: Object.fromEntries(entries) as Record<string, string>,
      external: (id) => isBuiltin(id) || (isBare(id) && outside.has(packageOf(id))),
      ...(RUNS_IN_BROWSERS.has(path) ? FOR_BROWSERS : { platform: 'node' }),
      tsconfig: join(folder, 'tsconfig.json'),
      preserveEntrySignatures: 'allow-extension',
      // A late import of what is there already costs nothing, and from source it does help.
      // "use client" of a bundled icon says nothing here: an app marks its own files that use the parts.
      checks: { ineffectiveDynamicImport: false, moduleLevelDirective: false },
      output: {
        dir: dist,
        // Directly in dist, as deep as the files of src that look for others of the package by `import.meta.url`.
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: chunkName, debugName: 'by what is needed' }],
        },
        // Annotations tell a bundler which calls it may leave out when their result is not used.
        comments: { annotation: true, legal: false, jsdoc: false },
      },
    })
    for (const file of output)
      if (file.type === 'chunk')
        for (const id of file.moduleIds) for (const found of PACKAGE_FOLDER.exec(id) ?? []) bundled.add(found)
  }
  writeLicences(dist, bundled)
}

const PACKAGE_FOLDER = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/

/** The licences of all bundled packages in one file, as each of them asks for. */
function writeLicences(dist: string, folders: ReadonlySet<string>): void {
  const file = join(dist, 'bundled-licences.txt')
  rmSync(file, { force: true })
  if (folders.size === 0) return
  const texts = [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
    const licence = globSync('{licen[cs]e,LICEN[CS]E,Licen[cs]e}*', { cwd: folder })[0]
    if (licence === undefined) throw new Error(`${name} is bundled and has no licence file`)
    return `${name} ${version}\n\n${readFileSync(join(folder, licence), 'utf8').trim()}\n`
  })
  writeFileSync(file, texts.join(`\n${'-'.repeat(80)}\n\n`))
}

const isBare = (id: string): boolean => !id.startsWith('.') && !isAbsolute(id)
const packageOf = (id: string): string => id.split('/', id.startsWith('@') ? 2 : 1).join('/')

const entryName = (path: string): string => path.replace(/^\.\/dist\//, '').replace(/\.js$/, '')

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

function run(command: string, ...args: readonly string[]): boolean {
  // On Windows npm is a script for its shell.
  const shell = command === 'npm' && process.platform === 'win32'
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', shell }).status === 0
}

if (import.meta.main) {
  for (const dist of globSync('packages/*/dist', { cwd: ROOT })) rmSync(join(ROOT, dist), { recursive: true })
  await bundlePackages()
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const isBuilt =
    run(process.execPath, tsc, '-b', '--force', 'tsconfig.build.json') &&
    run('npm', 'run', 'build', '--workspace', '@clew/web')
  process.exitCode = isBuilt ? 0 : 1
}
