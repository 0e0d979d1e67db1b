import { describe, expect, it } from 'vitest'
import { checkAddresses } from './architecture/check-addresses.ts'
import { checkGlobals } from './architecture/check-globals.ts'
import { checkImports } from './architecture/check-imports.ts'
import { checkNames } from './architecture/check-names.ts'
import { COMPOSITION_ROOT, ROOMS } from './architecture/rooms.ts'
import { scanModule } from './architecture/scan-module.ts'
import { isSource, isTest, listPaths, readFiles, type SourceFile } from './architecture/source-files.ts'

const tracked = readFiles(listPaths())

describe('this repository', () => {
  it('has sources to check', () => {
    expect(tracked.filter((file) => isSource(file.path)).length).toBeGreaterThan(10)
  })

  it('imports one way, and only what it declares', () => {
    expect(checkImports(tracked, ROOMS)).toEqual([])
  })

  it('keeps pure rooms free of globals', () => {
    expect(checkGlobals(tracked, ROOMS)).toEqual([])
  })

  it('names folders, files and exports as the house does', () => {
    expect(checkNames(tracked)).toEqual([])
  })

  it('names no registry and no machine', () => {
    expect(checkAddresses(tracked)).toEqual([])
  })

  it('L12 ledger imports no other room, so it cannot execute, schedule or enforce anything', () => {
    const rooms = tracked
      .filter((file) => file.path.startsWith('packages/ledger/src/') && !isTest(file.path))
      .flatMap((file) => scanModule(file.text).imports)
      .filter((found) => /^(@clew\/|clew$|clew\/)/.test(found.specifier ?? '?'))
    expect(rooms).toEqual([])
    expect(ROOMS['ledger']?.uses).toEqual([])
  })
})

describe('ARCHITECTURE.md', () => {
  const page = (readFiles(['ARCHITECTURE.md'])[0]?.text ?? '').replaceAll(/```[^]*?```/g, '')
  const rowsUnder = (heading: string): string[][] =>
    (page.split(heading)[1] ?? '')
      .split('\n\n')
      .find((block) => block.startsWith('|'))
      ?.split('\n')
      .slice(2)
      .map((row) => row.split('|').slice(1, -1)) ?? []
  const codeIn = (text: string): string[] =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
  const entriesOf = (folder: string): string[] => [
    ...new Set(
      tracked.flatMap(({ path }) =>
        path.startsWith(`${folder}/`) && !isTest(path)
          ? [path.slice(folder.length + 1).split('/')[0] as string]
          : [],
      ),
    ),
  ]

  it('says of every package which others it may use', () => {
    const told = rowsUnder('## Rooms').map(([name = '', , uses = '']) => [
      codeIn(name)[0],
      codeIn(uses).toSorted(),
    ])
    const rooms = entriesOf('packages').toSorted()
    const allowed = (name: string): string[] => {
      const { uses = [], usesPartsOf = {} } = ROOMS[name] ?? {}
      return name === COMPOSITION_ROOT ? [] : [...uses, ...Object.keys(usesPartsOf)].toSorted()
    }
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(rooms.map((name) => [name, allowed(name)])))
  })

  it('names every folder and every loose file of the ledger, and the folders of the runtime', () => {
    const named = new Set(codeIn(page).map((code) => code.replace(/\/$/, '')))
    const parts = [
      ...entriesOf('packages/ledger/src'),
      ...entriesOf('packages/runtime/src').filter((entry) => !entry.includes('.')),
    ].filter((entry) => entry !== 'index.ts')
    expect(parts.length).toBeGreaterThan(30)
    expect(parts.filter((entry) => !named.has(entry))).toEqual([])
  })

  it('leads through one event in six files', () => {
    const files = rowsUnder('## The way of one event').map(([, file = '']) => file)
    expect(files.map((file) => /\(packages\/\S+\.ts\)/.test(file))).toEqual(Array(6).fill(true))
  })
})

describe('the table of rooms', () => {
  it('goes one way: no room can reach itself', () => {
    const reach = (name: string, seen: Set<string> = new Set()): Set<string> => {
      const room = ROOMS[name]
      const next = [...(room?.uses ?? []), ...Object.keys(room?.usesPartsOf ?? {})]
      for (const other of next) if (!seen.has(other)) reach(other, seen.add(other))
      return seen
    }
    for (const name of Object.keys(ROOMS)) expect([name, reach(name).has(name)]).toEqual([name, false])
  })

  it('gives every room to the composition root, and the composition root to nobody', () => {
    const others = Object.keys(ROOMS).filter((name) => name !== COMPOSITION_ROOT)
    expect(ROOMS[COMPOSITION_ROOT]?.uses.toSorted()).toEqual(others.toSorted())
    for (const room of Object.values(ROOMS)) expect(room.uses).not.toContain(COMPOSITION_ROOT)
  })
})

