import { append, interrupt, requestStop, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../open-ledger.ts'
import { workInLine } from './wait-in-line.ts'

/** A graph that asks at its first turn, and one turn after the other in a stream. */
async function scene() {
  const ledger = await openLedger('memory:')
  const graph = new StateGraph({ said: append<string>() })
    .addNode('ask', async ({ said }) => (said.at(-1) === 'ask me' ? { said: await interrupt('May I?') } : {}))
    .addEdge(START, 'ask')
    .compile({ name: 'asker', checkpointer: ledger })
  const told: string[] = []
  const turn = (runId: string, said: string, supersedes?: string) =>
    workInLine(
      {
        ledger,
        streamId: 'chat',
        supersedes,
        signal: new AbortController().signal,
        tell: async ({ runId: waiting, status }) => void told.push(`${runId}: ${waiting} ${status}`),
      },
      () =>
        graph.invoke(
          { said },
          { runId, onBusy: 'wait', session: { streamId: 'chat', ...(supersedes && { supersedes }) } },
        ),
    )
  return { ledger, graph, told, turn }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((next) => setTimeout(next, 5))
}

describe('R5 the agents of a stream, one turn after the other', () => {
  it('R5 begins at once where nothing waits', async () => {
    const { told, turn } = await scene()
    expect((await turn('one', 'hello'))?.status).toBe('completed')
    expect((await turn('two', 'again'))?.status).toBe('completed')
    expect(told).toEqual([])
  })

  it('R5 tells once what waits, and goes on when it is answered', async () => {
    const { graph, told, turn } = await scene()
    expect((await turn('one', 'ask me'))?.status).toBe('paused')
    const later = [turn('two', 'hello'), turn('three', 'hello again')]
    await until(() => told.length === 2)
    await graph.resume({ runId: 'one' }, { answer: 'yes' })
    expect((await Promise.all(later)).map((each) => each?.status)).toEqual(['completed', 'completed'])
    expect(told.toSorted()).toEqual(['three: one paused', 'two: one paused'])
    const state = await graph.getState({ threadId: 'chat' })
    expect(state?.state.said.toSorted()).toEqual(['ask me', 'hello', 'hello again', 'yes'])
  })

  it('R5 goes on when what waits is stopped', async () => {
    const { ledger, told, turn } = await scene()
    await turn('one', 'ask me')
    const later = turn('two', 'hello')
    await until(() => told.length === 1)
    await requestStop(ledger, 'one', { by: 'test' })
    expect((await later)?.status).toBe('completed')
  })

  it('R5 tells of a question that was asked while it waited for the stream', async () => {
    const { graph, told, turn } = await scene()
    const [one, two] = [turn('one', 'ask me'), turn('two', 'hello')]
    expect((await one)?.status).toBe('paused')
    await until(() => told.length === 1)
    await graph.resume({ runId: 'one' }, { answer: 'yes' })
    expect((await two)?.status).toBe('completed')
  })

  it('T1 takes the place of the one that waits without being told of it', async () => {
    const { ledger, told, turn } = await scene()
    await turn('one', 'ask me')
    expect((await turn('two', 'hello', 'one'))?.status).toBe('completed')
    expect([told, (await ledger.getRun('one'))?.status]).toEqual([[], 'superseded'])
  })
})
