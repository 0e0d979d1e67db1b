import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { agent, append, fork, last, type Question, START, StateGraph } from '../index.ts'

const ledger = createMemoryWorld().open()
const SECRET = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')

describe('what a result tells', () => {
  it('P2 a secret in the input is warned of at once, by its path: such a run cannot be resumed', async () => {
    const asking = agent('asking', (run, _input: unknown) => run.interrupt('Go on?'))
    const { warnings, runId } = await asking.start(ledger, { to: [{ key: SECRET }] })
    expect(warnings).toEqual([expect.stringContaining('a secret at $.to[0].key')])
    expect((await asking.resume(ledger, runId, { answer: 1 })).status).toBe('blocked')
    expect((await asking.start(ledger, { to: 'ann' })).warnings).toEqual([])
    const done = agent('done', (_run, input: unknown) => typeof input)
    expect((await done.start(ledger, SECRET)).warnings).toHaveLength(1)
    const { runId: clean } = await done.start(ledger, 'x')
    expect((await fork(done, { ledger, runId: clean, input: SECRET })).warnings).toHaveLength(1)
  })

  it('P2 the same of a graph, and nothing where nothing is recorded', async () => {
    const graph = new StateGraph({ key: last('') }).addNode('a', () => {}).addEdge(START, 'a')
    const kept = await graph.compile({ checkpointer: ledger }).invoke({ key: SECRET })
    expect(kept.warnings).toEqual([expect.stringContaining('$.key')])
    expect((await graph.compile().invoke({ key: SECRET })).warnings).toEqual([])
  })

  it.each<[string, string, Parameters<typeof agent>[1]]>([
    ['output of a step', '$.output.f', (run) => run.step('s', null, () => ({ f: () => 1 }))],
    ['input of a step', '$.f', (run) => run.step('s', { f: () => 1 }, () => 1)],
    ['output of the run', '$.output.f', () => ({ f: () => 1 })],
    [
      'output of an effect that was reserved',
      '$.output.f',
      (run) => run.effect('s', null, () => ({ f: () => 1 }), { safety: 'write' }),
    ],
  ])(
    'R2 the %s that cannot be stored fails with its path, and with no hint that is not true there',
    async (...given) => {
      const [, path, fn] = given
      const { error, status } = await agent('a', fn).start(ledger, null)
      expect([status, error?.code]).toEqual(['failed', 'bad_value'])
      expect(error?.message).toBe(`The value at ${path} is a function, which cannot be stored`)
    },
  )

  it('R5 undefined is null, live as on resume: input and output of a run, of steps, effects and children', async () => {
    const seen: unknown[][] = []
    const nothing = agent('nothing', (_run, input: unknown) => void seen.push([input]))
    const empty = agent('empty', async (run, input: unknown) => {
      seen.push([
        input,
        await run.step('s', undefined, () => undefined),
        await run.effect('e', undefined, async () => undefined),
        await run.child(nothing, undefined),
      ])
      await run.interrupt('Go on?')
    })
    const { runId } = await empty.start(ledger, undefined)
    const { output } = await empty.resume(ledger, runId, { answer: null })
    const [child, live, resumed] = seen
    expect([child, live]).toEqual([[null], [null, null, null, null]])
    expect(resumed).toEqual(live)
    expect(output).toBeNull()
  })

  it('R1 after a resume the log tells how many steps were restored', async () => {
    const line = agent('line', async (run) => {
      for (const name of ['a', 'b', 'c']) await run.effect(name, null, () => name)
      await run.step('d', null, (_, inner) => inner.effect('e', null, () => 1))
      await run.interrupt('Go on?')
      await run.effect('f', null, () => 1)
    })
    for (const how of [{}, { suspendAlways: true }]) {
      const first = await line.start(ledger, null, how)
      expect([first.log.restored, first.log.steps.length]).toEqual([0, 5])
      expect(first.log.summary()).not.toContain('restored')
      const { log } = await line.resume(ledger, first.runId, { answer: 1, ...how })
      expect([log.restored, log.toJSON().restored]).toEqual([5, 5])
      expect(log.steps.map(({ nodeName }) => nodeName)).toEqual(['interrupt', 'f'])
      expect(log.summary()).toMatch(/^line: 2 steps of 2 nodes in .*, 5 steps restored \(run /)
    }
    const { runId } = await line.start(ledger, null)
    const { log } = await fork(line, { ledger, runId, at: { step: 'c' } })
    expect([log.restored, log.steps.length]).toEqual([2, 3])
  })

  it('R1 the same of a graph: also what is in its state already', async () => {
    const graph = new StateGraph({ way: append<string>() })
      .addNode('a', () => ({ way: 'a' }))
      .addNode('b', () => ({ way: 'b' }))
      .addNode('c', async (_, run) => ({ way: await run.interrupt<string>('Go on?') }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'c')
      .compile({ checkpointer: ledger })
    const { runId } = await graph.invoke({})
    const { log } = await graph.resume({ runId }, { answer: 'c' })
    expect(log.summary()).toContain('2 steps of 2 nodes')
    expect(log.summary()).toContain('2 steps restored')
  })

  it('R6 the question of a pause is typed as one', async () => {
    const { pause, pauses } = await agent('a', (run) =>
      run.interrupt({ question: 'Well?', to: 'ann' }),
    ).start(ledger, null)
    const question: Question | undefined = pause?.question
    expect([question?.question, question?.['to'], pauses[0]?.question.question]).toEqual([
      'Well?',
      'ann',
      'Well?',
    ])
  })
})
