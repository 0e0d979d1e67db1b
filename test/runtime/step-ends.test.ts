/**
 * Proves R0, R9 and R10: how steps end that were stopped, killed, forgotten or timed out, and that nothing of what they
 * did or said is lost or done twice.
 */
import { once } from 'node:events'
import type { ClewEvent, Ledger, StepRecord } from '@clew/ledger'
import {
  agent,
  append,
  type EffectOptions,
  requestStop,
  type Run,
  type RunResult,
  START,
  StateGraph,
} from '@clew/runtime'
import { openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLife } from './mortal-ledger.ts'
import { createLatch, flawsOf } from './worlds.ts'

let ledger: Ledger
beforeEach(async () => {
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

const stepsNamed = async (name: string): Promise<StepRecord[]> =>
  (await ledger.getSteps('r')).filter(({ nodeName }) => nodeName === name)
const statusesOf = async (name: string): Promise<string[]> =>
  (await stepsNamed(name)).map(({ status }) => status)

/** The end of a step, as it is on record. */
async function endOf(name: string): Promise<ClewEvent | undefined> {
  const events = await Array.fromAsync(ledger.read('r'))
  return events.findLast(
    ({ eventType, payload }) =>
      /^execution\.step_(?:completed|failed|stopped|interrupted)$/.test(eventType) &&
      String(payload['stepId']).includes(`${name}#0`),
  )
}

type Heeds = (signal: AbortSignal) => Promise<never>
const HEEDS: Readonly<Record<string, Heeds>> = {
  'throws the reason': async (signal) => {
    await once(signal, 'abort')
    throw signal.reason as Error
  },
  'throws an AbortError': async (signal) => {
    await once(signal, 'abort')
    throw new DOMException('This operation was aborted', 'AbortError')
  },
  'throws an error of its own': async (signal) => {
    await once(signal, 'abort')
    throw new Error('the request was cancelled')
  },
}

describe('R0 R9 a step that heeds its signal when a stop is requested', () => {
  it.each(Object.entries(HEEDS))('is stopped, not failed: it %s', async (_, heed) => {
    const begun = createLatch()
    const works = agent('works', (run) =>
      run.step('outer', null, (_input, inner) =>
        inner.effect('long', null, (__, { signal }) => {
          begun.open()
          return heed(signal)
        }),
      ),
    )
    const started = works.start(ledger, null, { runId: 'r' })
    await begun.opened
    await requestStop(ledger, 'r', { reason: 'too dear' })
    expect((await started).status).toBe('stopped')
    expect([await statusesOf('long'), await statusesOf('outer')]).toEqual([['stopped'], ['stopped']])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it.each(Object.entries(HEEDS))('is stopped as a node of a graph: it %s', async (_, heed) => {
    const begun = createLatch()
    const graph = new StateGraph({ log: append<string>() })
      .addNode('long', (_state, run) => {
        begun.open()
        return heed(run.signal)
      })
      .addEdge(START, 'long')
      .compile({ checkpointer: ledger })
    const started = graph.invoke({}, { runId: 'r' })
    await begun.opened
    await requestStop(ledger, 'r')
    expect((await started).status).toBe('stopped')
    expect(await statusesOf('long')).toEqual(['stopped'])
  })

  it('is not tried again', async () => {
    const begun = createLatch()
    let tries = 0
    const works = agent('works', (run) =>
      run.effect(
        'long',
        null,
        async (_, { signal }) => {
          tries++
          begun.open()
          await once(signal, 'abort')
          throw signal.reason as Error
        },
        { retry: { tries: 5, delayMs: 0 } },
      ),
    )
    const started = works.start(ledger, null, { runId: 'r' })
    await begun.opened
    await requestStop(ledger, 'r')
    expect([(await started).status, tries, await statusesOf('long')]).toEqual(['stopped', 1, ['stopped']])
  })
})

describe('R0 the streamed half of a step', () => {
  const speaks = (begun: { open(): void }) =>
    agent('speaks', (run) =>
      run.step('answer', null, async (_, inner) => {
        inner.token('Once upon ')
        inner.token('a time')
        inner.token(' there was')
        begun.open()
        await once(inner.signal, 'abort')
        throw inner.signal.reason as Error
      }),
    )

  it('is kept as partial when it is stopped', async () => {
    const begun = createLatch()
    const started = speaks(begun).start(ledger, null, { runId: 'r' })
    await begun.opened
    await requestStop(ledger, 'r')
    expect((await started).status).toBe('stopped')
    expect(await stepsNamed('answer')).toMatchObject([{ status: 'stopped', partial: true }])
    expect(JSON.stringify((await endOf('answer'))?.payload)).toContain('Once upon a time')
  })

  it('is kept as partial when its process dies, once somebody takes the run up', async () => {
    const begun = createLatch()
    const never = new Promise<never>(() => {})
    let isFirst = true
    const answers = agent('answers', (run) =>
      run.effect('answer', null, async () => {
        if (!isFirst) return 'the whole story'
        run.token('Once upon ')
        run.token('a time')
        // The end of a text is held back as long as a secret may begin in it.
        run.token(' there was')
        begun.open()
        return never
      }),
    )
    // Its start reaches the store; then the process hangs until it is killed.
    const life = createLife(ledger)
    void answers.start(life.ledger, null, { runId: 'r' })
    await begun.opened
    await expect.poll(() => statusesOf('answer')).toEqual(['running'])
    await expect.poll(async () => JSON.stringify(await progressOf())).toContain('Once upon a time')
    for (const lease of await ledger.leases.list()) await ledger.leases.release(lease)

    isFirst = false
    expect((await answers.resume(ledger, 'r')).output).toBe('the whole story')
    const [cut, whole] = await stepsNamed('answer')
    expect([cut?.status, cut?.partial, whole?.status, whole?.partial]).toEqual([
      'interrupted',
      true,
      'completed',
      false,
    ])
    const events = await Array.fromAsync(ledger.read('r'))
    const interrupted = events.find(({ eventType }) => eventType === 'execution.step_interrupted')
    expect(JSON.stringify(interrupted?.payload)).toContain('Once upon a time')
  })

  const progressOf = async (): Promise<unknown> => ledger.progress.read({ runId: 'r' })
})

describe('R10 a write that nobody awaits', () => {
  it('and that has finished is completed when the run ends, not stopped', async () => {
    const sent = createLatch()
    const forgets = agent('forgets', async (run) => {
      void run.effect('write', null, () => 'sent', { safety: 'write' }).then(sent.open)
      const own = run.effect('own', null, async () => {
        await sent.opened
        return 1
      })
      return own
    })
    expect((await forgets.start(ledger, null, { runId: 'r' })).status).toBe('completed')
    expect(await statusesOf('write')).toEqual(['completed'])
  })

  it('and that finishes as the run ends is completed: what was done is on record as done', async () => {
    const begun = createLatch()
    let done = 0
    const forgets = agent('forgets', async (run) => {
      void run.effect(
        'write',
        null,
        async () => {
          begun.open()
          // It has been sent, and does not heed any signal any more.
          for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve))
          done++
          return 'sent'
        },
        { safety: 'write' },
      )
      await begun.opened
      return 'ended'
    })
    expect((await forgets.start(ledger, null, { runId: 'r' })).status).toBe('completed')
    expect([done, await statusesOf('write')]).toEqual([1, ['completed']])
    expect((await endOf('write'))?.payload['output']).toBe('sent')
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })
})

describe('R10 a write that timed out', () => {
  /** Takes longer than it may, and has an effect all the same. */
  const pays = (options: EffectOptions & { readonly idempotent?: boolean }, sent: string[]) =>
    agent('pays', (run) =>
      run.effect(
        'pay',
        null,
        async (_, { attempt }) => {
          sent.push(`attempt ${attempt}`)
          if (attempt === 1) await new Promise(() => {})
          return `paid by attempt ${attempt}`
        },
        { timeoutMs: 20, retry: { tries: 3, delayMs: 0 }, ...options },
      ),
    )

  it('is an unknown outcome: somebody is asked, nothing is retried', async () => {
    const sent: string[] = []
    const result = await pays({ safety: 'write' }, sent).start(ledger, null, { runId: 'r' })
    expect([result.status, sent]).toEqual(['paused', ['attempt 1']])
    expect(result.pause?.question).toMatchObject({ unknown: 'outcome', options: ['done', 'retry', 'abort'] })
  })

  it.each<[string, unknown, Partial<RunResult>, string[]]>([
    ['done', { choice: 'done', output: 'paid' }, { status: 'completed', output: 'paid' }, []],
    ['retry', 'retry', { status: 'completed', output: 'paid by attempt 2' }, ['attempt 2']],
    ['abort', 'abort', { status: 'failed' }, []],
  ])('goes on as the answer says: %s', async (_, answer, end, more) => {
    const sent: string[] = []
    const made = pays({ safety: 'external' }, sent)
    expect((await made.start(ledger, null, { runId: 'r' })).status).toBe('paused')
    expect(await made.resume(ledger, 'r', { answer })).toMatchObject(end)
    expect(sent).toEqual(['attempt 1', ...more])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('is asked about though nothing is to be retried', async () => {
    const sent: string[] = []
    const result = await pays({ safety: 'write', retry: 1 }, sent).start(ledger, null, { runId: 'r' })
    expect([result.status, sent]).toEqual(['paused', ['attempt 1']])
  })

  it('is retried when it is declared idempotent', async () => {
    const sent: string[] = []
    const made = pays({ safety: 'write', idempotent: true }, sent)
    const { output } = await made.start(ledger, null, { runId: 'r' })
    expect([output, sent]).toEqual(['paid by attempt 2', ['attempt 1', 'attempt 2']])
  })

  it('is retried when it is a read', async () => {
    const sent: string[] = []
    const { output } = await pays({}, sent).start(ledger, null, { runId: 'r' })
    expect([output, sent]).toEqual(['paid by attempt 2', ['attempt 1', 'attempt 2']])
  })
})

describe('R10 a write of a child that failed', () => {
  const write = (run: Run, name: string, done: string[], key?: string): Promise<string> =>
    run.effect(
      name,
      null,
      (_, { idempotencyKey }) => {
        done.push(`${name} ${key === undefined ? '' : idempotencyKey}`.trim())
        return name
      },
      { safety: 'write' },
    )

  it('is not done again when the child is tried again', async () => {
    const done: string[] = []
    let tries = 0
    const kid = agent('kid', async (run) => {
      const first = await write(run, 'first', done)
      const read = await run.effect('read', null, () => ++tries)
      if (tries < 3) throw new Error('not yet')
      return [first, read, await write(run, 'second', done)]
    })
    const parent = agent('parent', (run) => run.child(kid, null, { retry: { tries: 3, delayMs: 0 } }))
    const { status, output } = await parent.start(ledger, null, { runId: 'r' })
    expect([status, (output as unknown[] | undefined)?.[0], done]).toEqual([
      'completed',
      'first',
      ['first', 'second'],
    ])
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })

  it('is not done again in a child of that child, and is done anew for another input', async () => {
    const done: string[] = []
    let tries = 0
    const leaf = agent('leaf', (run) => write(run, 'leaf', done))
    const kid = agent('kid', async (run) => {
      await run.child(leaf, null)
      const attempt = ++tries
      await run.effect('other', attempt, () => done.push('other'), { safety: 'write' })
      if (attempt < 2) throw new Error('not yet')
      return 'done'
    })
    const parent = agent('parent', (run) => run.child(kid, null, { retry: { tries: 2, delayMs: 0 } }))
    const { output } = await parent.start(ledger, null, { runId: 'r' })
    expect([output, done]).toEqual(['done', ['leaf', 'other', 'other']])
  })
})
