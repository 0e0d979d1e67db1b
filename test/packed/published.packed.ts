import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installPacked } from '../../scripts/install-packed.ts'
import { createDatabase } from '../postgres/database.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGES = join(ROOT, 'packages')

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { '@clew/source': string }>>
}

let folder = ''
let env: NodeJS.ProcessEnv

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-packed-'))
  env = { ...process.env, HOME: folder, USERPROFILE: folder }
  installPacked(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const node = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { cwd: folder, env, timeout: 100_000 })).stdout
const evaluate = (program: string): Promise<string> => node('--input-type=module', '--eval', program)
const clew = (...args: readonly string[]): Promise<string> =>
  node(join(folder, 'node_modules/clew/bin/clew.mjs'), ...args)

const subpaths = readdirSync(PACKAGES).flatMap((room) => {
  const { name, exports } = JSON.parse(readFileSync(join(PACKAGES, room, 'package.json'), 'utf8')) as Manifest
  return Object.entries(exports).flatMap(([subpath, place]) =>
    typeof place === 'string'
      ? []
      : [[join(name, subpath), join(PACKAGES, room, place['@clew/source'])] as const],
  )
})

describe('what is published, installed in a folder of its own', () => {
  it('exports from every subpath what its source exports', async () => {
    const specifiers = subpaths.map(([specifier]) => specifier)
    const found = await evaluate(`
      for (const name of ${JSON.stringify(specifiers)}) console.log(Object.keys(await import(name)).sort().join(' '))`)
    const wanted = await Promise.all(
      subpaths.map(async ([, source]) =>
        Object.keys((await import(source)) as object)
          .sort()
          .join(' '),
      ),
    )
    expect(zip(specifiers, found.trim().split('\n'))).toEqual(zip(specifiers, wanted))
  })

  it('brings along what commands need of zod, in one file with its licence, and opens none of its own', async () => {
    const dist = join(folder, 'node_modules/clew/dist')
    const files = readdirSync(dist)
    expect(files.filter((file) => /^zod-.*\.js$/.test(file))).toHaveLength(1)
    expect(readFileSync(join(dist, 'zod.LICENSE'), 'utf8')).toContain('MIT License')
    const asking = files
      .filter((file) => file.endsWith('.js'))
      .filter((file) => /from ?"zod"|import\("zod"\)/.test(readFileSync(join(dist, file), 'utf8')))
    expect(asking).toEqual([])
  })

  it('has types that a program outside agrees with', async () => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const uses = subpaths.map(([specifier], at) => `import * as part${at} from '${specifier}'\n`).join('')
    const names = subpaths.map((_, at) => `part${at}`).join(', ')
    writeFileSync(
      join(folder, 'program.ts'),
      `${uses}import { openLedger, type RunSummary } from 'clew'
      export const parts = [${names}]
      const ledger = await openLedger('memory:')
      export const runs: readonly RunSummary[] = (await ledger.listRuns()).runs
      // @ts-expect-error a number is no URL of a store
      await openLedger(5)\n`,
    )
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext']
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node,react']
    await node(join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'program.ts')
  })

  it('brings the styles that are named to bundlers', async () => {
    const found = await evaluate(
      `for (const name of ['clew/react/styles.css', '@clew/react/styles.css']) console.log(import.meta.resolve(name))`,
    )
    for (const url of found.trim().split('\n')) expect([url, existsSync(new URL(url))]).toEqual([url, true])
  })

  it('loads few files with the library, and none of what only some need', async () => {
    const seen = await evaluate(`
      import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) { const found = next(name, context); console.log(found.url); return found } })
      await import('clew')`)
    const files = new Set(seen.match(/file:.*/g))
    expect(files.size).toBeLessThan(25)
    expect(
      [...files].filter((url) => !/node_modules\/(?:@clew\/(?:ledger|runtime|trace)|clew)\//.test(url)),
    ).toEqual([])
  })

  it('throws errors of one kind, whichever package they come from', async () => {
    const found = await evaluate(`
      import { ClewError, openLedger } from 'clew'
      const error = await openLedger('sqlite:missing.db', { create: false }).catch((error) => error)
      console.log(error instanceof ClewError, error.code)`)
    expect(found).toBe('true store_missing\n')
  })

  it('records, lists, searches and verifies a run from the command line', async () => {
    const store = ['--store', `sqlite:${join(folder, 'ledger.db')}`]
    expect(await clew('demo', '--terminal', '--fast', ...store)).toMatch(/✓ \d+ events recorded/)
    expect(await clew('runs', ...store)).toContain('✓ completed')
    expect(await clew('search', 'owls', ...store)).toMatch(/demo-/)
    expect(await clew('verify', '--projections', ...store)).toContain('✓')
    expect(await clew('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(existsSync(join(folder, '.clew/compiled'))).toBe(true)
  })

  it('indexes in a thread of its own, on PostgreSQL too', async () => {
    const database = await createDatabase()
    try {
      for (const url of [`sqlite:${join(folder, 'indexed.db')}`, database.url]) {
        const found = await evaluate(`
          import { openLedger } from 'clew'
          const ledger = await openLedger('${url}', { index: true })
          await ledger.record({ eventType: 'execution.message', correlationId: 'r', payload: { role: 'user', content: 'needle' } })
          while ((await ledger.indexState()).lag > 0) await new Promise((done) => setTimeout(done, 20))
          const { hits } = await ledger.search('needle', { catchUpMs: 0 })
          await ledger.close()
          console.log(hits.length)`)
        expect(found).toBe('1\n')
      }
    } finally {
      await database.drop()
    }
  })

  it('plays the demo: a server, and agents in a process of their own that read the notes', async () => {
    const bin = join(folder, 'node_modules/clew/bin/clew.mjs')
    const args = [bin, 'demo', '--store', `sqlite:${join(folder, 'demo.db')}`, '--port', '0']
    const demo = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...env, CLEW_DEMO_FAST: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((done) => demo.once('exit', done))
    try {
      const url = await addressOf(demo)
      let answered = ''
      while (!answered.includes('"completed"')) {
        answered = await (await fetch(`${url}/v1/runs?status=completed`)).text()
        await new Promise((done) => setTimeout(done, 100))
      }
    } finally {
      demo.kill('SIGINT')
    }
    expect(await ended).toBe(0)
  })
})

const zip = (names: readonly string[], values: readonly string[]): [string, string | undefined][] =>
  names.map((name, at) => [name, values[at]])

function addressOf(demo: ChildProcess): Promise<string> {
  let told = ''
  return new Promise((found, failed) => {
    demo.stdout?.on('data', (text) => {
      told += String(text)
      const origin = /http:\/\/[\d.]+:\d+/.exec(told)?.[0]
      if (origin !== undefined) found(origin)
    })
    demo.once('exit', () => failed(new Error(`The demo ended early: ${told}`)))
  })
}
