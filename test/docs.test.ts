import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { payloadSchemas } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { scanModule } from './architecture/scan-module.ts'
import { isSource, listPaths, ROOT, readFiles, type SourceFile } from './architecture/source-files.ts'
import {
  checkCommands,
  checkDecisions,
  checkLinks,
  checkPromises,
  findUndocumented,
} from './docs/check-docs.ts'
import { checkNames, findMembers, type KnownNames } from './docs/check-names.ts'
import { checkRules, findRules } from './docs/check-rules.ts'
import { fieldsOf, readEventTables } from './docs/event-tables.ts'
import { readMarkdown } from './docs/markdown.ts'
import { createExists, readGuide, readPage } from './docs/pages.ts'
import { checkSnippets, findSnippets } from './docs/snippets.ts'

const paths = listPaths()
const page = (text: string, path = 'docs/guide/a.md'): SourceFile => ({ path, text })

interface DocumentedOperation {
  readonly name: string
  readonly cli: {
    readonly words?: readonly string[]
    readonly options?: Readonly<Record<string, string>>
    readonly flags?: Readonly<Record<string, string>>
  }
}

async function readOperations(): Promise<readonly DocumentedOperation[]> {
  const file = pathToFileURL(join(ROOT, 'packages/clew/src/operations.ts')).href
  return ((await import(file)) as { operations: readonly DocumentedOperation[] }).operations
}

const commandOf = ({ name, cli }: DocumentedOperation): string => cli.words?.join(' ') ?? name

async function readKnownNames(): Promise<KnownNames> {
  const { OWN_EVENT_TYPES, RUN_STATUSES } = await import('@clew/ledger')
  const sources = readFiles(paths.filter(isSource))
  const { exports: subpaths } = JSON.parse(readPage('packages/clew/package.json').text) as {
    exports: Readonly<Record<string, unknown>>
  }
  const entries = Object.keys(subpaths)
    .filter((path) => !path.endsWith('.css'))
    .map((path) => `packages/clew/src/${path === '.' ? 'index' : path.slice(2)}.ts`)
  const commands = (await readOperations()).map((operation) => {
    const { options = {}, flags = {} } = operation.cli
    const texts = [...Object.values(options), ...Object.keys(flags)]
    return [commandOf(operation), texts.flatMap((text) => text.match(/--[\w-]+/g) ?? [])] as const
  })
  return {
    exports: new Set(entries.flatMap((path) => scanModule(readPage(path).text).exports)),
    members: new Set([...findMembers(sources), ...RUN_STATUSES]),
    eventTypes: new Set(OWN_EVENT_TYPES),
    commands: new Map(commands),
    subpaths: new Set(Object.keys(subpaths).map((path) => `clew${path.slice(1)}`)),
    source: sources.map(({ text }) => text).join('\n'),
  }
}

