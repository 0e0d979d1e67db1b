import { agent, END, last, replay, START, StateGraph, type StepError } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { eventsOf, KEPT_WORLDS } from './worlds.ts'

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'

function explodeInTheDepth(): never {
  throw new Error('broken\nin two lines')
}

function fall(depth: number): number {
  return depth === 0 ? explodeInTheDepth() : fall(depth - 1) + 1
}

describe.each(KEPT_WORLDS)('stack traces, %s', (_, open) => {
  const { ledger, how } = open()
  const stacksOf = async (runId: string): Promise<(readonly [unknown, unknown])[]> =>
    (await eventsOf(ledger, runId))
      .filter(({ eventType }) => eventType.endsWith('_failed'))
      .map(({ eventType, payload }) => [payload['stepId'] ?? eventType, payload['stack']])

  it('R2 a failed step keeps where it failed, once, beside its error, and a replay finds it the same', async () => {
    const failing = agent('failing', async (run) => {
      await run
        .effect('tried', null, () => explodeInTheDepth(), { retry: { tries: 2, delayMs: 0 } })
        .catch(() => 0)
      await run.step('outer', null, async (_none, inner) => {
        await inner.step('inner', null, () => explodeInTheDepth())
      })
    })
    const { runId } = await failing.start(ledger, null, how)
    const frames = expect.stringMatching(/^ {4}at explodeInTheDepth .*error-stacks\.test\.ts/)
    expect(await stacksOf(runId)).toEqual([
      ['tried#0', frames],
      ['tried#0', frames],
      ['outer#0/inner#0', frames],
      ['outer#0', undefined],
      ['system.workflow_failed', undefined],
    ])
    expect((await replay(failing, { ledger, runId })).verdict).toBe('identical')
  })

  it('R2 a run whose own code failed keeps where', async () => {
    const failing = agent('failing', async () => explodeInTheDepth())
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', () => explodeInTheDepth())
      .addEdge(START, 'a')
      .addEdge('a', END)
      .compile({ checkpointer: ledger })
    const own = await failing.start(ledger, null, how)
    expect(await stacksOf(own.runId)).toEqual([
      ['system.workflow_failed', expect.stringContaining('explodeInTheDepth')],
    ])
    const { runId } = await graph.invoke({}, how)
    expect(await stacksOf(runId)).toEqual([
      ['a@s1', expect.stringContaining('explodeInTheDepth')],
      ['system.workflow_failed', undefined],
    ])
  })

  it('P1 R2 a stack is redacted and bounded, and is no part of what code is given', async () => {
    const failing = agent('failing', (run) =>
      run
        .effect('deep', null, () => {
          const error = new Error('broken')
          const frame = `    at call (/srv/token=${SECRET}/x.js:1:1)`
          error.stack = `Error: broken\n${Array.from({ length: 500 }, () => frame).join('\n')}`
          throw error
        })
        .catch((error: StepError) => ({ ...error.toJSON() })),
    )
    const { runId, output } = await failing.start(ledger, null, how)
    expect(output).toEqual({ name: 'Error', code: 'thrown', message: 'broken' })
    const [[, stack]] = (await stacksOf(runId)) as [[string, string]]
    expect(stack).toContain('[redacted:')
    expect(stack).not.toContain(SECRET)
    expect(stack.split('\n').length).toBeLessThanOrEqual(30)
    expect(stack.length).toBeLessThanOrEqual(4200)
  })

  it('R2 what throws in a recursion keeps its innermost frames', async () => {
    const failing = agent('failing', (run) => run.step('fall', null, () => fall(5)))
    const { runId } = await failing.start(ledger, null, how)
    const [[, stack]] = (await stacksOf(runId)) as [[string, string]]
    expect(stack.split('\n').slice(0, 2).join()).toMatch(/explodeInTheDepth.*fall/)
  })
})
