import type { Ledger } from '@clew/ledger'
import * as fc from 'fast-check'
import {
  append,
  channel,
  command,
  END,
  last,
  Message,
  messages,
  type Run,
  send,
  START,
  StateGraph,
} from '../../packages/runtime/src/index.ts'
import type { CompiledGraph, Durability } from '../../packages/runtime/src/index.ts'

const KINDS = [
  'plain',
  'effect',
  'asks',
  'flaky',
  'retried',
  'slow',
  'speaks',
  'steps',
  'sub',
  'asking sub',
  'sends',
  'fails',
] as const
const LINKS = ['edges', 'join', 'choice', 'gate', 'deferred'] as const

export interface NodeSpec {
  readonly kind: (typeof KINDS)[number]
  readonly ms: number
}

/** Stages of parallel nodes, each leading to the next; the last stage leads back to the first until all rounds are done. */
export interface GraphSpec {
  readonly stages: readonly (readonly NodeSpec[])[]
  readonly links: readonly (typeof LINKS)[number][]
  readonly rounds: number
  readonly interruptBefore: boolean
  readonly interruptAfter: boolean
  readonly durability: Durability
}

const node: fc.Arbitrary<NodeSpec> = fc.record({
  kind: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...KINDS.filter((kind) => kind !== 'fails')) },
    { weight: 1, arbitrary: fc.constant('fails' as const) },
  ),
  ms: fc.integer({ min: 0, max: 3 }),
})
const stage = fc.array(node, { minLength: 1, maxLength: 3 })
export const graphSpecs: fc.Arbitrary<GraphSpec> = fc.record({
  stages: fc.array(stage, { minLength: 1, maxLength: 3 }),
  links: fc.array(fc.constantFrom(...LINKS), { minLength: 3, maxLength: 3 }),
  rounds: fc.integer({ min: 1, max: 3 }),
  interruptBefore: fc.boolean(),
  interruptAfter: fc.boolean(),
  durability: fc.constantFrom<Durability>('group', 'group', 'sync', 'async'),
})

/** What lies outside the process: it outlives it. */
export interface World {
  /** Idempotency keys of effects whose end the ledger had when this life began. */
  readonly recorded: Set<string>
  /** Bodies that have failed once. */
  readonly failed: Set<string>
  readonly flaws: string[]
  /** The order in which nodes ended, for the planted merge. */
  readonly ended: string[]
}

export const createWorld = (): World => ({ recorded: new Set(), failed: new Set(), flaws: [], ended: [] })

/** A mistake in how a graph goes on, planted to see that it is found. */
export type GraphFault = 'merges in order of completion'

const SUBS: ReadonlySet<string> = new Set(['sub', 'asking sub'])
const never = new Promise<never>(() => {})
const wait = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

interface RandomState {
  readonly log: readonly string[]
  readonly sum: number
  readonly seen: Readonly<Record<string, number>>
  readonly round: number
}

