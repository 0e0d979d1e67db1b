import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { normalise, type PageCommand, readCommands, writeOutputs } from './reading-runs/page-commands.ts'
import { BIN } from '../packages/clew/test/run-clew.ts'

/**
 * The page says what `clew` answers, and this makes it true: every command runs, in order, on the file the page
 * imports. After a change that is meant: CLEW_UPDATE_DOCS=1 npx vitest run --project int test/reading-runs
 */
const ROOT = resolve(import.meta.dirname, '..')
const PAGE = join(ROOT, 'docs/guide/reading-runs.md')

const folder = mkdtempSync(join(tmpdir(), 'clew-reading-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(command: string): string {
  const [program, ...words] = command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  if (program !== 'clew') throw new Error(`The page runs ${program}; only clew can be checked`)
  const { CLEW_STORE: _, CLEW_WORKSPACE: __, NO_COLOR: ___, ...env } = process.env
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [BIN, ...words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))],
    { cwd: folder, encoding: 'utf8', env: { ...env, TZ: 'UTC', COLUMNS: '100' }, timeout: 60_000 },
  )
  return `${stdout}${stderr}`.replace(/ +$/gm, '').trimEnd()
}

it('V1 V3 V4 V7 V10 the page about reading runs shows what the commands answer', () => {
  copyFileSync(join(ROOT, 'examples/ferry-chats.ndjson'), join(folder, 'ferry-chats.ndjson'))
  const page = readFileSync(PAGE, 'utf8')
  const commands = readCommands(page)
  expect(commands.length).toBeGreaterThanOrEqual(10)
  const answers = commands.map(({ command }) => run(command))
  if (process.env['CLEW_UPDATE_DOCS']) writeFileSync(PAGE, writeOutputs(page, answers))
  const shown = readCommands(readFileSync(PAGE, 'utf8'))
  const plain = ({ command, output }: PageCommand): string => `$ ${command}\n${normalise(output)}`
  expect(shown.map(plain)).toEqual(
    commands.map(({ command }, at) => plain({ command, output: answers[at] ?? '' })),
  )
})
