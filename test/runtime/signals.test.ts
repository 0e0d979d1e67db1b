import type { Ledger } from '@clew/ledger'
import {
  agent,
  fork,
  replay,
  requestPause,
  requestResume,
  type SentSignal,
  signal,
  startWorker,
  type StepError,
} from '@clew/runtime'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLatch, eventsOf, flawsOf, KEPT_WORLDS, stepsOf } from './worlds.ts'

const statusOf = async (ledger: Ledger, runId: string) => (await ledger.getRun(runId))?.status
const untilStatus = (ledger: Ledger, runId: string, status: string): Promise<void> =>
  vi.waitFor(async () => expect(await statusOf(ledger, runId)).toBe(status), { timeout: 60_000 })

/** Receives notes until it is told that there are enough. */
const collects = agent('collects', async (run) => {
  const notes: string[] = []
  for (;;) {
    const note = await run.receive<string>('note')
    if (note === 'enough') return notes
    notes.push(note)
  }
})

describe.each(KEPT_WORLDS)('W3 signals, %s', (_, open) => {
  const { ledger, how } = open()

  it('W3 a run that waits in this process goes on at once, and keeps the order of what was sent', async () => {
    const runId = `waits-${_}`.replaceAll(' ', '-')
    const going = collects.start(ledger, null, { ...how, runId })
    await untilStatus(ledger, runId, 'paused')
    expect((await ledger.getRun(runId))?.awaits).toEqual([{ name: 'note' }])
    expect(await ledger.leases.list()).toEqual([])
    for (const note of ['a', 'b', 'c', 'enough']) await signal(ledger, runId, 'note', note)
    expect((await going).output).toEqual(['a', 'b', 'c'])
    expect((await ledger.getRun(runId))?.signals?.unread).toBe(0)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W3 signals are kept before anyone waits, first in first out per name, and each step names the one it took', async () => {
    const latch = createLatch()
    const late = agent('late', async (run) => {
      await run.effect('work', null, () => latch.opened)
      return [await run.receive('b'), await run.receive('a'), await run.receive('a')]
    })
    const runId = `early-${_}`.replaceAll(' ', '-')
    const going = late.start(ledger, null, { ...how, runId })
    await untilStatus(ledger, runId, 'running')
    const sent: SentSignal[] = []
    for (const [name, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      sent.push(await signal(ledger, runId, name, value))
    latch.open()
    const { output } = await going
    expect(output).toEqual([2, 1, 3])
    const taken = (await eventsOf(ledger, runId)).flatMap(({ payload }) => payload['signal'] ?? [])
    expect(taken).toEqual(
      [1, 0, 2].map((at) => ({ eventId: sent[at]?.eventId, seq: sent[at]?.seq, name: sent[at]?.name })),
    )
    // What nobody received is listed, also after the end.
    expect((await ledger.getRun(runId))?.signals?.unread).toBe(1)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W3 two branches never take the same signal', async () => {
    const both = agent('both', (run) =>
      Promise.all(Array.from({ length: 20 }, () => run.receive<number>('n'))),
    )
    const runId = `both-${_}`.replaceAll(' ', '-')
    const going = both.start(ledger, null, { ...how, runId })
    await Promise.all(
      Array.from({ length: 20 }, (__, n) =>
        vi.waitFor(() => signal(ledger, runId, 'n', n, { id: `${n}` }), { timeout: 60_000 }),
      ),
    )
    const { output } = await going
    expect((output as number[]).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (__, n) => n))
  })

  it('W3 a time-out fails the call with the code timeout, and the signal that comes later stays', async () => {
    const timed = agent('timed', async (run) => {
      const first = await run
        .receive('note', undefined, { timeoutMs: 5 })
        .catch((error: StepError) => error.code)
      const second = await run.receive('note', undefined, { timeoutMs: 3_600_000 })
      return [first, second]
    })
    const runId = `timed-${_}`.replaceAll(' ', '-')
    const going = timed.start(ledger, null, { ...how, runId })
    await vi.waitFor(async () => expect(await stepsOf(ledger, runId)).toContain('receive:note#0 1 failed'), {
      timeout: 60_000,
    })
    await signal(ledger, runId, 'note', 'late')
    expect((await going).output).toEqual(['timeout', 'late'])
  })

  it('W3 replay reads only the step, and so does a resume', async () => {
    const runId = `replayed-${_}`.replaceAll(' ', '-')
    const going = collects.start(ledger, null, { ...how, runId })
    await untilStatus(ledger, runId, 'paused')
    for (const note of ['a', 'enough', 'unread']) await signal(ledger, runId, 'note', note)
    await going
    // A signal that comes while a replay is under way changes nothing.
    const [report] = await Promise.all([
      replay(collects, { ledger, runId }),
      signal(ledger, runId, 'note', 'x').catch((error: { code: string }) => expect(error.code).toBe('ended')),
    ])
    expect([report.verdict, report.outcome]).toMatchObject(['identical', { output: ['a'] }])
  })

  it('W3 a fork owns the signals before its cut; those it had not received are its own to receive', async () => {
    const runId = `forked-${_}`.replaceAll(' ', '-')
    const going = collects.start(ledger, null, { ...how, runId })
    await untilStatus(ledger, runId, 'paused')
    for (const note of ['a', 'b', 'enough']) await signal(ledger, runId, 'note', note)
    await going
    const events = await eventsOf(ledger, runId)
    const cut = events.find(({ payload }) => payload['signal'])?.ledger.seq as number
    const forked = await fork(collects, { ledger, runId, at: { seq: cut }, newRunId: `${runId}-2`, ...how })
    expect(forked.output).toEqual(['a', 'b'])
    expect(await flawsOf(ledger, `${runId}-2`)).toEqual([])
    expect((await ledger.getRun(`${runId}-2`))?.signals?.unread).toBe(0)
  })
})

describe('W3 sending', () => {
  const ledger = createMemoryWorld().open()

  it('W3 is idempotent by the id of the sender; other content under it is a conflict', async () => {
    const going = collects.start(ledger, null, { runId: 'twice' })
    await untilStatus(ledger, 'twice', 'paused')
    const first = await signal(ledger, 'twice', 'note', 'a', { id: 'one', by: 'ann' })
    expect(await signal(ledger, 'twice', 'note', 'a', { id: 'one', by: 'ann' })).toEqual(first)
    await expect(signal(ledger, 'twice', 'note', 'b', { id: 'one', by: 'ann' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await signal(ledger, 'twice', 'note', 'enough')
    expect((await going).output).toEqual(['a'])
    // The reply was lost, and meanwhile the run has ended: the signal is where it was.
    expect(await signal(ledger, 'twice', 'note', 'a', { id: 'one', by: 'ann' })).toEqual(first)
    await expect(signal(ledger, 'twice', 'note', 'c', { id: 'two' })).rejects.toMatchObject({ code: 'ended' })
    await expect(signal(ledger, 'twice', 'note', 'b', { id: 'one' })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect((await eventsOf(ledger, 'twice')).at(-1)?.eventType).toBe('system.workflow_completed')
  })

  it('W3 names near ids of an unknown run, and refuses bad names, ids and options', async () => {
    await expect(signal(ledger, 'twive', 'note')).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('Did you mean twice?'),
    })
    await expect(signal(ledger, 'twice', '')).rejects.toMatchObject({ code: 'bad_option' })
    await expect(signal(ledger, 'twice', 'note', 1, { id: '' })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(signal(ledger, 'twice', 'note', 1, { ID: 'x' } as object)).rejects.toMatchObject({
      code: 'bad_option',
    })
  })

  it('W3 the schema of the agent refuses at sending, with and without its code', async () => {
    // One constant for the declaration and for the call that it types.
    const order = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } as const
    const strict = agent('strict', async (run): Promise<{ n: number }> => run.receive('order', order), {
      signals: { order },
    })
    const going = strict.start(ledger, null, { runId: 'strict' })
    await untilStatus(ledger, 'strict', 'paused')
    for (const send of [
      () => strict.signal(ledger, 'strict', 'order', { n: 'x' }),
      () => signal(ledger, 'strict', 'order', {}),
    ])
      await expect(send()).rejects.toMatchObject({ code: 'bad_signal' })
    expect((await ledger.getRun('strict'))?.signals).toBeUndefined()
    await signal(ledger, 'strict', 'order', { n: 3 })
    expect((await going).output).toEqual({ n: 3 })
  })

  it('W3 a payload that only the code can judge is refused when it is received, and counts as received', async () => {
    const parses = agent('parses', async (run) => {
      const first = await run.receive('n', { type: 'number' }).catch((error: StepError) => error)
      return [(first as StepError).code, await run.receive('n', { type: 'number' })]
    })
    const going = parses.start(ledger, null, { runId: 'parses' })
    await untilStatus(ledger, 'parses', 'paused')
    await signal(ledger, 'parses', 'n', 'no number')
    await signal(ledger, 'parses', 'n', 7)
    expect((await going).output).toEqual(['bad_signal', 7])
  })

  it('W3 workspaces are apart', async () => {
    const world = createMemoryWorld()
    const [one, two] = [world.open('one'), world.open('two')]
    const going = collects.start(one, null, { runId: 'r' })
    await untilStatus(one, 'r', 'paused')
    await expect(signal(two, 'r', 'note', 'x')).rejects.toMatchObject({ code: 'not_found' })
    await signal(one, 'r', 'note', 'enough')
    expect((await going).output).toEqual([])
  })

  it('W3 10,000 signals before the first receive are received in order', { timeout: 120_000 }, async () => {
    const many = createMemoryWorld().open()
    const counts = agent('counts', async (run) => {
      await run.interrupt('Go?')
      for (let n = 0; n < 50; n++) if ((await run.receive('n')) !== n) return `out of order at ${n}`
      return 'in order'
    })
    await counts.start(many, null, { runId: 'r' })
    await Promise.all(Array.from({ length: 10_000 }, (_, n) => signal(many, 'r', 'n', n)))
    const { output } = await counts.resume(many, 'r', { answer: 'yes' })
    expect(output).toBe('in order')
    expect((await many.getRun('r'))?.signals?.unread).toBe(9950)
  })
})

describe('W3 a worker', () => {
  const ledger = createMemoryWorld().open()
  const workers: { stop(): Promise<void> }[] = []
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop()
  })

  it('W3 takes up a run when its signal has come, which makes it pending', async () => {
    const shutdown = new AbortController()
    const going = collects.start(ledger, null, {
      runId: 'r',
      shutdown: { signal: shutdown.signal, graceMs: 0 },
    })
    await untilStatus(ledger, 'r', 'paused')
    shutdown.abort()
    expect((await going).status).toBe('paused')
    await signal(ledger, 'r', 'note', 'a')
    expect(await statusOf(ledger, 'r')).toBe('pending')
    workers.push(await startWorker({ ledger, agents: [collects] }))
    await untilStatus(ledger, 'r', 'paused')
    await signal(ledger, 'r', 'other', 'nobody waits for it')
    expect(await statusOf(ledger, 'r')).toBe('paused')
    await signal(ledger, 'r', 'note', 'enough')
    await untilStatus(ledger, 'r', 'completed')
  })

  it('W3 a signal to a child run wakes its parent, and the parent of that', async () => {
    const leaf = agent('leaf', (run) => run.receive<string>('note'))
    const inner = agent('inner', (run) => run.child(leaf, null))
    const outer = agent('outer', async (run) => [await run.child(inner, null), await run.receive('note')])
    workers.push(await startWorker({ ledger, agents: [outer] }))
    const shutdown = new AbortController()
    const going = outer.start(ledger, null, {
      runId: 'o',
      shutdown: { signal: shutdown.signal, graceMs: 0 },
    })
    await untilStatus(ledger, 'o', 'paused')
    shutdown.abort()
    await going
    const child = (await ledger.findBelow(['o'])).find(({ agent: name }) => name === 'inner')
    const [grandchild] = await ledger.findBelow([child?.runId as string])
    await signal(ledger, grandchild?.runId as string, 'note', 'down', { id: '1' })
    await vi.waitFor(async () => expect((await ledger.getRun('o'))?.awaits).toEqual([{ name: 'note' }]), {
      timeout: 60_000,
    })
    await signal(ledger, 'o', 'note', 'up')
    await untilStatus(ledger, 'o', 'completed')
    expect((await ledger.getRun('o', { values: true }))?.output).toEqual(['down', 'up'])
    for (const runId of ['o', child?.runId, grandchild?.runId])
      expect(await flawsOf(ledger, runId as string)).toEqual([])
  })
})

describe('W1 W3 a submitted run', () => {
  it('W3 keeps signals that come before it is begun, and W7 is paused without a worker', async () => {
    const ledger = createMemoryWorld().open()
    const run = await collects.submit(ledger, null, { runId: 'r' })
    await run.signal('note', 'early', { id: '1' })
    await requestPause(ledger, 'r')
    const worker = await startWorker({ ledger, agents: [collects] })
    await worker.idle()
    expect(await ledger.getRun('r')).toMatchObject({ status: 'paused', signals: { unread: 1 } })
    expect(await requestResume(ledger, 'r')).toMatchObject({ status: 'pending', queue: 'default' })
    await run.signal('note', 'enough')
    await untilStatus(ledger, 'r', 'completed')
    expect((await run.result()).output).toEqual(['early'])
    await worker.stop()
    expect(await flawsOf(ledger, 'r')).toEqual([])
  })
})

describe('P2 W3 a secret in a signal', () => {
  it('P2 a payload that is a secret as a whole never reaches the code as a placeholder: the run is blocked until it is resumed with it', async () => {
    const ledger = createMemoryWorld().open()
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
    const given: unknown[] = []
    const keeps = agent('keeps', async (run) => {
      const key = await run.receive<string>('key')
      given.push(key)
      return key.length
    })
    const going = keeps.start(ledger, null, { runId: 'r' })
    await untilStatus(ledger, 'r', 'paused')
    await signal(ledger, 'r', 'key', secret)
    expect(await going).toMatchObject({ status: 'blocked', divergence: { kind: 'redacted' } })
    expect(given).toEqual([])
    expect(JSON.stringify(await eventsOf(ledger, 'r'))).not.toContain(secret)
    const { output } = await keeps.resume(ledger, 'r', { secrets: [secret] })
    expect([output, given]).toEqual([secret.length, [secret]])
    expect((await ledger.getRun('r'))?.signals?.unread).toBe(0)
  })
})
