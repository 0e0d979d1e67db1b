import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build as esbuild, type BuildOptions } from 'esbuild'
import { build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installPacked } from '../../scripts/install-packed.ts'
import { createDatabase } from '../postgres/database.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Project with the published packages. */
let project = ''
/** Folder above all bundles; nothing in it or above it has packages. */
let outside = ''

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'clew-project-'))
  outside = mkdtempSync(join(tmpdir(), 'clew-bundles-'))
  installPacked(project)
  copyFileSync(join(ROOT, 'test/packed/bundled-app.ts'), join(project, 'app.ts'))
  copyFileSync(join(ROOT, 'examples/kill-and-resume.ts'), join(project, 'readme.ts'))
})
afterAll(() => {
  for (const folder of [project, outside]) rmSync(folder, { recursive: true, force: true })
})

/** Bundles `name`.ts of the project into a folder, and gives the file to run. */
type Bundler = (name: string, folder: string) => Promise<string>

const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`

const withEsbuild =
  (format: 'esm' | 'cjs', options: BuildOptions = {}): Bundler =>
  async (name, folder) => {
    const outfile = join(folder, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`)
    const entryPoints = [join(project, `${name}.ts`)]
    await esbuild({
      entryPoints,
      outfile,
      bundle: true,
      platform: 'node',
      format,
      logLevel: 'error',
      ...options,
    })
    return outfile
  }

const withVite: Bundler = async (name, folder) => {
  await vite({
    configFile: false,
    root: project,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: `${name}.ts`, outDir: folder },
  })
  return join(folder, `${name}.mjs`)
}

async function run(file: string, ...args: readonly string[]): Promise<string> {
  const cwd = join(file, '..')
  const env = { ...process.env, HOME: outside, USERPROFILE: outside }
  return (await promisify(execFile)(process.execPath, [file, ...args], { cwd, env, timeout: 500_000 })).stdout
}

async function bundle(bundler: Bundler, name: string): Promise<string> {
  const folder = join(mkdtempSync(join(outside, 'bundle-')), 'out')
  mkdirSync(folder)
  return bundler(name, folder)
}

const DONE = {
  status: 'paused',
  output: 'yes',
  verdict: 'identical',
  state: { count: 2 },
  isPriced: true,
  hits: 1,
  ok: true,
  // The thread of the index needs a file that is not in a bundle; the error says so.
  index: 'bad_option',
}

describe.each<[string, Bundler, Bundler]>([
  ['esbuild to ESM', withEsbuild('esm'), withEsbuild('esm', { banner: { js: REQUIRE } })],
  ['esbuild to CommonJS', withEsbuild('cjs'), withEsbuild('cjs')],
  ['Vite SSR', withVite, withVite],
])('an app bundled with %s', (_, plain, forPostgres) => {
  it('starts, resumes, replays, prices, searches and verifies runs on SQLite', async () => {
    const file = await bundle(plain, 'app')
    expect(JSON.parse(await run(file, 'sqlite:./clew.db'))).toEqual(DONE)
  })

  it('does the same on PostgreSQL', async () => {
    const file = await bundle(forPostgres, 'app')
    const database = await createDatabase()
    try {
      expect(JSON.parse(await run(file, database.url))).toEqual(DONE)
    } finally {
      await database.drop()
    }
  })
})

describe.each<[string, Bundler]>([
  ['esbuild', withEsbuild('esm')],
  ['Vite SSR', withVite],
])('the example of the README, bundled with %s', (_, bundler) => {
  it('is killed and resumed', async () => {
    expect(await run(await bundle(bundler, 'readme'))).toMatch(/^completed: owls, page 1; .*owls, page 5\n/)
  })
})
