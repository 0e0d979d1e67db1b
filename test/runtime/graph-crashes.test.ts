import type { Ledger } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { append, START, StateGraph } from '../../packages/runtime/src/index.ts'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, unheard } from './mortal-ledger.ts'
import { flawsOf } from './worlds.ts'

describe('what a dead process leaves behind', () => {
  it('R10 a node that writes outside has an identity reserved before dispatch; with an unknown outcome it is not repeated by itself', async () => {
    const sent: string[] = []
    let isFirst = true
    const make = (ledger: Ledger) =>
      new StateGraph({ out: append<string>() })
        .addNode(
          'mail',
          async ({ out }) => {
            sent.push(`mail ${out.length}`)
            if (isFirst) return new Promise<never>(() => {})
            return { out: 'mailed' }
          },
          { safety: 'external' },
        )
        .addNode('end', () => ({ out: 'end' }))
        .addEdge(START, 'mail')
        .addEdge('mail', 'end')
        .compile({ name: 'mail', checkpointer: ledger })
    const choices = [
      ['retry', ['mailed', 'end'], 2],
      [{ choice: 'done', output: { out: 'by hand' } }, ['by hand', 'end'], 1],
    ] as const
    for (const [answer, out, count] of choices) {
      sent.length = 0
      isFirst = true
      const ledger = createMemoryWorld().open()
      const kill = { append: -1, committed: false }
      const life = createLife(ledger, kill)
      unheard(make(life.ledger).invoke({}, { runId: 'r' }))
      while (sent.length === 0) await new Promise((resolve) => void setTimeout(resolve, 1))
      kill.append = life.appends
      void life.ledger.append([])
      await life.died
      isFirst = false
      const asked = await make(ledger).resume({ runId: 'r' })
      expect([asked.status, sent]).toEqual(['paused', ['mail 0']])
      expect(asked.pause?.question).toMatchObject({ unknown: 'outcome', options: ['done', 'retry', 'abort'] })
      const done = await make(ledger).resume({ runId: 'r' }, { answer })
      expect([done.status, done.state.out, sent.length]).toEqual(['completed', out, count])
      expect(await flawsOf(ledger, 'r')).toEqual([])
    }
  })

  it('R5 a thread whose process died has an unfinished run: new input is refused, invoke(null) goes on with it', async () => {
    const make = (ledger: Ledger) =>
      new StateGraph({ out: append<string>() })
        .addNode('a', () => ({ out: 'a' }))
        .addNode('b', () => ({ out: 'b' }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .compile({ name: 'thread', checkpointer: ledger })
    const ledger = createMemoryWorld().open()
    const life = createLife(ledger, { append: 2, committed: true })
    unheard(make(life.ledger).invoke({ out: 'one' }, { threadId: 't' }))
    await life.died
    await expect(make(ledger).invoke({ out: 'two' }, { threadId: 't' })).rejects.toMatchObject({
      code: 'unfinished',
    })
    expect((await make(ledger).invoke(null, { threadId: 't' })).state.out).toEqual(['one', 'a', 'b'])
    expect((await make(ledger).invoke({ out: 'two' }, { threadId: 't' })).state.out).toEqual([
      'one',
      'a',
      'b',
      'two',
      'a',
      'b',
    ])
  })
})