describe('the docs of this repository', () => {
  it('show every export of clew in code', () => {
    const { exports } = scanModule(readPage('packages/clew/src/index.ts').text)
    expect(exports.length).toBeGreaterThan(0)
    expect(findUndocumented(exports, readGuide())).toEqual([])
  })

  it('show every export of clew/react in code, and it is all of the parts', () => {
    const parts = scanModule(readPage('packages/react/src/index.ts').text).exports
    expect(parts.length).toBeGreaterThan(0)
    expect(findUndocumented(parts, [readPage('docs/guide/react.md')])).toEqual([])
    const offered = scanModule(readPage('packages/clew/src/react.ts').text).exports
    expect(offered.toSorted()).toEqual(parts.toSorted())
  })

  it('have a section for every command', async () => {
    const commands = (await readOperations()).map(commandOf)
    expect(commands.length).toBeGreaterThan(0)
    expect(checkCommands(commands, readPage('docs/guide/cli.md'))).toEqual([])
  })

  it('translate only to names that exist', async () => {
    const names = readPage('docs/guide/names.md')
    expect(checkNames(names, await readKnownNames())).toEqual([])
    expect(
      checkNames(page('| there | here |\n|---|---|\n| a | `openLegder` |'), await readKnownNames()),
    ).toEqual(['docs/guide/a.md:3 names openLegder, which does not exist'])
  })

  it('define each rule once, and tests cite rules that exist', () => {
    const spec = readPage('SPEC.md').text
    expect(findRules(spec).length).toBeGreaterThan(0)
    expect(checkRules(spec, readFiles(paths.filter((path) => /\.tsx?$/.test(path))))).toEqual([])
  })

  it('name every field of every own event type, and no other', () => {
    const tables = readEventTables(readPage('docs/guide/events.md').text)
    const expected = Object.entries(payloadSchemas()).map(([type, schema]) => [type, fieldsOf(schema)])
    expect(Object.fromEntries(tables)).toEqual(Object.fromEntries(expected))
  })

  it('give a reason for every snippet that is not run', () => {
    expect(checkSnippets(findSnippets(readGuide()))).toEqual([])
  })

  it('show the agent that examples/kill-and-resume.ts kills as it is', () => {
    const [, code] = /^[^\n]*\n([^]*)$/.exec(readPage('examples/kill-and-resume.ts').text) ?? []
    const shown = readMarkdown(readPage('README.md').text).fences.map((fence) => fence.text)
    expect(shown).toContain(code)
  })

  it('link to files that exist', () => {
    const pages = readFiles(paths.filter((path) => path.endsWith('.md')))
    expect(checkLinks(pages, createExists(paths))).toEqual([])
  })

  it('name tests for every promise about security', () => {
    expect(checkPromises(readPage('docs/security.md'))).toEqual([])
    const table = (row: string): SourceFile => page(`| promise | test |\n|---|---|\n| held | ${row} |`)
    expect(checkPromises(table('to come'))).toEqual(['docs/guide/a.md: no test is named for: held'])
    expect(checkPromises(table('[a](../security.md)'))).toEqual([
      'docs/guide/a.md: docs/security.md is no test of: held',
    ])
    expect(checkPromises(page('nothing'))).toHaveLength(1)
  })

  it('date their decisions', () => {
    const decisions = paths.filter((path) => path.startsWith('docs/decisions/'))
    expect(decisions.length).toBeGreaterThan(0)
    expect(checkDecisions(decisions)).toEqual([])
  })
})

describe('reading Markdown', () => {
  const text = [
    '# Title `code` #',
    'See [a](b.md "title"), ![picture](<c.png>) and `[no](d.md)` and ``a`b``.',
    '- item',
    '  ```ts no-run: why not',
    '  # no heading',
    '    [no](e.md)',
    '  ```',
    '~~~~md',
    '```ts',
    '```',
    '~~~~',
    '[ref]: f.md',
    '<img src="g.png">',
    '```sh',
    'never closed',
  ].join('\n')
  const read = readMarkdown(text)

  it('finds fences with their info, indentation removed', () => {
    expect(read.fences).toEqual([
      { info: 'ts no-run: why not', line: 4, text: '# no heading\n  [no](e.md)\n' },
      { info: 'md', line: 8, text: '```ts\n```\n' },
      { info: 'sh', line: 14, text: 'never closed\n' },
    ])
  })

  it('finds headings and links outside code only', () => {
    expect(read.headings).toEqual(['Title `code`'])
    expect(read.links.map((link) => link.target)).toEqual(['b.md', 'c.png', 'f.md', 'g.png'])
  })

  it('finds code in fences and between backticks', () => {
    expect(read.code.split('\n')).toEqual(
      expect.arrayContaining(['code', 'a`b', '[no](d.md)', 'never closed']),
    )
    expect(read.code).not.toContain('Title')
  })
})

