import { agent, fork, last, replay, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { CLEW_VERSION } from '../../packages/runtime/src/version.ts'

const clewVersion = { recorded: CLEW_VERSION, now: CLEW_VERSION }

describe('D7 what a record was made with, and what it is read with', () => {
  const ledger = createMemoryWorld().open()
  const made = (version: string, model: string) =>
    agent(
      'made',
      async (run) => {
        const call = (name: string) =>
          run.effect(name, null, (_none, { usage }) => usage({ model, inputTokens: 1 }))
        await call('first')
        await run.interrupt('Go on?')
        await call('second')
      },
      { version },
    )

  it('D7 of a function: on resume, on replay, and in a fork', async () => {
    const first = await made('1', 'm-1').start(ledger, null, { runId: 'f' })
    expect(first.fidelity).toBeNull()
    const { fidelity } = await made('2', 'm-2').resume(ledger, 'f', { answer: 'yes' })
    expect(fidelity).toEqual({
      agentVersion: { recorded: '1', now: '2' },
      clewVersion,
      structureHash: { recorded: null, now: null },
      models: { recorded: ['m-1'], now: ['m-2'] },
    })
    const replayed = await replay(made('3', 'm-3'), { ledger, runId: 'f' })
    expect(replayed.fidelity).toMatchObject({
      agentVersion: { recorded: '1', now: '3' },
      models: { recorded: ['m-1', 'm-2'], now: [] },
    })
    const at = { step: 'second' }
    const forked = await fork(made('4', 'm-4'), { ledger, runId: 'f', at })
    expect(forked.fidelity).toMatchObject({
      agentVersion: { recorded: '1', now: '4' },
      models: { recorded: ['m-1'], now: ['m-4'] },
    })
    const otherwise = await replay(made('5', 'm-5'), { ledger, runId: 'f', mode: 'what-if', at })
    expect(otherwise.fidelity).toMatchObject({
      agentVersion: { recorded: '1', now: '5' },
      clewVersion,
      models: { recorded: ['m-1', 'm-2'], now: ['m-5'] },
    })
    expect((await replay(null, { ledger, runId: 'f', mode: 'reconstruct' })).fidelity.agentVersion).toEqual({
      recorded: '1',
      now: null,
    })
  })

  it('D7 of a graph: its structure, too', async () => {
    const graph = (version: string) =>
      new StateGraph({ n: last(0) })
        .addNode('a', async (_state, run) => {
          await run.interrupt('?')
          return { n: 1 }
        })
        .addEdge(START, 'a')
        .compile({ checkpointer: ledger, version, name: 'g' })
    await graph('1').invoke({}, { runId: 'g' })
    const { fidelity } = await graph('2').resume({ runId: 'g' }, { answer: 1 })
    const [started] = await Array.fromAsync(ledger.read('g', { limit: 1 }))
    const hash = started?.payload['structureHash']
    expect(fidelity).toMatchObject({
      agentVersion: { recorded: '1', now: '2' },
      structureHash: { recorded: hash, now: hash },
    })
    const forked = await graph('3').fork({ runId: 'g', at: { superstep: 0 } })
    expect(forked.fidelity?.agentVersion).toEqual({ recorded: '1', now: '3' })
    const [, own] = await Array.fromAsync(
      ledger.read(forked.runId, { types: ['system.workflow_started', 'system.workflow_forked'] }),
    )
    expect(own?.payload).toMatchObject({ agentVersion: '3', structureHash: hash, clewVersion: CLEW_VERSION })
  })
})
