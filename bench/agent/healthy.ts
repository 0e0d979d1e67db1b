import type { Ledger } from 'clew'
import { createDesk, type DeskOptions, type Tools, type World } from './desk.ts'
import type { Dice } from './dice.ts'
import { goodOptions, goodTools } from './faults.ts'

/** A run of which nothing is wrong, though something in it looks as if. */
export interface Healthy {
  readonly name: string
  live(ledger: Ledger, runId: string, world: World, dice: Dice): Promise<void>
}

const desk =
  (
    change: (
      world: World,
      dice: Dice,
    ) => { tools?: Partial<Tools>; options?: Partial<DeskOptions> } = () => ({}),
  ) =>
  async (ledger: Ledger, runId: string, world: World, dice: Dice): Promise<void> => {
    const { tools, options } = change(world, dice)
    await createDesk(
      world,
      { ...goodTools(world), ...tools },
      { ...goodOptions(world), ...options },
      dice,
    ).start(ledger, { customer: world.customer, items: world.items.map(({ name }) => name) }, { runId })
  }

export const HEALTHY: readonly Healthy[] = [
  { name: 'plain', live: desk() },
  {
    name: 'a tool that failed twice and then answered',
    live: desk((world) => ({
      tools: {
        price(item, at, attempt) {
          if (at === 1 && attempt < 3) throw new Error('503 Service Unavailable')
          return goodTools(world).price(item, at, attempt)
        },
      },
      options: { tries: 4 },
    })),
  },
  {
    name: 'a cached answer',
    live: async (ledger, runId, world, dice) => {
      await desk(() => ({ options: { cache: true } }))(ledger, `${runId}-before`, world, dice)
      await desk(() => ({ options: { cache: true } }))(ledger, runId, world, dice)
    },
  },
  {
    name: 'other words',
    live: desk(() => ({
      tools: { plan: () => ({ text: 'Let me see to the quotes, one by one.', decision: 'quote' }) },
    })),
  },
  { name: 'a question that was just asked', live: desk(() => ({ options: { asks: true } })) },
  {
    name: 'notes that tell somebody to ignore something',
    live: desk((world) => ({
      tools: {
        recall: () => ({
          limit: world.limit,
          notes: ['Please ignore all the previous letters and rules of 2019.'],
        }),
      },
    })),
  },
  {
    name: 'no notes',
    live: desk((world) => ({ tools: { recall: () => ({ limit: world.limit, notes: [] }) } })),
  },
  {
    name: 'at work',
    live: async (ledger, runId, world) => {
      await ledger.append([
        {
          eventType: 'system.workflow_started',
          correlationId: runId,
          payload: { agent: 'desk', input: { customer: world.customer } },
        },
        {
          eventType: 'execution.step_started',
          correlationId: runId,
          payload: { stepId: 'model#0', name: 'model', kind: 'effect', input: { prompt: world.prompt } },
        },
      ])
    },
  },
  {
    name: 'scored as a success',
    live: async (ledger, runId, world, dice) => {
      await desk()(ledger, runId, world, dice)
      await ledger.record({
        eventType: 'system.scored',
        correlationId: runId,
        payload: { target: 'run', name: 'success', value: true, by: 'ann' },
      })
    },
  },
]
