import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

export const Talk = Annotation.Root({
  lines: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  mood: Annotation<string>,
})

/** hear → think → speak, each adding its name. `meet` is awaited in the first node. */
export const talk = (checkpointer: BaseCheckpointSaver, meet?: () => Promise<void>) =>
  new StateGraph(Talk)
    .addNode('hear', () => {
      const heard = { lines: ['hear'], mood: 'calm' }
      return meet ? meet().then(() => heard) : heard
    })
    .addNode('think', ({ mood }) => ({ lines: [`think ${mood}`] }))
    .addNode('speak', () => ({ lines: ['speak'] }))
    .addEdge(START, 'hear')
    .addEdge('hear', 'think')
    .addEdge('think', 'speak')
    .addEdge('speak', END)
    .compile({ checkpointer })

/** Asks twice in one node. */
export const asking = (checkpointer: BaseCheckpointSaver, entered: string[] = []) =>
  new StateGraph(Talk)
    .addNode('ask', () => {
      entered.push('ask')
      const first = interrupt<string, string>('first?')
      const second = interrupt<string, string>('second?')
      return { lines: [`${first} ${second}`] }
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })

/** Three questions at once, in parallel branches, one of them in a sub-graph. */
export function approvals(checkpointer: BaseCheckpointSaver) {
  const inner = new StateGraph(Talk)
    .addNode('before', () => ({ lines: ['before'] }))
    .addNode('within', () => ({ lines: [interrupt<string, string>('inside?')] }))
    .addEdge(START, 'before')
    .addEdge('before', 'within')
    .addEdge('within', END)
    .compile()
  return new StateGraph(Talk)
    .addNode('deal', () => ({ lines: ['deal'] }))
    .addNode('one', () => ({ lines: [interrupt<string, string>('one?')] }))
    .addNode('two', () => ({ lines: [interrupt<string, string>('two?')] }))
    .addNode('below', inner)
    .addEdge(START, 'deal')
    .addEdge('deal', 'one')
    .addEdge('deal', 'two')
    .addEdge('deal', 'below')
    .addEdge('one', END)
    .addEdge('two', END)
    .addEdge('below', END)
    .compile({ checkpointer })
}

export const thread = (thread_id: string, more: object = {}) => ({ configurable: { thread_id, ...more } })

/**
 * Starts invocations that overlap whatever the speed of the store: each waits in its first node until all others are
 * there, too, or have been refused.
 */
export async function inParallel<T>(
  count: number,
  invoke: (i: number, meet: () => Promise<void>) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  let missing = count
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const arrived = new Set<number>()
  const arrive = (i: number): Promise<void> => {
    if (!arrived.has(i)) missing--
    arrived.add(i)
    if (missing === 0) open()
    return opened
  }
  const started = Array.from({ length: count }, async (_, i) => {
    try {
      return await invoke(i, () => arrive(i))
    } finally {
      void arrive(i)
    }
  })
  return Promise.allSettled(started)
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
