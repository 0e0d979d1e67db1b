import { agent, type Durability } from '@clew/runtime'
import { append, END, openLedger, START, StateGraph } from 'clew'
import { expect, it } from 'vitest'

/** Whether the start of a read is on record before the read begins. */
it.each<[Durability | undefined, Durability | undefined, boolean]>([
  [undefined, undefined, false],
  ['sync', undefined, true],
  ['sync', 'group', false],
  ['group', 'sync', true],
])(
  'R10 a ledger opened with %s, an agent and a graph with %s: reserved first is %s',
  async (of, own, isFirst) => {
    const ledger = await openLedger('memory:', { durability: of })
    const seen: boolean[] = []
    const look = async (runId: string): Promise<void> =>
      void seen.push((await ledger.getSteps(runId)).some(({ nodeName }) => nodeName === 'read'))
    const reads = agent('reads', (run) => run.effect('read', null, () => look(run.runId)), {
      durability: own,
    })
    await reads.start(ledger, null, { runId: 'a' })
    const graph = new StateGraph({ notes: append<string>() })
      .addNode('node', async (_, run) => {
        await run.effect('read', null, () => look('g'))
        return {}
      })
      .addEdge(START, 'node')
      .addEdge('node', END)
      .compile({ checkpointer: ledger, durability: own })
    await graph.invoke({ notes: [] }, { runId: 'g' })
    expect(seen).toEqual([isFirst, isFirst])
    await ledger.close()
  },
)

it('R10 a durability that there is not is refused', async () => {
  await expect(openLedger('memory:', { durability: 'never' as Durability })).rejects.toMatchObject({
    code: 'bad_option',
    fields: { option: 'durability' },
  })
})