describe('planted gaps are found', () => {
  it('an export that is only mentioned in prose, or only as a part of a longer name', () => {
    const pages = [page('openLedger opens. `openLedgerOptions` is another.'), page('```ts\nappend()\n```')]
    expect(findUndocumented(['openLedger', 'append', 'openLedgerOptions'], pages)).toEqual(['openLedger'])
  })

  it('a command without a section, and a section without a command', () => {
    const cli = page('## `clew runs [options]`\n## clew gone\n### Exit codes\nclew show', 'docs/guide/cli.md')
    expect(checkCommands(['runs', 'show'], cli)).toEqual([
      expect.stringContaining("'show' has no section"),
      expect.stringContaining("'clew gone' is about a command that does not exist"),
    ])
  })

  it('a rule defined twice, and rules cited that do not exist', () => {
    const spec = '- **E1** a\n- **L12 It records.** see E1\n- **V1** x · **V2** y\n- **E1** again'
    const test = [
      "it('E1 is fine', f); it('about E9', f); ports.it('E8 is no test', f)",
      "it('L12, E2: two', f)",
      "describe('V3/V1 group', f)",
      "it.skipIf(a).each([['E4', 1]])('R5 %s', f)",
      'test.prop([fc.string()])(`P1 ${name}`, f)',
      "// it('D1 in a comment', f)",
    ].join('\n')
    expect(checkRules(spec, [page(test, 'test/a.test.ts'), page("it('T1', f)", 'test/a.ts')])).toEqual([
      'SPEC.md defines E1 twice',
      'test/a.test.ts:2 cites E2, which SPEC.md does not define',
      'test/a.test.ts:3 cites V3, which SPEC.md does not define',
      'test/a.test.ts:4 cites R5, which SPEC.md does not define',
      'test/a.test.ts:5 cites P1, which SPEC.md does not define',
    ])
  })

  it('a rule cited in a suite that lists its tests as data', () => {
    const suite = page(
      "const rules = [{ name: 'L3 order' }, { name: 'not L4' }]",
      'packages/x/src/conformance/a.ts',
    )
    expect(checkRules('**L1** a', [suite])).toEqual([expect.stringContaining('cites L3')])
  })

  it('a link to nothing', () => {
    const exists = createExists(['README.md', 'docs/guide/a.md', 'docs/img/b c.png'])
    const links =
      '[a](a.md#part) [r](../../README.md) [d](../guide/) [b](../img/b%20c.png) [w](https://x.y) [h](#h)'
    expect(checkLinks([page(links)], exists)).toEqual([])
    expect(checkLinks([page('a\n[gone](gone.md)'), page('[a](a.md)', 'README.md')], exists)).toEqual([
      'docs/guide/a.md:2 links to gone.md, which does not exist',
      'README.md:1 links to a.md, which does not exist',
    ])
  })

  it('a decision without a date', () => {
    const good = 'docs/decisions/2026-11-15-one-door.md'
    const bad = [
      'docs/decisions/one-door.md',
      'docs/decisions/2026-13-15-a.md',
      'docs/decisions/2026-11-15.md',
    ]
    expect(checkDecisions([good, 'README.md', ...bad])).toHaveLength(bad.length)
  })

  it('a snippet that opts out without a reason', () => {
    const fence = (info: string): string => `\`\`\`${info}\nimport { openLedger } from 'clew'\n\`\`\`\n`
    const snippets = findSnippets([
      page(
        fence('ts') + fence('ts no-run') + fence('ts no-run: needs a server') + fence('sh') + fence('tsx'),
      ),
    ])
    expect(snippets.map((snippet) => snippet.skipped)).toEqual([undefined, '', 'needs a server'])
    expect(checkSnippets(snippets)).toEqual([expect.stringMatching(/^docs\/guide\/a\.md:4 /)])
  })

  it('a page that is missing', () => {
    expect(() => readPage('docs/no-such-page.md')).toThrow('does not exist')
  })
})
