import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkName, type ModuleGraph } from '../scripts/chunk-name.ts'

interface Sketch {
  readonly entries: readonly string[]
  /** By module: what it imports, and what it loads late. */
  readonly imports: Readonly<Record<string, readonly string[]>>
  readonly late?: Readonly<Record<string, readonly string[]>>
}

function graphOf({ entries, imports, late = {} }: Sketch): ModuleGraph {
  const whoHas = (edges: Readonly<Record<string, readonly string[]>>, id: string): string[] =>
    Object.keys(edges).filter((from) => edges[from]?.includes(id))
  return {
    getModuleInfo: (id) => ({
      code: id in imports ? '' : null,
      isEntry: entries.includes(id),
      importers: whoHas(imports, id),
      dynamicImporters: whoHas(late, id),
      importedIds: imports[id] ?? [],
      dynamicallyImportedIds: late[id] ?? [],
    }),
  }
}

describe('the chunk of a module', () => {
  const sketch: Sketch = {
    entries: ['/src/index.ts', '/src/main.ts'],
    imports: {
      '/src/index.ts': ['/src/ledger.ts', '/src/text.ts'],
      '/src/main.ts': ['/src/text.ts', 'commander'],
      '/src/ledger.ts': ['node:fs', '@clew/ledger'],
      '/src/text.ts': [],
      '/src/runs.ts': ['/src/table.ts', 'zod'],
      '/src/serve.ts': ['/src/table.ts', 'node:http'],
      '/src/copy.ts': ['/src/table.ts'],
      '/src/table.ts': [],
      '/src/diff.ts': ['/src/table.ts', '/node_modules/@own/schemas/a.js'],
      '/node_modules/@own/schemas/a.js': ['/node_modules/@own/schemas/b.js'],
      '/node_modules/@own/schemas/b.js': [],
      '/src/page.ts': ['/node_modules/marked/a.js', '/node_modules/tables/a.js'],
      '/node_modules/marked/a.js': ['/node_modules/entities/a.js', '/node_modules/parser/a.js'],
      '/node_modules/tables/a.js': ['/node_modules/parser/a.js'],
      '/node_modules/entities/a.js': [],
      '/node_modules/parser/a.js': [],
      '/node_modules/socket/a.js': ['/node_modules/packets/a.js'],
      '/node_modules/packets/a.js': [],
    },
    late: {
      '/src/main.ts': ['/src/copy.ts', '/src/runs.ts', '/src/serve.ts', '/src/diff.ts', '/src/page.ts'],
      '/src/page.ts': ['/node_modules/socket/a.js'],
      '/src/copy.ts': ['langgraph'],
    },
  }
  const nameOf = (id: string): string | null => chunkName(id, graphOf(sketch))

  it('is that of the entries that load it at once', () => {
    expect(nameOf('/src/index.ts')).toBeNull()
    expect(nameOf('/src/ledger.ts')).toBe('index')
    expect(nameOf('/src/text.ts')).toBe('index+main')
  })

  it('is, for what is loaded late, that of the packages it needs', () => {
    expect(nameOf('/src/runs.ts')).toBe('late+zod')
    expect(nameOf('/src/serve.ts')).toBe('late+http')
    expect(nameOf('/src/table.ts')).toBe('late')
  })

  it('is also that of the packages it loads late, which a bundler would else take in with its neighbours', () => {
    expect(nameOf('/src/copy.ts')).toBe('late+langgraph')
  })

  it('is its own for a package that is bundled, and who needs that stands apart as well', () => {
    expect(nameOf('/src/diff.ts')).toBe('late+own.schemas')
    expect(nameOf('/node_modules/@own/schemas/a.js')).toBe('own.schemas')
    expect(nameOf('/node_modules/@own/schemas/b.js')).toBe('own.schemas')
  })

  it('is, for what bundled packages use, that of the packages which the sources import', () => {
    expect(nameOf('/src/page.ts')).toBe('late+marked+socket+tables')
    expect(nameOf('/node_modules/marked/a.js')).toBe('marked')
    expect(nameOf('/node_modules/entities/a.js')).toBe('marked')
    expect(nameOf('/node_modules/parser/a.js')).toBe('marked+tables')
    expect(nameOf('/node_modules/socket/a.js')).toBe('socket')
    expect(nameOf('/node_modules/packets/a.js')).toBe('socket')
  })
})

it('no chunks import each other in a circle, and no late one loads a package for nothing', () => {
  const sources = Array.from({ length: 9 }, (_, at) => `/src/m${at}.ts`)
  const bundled = Array.from({ length: 4 }, (_, at) => `/node_modules/p${at}/a.js`)
  const names = [...sources, ...bundled]
  // Bundled packages import each other, and never the sources.
  const edges = (targets: readonly string[], others: readonly string[]) =>
    fc.tuple(
      ...sources.map(() => fc.subarray([...targets], { maxLength: 3 })),
      ...bundled.map(() => fc.subarray([...others])),
    )
  const sketches = fc.record({
    entries: fc.subarray(sources, { minLength: 1, maxLength: 3 }),
    imports: edges([...names, 'zod', 'pg'], bundled),
    late: edges(names, []),
  })
  const byName = (lists: readonly (readonly string[])[]) =>
    Object.fromEntries(names.map((name, at) => [name, lists[at] ?? []]))
  fc.assert(
    fc.property(sketches, (made) => {
      const sketch = { entries: made.entries, imports: byName(made.imports), late: byName(made.late) }
      const graph = graphOf(sketch)
      const importsOf = (id: string): readonly string[] => sketch.imports[id] ?? []
      // An entry is a chunk of its own.
      const chunkOf = (id: string): string => chunkName(id, graph) ?? id
      const chunkImports = (chunk: string): Set<string> =>
        new Set(
          names
            .filter((id) => chunkOf(id) === chunk)
            .flatMap(importsOf)
            .map((id) => (names.includes(id) ? chunkOf(id) : id))
            .filter((other) => other !== chunk),
        )
      const closure = (start: Iterable<string>, next: (id: string) => Iterable<string>): Set<string> => {
        const found = new Set(start)
        for (const each of found) for (const other of next(each)) found.add(other)
        return found
      }
      // An entry that imports itself by way of others is in a circle before it is in a chunk.
      fc.pre(!sketch.entries.some((id) => closure(importsOf(id), importsOf).has(id)))
      for (const id of names) {
        const chunk = chunkOf(id)
        const loaded = closure(chunkImports(chunk), chunkImports)
        expect(loaded).not.toContain(chunk)
        if (!chunk.startsWith('late')) continue
        const needed = closure([id], importsOf)
        for (const name of ['zod', 'pg'].filter((each) => loaded.has(each))) expect(needed).toContain(name)
      }
    }),
  )
})
