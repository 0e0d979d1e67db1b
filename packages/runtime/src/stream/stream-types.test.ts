import type { ClewEvent } from '@clew/ledger'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import {
  agent,
  isPauseItem,
  last,
  type MessageItem,
  type PauseItem,
  START,
  StateGraph,
  type StepItem,
  type TokenItem,
} from '../index.ts'

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('R12 streams of a function', () => {
  it('R12 tell steps, tokens and what is emitted, also when it is taken up', async () => {
    const ledger = createMemoryWorld().open()
    const asking = agent('asking', async (run, input: { text: string }) => {
      const said = await run.step('speak', input, ({ text }, inside) => {
        inside.token(text)
        return text
      })
      run.emit('before')
      return `${said} ${await run.interrupt<string>('more?')}`
    })
    const stream = asking.stream(ledger, { text: 'hi' }, { mode: ['steps', 'messages', 'custom'] })
    const items = await collect(stream)
    expect(
      items.map(([mode, data]) =>
        mode === 'steps' && !isPauseItem(data) ? `${data.name} ${data.status}` : mode,
      ),
    ).toEqual([
      'speak running',
      'messages',
      'speak completed',
      'custom',
      'interrupt running',
      'interrupt paused',
      'pause',
    ])
    const token = items.find(([mode]) => mode === 'messages')?.[1]
    expect(token).toMatchObject({
      type: 'token',
      text: 'hi',
      stepId: 'speak#0',
      node: 'speak',
      superstep: null,
    })
    const { runId } = await stream.result
    const rest = asking.streamResume(ledger, runId, { answer: 'yes' })
    expect(
      (await collect(rest)).map((item) => (isPauseItem(item) ? '' : `${item.name} ${item.status}`)),
    ).toEqual(['interrupt completed'])
    expect((await rest.result).output).toBe('hi yes')
  })
})

it('R12 the type of an item follows from the mode', () => {
  const graph = new StateGraph({ n: last(0) })
    .addNode('a', () => ({ n: 1 }))
    .addEdge(START, 'a')
    .compile()
  type Of<T> = T extends AsyncIterable<infer Item> ? Item : never
  const one = () => graph.stream({}, { mode: 'values' })
  expectTypeOf<Of<ReturnType<typeof one>>>().toEqualTypeOf<{ readonly n: number }>()
  const words = () => graph.stream({}, { mode: 'messages' })
  expectTypeOf<Of<ReturnType<typeof words>>>().toEqualTypeOf<TokenItem | MessageItem | PauseItem>()
  const two = () => graph.stream({}, { mode: ['steps', 'events'] })
  expectTypeOf<Of<ReturnType<typeof two>>>().toEqualTypeOf<
    | readonly [mode: 'steps', data: StepItem]
    | readonly [mode: 'events', data: ClewEvent]
    | readonly [mode: 'pause', data: PauseItem]
  >()
  const lone = agent('x', async () => 1)
  // @ts-expect-error a function has no state
  const none = () => lone.stream(createMemoryWorld().open(), null, { mode: 'values' })
  expect(typeof none).toBe('function')
})
