import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { choosePager, createPager } from './pager.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-pager-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function open(command: string, rows = 4) {
  let direct = ''
  const pager = createPager({
    rows,
    command,
    env: process.env,
    direct: async (text) => {
      direct += text
    },
    gone: () => new Error('gone'),
  })
  return { pager, shown: () => direct }
}

it('A1 shows what fits on the screen at once and what does not through the pager, from its first line on', async () => {
  const file = join(folder, 'paged')
  const short = open(`cat > ${file}`)
  await short.pager.write('one\ntwo\n')
  await short.pager.end()
  expect(short.shown()).toBe('one\ntwo\n')

  const long = open(`cat > ${file}`)
  for (const line of ['one\ntwo\n', 'three\n', 'four\n', 'five\n']) await long.pager.write(line)
  await long.pager.end()
  expect(long.shown()).toBe('')
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\nfour\nfive\n')
})

it('A1 tells the writer when the reader has closed the pager', async () => {
  const { pager } = open('head -c 1 > /dev/null')
  const pour = async () => {
    for (let n = 0; n < 2000; n++) await pager.write(`${'x'.repeat(4096)}\n`)
  }
  await expect(pour()).rejects.toThrow('gone')
  await pager.end()
})

it('A1 takes the pager that people chose, and none when they want none', () => {
  expect(choosePager({})).toBe('less')
  expect(choosePager({ PAGER: 'more' })).toBe('more')
  expect(choosePager({ PAGER: 'more', CLEW_PAGER: 'most' })).toBe('most')
  expect(choosePager({ PAGER: 'cat' })).toBeUndefined()
  expect(choosePager({ PAGER: 'less', CLEW_PAGER: '' })).toBeUndefined()
})
