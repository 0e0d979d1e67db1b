import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { readMarkdown } from '../docs/markdown.ts'
import { serve } from './served.ts'

const PAGE = new URL('../../docs/guide/ingest.md', import.meta.url)
const SHOWN = 'http://127.0.0.1:2539'
const run = promisify(execFile)

it('A3 the requests that the guide shows are answered as it says', async () => {
  const { url, ledger } = await serve()
  const shown = readMarkdown(readFileSync(PAGE, 'utf8')).fences.filter(({ info }) => info === 'sh')
  expect(shown.length).toBeGreaterThan(7)
  const answers: string[] = []
  for (const { text } of shown) {
    expect(text).toContain(SHOWN)
    answers.push((await run('bash', ['-e', '-o', 'pipefail', '-c', text.replaceAll(SHOWN, url)])).stdout)
  }
  const [, , lines] = answers
  expect(JSON.parse(lines ?? '')).toMatchObject({ refused: 1, results: [{ seq: 1 }, { error: {} }] })
  expect(answers.filter((answer) => answer.includes('"refused":0'))).toHaveLength(4)
  expect(answers.some((answer) => answer.includes('data: {"type":"RUN_FINISHED"'))).toBe(true)
  const { runs } = await ledger.listRuns()
  const ids = runs.map((each) => each.runId).toReversed()
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  expect(ids).toEqual(['run-1', 'run-2', 'run-3', 'order-7', 'ferry-1', 'ferry-2', trace])
})
