/**
 * Proves R5: unchanged code is never blocked, wherever its process died. The counterpart of new-write-on-resume: a call
 * that is not recorded may have died with its process, unless the record proves that the code acted after that.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal, type Ledger, type Safety } from '@clew/ledger'
import {
  agent,
  append,
  type Durability,
  type EffectCall,
  type Run,
  type RunResult,
  START,
  StateGraph,
} from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife } from './mortal-ledger.ts'
import { flawsOf } from './worlds.ts'

/** What the effects do to the world outside, whichever process they are in. */
interface Outside {
  readonly done: Map<string, string>
  readonly flaws: string[]
}

interface Effects {
  /** Ends after so many turns of the event loop; never, if none are named. */
  (run: Run, name: string, turns: number | 'never', safety?: Safety): Promise<string>
}

type Code = (run: Run, effect: Effects) => Promise<unknown>

const never = new Promise<never>(() => {})

/** Without writes beside what never ends: a run asks for an unknown outcome only when nothing else is under way. */
const PROGRAMS: Readonly<Record<string, Code>> = {
  'effects that nobody awaits': async (run, effect) => {
    const a = await effect(run, 'a', 1)
    void effect(run, 'read', 3)
    void effect(run, 'write', 2, 'write')
    const b = await effect(run, 'b', 2)
    const c = await effect(run, 'c', 4)
    return [a, b, c]
  },
  'an effect that nobody awaits, at the beginning and at the end': async (run, effect) => {
    void effect(run, 'first', 1, 'write')
    const a = await effect(run, 'a', 3)
    void effect(run, 'last', 'never')
    return a
  },
  'effects that are derived from': async (run, effect) => {
    const tail = effect(run, 'a', 1).then(() => effect(run, 'then', 2, 'write'))
    void effect(run, 'x', 2).then(() => effect(run, 'y', 2).then(() => effect(run, 'z', 1)))
    const b = await effect(run, 'b', 4)
    return [b, await tail, await effect(run, 'c', 6)]
  },
  'races with losers that never end': async (run, effect) => {
    const first = await Promise.race([effect(run, 'slow', 'never'), effect(run, 'fast', 1)])
    const a = await effect(run, 'a', 1)
    const second = await Promise.race([effect(run, 'b', 1), effect(run, 'also slow', 'never')])
    return [first, a, second, await effect(run, 'c', 1)]
  },
  'branches of different length': async (run, effect) =>
    Promise.all([
      effect(run, 'a', 1).then(() => effect(run, 'b', 1, 'write')),
      (async () => {
        const all: string[] = []
        for (const name of ['p', 'q', 'r', 's']) all.push(await effect(run, name, 2))
        return all
      })(),
      Promise.allSettled([effect(run, 'm', 5), effect(run, 'n', 1, 'write')]),
    ]),
  'unawaited effects in bodies at once': async (run, effect) => {
    const body = (name: string) =>
      run.step(name, null, async (_, inner) => {
        void effect(inner, `${name} left`, 2)
        const a = await effect(inner, `${name} a`, 1)
        void effect(inner, `${name} forgotten`, 'never')
        return [a, await effect(inner, `${name} b`, 2)]
      })
    return Promise.all([body('one'), body('two')])
  },
  'a pause beside effects that nobody awaits': async (run, effect) => {
    void effect(run, 'a', 1)
    const tail = effect(run, 'b', 2, 'write').then(() => effect(run, 'c', 1))
    const answer = await run.interrupt('Go on?')
    return [answer, await tail, await effect(run, 'd', 1)]
  },
  'children beside effects that nobody awaits': async (run, effect) => {
    const kid = agent('kid', async (own, n: number) => {
      void effect(own, `left ${n}`, 2)
      const a = await effect(own, `kid ${n}`, 1, 'write')
      return [a, await effect(own, `more ${n}`, 1)]
    })
    void effect(run, 'a', 3)
    return Promise.all([
      run.child(kid, 1, { key: 'one' }),
      run.child(kid, 2, { key: 'two' }),
      effect(run, 'b', 4),
    ])
  },
  'sleeps and attempts beside effects that nobody awaits': async (run, effect) => {
    void effect(run, 'a', 2)
    let tries = 0
    await run.sleep(1)
    const tried = await run.step(
      'tried',
      null,
      async (_, inner) => {
        void effect(inner, 'left', 1)
        const b = await effect(inner, 'b', 1, 'write')
        if (tries++ === 0) throw new Error('not yet')
        return b
      },
      { retry: { tries: 3, delayMs: 0 } },
    )
    return [tried, await effect(run, 'c', 1)]
  },
}

type Life = (code: Code, durability: Durability, effect: Effects) => (ledger: Ledger) => Promise<RunResult>

/** Answers what is asked: what was done is done, what was not is tried again. */
async function answersOf(ledger: Ledger, { done }: Outside): Promise<Record<string, unknown>> {
  const { pauses } = (await ledger.getRun('r')) ?? { pauses: [] }
  return Object.fromEntries(
    pauses.map(({ pauseId, question }) => {
      const { unknown, idempotencyKey = '' } = question as { unknown?: string; idempotencyKey?: string }
      if (unknown === undefined) return [pauseId, 'yes']
      const output = done.get(idempotencyKey)
      return [pauseId, output === undefined ? 'retry' : { choice: 'done', output }]
    }),
  )
}

