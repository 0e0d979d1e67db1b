/**
 * Proves R5 and D2: code that adds a call to the recorded past is blocked before that call does anything, whoever waits
 * for it; under async durability (R10) gaps are legal, so that reads begin there and writes do not. And the other way
 * round: unchanged code is never blocked, wherever its process died.
 */
import type { ClewEvent, Ledger, Safety } from '@clew/ledger'
import { agent, type Durability, last, type Run, type RunResult, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOf } from './worlds.ts'

/** The call that changed code makes and the recorded code did not; undefined in the recorded code. */
type Added = ((run: Run) => Promise<unknown>) | undefined
type Code = (run: Run, added: Added, done: string[]) => Promise<unknown>

const effect = (run: Run, name: string, done: string[], safety: Safety = 'read'): Promise<string> =>
  run.effect(
    name,
    null,
    () => {
      done.push(name)
      return name
    },
    { safety },
  )

/** a, what the shape does in place of b, c, a question, send. */
const between =
  (middle: (run: Run, b: () => Promise<string>, added: Added) => Promise<unknown>): Code =>
  async (run, added, done) => {
    await effect(run, 'a', done)
    await middle(run, () => effect(run, 'b', done), added)
    await effect(run, 'c', done)
    await run.interrupt('Go on?')
    return effect(run, 'send', done)
  }

const forgotten = between(async (run, b, added) => {
  void added?.(run)
  await b()
})

const SHAPES: Readonly<Record<string, Code>> = {
  'is awaited': between(async (run, b, added) => {
    await added?.(run)
    await b()
  }),
  'nobody awaits': forgotten,
  'is only derived from': between(async (run, b, added) => {
    void added?.(run).then((value) => value)
    await b()
  }),
  'loses a race to a recorded one': between((run, b, added) =>
    Promise.race(added ? [b(), added(run)] : [b()]),
  ),
  'would win a race against a recorded one': between((run, b, added) =>
    Promise.race(added ? [added(run), b()] : [b()]),
  ),
  'is one of Promise.all': between((run, b, added) => Promise.all(added ? [b(), added(run)] : [b()])),
  'is one of Promise.allSettled': between((run, b, added) =>
    Promise.allSettled(added ? [added(run), b()] : [b()]),
  ),
  'is in a body that is still open': (run, added, done) =>
    run.step('outer', null, (_, inner) => forgotten(inner, added, done)),
  'is awaited in a body that is still open': (run, added, done) =>
    run.step('outer', null, async (_, inner) => {
      await effect(inner, 'a', done)
      await added?.(inner)
      await effect(inner, 'b', done)
      await effect(inner, 'c', done)
      await inner.interrupt('Go on?')
      return effect(inner, 'send', done)
    }),
  'is made before a pause that was answered': async (run, added, done) => {
    await effect(run, 'a', done)
    void added?.(run)
    await run.interrupt('First?')
    await effect(run, 'b', done)
    await effect(run, 'c', done)
    await run.interrupt('Go on?')
    return effect(run, 'send', done)
  },
  'is made at the very beginning': async (run, added, done) => {
    void added?.(run)
    return forgotten(run, undefined, done)
  },
  'is made in one of two branches': async (run, added, done) => {
    const branch = async (): Promise<void> => {
      await effect(run, 'a', done)
      void added?.(run)
      await effect(run, 'b', done)
      await effect(run, 'c', done)
    }
    await Promise.all([branch(), effect(run, 'other', done)])
    await run.interrupt('Go on?')
    return effect(run, 'send', done)
  },
}

/** One way to write an agent: a function, or the body of a node. */
interface Form {
  start(ledger: Ledger): Promise<RunResult>
  resume(ledger: Ledger, runId: string, answer?: unknown): Promise<RunResult>
}
type MakeForm = (code: (run: Run) => Promise<unknown>, durability: Durability, ledger: Ledger) => Form

const FORMS: Readonly<Record<string, MakeForm>> = {
  function: (code, durability) => {
    const agentOf = agent('changing', code, { durability })
    return {
      start: (ledger) => agentOf.start(ledger, null, { runId: 'r' }),
      resume: (ledger, runId, answer) =>
        agentOf.resume(ledger, runId, { ...(answer !== undefined && { answer }) }),
    }
  },
  'node of a graph': (code, durability) => {
    const graphOf = (ledger: Ledger) =>
      new StateGraph({ text: last('') })
        .addNode('begin', () => ({}))
        .addNode('work', async (_, run) => ({ text: String(await code(run)) }))
        .addEdge(START, 'begin')
        .addEdge('begin', 'work')
        .compile({ checkpointer: ledger, durability })
    return {
      start: (ledger) => graphOf(ledger).invoke({}, { runId: 'r' }),
      resume: (ledger, runId, answer) =>
        graphOf(ledger).resume({ runId }, { ...(answer !== undefined && { answer }) }),
    }
  },
}

/** Dies when the end of this step has been committed: nothing more reaches the store. */
function dieAfter(ledger: Ledger, name: string): Ledger {
  let isDead = false
  return {
    ...ledger,
    async append(...args) {
      if (isDead) throw new Error('dead')
      const events = await ledger.append(...args)
      isDead = events.some(
        ({ eventType, payload }) =>
          eventType === 'execution.step_completed' && String(payload['stepId']).endsWith(`${name}#0`),
      )
      return events
    },
  }
}