/** A house of one line per room, to which each test below adds one wrong line. */
const manifest = (room: string, dependencies: readonly string[]): SourceFile => ({
  path: `packages/${room}/package.json`,
  text: JSON.stringify({
    dependencies: Object.fromEntries(dependencies.map((name) => [name, '1'])),
    exports: { '.': {}, './otel': {}, './langgraph': {}, './conformance': {} },
  }),
})
const house: readonly SourceFile[] = [
  manifest('ledger', ['zod']),
  manifest('sqlite', ['@clew/ledger', '@clew/runtime', 'clew']),
  manifest('runtime', []),
  manifest('trace', ['@clew/ledger', '@clew/runtime']),
  manifest('adapters', ['@clew/ledger']),
  manifest('server', ['@clew/adapters', '@clew/ledger', '@clew/trace', '@clew/runtime', '@clew/sqlite']),
  manifest('clew', ['@clew/ledger', '@clew/sqlite', 'commander']),
]
const planted = (path: string, text: string): string[] => checkImports([...house, { path, text }], ROOMS)

describe('imports that are allowed', () => {
  it.each([
    ['packages/ledger/src/a.ts', "import { z } from 'zod'\nimport { b } from './b.ts'"],
    [
      'packages/ledger/src/a.test.ts',
      "import { it } from 'vitest'\nimport fc from 'fast-check'\nimport 'node:fs'",
    ],
    ['packages/ledger/src/a.test.ts', "import { suite } from '@clew/ledger/conformance'"],
    ['packages/sqlite/src/a.ts', "import { DatabaseSync } from 'node:sqlite'\nimport '@clew/ledger'"],
    ['packages/server/src/a.ts', "import { fromOtlp } from '@clew/adapters/otel'"],
    ['packages/clew/src/cli/a.ts', "import '@clew/sqlite'\nimport 'commander'\nawait import(userFile)"],
    ['packages/clew/src/a.test.ts', "import { openLedger } from 'clew'"],
    ['examples/a.ts', "import { openLedger } from 'clew'"],
  ])('%s: %s', (path, text) => {
    expect(planted(path, text)).toEqual([])
  })
})

describe('imports that are planted and found', () => {
  it.each([
    ['a room below', 'packages/ledger/src/a.ts', "import { run } from '@clew/runtime'", 'no other room'],
    [
      'L12 the runtime, as a type',
      'packages/ledger/src/a.ts',
      "import type { Run } from '@clew/runtime'",
      'no other',
    ],
    ['a room beside', 'packages/sqlite/src/a.ts', "import { run } from '@clew/runtime'", 'may use ledger'],
    ['a re-export', 'packages/sqlite/src/a.ts', "export { run } from '@clew/runtime'", 'may use ledger'],
    ['a dynamic import', 'packages/sqlite/src/a.ts', "await import('@clew/runtime')", 'may use ledger'],
    ['a type', 'packages/sqlite/src/a.ts', "type A = import('@clew/runtime').A", 'may use ledger'],
    ['from a test', 'packages/sqlite/src/a.test.ts', "import '@clew/runtime'", 'may use ledger'],
    ['a room above', 'packages/trace/src/a.ts', "import type { Run } from '@clew/runtime'", 'may use ledger'],
    ['another part', 'packages/server/src/a.ts', "import '@clew/adapters/langgraph'", 'only otel, ag-ui'],
    ['the whole for a part', 'packages/server/src/a.ts', "import '@clew/adapters'", 'only otel, ag-ui'],
    ['clew', 'packages/sqlite/src/a.ts', "import { openLedger } from 'clew'", 'nobody may import'],
    ['clew, by a subpath', 'packages/sqlite/src/a.test.ts', "import 'clew/conformance'", 'nobody may import'],
    [
      'a relative way out',
      'packages/sqlite/src/a.ts',
      "import '../../ledger/src/b.ts'",
      'outside packages/sqlite',
    ],
    ['a private file', 'packages/sqlite/src/a.ts', "import '@clew/ledger/src/b.ts'", 'does not export'],
    ['an undeclared package', 'packages/ledger/src/a.ts', "import 'commander'", 'does not declare'],
    ['an undeclared scoped package', 'packages/ledger/src/a.ts', "import '@x/y/z'", "'@x/y', which"],
    [
      'an undeclared room',
      'packages/runtime/src/a.test.ts',
      "import type { A } from '@clew/ledger'",
      'does not declare',
    ],
    [
      'a test tool outside tests',
      'packages/ledger/src/a.ts',
      "import { it } from 'vitest'",
      'does not declare',
    ],
    ['a test file outside tests', 'packages/ledger/src/a.ts', "import './b.test.ts'", 'the test file'],
    [
      'node in a pure room',
      'packages/ledger/src/a.ts',
      "import { hash } from 'node:crypto'",
      'in the browser',
    ],
    [
      'types of node in a pure room',
      'packages/ledger/src/a.ts',
      "import type { A } from 'node:fs'",
      'in the browser',
    ],
    ['node by reference', 'packages/ledger/src/a.ts', '/// <reference types="node" />', 'in the browser'],
    ['node in a page', 'packages/web/src/a.tsx', "import 'node:fs'", 'in the browser'],
    ['a builtin without node:', 'packages/sqlite/src/a.ts', "import 'fs'", "write 'node:fs'"],
    ['a computed import', 'packages/sqlite/src/a.ts', 'await import(name)', 'computed at run time'],
    ['require', 'packages/sqlite/src/a.ts', "const a = require('zod')", 'write an import'],
    ['an address', 'packages/sqlite/src/a.ts', "import 'https://example.com/a.js'", 'the address'],
    ['an unknown room', 'packages/misc/src/a.ts', '', 'does not know'],
    ['an import of an unknown room', 'packages/sqlite/src/a.ts', "import '@clew/misc'", 'does not know'],
  ])('%s', (_, path, text, message) => {
    expect(planted(path, text)).toEqual([expect.stringContaining(message)])
  })

  it('says where', () => {
    expect(planted('packages/ledger/src/a.ts', "\n\nimport '@clew/sqlite'")[0]).toMatch(
      /^packages\/ledger\/src\/a\.ts:3 /,
    )
  })
})

