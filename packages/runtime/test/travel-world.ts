import { ClewError, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach } from 'vitest'
import {
  append,
  type Checkpointer,
  type CheckpointView,
  END,
  interrupt,
  last,
  START,
  StateGraph,
} from '../src/index.ts'

export interface TravelWorld {
  /** Where graphs keep their runs; each call as another process would open it. */
  open(): Promise<Ledger | Checkpointer>
  dispose(): Promise<void>
  /** It keeps events, not only checkpoints. */
  readonly hasEvents: boolean
}

export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'nothing'
  } catch (error) {
    return error instanceof ClewError ? error.code : String(error)
  }
}

/** Counts what really ran, whatever the record says. */
interface Counted {
  readonly ran: string[]
  fails: boolean
}

export const line = ({ ran }: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('a', (state) => {
      ran.push('a')
      return { n: state.n + 1, seen: 'a' }
    })
    .addNode('b', (state) => {
      ran.push('b')
      return { n: state.n * 10, seen: 'b' }
    })
    .addNode('c', (state) => {
      ran.push('c')
      return { n: state.n + 3, seen: 'c' }
    })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', END)

/** Two beside each other, then one that waits for both. */
export const diamond = (counted: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('begin', () => {
      counted.ran.push('begin')
      return { seen: 'begin' }
    })
    .addNode('left', () => {
      counted.ran.push('left')
      return { seen: 'left' }
    })
    .addNode('right', async (_state, run) => {
      counted.ran.push('right')
      await run.effect('look', {}, () => 'seen')
      if (counted.fails) throw new Error('the right way is closed')
      return { n: 7, seen: 'right' }
    })
    .addNode('end', () => {
      counted.ran.push('end')
      return { seen: 'end' }
    })
    .addEdge(START, 'begin')
    .addEdge('begin', 'left')
    .addEdge('begin', 'right')
    .addEdge(['left', 'right'], 'end')
    .addEdge('end', END)

export const asking = ({ ran }: Counted) =>
  new StateGraph({ n: last(0), seen: append<string>() })
    .addNode('first', () => {
      ran.push('first')
      return { seen: 'first' }
    })
    .addNode('ask', async () => {
      ran.push('ask')
      return { seen: await interrupt<string>('What?') }
    })
    .addNode('beside', () => {
      ran.push('beside')
      return { n: 5, seen: 'beside' }
    })
    .addNode('then', () => {
      ran.push('then')
      return { seen: 'then' }
    })
    .addEdge(START, 'first')
    .addEdge('first', 'ask')
    .addEdge('first', 'beside')
    .addEdge(['ask', 'beside'], 'then')
    .addEdge('then', END)

export const short = ({ superstep, next, state }: CheckpointView<{ readonly n: number }>) => [
  superstep,
  state.n,
  next.join(),
]

/** A world for each test, and what ran in it. */
export interface Travel {
  readonly world: TravelWorld
  readonly counted: Counted
  /** The nodes that ran, in their order. */
  ran(): string
  kept(): Promise<{ checkpointer: Ledger | Checkpointer }>
}

export function createTravel(create: () => Promise<TravelWorld>): Travel {
  let world: TravelWorld
  let counted: Counted
  beforeEach(async () => {
    world = await create()
    counted = { ran: [], fails: false }
  })
  afterEach(() => world.dispose())
  return {
    get world() {
      return world
    },
    get counted() {
      return counted
    },
    ran: () => counted.ran.join(' '),
    kept: async () => ({ checkpointer: await world.open() }),
  }
}
