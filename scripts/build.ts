import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'rolldown'
import { chunkName } from './chunk-name.ts'

/** `npm run build`: what is published of every package but the page: JavaScript in few files, declarations by tsc. */

const ROOT = resolve(import.meta.dirname, '..')

/** Started by the path of their file, so no `exports` name them. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'packages/clew': ['./src/cli/main.ts', './src/index-worker.ts', './src/demo/chat/agent-process.ts'],
}

/**
 * Whose code is taken in. Every entry of zod loads the words of all languages, a hundred files that each command would open for
 * nothing; of the code, only what is used comes along.
 */
const TAKEN_IN: Readonly<Record<string, readonly string[]>> = { 'packages/clew': ['zod'] }

interface Manifest {
  readonly exports: Readonly<Record<string, string | { '@clew/source': string; default: string }>>
}

/** The JavaScript alone, which takes a second. */
export async function bundlePackages(): Promise<void> {
  const { references } = readJson('tsconfig.build.json') as { references: { path: string }[] }
  for (const { path } of references) await bundlePackage(path)
}

async function bundlePackage(path: string): Promise<void> {
  const folder = join(ROOT, path)
  const dist = join(folder, 'dist')
  const { exports } = readJson(join(path, 'package.json')) as Manifest
  const entries = Object.values(exports).flatMap((place) =>
    typeof place === 'string' ? [] : [[entryName(place.default), place['@clew/source']]],
  )
  const taken = TAKEN_IN[path] ?? []
  const programs = (PROGRAMS[path] ?? []).map((file) => [basename(file, '.ts'), file])
  for (const file of globSync('**/*.{js,js.map}', { cwd: dist })) rmSync(join(dist, file))
  await build({
    cwd: folder,
    input: Object.fromEntries([...entries, ...programs]) as Record<string, string>,
    // Whatever is no file of the package: there is one copy of everything at run time, and `instanceof` holds.
    external: (id) => /^[^./]/.test(id) && !id.startsWith(folder) && !taken.some((name) => isOf(name, id)),
    platform: 'node',
    tsconfig: join(folder, 'tsconfig.json'),
    preserveEntrySignatures: 'allow-extension',
    // A late import of what is there already costs nothing, and from source it does help.
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: dist,
      // Directly in dist, as deep as the files of src that look for others of the package by `import.meta.url`.
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: chunkName, debugName: 'by what is needed' }],
      },
      comments: false,
      sourcemap: true,
      // The package has them.
      sourcemapExcludeSources: true,
    },
  })
  for (const name of taken)
    copyFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), join(dist, `${name}.LICENSE`))
}

const isOf = (name: string, id: string): boolean =>
  id === name || id.replaceAll('\\', '/').includes(`/node_modules/${name}/`)

const entryName = (path: string): string => path.replace(/^\.\/dist\//, '').replace(/\.js$/, '')

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

if (import.meta.main) {
  for (const dist of globSync('packages/*/dist', { cwd: ROOT, exclude: ['packages/web/dist'] }))
    rmSync(join(ROOT, dist), { recursive: true })
  await bundlePackages()
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-b', '--force', 'tsconfig.build.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}
