import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

export const Talk = Annotation.Root({
  lines: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  mood: Annotation<string>,
})

/** hear → think → speak, each adding its name. */
export const talk = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(Talk)
    .addNode('hear', () => ({ lines: ['hear'], mood: 'calm' }))
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

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