async function executionOf(ledger: Ledger): Promise<ClewEvent[]> {
  const events = await Array.fromAsync(ledger.read('r'))
  return events.filter(({ eventType }) => eventType.startsWith('execution.'))
}

/** Answers what is asked before the last question. */
async function record(form: Form, ledger: Ledger): Promise<RunResult> {
  let result = await form.start(ledger)
  while (result.pause?.question.question === 'First?') result = await form.resume(ledger, 'r', 'yes')
  return result
}

const CASES = Object.entries(FORMS).flatMap(([form, make]) =>
  (['group', 'sync', 'async'] as const).flatMap((durability) =>
    (['paused', 'killed'] as const).map((left) => ({ form, make, durability, left })),
  ),
)

// Together: what the code does not ask for is waited for.
describe.concurrent.each(CASES)('a run that was $left ($form, $durability)', ({ make, durability, left }) => {
  const recorded = async (code: Code): Promise<Ledger> => {
    const ledger = createMemoryWorld().open()
    const form = make((run) => code(run, undefined, []), durability, ledger)
    if (left === 'killed') await expect(record(form, dieAfter(ledger, 'c'))).rejects.toThrow('dead')
    else expect((await record(form, ledger)).status).toBe('paused')
    return ledger
  }
  const goOn = async (code: Code, ledger: Ledger, added: Added, done: string[]): Promise<RunResult> => {
    const form = make((run) => code(run, added, done), durability, ledger)
    const isPaused = (await ledger.getRun('r'))?.status === 'paused'
    const result = await form.resume(ledger, 'r', isPaused ? 'yes' : undefined)
    return result.status === 'paused' ? form.resume(ledger, 'r', 'yes') : result
  }

  const safeties: Safety[] = durability === 'async' ? ['write'] : ['write', 'read']
  describe.each(safeties)('R5 D2 and a new %s that', (safety) => {
    it.each(Object.entries(SHAPES))('%s: blocked before it is executed', async (_, code) => {
      const ledger = await recorded(code)
      const before = await executionOf(ledger)
      const done: string[] = []
      const blocked = await goOn(code, ledger, (run) => effect(run, 'new', done, safety), done)
      expect([done, blocked.status, blocked.error?.code]).toEqual([[], 'blocked', 'diverged'])
      expect(await executionOf(ledger)).toEqual(before)

      const result = await goOn(code, ledger, undefined, done)
      expect([result.status, done]).toEqual(['completed', ['send']])
      expect(await flawsOf(ledger, 'r')).toEqual([])
    })
  })

  // Only `async` durability leaves gaps.
  const gaps = durability === 'async' ? Object.entries(SHAPES) : []
  it.each(gaps)('R10 a new read that %s may be a gap, and begins', async (_, code) => {
    const ledger = await recorded(code)
    const done: string[] = []
    const { status } = await goOn(code, ledger, (run) => effect(run, 'new', done), done)
    expect([status, done.toSorted()]).toEqual(['completed', ['new', 'send']])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })
})

describe('R5 a new write', () => {
  it('before a pause that is answered as the code goes on: the pause says that nothing else was under way', async () => {
    const ledger = createMemoryWorld().open()
    const done: string[] = []
    const code = (added: Added) =>
      agent('asks', async (run) => {
        await effect(run, 'a', done)
        void added?.(run)
        await run.interrupt('First?')
        return effect(run, 'send', done)
      })
    await code(undefined).start(ledger, null, { runId: 'r' })
    done.length = 0
    const changed = code((run) => effect(run, 'new', done, 'write'))
    expect([(await changed.resume(ledger, 'r', { answer: 'yes' })).status, done]).toEqual(['blocked', []])
    expect([(await code(undefined).resume(ledger, 'r')).status, done]).toEqual(['completed', ['send']])
  })

  it('in a body that has completed is not entered on resume, and not executed', async () => {
    const ledger = createMemoryWorld().open()
    const done: string[] = []
    const code = (added: Added) =>
      agent('over', async (run) => {
        await run.step('body', null, async (_, inner) => {
          await effect(inner, 'a', done)
          void added?.(inner)
          return effect(inner, 'b', done)
        })
        await run.interrupt('Go on?')
        return effect(run, 'send', done)
      })
    await code(undefined).start(ledger, null, { runId: 'r' })
    done.length = 0
    const changed = code((run) => effect(run, 'new', done, 'write'))
    expect((await changed.resume(ledger, 'r', { answer: 'yes' })).status).toBe('completed')
    expect(done).toEqual(['send'])
  })

  it('behind the record is no new past: it begins', async () => {
    const ledger = createMemoryWorld().open()
    const done: string[] = []
    const code = (added: Added) =>
      agent('later', async (run) => {
        await effect(run, 'a', done)
        await run.interrupt('Go on?')
        void added?.(run)
        return effect(run, 'send', done)
      })
    await code(undefined).start(ledger, null, { runId: 'r' })
    done.length = 0
    const changed = code((run) => effect(run, 'new', done, 'write'))
    expect((await changed.resume(ledger, 'r', { answer: 'yes' })).status).toBe('completed')
    expect(done.toSorted()).toEqual(['new', 'send'])
  })
})
