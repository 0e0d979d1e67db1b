import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agent, fork } from '@clew/runtime'
import { openLedger } from './open-ledger.ts'
import { expectReplay } from './testing.ts'

/** Inside the repository, so that the runners find what tests import. */
const root = resolve(import.meta.dirname, '../../..')
mkdirSync(join(root, 'test/.tmp-docs'), { recursive: true })
const folder = mkdtempSync(join(root, 'test/.tmp-docs/testing-'))
const file = (name: string): string => join(folder, name)

const research = (prompt: string) =>
  agent('research', async (run, topic: string) => {
    const page = await run.effect('search', { q: `${prompt} ${topic}`, at: run.now() }, () =>
      outside('a page'),
    )
    return run.step('shorten', { page }, ({ page }) => page.slice(0, 3))
  })
const asRecorded = research('about')
const changed = research('all about')

let isRecording = true
function outside<T>(value: T): T {
  if (!isRecording) throw new Error('a replay reached the world outside')
  return value
}

/** The same agents for the test files below. */
const AGENTS = `
import { agent } from 'clew'
const research = (prompt: string) =>
  agent('research', async (run, topic: string) => {
    const page = await run.effect('search', { q: prompt + ' ' + topic, at: run.now() }, () => { throw new Error('outside') })
    return run.step('shorten', { page }, ({ page }) => String(page).slice(0, 3))
  })
export const asRecorded = research('about')
export const changed = research('all about')
`

const tests = (runner: string): string => `
import { test } from '${runner}'
import { expectReplay } from 'clew/testing'
import { asRecorded, changed } from './agents.ts'
test('green', async () => void await expectReplay(asRecorded, new URL('monday.ndjson', import.meta.url).pathname))
test('red', async () => void await expectReplay(changed, new URL('monday.ndjson', import.meta.url).pathname))
`

async function node(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=@clew/source', ...args], {
    cwd: folder,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      NO_COLOR: '1',
      FORCE_COLOR: '0',
      NODE_TEST_CONTEXT: undefined,
      VITEST: undefined,
    },
    timeout: 100_000,
  })
  let output = ''
  for (const side of [child.stdout, child.stderr])
    side.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