/** The graph as one process has it: `isDead` says when that process has died, `world` is what all of them share. */
export function toGraph(
  spec: GraphSpec,
  world: World,
  isDead: () => boolean,
  fault?: GraphFault,
): (ledger: Ledger) => CompiledGraph {
  async function outside(
    run: Run,
    name: string,
    input: unknown,
    options: { retry?: number } = {},
  ): Promise<unknown> {
    const retry = options.retry === undefined ? undefined : { tries: options.retry, delayMs: 0 }
    return run.effect(
      name,
      input,
      async (given, { idempotencyKey, attempt }) => {
        if (isDead()) return never
        if (world.recorded.has(idempotencyKey)) world.flaws.push(`R5 the effect ${name} was executed again`)
        if (retry && attempt === 1) throw new Error('the first attempt never works')
        return `${name} of ${JSON.stringify(given)}`
      },
      { retry },
    )
  }

  const body =
    (name: string, { kind, ms }: NodeSpec) =>
    async ({ round, log, sum }: RandomState, run: Run) => {
      if (kind === 'slow' && ms > 0) await wait(ms)
      const write = {
        log: `${name} ${round} after ${log.length}`,
        sum: sum % 3,
        seen: { [name]: log.length },
      }
      const done = <T>(value: T): T => {
        world.ended.push(name)
        return value
      }
      switch (kind) {
        case 'effect':
          return done({ ...write, log: [String(await outside(run, 'fetch', [name, round])), write.log] })
        case 'flaky':
          return done({ ...write, log: String(await outside(run, 'flaky', [name, round], { retry: 3 })) })
        case 'asks':
          return done({ ...write, log: await run.interrupt<string>(`${name} ${round}?`) })
        case 'retried': {
          await outside(run, 'before', round)
          if (isDead()) return never
          const key = `${run.runId} ${name} ${round}`
          if (world.failed.has(key)) return done(write)
          world.failed.add(key)
          throw new Error('the first body never works')
        }
        case 'speaks':
          return done({ ...write, talk: Message.ai(`${name} ${round}`, { id: `${name} ${round % 2}` }) })
        case 'steps': {
          const both = await Promise.all([0, 1].map((n) => run.step('half', n, (half) => half + ms)))
          return done({ ...write, sum: both.reduce((a, b) => a + b, 0) })
        }
        case 'sends': {
          const sends = Array.from({ length: ms }, (_, item) => send('worker', { item, round }))
          return done(command({ update: write, send: sends }))
        }
        case 'fails':
          throw Object.assign(new Error(`${name} always fails`), { code: 'E_ALWAYS' })
        default:
          return done(write)
      }
    }

  const names = spec.stages.map((nodes, at) => nodes.map((_, index) => `n${at}${'abc'[index] as string}`))
  const log = append<string>()
  const channels = {
    log: fault === undefined ? log : { ...log, merge: inOrderOfCompletion(log, world) },
    talk: messages(),
    sum: channel({ initial: 1, merge: (before: number, write: number) => before + write + 1 }),
    seen: channel<Readonly<Record<string, number>>, Readonly<Record<string, number>>>({
      initial: {},
      merge: (before, write) => ({ ...before, ...write }),
    }),
    round: last(0),
  }

  return (ledger) => {
    const makeInner = (asks: boolean) =>
      new StateGraph({ log: append<string>(), talk: messages() })
        .addNode('in', async ({ log: all }, run) => ({
          log: String(await outside(run, 'inner', all.length)),
        }))
        .addNode('out', async ({ log: all }, run) => ({
          log: asks ? await run.interrupt<string>(`inner ${all.length}?`) : `out ${all.length}`,
        }))
        .addEdge(START, 'in')
        .addEdge('in', 'out')
        .compile({ name: asks ? 'asking inner' : 'inner' })
    // What leads where is data here, so the names are not known to the compiler.
    const graph = new StateGraph(channels) as unknown as LooseGraph
    graph.addNode('worker', async ({ item, round }: { item: number; round: number }) => {
      await wait(3 - item)
      world.ended.push('worker')
      return { log: `worker ${round} ${item}`, sum: item }
    })
    spec.stages.forEach((nodes, at) => {
      const defer = at > 0 && spec.links[at - 1] === 'deferred'
      nodes.forEach((each, index) => {
        const name = names[at]?.[index] as string
        const retry = each.kind === 'retried' ? { tries: 3, delayMs: 0 } : undefined
        const targets = each.kind === 'sends' ? ['worker'] : undefined
        graph.addNode(name, SUBS.has(each.kind) ? makeInner(each.kind === 'asking sub') : body(name, each), {
          defer,
          retry,
          targets,
        })
      })
    })
    graph.addNode('turn', ({ round }: RandomState) => ({ round: round + 1 }), { defer: true })
    const first = names[0] as string[]
    for (const name of first) graph.addEdge(START, name)
    names.forEach((from, at) => {
      const to = names[at + 1] ?? ['turn']
      const link = at + 1 < names.length ? spec.links[at] : 'edges'
      const choose = ({ sum, round }: RandomState) => to[(sum + round) % to.length] as string
      if (link === 'join') for (const target of to) graph.addEdge(from, target)
      else if (link === 'choice') for (const name of from) graph.addConditionalEdges(name, choose, to)
      else if (link === 'gate') {
        graph.addGate(`gate${at}`, choose, to)
        for (const name of from) graph.addEdge(name, `gate${at}`)
      } else for (const name of from) for (const target of to) graph.addEdge(name, target)
    })
    // A worker nobody sends to would be a node that nothing leads to.
    if (!spec.stages.flat().some(({ kind }) => kind === 'sends'))
      graph.addConditionalEdges(START, () => [], ['worker'])
    graph.addConditionalEdges('turn', ({ round }: RandomState) => (round < spec.rounds ? first : END), [
      ...first,
      END,
    ])
    return graph.compile({
      name: 'random',
      checkpointer: ledger,
      durability: spec.durability,
      ...(spec.interruptBefore && { interruptBefore: ['turn'] }),
      ...(spec.interruptAfter && { interruptAfter: [first[0] as string] }),
    })
  }
}

function inOrderOfCompletion(log: ReturnType<typeof append<string>>, { ended }: World): typeof log.merge {
  const place = (name: string): number => ended.lastIndexOf(name)
  return (name, before, writes) =>
    log.merge(
      name,
      before,
      writes.toSorted((a, b) => place(a.node) - place(b.node)),
    )
}

interface LooseGraph {
  addNode(name: string, body: unknown, options?: object): void
  addEdge(from: string | readonly string[], to: string): void
  addConditionalEdges(from: string, path: unknown, targets: readonly string[]): void
  addGate(name: string, path: unknown, targets: readonly string[]): void
  compile(options: object): CompiledGraph
}
