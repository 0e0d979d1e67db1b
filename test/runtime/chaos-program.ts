import { agent, append, command, END, type Run, send, START, StateGraph } from '@clew/runtime'

/** One thing that an agent does. Names are unique in a program, so what was done can be told apart. */
export type Act =
  | {
      readonly act: 'effect'
      readonly name: string
      readonly safety: 'read' | 'write'
      readonly turns: number
      /** So many attempts fail before one succeeds. */
      readonly fails: number
      /** The first attempt takes for ever, and is cut by its time-out. */
      readonly hangs: boolean
      readonly isAwaited: boolean
    }
  | { readonly act: 'all' | 'race' | 'allSettled'; readonly branches: readonly (readonly Act[])[] }
  /** A body whose first attempt fails after what it did, when it has more than one. */
  | { readonly act: 'body'; readonly name: string; readonly tries: number; readonly acts: readonly Act[] }
  | { readonly act: 'child'; readonly name: string; readonly acts: readonly Act[] }
  /** A sub-graph that sends its items to a node, which is a graph itself. */
  | { readonly act: 'graph'; readonly name: string; readonly items: number; readonly acts: readonly Act[] }
  | { readonly act: 'sleep'; readonly ms: number }
  | { readonly act: 'say'; readonly name: string }
  | { readonly act: 'pause'; readonly name: string }

export type ActKind = Act['act']

/** Numbers from 0 to 1 that are the same for the same seed. */
export function createDice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const MAX_DEPTH = 3

export function createProgram(seed: number): readonly Act[] {
  const dice = createDice(seed)
  let count = 0
  const upTo = (most: number): number => Math.floor(dice() * most)
  const name = (what: string): string => `${what}-${count++}`
  const acts = (depth: number, most = 3): Act[] =>
    Array.from({ length: 1 + upTo(most) }, () => createAct(depth))
  const branches = (depth: number): Act[][] => Array.from({ length: 2 + upTo(2) }, () => acts(depth, 2))

  function effect(): Act {
    const safety = dice() < 0.4 ? 'write' : 'read'
    const isAwaited = dice() < 0.75
    const isPlain = safety === 'write' || !isAwaited
    return {
      act: 'effect',
      name: name(safety),
      safety,
      turns: upTo(6),
      fails: isAwaited && dice() < 0.2 ? 1 : 0,
      hangs: !isPlain && dice() < 0.1,
      isAwaited,
    }
  }

  function createAct(depth: number): Act {
    const lot = dice()
    if (depth >= MAX_DEPTH || lot < 0.45) return effect()
    if (lot < 0.53) return { act: 'all', branches: branches(depth + 1) }
    if (lot < 0.59) return { act: 'race', branches: branches(depth + 1) }
    if (lot < 0.65) return { act: 'allSettled', branches: branches(depth + 1) }
    if (lot < 0.75) return { act: 'body', name: name('body'), tries: 1 + upTo(2), acts: acts(depth + 1) }
    if (lot < 0.83) return { act: 'child', name: name('child'), acts: acts(depth + 1) }
    if (lot < 0.9) return { act: 'graph', name: name('graph'), items: 1 + upTo(3), acts: acts(MAX_DEPTH, 2) }
    if (lot < 0.93) return { act: 'sleep', ms: 1 + upTo(20) }
    if (lot < 0.96) return { act: 'say', name: name('words') }
    return { act: 'pause', name: name('pause') }
  }
  return acts(0, 5)
}

/** Which kinds occur anywhere in a program. */
export function kindsOf(acts: readonly Act[]): Set<ActKind> {
  const kinds = new Set<ActKind>()
  const visit = (act: Act): void => {
    kinds.add(act.act)
    if ('branches' in act) act.branches.flat().forEach(visit)
    if ('acts' in act) act.acts.forEach(visit)
  }
  acts.forEach(visit)
  return kinds
}

/** What the run gives: told by the program alone, whoever wins its races and whenever it is killed. */
export function expectedOf(acts: readonly Act[]): readonly unknown[] {
  return acts.map((act) => {
    switch (act.act) {
      case 'effect':
        return act.isAwaited ? act.name : 'not awaited'
      case 'race':
        return 'raced'
      case 'all':
      case 'allSettled':
        return act.branches.map(expectedOf)
      case 'body':
      case 'child':
        return expectedOf(act.acts)
      case 'graph':
        return Array.from({ length: act.items }, () => JSON.stringify(expectedOf(act.acts)))
      case 'sleep':
        return 'slept'
      case 'say':
        return 'said'
      case 'pause':
        return `answer to ${act.name}`
    }
  })
}

