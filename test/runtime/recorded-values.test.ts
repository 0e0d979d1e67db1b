/**
 * Proves R5 and D1: code is given the value that was recorded, decoded from the record, live as on resume. What happens
 * to an object before or after does not make an unchanged agent diverge. And nothing begins after the end of a run.
 */
import type { Ledger } from '@clew/ledger'
import { agent, append, type Run, START, StateGraph } from '@clew/runtime'
import { openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flawsOfReplay } from '../replay/unchanged-lives.ts'
import { flawsOf } from './worlds.ts'

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

interface Page {
  title: string
  tags: string[]
  seen?: Date | undefined
}
const page = (): Page => ({ title: 'owls', tags: ['birds'] })

type Code = (run: Run) => Promise<unknown>
/** Shared by the lives of one process, as a cache of the application is. */
let cached: Page

/** Each hands the same object to somebody who changes it, and then gives it to a step. */
const MUTATIONS: Readonly<Record<string, Code>> = {
  'the result of an effect, by the code it was given to': async (run) => {
    const got = await run.effect('load', null, page)
    got.tags.push('night')
    got.title = 'changed'
    return run.effect('use', got, (given) => given.tags.length)
  },
  'the object that an effect returned, by who keeps it': async (run) => {
    const got = await run.effect('load', null, () => {
      cached = page()
      return cached
    })
    cached.tags.push('late')
    return run.effect('use', got, (given) => given.tags.length)
  },
  'the object that an effect returned, while its end is being recorded': async (run) => {
    const got = await run.effect('load', null, () => {
      const own = page()
      setImmediate(() => own.tags.push('soon'))
      queueMicrotask(() => own.tags.push('at once'))
      return own
    })
    return run.effect('use', got, (given) => given.tags.length)
  },
  'the input of an effect, by the effect': async (run) => {
    const input = page()
    await run.effect('load', input, (given) => given.tags.push('by the effect'))
    return run.effect('use', input, (given) => given.tags.length)
  },
  'the input of a step, by its body': async (run) => {
    const input = page()
    await run.step('work', input, (given) => {
      given.title = 'by the body'
      return given.tags.push('by the body')
    })
    return run.effect('use', input, (given) => given.title)
  },
  'the result of a step, by two who share it': async (run) => {
    const got = await run.step('make', null, () => {
      cached = page()
      return cached
    })
    const other = await run.step('read', null, () => cached.tags.length)
    got.tags.push('mine')
    return run.effect('use', { got, other }, (given) => given.other)
  },
  'the result of a child run': async (run) => {
    const got = await run.child(
      agent('kid', (own) => own.effect('load', null, page)),
      null,
    )
    got.tags.push('by the parent')
    return run.effect('use', got, (given) => given.tags.length)
  },
  'what a property that is undefined becomes': async (run) => {
    const got = await run.effect('load', null, () => ({ ...page(), seen: undefined }))
    return run.effect('use', Object.keys(got), (given) => given.length)
  },
  'a result of two equal parts that were one object': async (run) => {
    const got = await run.effect('load', null, () => {
      const tags = ['one']
      return { left: tags, right: tags }
    })
    got.left.push('two')
    return run.effect('use', got, (given) => given.right.length)
  },
}

const FORMS: Readonly<
  Record<string, (code: Code) => { start(): Promise<unknown>; again(): Promise<unknown> }>
> = {
  function: (code) => {
    const made = agent('mutates', async (run) => {
      const used = await code(run)
      await run.interrupt('Go on?')
      return used
    })
    return {
      start: () => made.start(ledger, null, { runId: 'r' }),
      again: async () => ({
        result: await made.resume(ledger, 'r', { answer: 'yes' }),
        flaws: await flawsOfReplay(made, ledger, 'r'),
      }),
    }
  },
  'node of a graph': (code) => {
    const graph = new StateGraph({ log: append<string>() })
      .addNode('work', async (_, run) => {
        const used = await code(run)
        await run.interrupt('Go on?')
        return { log: String(used) }
      })
      .addEdge(START, 'work')
      .compile({ checkpointer: ledger, name: 'mutates' })
    return {
      start: () => graph.invoke({}, { runId: 'r' }),
      again: async () => ({
        result: await graph.resume({ runId: 'r' }, { answer: 'yes' }),
        flaws: await flawsOfReplay(graph, ledger, 'r'),
      }),
    }
  },
}