describe('globals that are planted and found', () => {
  const globals = (text: string): string[] =>
    checkGlobals([{ path: 'packages/ledger/src/a.ts', text }], ROOMS)

  it.each([
    ['document.title'],
    ['globalThis.window'],
    ['process.env.A'],
    ['Buffer.from(a)'],
    ['setTimeout(f, 1)'],
    ['const at = Date.now()'],
    ['const dice = Math.random()'],
    ['const all = [...process.argv]'],
    ['const text = `${process.pid}`'],
  ])('%s', (text) => {
    expect(globals(text)).toHaveLength(1)
  })

  it.each([
    ["const text = 'process.env'"],
    ['// window.alert()'],
    ['ports.crypto.hash(a)'],
    ['interface A { document: string; process?: number }'],
    ['const process = start(); process.stop()'],
    ['const at = ports.now()'],
    ['new Date(at).toISOString()'],
  ])('but not %s', (text) => {
    expect(globals(text)).toEqual([])
  })

  it('looks at pure rooms only, and not at their tests', () => {
    const text = 'process.exit()'
    const files = [
      { path: 'packages/sqlite/src/a.ts', text },
      { path: 'packages/ledger/src/a.test.ts', text },
    ]
    expect(checkGlobals(files, ROOMS)).toEqual([])
  })
})

describe('names that are planted and found', () => {
  it.each([
    ['packages/ledger/src/utils/a.ts', '', "named 'utils'"],
    ['packages/ledger/src/helpers.ts', '', "named 'helpers'"],
    ['test/common/a.ts', '', "named 'common'"],
    ['scripts/shared/a.ts', '', "named 'shared'"],
    ['packages/ledger/src/runLog.ts', '', 'kebab-case'],
    ['packages/ledger/src/run_log.ts', '', 'kebab-case'],
    ['packages/ledger/src/Fold/a.ts', '', 'kebab-case'],
    ['packages/ledger/src/a.ts', 'export default 1', 'default export'],
    ['packages/ledger/src/a.ts', 'export { a as default }', 'default export'],
    ['packages/ledger/src/index.ts', "export * from './a.ts'", "'export *'"],
    ['packages/ledger/src/fold/index.ts', "export type * from './a.ts'", "'export *'"],
  ])('%s: %s', (path, text, message) => {
    expect(checkNames([{ path, text }])).toEqual([expect.stringContaining(message)])
  })

  it('leaves good names alone', () => {
    const files = [
      'packages/ledger/src/run-log.int.test.ts',
      'packages/clew/src/cli/main.ts',
      'docs/Odd_Name.md',
    ]
    expect(checkNames(files.map((path) => ({ path, text: "export * as a from './a.ts'" })))).toEqual([])
  })
})

describe('addresses that are planted and found', () => {
  const registry = ['https://registry', 'npmjs', 'org'].join('.')
  const home = ['', 'root', 'clew'].join('/')
  const lock = (entry: object): string => JSON.stringify({ packages: { 'node_modules/a': entry } })

  it.each([
    ['README.md', `a\nsee ${registry}`],
    ['README.md', `cd ${home}`],
    ['docs/a.md', `"${['', 'work', 'main'].join('/')}"`],
    ['package-lock.json', lock({ resolved: 'https://example.com/a.tgz' })],
  ])('%s: %s', (path, text) => {
    expect(checkAddresses([{ path, text }])).toHaveLength(1)
  })

  it.each([
    ['package-lock.json', lock({ resolved: 'packages/a', link: true })],
    ['README.md', `docs${home}, and the ${['', 'work', ''].join('/')} folder`],
  ])('but not %s: %s', (path, text) => {
    expect(checkAddresses([{ path, text }])).toEqual([])
  })
})
