import { expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { agent, type Run, type RunResult, type StepError } from '@clew/runtime'

const ledger = createMemoryWorld().open()

it('R6 a schema of a library checks the answer, and says its type', async () => {
  const asks = agent('asks', async (run) => {
    const answer = await run.interrupt({
      question: 'How many?',
      schema: z.object({ owls: z.number(), when: z.string().optional() }),
    })
    expectTypeOf(answer).toEqualTypeOf<{ owls: number; when?: string | undefined }>()
    return answer.owls
  })
  const { runId, pause } = await asks.start(ledger, null)
  expect(pause?.question.schema).toMatchObject({ type: 'object', required: ['owls'] })
  await expect(asks.resume(ledger, runId, { answer: { owls: 'two' } })).rejects.toThrow()
  expect(await asks.resume(ledger, runId, { answer: { owls: 2 } })).toMatchObject({ output: 2 })
})

it('R6 without a JSON Schema the call that asked fails with an answer that does not fit', async () => {
  const even = {
    '~standard': {
      version: 1 as const,
      vendor: 'own',
      validate: (value: unknown) =>
        Number(value) % 2 === 0 ? { value: Number(value) } : { issues: [{ message: 'it is odd' }] },
    },
  }
  const asks = agent('asks', (run) => run.interrupt({ question: 'Even?', schema: even }))
  const { runId } = await asks.start(ledger, null)
  const { error } = await asks.resume(ledger, runId, { answer: 3 })
  expect(error).toMatchObject({ code: 'bad_answer', message: /it is odd/ })
})

it('R6 a JSON Schema says the type of the answer', () => {
  const typed = async (run: Run): Promise<void> => {
    const choice = await run.interrupt({ question: '?', schema: { enum: ['yes', 'no'] } })
    expectTypeOf(choice).toEqualTypeOf<'yes' | 'no'>()
    const list = await run.interrupt({ question: '?', schema: { type: 'array', items: { type: 'number' } } })
    expectTypeOf(list).toEqualTypeOf<number[]>()
    expectTypeOf(await run.interrupt<boolean>('?')).toEqualTypeOf<boolean>()
  }
  expect(typed).toBeTypeOf('function')
})

it('R0 the status of a result says whether it has an output', () => {
  const typed = (result: RunResult<number>): void => {
    if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<number>()
    if (result.status === 'failed') expectTypeOf(result.error).toEqualTypeOf<StepError>()
    if (result.status === 'paused') expectTypeOf(result.output).toEqualTypeOf<undefined>()
  }
  expect(typed).toBeTypeOf('function')
})