export interface Outside {
  /** Called for each attempt of an effect; what it gives is the effect's result. */
  perform(
    act: Act & { readonly act: 'effect' },
    place: string,
    call: { readonly attempt: number; readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<string>
  /** Plants a mistake: writes are dispatched as reads are, without a reservation. */
  readonly isReserving: boolean
  /** Plants a mistake: the code calls its effects by other names than before. */
  readonly suffix: string
}

const TIMEOUT_MS = 200
const retry = { tries: 10, delayMs: 0 }

export async function perform(
  run: Run,
  acts: readonly Act[],
  outside: Outside,
  place = '',
): Promise<unknown[]> {
  const given: unknown[] = []
  for (const [at, act] of acts.entries()) given.push(await performOne(run, act, outside, `${place}.${at}`))
  return given
}

async function performOne(run: Run, act: Act, outside: Outside, place: string): Promise<unknown> {
  switch (act.act) {
    case 'effect': {
      const made = run.effect(
        `${act.name}${outside.suffix}`,
        place,
        (_, call) => outside.perform(act, place, call),
        {
          safety: outside.isReserving ? act.safety : 'read',
          key: place,
          retry,
          ...(act.hangs && { timeoutMs: TIMEOUT_MS }),
        },
      )
      if (act.isAwaited) return made
      void made
      return 'not awaited'
    }
    case 'all':
      return Promise.all(act.branches.map((branch, at) => perform(run, branch, outside, `${place}/${at}`)))
    case 'allSettled': {
      const settled = await Promise.allSettled(
        act.branches.map((branch, at) => perform(run, branch, outside, `${place}/${at}`)),
      )
      return settled.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)))
    }
    case 'race':
      await Promise.race(act.branches.map((branch, at) => perform(run, branch, outside, `${place}/${at}`)))
      return 'raced'
    case 'body':
      return run.step(
        act.name,
        place,
        async (_, inner) => {
          const given = await perform(inner, act.acts, outside, place)
          // The same each time the same attempt is gone through: its attempt is that of the call.
          if (act.tries > 1)
            await inner.effect('gate', place, (__, { attempt }) => {
              if (attempt === 1) throw new Error('not yet')
            })
          return given
        },
        { retry: { tries: act.tries, delayMs: 0 }, key: place },
      )
    case 'child':
      return run.child(
        agent(act.name, (own) => perform(own, act.acts, outside, place)),
        null,
        { key: place },
      )
    case 'graph': {
      const { log } = await run.child<object, { log: readonly string[] }>(
        graphOf(act, outside, place) as never,
        {},
        { key: place, name: act.name },
      )
      return log
    }
    case 'sleep':
      await run.sleep(act.ms)
      return 'slept'
    case 'say':
      run.say(act.name)
      return 'said'
    case 'pause':
      return run.interrupt({ question: act.name })
  }
}

function graphOf(act: Act & { readonly act: 'graph' }, outside: Outside, place: string) {
  const inner = new StateGraph({ log: append<string>() })
    .addNode('work', async (_, run) => ({
      log: JSON.stringify(await perform(run, act.acts, outside, place)),
    }))
    .addEdge(START, 'work')
    .compile({ name: `${act.name} inner` })
  return new StateGraph({ log: append<string>() })
    .addNode('split', () => command({ send: Array.from({ length: act.items }, () => send('sub', {})) }), {
      targets: ['sub'],
    })
    .addNode('sub', inner)
    .addEdge(START, 'split')
    .addEdge('sub', END)
    .compile({ name: act.name })
}

/** Items of a run that is a map of its program; undefined where it is one run of it. */
export const itemsOf = (seed: number): readonly number[] | undefined =>
  seed % 6 === 0 ? [1, 2, 3] : undefined

export const chaosAgent = (seed: number, outside: Outside) =>
  agent('chaos', (run, _: number | null) => perform(run, createProgram(seed), outside))
