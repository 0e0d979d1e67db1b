import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'
import { score } from '../operations/score.ts'
import { tag } from '../operations/tag.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-scores-'))
const url = `sqlite:${join(folder, 'ledger.db')}`

const clew = (...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: url, COLUMNS: '100' }), '')

beforeAll(async () => {
  const ledger = await openLedger(url)
  for (const correlationId of ['trip-1', 'trip-2', 'hike-1'])
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId, payload: { agent: 'guide' } },
      { eventType: 'execution.step_started', correlationId, payload: { stepId: 'plan#0', name: 'plan' } },
      { eventType: 'execution.step_completed', correlationId, payload: { stepId: 'plan#0' } },
      { eventType: 'system.workflow_completed', correlationId },
    ])
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('V11 wrong use of clew tag and clew score is refused, and nothing is written', async () => {
  for (const [args, says] of [
    [['tag', 'trip-1'], 'No tag was named'],
    [['tag', 'trip-1', 'env'], 'The tag "env" is not name=value'],
    [['tag', 'trip-1', '=prod'], 'is not name=value'],
    [['tag', 'nobody', 'env=prod'], 'There is no run nobody'],
    [['score', 'nobody', 'accuracy', '1'], 'There is no run nobody'],
    [['score', 'trip-1', 'accuracy', '1', '--step', 'plan#7'], 'Run trip-1 has no such step'],
    [['score', 'trip-1', 'accuracy', '1', '--attempt', '1'], 'An attempt was named without its step'],
    [['runs', '--tag', 'env'], 'The value "env" of --tag does not fit'],
    [['runs', '--score', 'accuracy'], 'The value "accuracy" of --score does not fit'],
    [['runs', '--score', 'tone>calm'], 'The option scores is not a list of conditions'],
  ] as const) {
    const { code, stderr } = await clew(...args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(says)])
  }
  const shown = JSON.parse((await clew('show', 'trip-1', '--json')).stdout)
  expect(shown.data.run).toMatchObject({ events: 4, tags: {}, scores: [] })
})

it('V11 clew tag and clew score write, answer as their operations say, and clew runs and show tell', async () => {
  const tagged = await clew('tag', 'trip-1', 'env=prod', 'note=a, b', 'draft=yes')
  expect(tagged.stdout).toBe('env=prod · note=a, b · draft=yes\n\nclew show trip-1\n')
  const again = JSON.parse((await clew('tag', 'trip-1', '--unset', 'draft,note', '--json')).stdout)
  expect(tag.output.parse(again.data)).toEqual({ runId: 'trip-1', tags: { env: 'prod' } })
  await clew('tag', 'trip-2', 'env=prod', 'team=red')

  const scored = await clew('score', 'trip-1', 'accuracy', '0.8', '--by', 'ann', '--why', 'good')
  expect(scored.stdout).toBe('accuracy 0.8 by ann: good\n\nclew show trip-1\n')
  await clew('score', 'trip-1', 'passed', 'true', '--by', 'bob')
  const step = JSON.parse(
    (await clew('score', 'trip-2', 'accuracy', '0.2', '--step', 'plan#0', '--json')).stdout,
  )
  expect(score.output.parse(step.data)).toEqual(step.data)
  expect(step.data.scores).toMatchObject([{ stepId: 'plan#0', attempt: null, value: 0.2 }])
  expect((await clew('score', 'trip-1', 'passed', 'null', '--by', 'bob')).stdout).not.toContain('passed')

  const shown = await clew('show', 'trip-1')
  expect(shown.stdout).toContain('tags      env=prod')
  expect(shown.stdout).toContain('scores    accuracy 0.8 by ann: good')

  const ids = async (...args: readonly string[]) => (await clew('runs', '-o', 'ids', ...args)).stdout
  expect(await ids('--tag', 'env=prod')).toBe('trip-2\ntrip-1\n')
  expect(await ids('--tag', 'env=prod,team=red')).toBe('trip-2\n')
  expect(await ids('--tag', 'env=prod', '--tag', 'team=red')).toBe('trip-2\n')
  expect(await ids('--score', 'accuracy>=0.5')).toBe('trip-1\n')
  expect(await ids('--score', 'accuracy<0.5', '--tag', 'env=prod')).toBe('trip-2\n')
  expect(await ids('env:prod', '-o', 'ids', 'run:trip-*', 'sort:started')).toBe('trip-1\ntrip-2\n')
  const page = await clew('runs', 'env:prod', 'steps:<5 sort:-started', '--limit', '1')
  expect(page.stderr).toBe('')
  expect(page.stdout).toContain("clew runs 'env:prod steps:<5 sort:-started' --limit 1 --cursor")
  const wrong = await clew('runs', 'stauts:failed')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/Did you mean status:/)])
  expect((await clew('runs', '--tag', 'env=prod', '--limit', '1')).stdout).toContain(
    'clew runs --tag env=prod --limit 1 --cursor',
  )
})