describe.each(Object.entries(FORMS))('R5 D1 a %s that changes what it was given', (_, make) => {
  it.each(Object.entries(MUTATIONS))('does not diverge on resume and on replay: %s', async (__, code) => {
    const { start, again } = make(code)
    expect(await start()).toMatchObject({ status: 'paused' })
    expect(await again()).toMatchObject({ result: { status: 'completed' }, flaws: [] })
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })
})

describe('R5 the value that code is given', () => {
  it('is the one on record, at once as on resume', async () => {
    const seen: unknown[] = []
    const sees = agent('sees', async (run) => {
      const source = { ...page(), seen: undefined }
      const got = await run.effect('load', null, () => source)
      seen.push({ got, keys: Object.keys(got), isSame: got === source })
      await run.interrupt('Go on?')
    })
    await sees.start(ledger, null, { runId: 'r' })
    await sees.resume(ledger, 'r', { answer: 1 })
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).toMatchObject({ keys: ['title', 'tags'], isSame: false })
  })

  it('is a value of its own for each attempt of a body', async () => {
    let tries = 0
    const lengths: number[] = []
    const tried = agent('tried', (run) =>
      run.step(
        'body',
        null,
        async (_, inner) => {
          const got = await inner.effect('load', null, page)
          lengths.push(got.tags.length)
          got.tags.push('mine')
          if (tries++ === 0) throw new Error('not yet')
          return got.tags.length
        },
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    const { output } = await tried.start(ledger, null, { runId: 'r' })
    expect([output, lengths]).toEqual([2, [1, 1]])
    // The count is not on record: the replay has to find it as the run did.
    tries = 0
    expect(await flawsOfReplay(tried, ledger, 'r')).toEqual([])
  })
})

describe('R5 after the end of its run', () => {
  type Call = (run: Run) => Promise<unknown>
  const CALLS: Readonly<Record<string, Call>> = {
    effect: (run) => run.effect('late', null, () => executed.push('effect')),
    step: (run) => run.step('late', null, () => executed.push('step')),
    child: (run) =>
      run.child(
        agent('late', () => executed.push('child')),
        null,
      ),
    interrupt: (run) => run.interrupt('Late?'),
    sleep: (run) => run.sleep(1),
  }
  let executed: string[]
  beforeEach(() => {
    executed = []
  })

  const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
    completed: async () => 'done',
    failed: () => Promise.reject(new Error('it failed')),
  }
  const cases = Object.keys(ENDS).flatMap((how) => Object.keys(CALLS).map((call) => [call, how] as const))

  it.each(cases)(
    'run.%s rejects when it has %s: it neither hangs nor begins',
    async (call, how) => {
      let kept: Run | undefined
      const leaks = agent('leaks', async (run) => {
        kept = run
        await run.effect('first', null, () => 1)
        return ENDS[how]?.()
      })
      expect((await leaks.start(ledger, null, { runId: 'r' })).status).toBe(how)
      const before = await Array.fromAsync(ledger.read('r'))
      await expect(CALLS[call]?.(kept as Run)).rejects.toBeInstanceOf(Error)
      expect(executed).toEqual([])
      expect(await Array.fromAsync(ledger.read('r'))).toEqual(before)
    },
    20_000,
  )

  it('run.effect of a body rejects when the body has ended', async () => {
    let kept: Run | undefined
    const leaks = agent('leaks', async (run) => {
      await run.step('body', null, (_, inner) => {
        kept = inner
      })
      return run.effect('own', null, async () => {
        const late = (kept as Run).effect('late', null, () => executed.push('late'))
        return late.then(
          () => 'it ran',
          () => 'rejected',
        )
      })
    })
    expect([(await leaks.start(ledger, null)).output, executed]).toEqual(['rejected', []])
  }, 20_000)
})