const FORMS: Readonly<Record<string, (outside: Outside) => Life>> = {
  function: (outside) => (code, durability, effect) => async (ledger) => {
    const made = agent('unchanged', (run) => code(run, effect), { durability })
    const known = await ledger.getRun('r')
    return known
      ? made.resume(ledger, 'r', { answers: await answersOf(ledger, outside) })
      : made.start(ledger, null, { runId: 'r' })
  },
  'parallel nodes': (outside) => (code, durability, effect) => async (ledger) => {
    const made = new StateGraph({ out: append<string>() })
      .addNode('left', async (_, run) => ({ out: JSON.stringify(await code(run, effect)) }))
      .addNode('right', async (_, run) => {
        void effect(run, 'right left', 2)
        return { out: await effect(run, 'right', 3) }
      })
      .addNode('end', async (_, run) => ({ out: await effect(run, 'end', 1) }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(['left', 'right'], 'end')
      .compile({ checkpointer: ledger, durability })
    const known = await ledger.getRun('r')
    return known
      ? made.resume({ runId: 'r' }, { answers: await answersOf(ledger, outside) })
      : made.invoke({}, { runId: 'r' })
  },
}

interface Kill {
  readonly append: number
  readonly committed: boolean
}

const MAX_LIFE_MS = 300_000

/** A run from start to end, the first life of which is cut; the others remember nothing. */
async function live(
  code: Code,
  durability: Durability,
  make: (outside: Outside) => Life,
  kill: Kill | undefined,
): Promise<{ readonly appends: number; readonly end: string; readonly flaws: readonly string[] }> {
  const ledger = createMemoryWorld().open()
  const outside: Outside = { done: new Map(), flaws: [] }
  const flaws: string[] = []
  let appends = 0
  for (let lives = 0; lives < 12; lives++) {
    const life = createLife(ledger, lives === 0 ? kill : undefined)
    const effect: Effects = (run, name, turns, safety = 'read') =>
      run.effect(name, null, (_, call) => act(life, outside, name, turns, safety, call), { safety })
    const limit = new AbortController()
    const hung = sleep(MAX_LIFE_MS, 'hung' as const, limit)
    const lived = make(outside)(code, durability, effect)(life.ledger)
    const result = await Promise.race([lived, life.died, hung])
    limit.abort()
    hung.catch(() => undefined)
    appends += life.appends
    if (result === 'hung') {
      flaws.push('D3 a life hangs')
      break
    }
    if (result !== 'died' && result.status === 'blocked') {
      flaws.push(`R5 blocked: ${JSON.stringify(result.divergence)}`)
      break
    }
    const run = await ledger.getRun('r')
    if (run && isTerminal(run.status)) break
  }
  const run = await ledger.getRun('r')
  const { state } = (await ledger.getState('r')) ?? {}
  const output = (await Array.fromAsync(ledger.read('r', { types: ['execution.completed'] }))).at(-1)
  flaws.push(...outside.flaws, ...(await flawsOf(ledger, 'r')))
  return { appends, flaws, end: `${run?.status} ${JSON.stringify(output?.payload['output'] ?? state)}` }
}

async function act(
  life: { readonly isDead: boolean },
  { done, flaws }: Outside,
  name: string,
  turns: number | 'never',
  safety: Safety,
  { idempotencyKey: key, signal }: EffectCall,
): Promise<string> {
  if (life.isDead) return never
  if (safety !== 'read' && done.has(key)) flaws.push(`R10 ${name} was done, and is done again`)
  if (turns === 'never') {
    if (!signal.aborted) await once(signal, 'abort')
    throw new Error('given up')
  }
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => void setImmediate(resolve))
    if (life.isDead) return never
  }
  done.set(key, name)
  return name
}

const CASES = Object.entries(FORMS).flatMap(([form, make]) =>
  (form === 'function' ? (['group', 'sync', 'async'] as const) : (['group'] as const)).map((durability) => ({
    form,
    make,
    durability,
  })),
)

describe.concurrent.each(CASES)('R5 unchanged code ($form, $durability)', ({ make, durability }) => {
  it.each(Object.entries(PROGRAMS))('R5 is never blocked: %s', async (_, code) => {
    const straight = await live(code, durability, make, undefined)
    expect(straight.flaws).toEqual([])
    expect(straight.end).toMatch(/^completed/)
    const kills = Array.from({ length: straight.appends * 2 }, (_each, n) => ({
      append: Math.floor(n / 2),
      committed: n % 2 === 0,
    }))
    const wrong = await Promise.all(
      kills.map(async (kill) => {
        const { flaws, end } = await live(code, durability, make, kill)
        const where = `killed ${kill.committed ? 'after' : 'before'} the commit of append ${kill.append}`
        const other = end === straight.end ? [] : [`${end} in place of ${straight.end}`]
        return [...flaws, ...other].map((flaw) => `${where}: ${flaw}`)
      }),
    )
    expect(wrong.flat()).toEqual([])
  })
})
