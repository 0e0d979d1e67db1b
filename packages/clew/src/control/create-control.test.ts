import type { ClewEvent, Ledger } from '@clew/ledger'
import { agent, replay, type RunResult } from '@clew/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { createControl } from './create-control.ts'
import { agentSet } from './load-agents.ts'
import type { Runnable } from './run-control.ts'

const greet = agent('greet', async (run, name: string) => {
  const word = await run.interrupt<string>({ question: 'How?', options: ['Hello', 'Hi'] })
  return `${word}, ${name}`
})
const greeting: Runnable = {
  name: 'greet',
  kind: 'function',
  resume: (ledger, runId, options) => greet.resume(ledger, runId, options),
  fork: () => Promise.reject(new Error('not asked for')),
  replay: (ledger, runId, request) => replay(greet, { ledger, runId, ...request }),
}
const agents = agentSet([greeting], 'the test')

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
  await greet.start(ledger, 'Ann', { runId: 'g1' })
})
afterEach(() => ledger.close())

it('R6 resume goes on with the answer and tells what happens, in order', async () => {
  const told: ClewEvent[] = []
  const control = createControl(ledger, { agents })
  expect([control.canRun('greet'), control.canRun('other'), control.canRun(null)]).toEqual([
    true,
    false,
    false,
  ])
  const outcome = await control.resume('g1', {
    answer: 'Hi',
    by: 'bob',
    onEvent: (event) => told.push(event),
  })
  expect(outcome).toMatchObject({
    worked: true,
    output: 'Hi, Ann',
    divergence: null,
    run: { status: 'completed' },
  })
  const recorded = await Array.fromAsync(ledger.read('g1', { afterSeq: 4 }))
  expect(told.map(({ eventId }) => eventId)).toEqual(recorded.map(({ eventId }) => eventId))
  await expect(control.resume('g1')).rejects.toMatchObject({ code: 'not_resumable' })
})

it('R6 answer records without the agent; the first answer counts', async () => {
  const control = createControl(ledger)
  await expect(control.resume('g1')).rejects.toThrow(/waits for an answer/)
  await expect(control.answer('g1', { answer: 'Ahoy' })).rejects.toMatchObject({ code: 'bad_answer' })
  const both = await Promise.allSettled([
    control.answer('g1', { answer: 'Hello', by: 'ann' }),
    control.answer('g1', { answer: 'Hi', by: 'bob' }),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await ledger.getRun('g1'))?.status).toBe('pending')
  await expect(control.resume('g1')).rejects.toThrow(/only its agent greet/)
  expect((await createControl(ledger, { agents }).resume('g1')).output).toMatch(/^(Hello|Hi), Ann$/)
})

it('R7 a fork without its agent is pending, and goes on when it is resumed', async () => {
  const { run, worked } = await createControl(ledger).fork('g1', {
    at: { seq: 1 },
    input: 'Eve',
    newRunId: 'g2',
  })
  expect([run.status, run.forkedFrom, worked]).toEqual(['pending', { runId: 'g1', seq: 1 }, false])
  const control = createControl(ledger, { agents })
  expect((await control.resume('g2')).run.status).toBe('paused')
  expect((await control.resume('g2', { answer: 'Hi' })).output).toBe('Hi, Eve')
  expect((await ledger.getRun('g1'))?.status).toBe('paused')
  expect((await ledger.verify()).ok).toBe(true)
  await expect(control.fork('g1', { retry: true, input: 'x' })).rejects.toMatchObject({ code: 'bad_option' })
  await expect(createControl(ledger).fork('g1', { newRunId: 'g2' })).rejects.toMatchObject({
    code: 'conflict',
  })
})

it('R9 stop ends a run that waits, once', async () => {
  const control = createControl(ledger)
  expect((await control.stop('g1', { reason: 'enough' })).run.status).toBe('stopped')
  await expect(control.stop('g1')).rejects.toMatchObject({ code: 'ended' })
})

it('an error of another copy of Clew is told as one of ours', async () => {
  class ClewError extends Error {
    override readonly name = 'ClewError'
    readonly code = 'busy'
    readonly hint = 'Wait.'
    readonly fields = { runId: 'g1' }
  }
  const foreign: Runnable = {
    ...greeting,
    resume: (): Promise<RunResult> => Promise.reject(new ClewError('The run is busy. Wait.')),
  }
  const control = createControl(ledger, { agents: agentSet([foreign], 'the test') })
  const { ClewError: Ours } = await import('@clew/ledger')
  const error: unknown = await control.resume('g1', { answer: 'Hi' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Ours)
  expect(error).toMatchObject({ code: 'busy', message: 'The run is busy. Wait.', fields: { runId: 'g1' } })
})

it('D1 replay goes through a run again with its agent, and writes nothing', async () => {
  const control = createControl(ledger, { agents })
  await control.resume('g1', { answer: 'Hi' })
  const position = await ledger.lastPosition()
  const told: string[] = []
  const report = await control.replay('g1', { onProgress: ({ step }) => told.push(step) })
  expect(report).toMatchObject({ verdict: 'identical', outcome: { status: 'completed', output: 'Hi, Ann' } })
  expect(told).not.toEqual([])
  expect(await ledger.lastPosition()).toBe(position)
  await expect(createControl(ledger).replay('g1')).rejects.toMatchObject({ code: 'bad_option' })
  await expect(control.replay('nobody')).rejects.toMatchObject({ code: 'not_found' })
})