beforeAll(async () => {
  const ledger = await openLedger('memory:')
  await asRecorded.start(ledger, 'owls', { runId: 'monday' })
  await asRecorded.start(ledger, 'mice', { runId: 'tuesday' })
  await fork(asRecorded, { ledger, runId: 'tuesday', at: { step: 'shorten' }, newRunId: 'wednesday' })
  const other = agent('other', () => 1)
  await other.start(ledger, null, { runId: 'other-1' })
  const write = async (name: string, ...runIds: string[]): Promise<void> => {
    let text = ''
    for (const runId of runIds)
      for await (const line of ledger.export({ runId, redacted: true })) text += line
    writeFileSync(file(name), text)
  }
  await write('monday.ndjson', 'monday')
  await write('both.ndjson', 'monday', 'wednesday')
  await write('turned.ndjson', 'wednesday', 'tuesday')
  await write('other.ndjson', 'other-1')
  await write('mixed.ndjson', 'monday', 'other-1')
  await ledger.close()
  isRecording = false
  writeFileSync(file('empty.ndjson'), '')
  writeFileSync(file('notes.ndjson'), 'no export\n')
  writeFileSync(
    file('edited.ndjson'),
    readFileSync(file('monday.ndjson'), 'utf8').replace('a page', 'b page'),
  )
  writeFileSync(file('agents.ts'), AGENTS)
  writeFileSync(file('node.ts'), tests('node:test'))
  writeFileSync(file('vite.check.ts'), tests('vitest'))
  writeFileSync(
    file('vitest.config.ts'),
    `export default { root: ${JSON.stringify(folder)}, resolve: { conditions: ['@clew/source'] }, ssr: { resolve: { conditions: ['@clew/source'] } }, test: { include: ['*.check.ts'] } }`,
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('D5 one line replays a fixture and gives back its reports', async () => {
  const reports = await expectReplay(asRecorded, file('monday.ndjson'))
  expect(reports).toMatchObject([{ verdict: 'identical', sourceRunId: 'monday', mode: 're-execute' }])
})

it('D5 every run of a file counts, but not what a fork only stands on', async () => {
  const ids = async (name: string, runId?: string | string[]): Promise<string[]> =>
    (await expectReplay(asRecorded, file(name), { runId })).map(({ sourceRunId }) => sourceRunId)
  expect(await ids('both.ndjson')).toEqual(['monday', 'wednesday'])
  expect(await ids('both.ndjson', 'wednesday')).toEqual(['wednesday'])
  expect(await ids('turned.ndjson')).toEqual(['tuesday', 'wednesday'])
  expect(await ids('mixed.ndjson', ['monday'])).toEqual(['monday'])
})

it('D5 D2 a divergence is an assertion error with the report and both sides', async () => {
  const error: unknown = await expectReplay(changed, file('both.ndjson')).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'AssertionError', code: 'ERR_ASSERTION', operator: 'expectReplay' })
  const { message, expected, actual } = error as { message: string; expected: unknown; actual: unknown }
  expect(message).toMatch(/^2 of 2 runs in .*both\.ndjson diverged\n\n✗ diverged {2}monday/)
  expect(message).toContain('- "about owls"')
  expect(message).toContain('+ "all about owls"')
  expect(message).toContain(`-o ${file('both.ndjson')} --force`)
  expect(JSON.stringify([expected, actual])).toMatch(/about owls.*all about owls/)
  expect(
    await expectReplay(changed, file('monday.ndjson'), { volatile: { search: ['input.q'] } }),
  ).toHaveLength(1)
})

it.each([
  ['none.ndjson', 'not_found', 'does not exist'],
  ['.', 'not_found', 'is no file'],
  ['empty.ndjson', 'not_found', 'holds no run'],
  ['notes.ndjson', 'broken_import', 'Line 1 is not JSON'],
  ['edited.ndjson', 'broken_import', 'does not have the hash it claims'],
  ['other.ndjson', 'bad_option', 'is one of other, not of research'],
  ['mixed.ndjson', 'bad_option', 'name the runs with runId'],
])('D5 %s is refused with a sentence', async (name, code, says) => {
  await expect(expectReplay(asRecorded, file(name))).rejects.toMatchObject({
    code,
    message: expect.stringContaining(says) as string,
  })
})

it('D5 a run that is not in the file is refused', async () => {
  await expect(expectReplay(asRecorded, file('monday.ndjson'), { runId: 'sunday' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('It contains monday') as string,
  })
})

it('D5 node:test shows the report of a red one', async () => {
  const { code, output } = await node('--test', '--test-reporter=spec', 'node.ts')
  expect([code, output]).toEqual([1, expect.stringContaining('pass 1')])
  expect(output).toContain('fail 1')
  expect(output).toContain('input: the same step with another input')
  expect(output).toContain('+ "all about owls"')
})

it('D5 vitest shows the report of a red one', async () => {
  const bin = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const { code, output } = await node(bin, 'run', '--config', file('vitest.config.ts'))
  expect([code, output]).toEqual([1, expect.stringMatching(/1 failed \| 1 passed/)])
  expect(output).toContain('input: the same step with another input')
  expect(output).toContain('all about owls')
})

it('D5 R8 of a map each item is replayed', async () => {
  isRecording = true
  const ledger = await openLedger('memory:')
  await asRecorded.map(ledger, ['owls', 'mice'], { runId: 'map-1' })
  const text = (await Array.fromAsync(ledger.export({ runId: 'map-1', redacted: true }))).join('')
  await ledger.close()
  isRecording = false
  writeFileSync(file('map.ndjson'), text)
  expect(await expectReplay(asRecorded, file('map.ndjson'))).toMatchObject([
    { sourceRunId: 'map-1', steps: 4 },
  ])
  await expect(expectReplay(changed, file('map.ndjson'))).rejects.toThrow('in child run map-1/research.i0')
})
