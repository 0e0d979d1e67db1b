import type { Ledger } from '@clew/ledger'
import { agent, replay, signal, type StepError } from '@clew/runtime'
import { once } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { createLatch, eventsOf, flawsOf, KEPT_WORLDS, stepsOf } from './worlds.ts'

const untilWaiting = (ledger: Ledger, runId: string): Promise<void> =>
  vi.waitFor(async () => expect((await ledger.getRun(runId))?.awaits).toBeDefined(), { timeout: 60_000 })

describe.each(KEPT_WORLDS)('W3 select, %s', (world, open) => {
  const { ledger, how } = open()
  const idOf = (name: string): string => `${name}-${world}`.replaceAll(' ', '-')

  it('W3 the branch that comes first is recorded as the decision, and replay takes it', async () => {
    const picks = agent('picks', (run) =>
      run.select((on) => ({
        note: on.signal('note', { type: 'string' }),
        stop: on.signal('stop'),
        late: on.timer(3_600_000),
      })),
    )
    const runId = idOf('picks')
    const going = picks.start(ledger, null, { ...how, runId })
    await untilWaiting(ledger, runId)
    expect((await ledger.getRun(runId))?.awaits).toEqual([{ name: 'note' }, { name: 'stop' }])
    await signal(ledger, runId, 'note', 'first')
    expect((await going).output).toEqual({ branch: 'note', value: 'first' })
    const end = (await eventsOf(ledger, runId)).findLast(({ payload }) => payload['decision'] !== undefined)
    expect(end?.payload).toMatchObject({ stepId: 'select#0', decision: 'note' })
    expect(await stepsOf(ledger, runId)).toEqual([
      'select#0 1 completed',
      'select#0/receive:note#0 1 completed',
      'select#0/receive:stop#0 1 stopped',
      'select#0/sleep#0 1 stopped',
    ])
    expect(await replay(picks, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W3 a receive that loses takes nothing: the signal is there for the next one', async () => {
    const loses = agent('loses', async (run) => {
      const first = await run.select((on) => ({ note: on.signal('note'), late: on.timer(5) }))
      return [first.branch, await run.receive('note')]
    })
    const runId = idOf('loses')
    const going = loses.start(ledger, null, { ...how, runId })
    await vi.waitFor(async () => expect((await ledger.getRun(runId))?.awaits).toEqual([{ name: 'note' }]), {
      timeout: 60_000,
    })
    await vi.waitFor(async () => expect(await stepsOf(ledger, runId)).toContain('select#0 1 completed'), {
      timeout: 60_000,
    })
    await signal(ledger, runId, 'note', 'mine')
    expect((await going).output).toEqual(['late', 'mine'])
  })

  it('W3 a timer ends a select in time, while an effect of it is at work; the effect is stopped', async () => {
    const aborted = createLatch()
    const slow = agent('slow', (run) =>
      run.select((on) => ({
        found: on.effect('search', null, async (_, call) => {
          await once(call.signal, 'abort')
          aborted.open()
          return 'found'
        }),
        late: on.timer(10),
      })),
    )
    const { output, runId } = await slow.start(ledger, null, how)
    expect(output).toEqual({ branch: 'late', value: null })
    await aborted.opened
    expect(await stepsOf(ledger, runId)).toContain('select#0/search#0 1 stopped')
    expect(await replay(slow, { ledger, runId })).toMatchObject({ verdict: 'identical' })
  })

  it('W3 a signal wins against an effect at work, and an effect that fails first fails the select', async () => {
    const working = createLatch()
    const both = agent('both', async (run) => {
      const first = await run.select((on) => ({
        done: on.effect('work', 1, async (_, call) => {
          working.open()
          await once(call.signal, 'abort')
        }),
        cancel: on.signal('cancel'),
      }))
      const second = await run
        .select((on) => ({
          done: on.effect('work', 2, () => Promise.reject(new Error('no'))),
          cancel: on.signal('cancel'),
        }))
        .catch((error: StepError) => error.message)
      return [first, second]
    })
    const runId = idOf('both')
    const going = both.start(ledger, null, { ...how, runId })
    await working.opened
    await signal(ledger, runId, 'cancel', 'enough')
    await signal(ledger, runId, 'cancel', 'unread')
    const { output } = await going
    const [first, second] = output as [unknown, unknown]
    expect(first).toEqual({ branch: 'cancel', value: 'enough' })
    // Either the second signal was there first, or the effect had failed.
    expect(['no', { branch: 'cancel', value: 'unread' }]).toContainEqual(second)
    const { unread = 0 } = (await ledger.getRun(runId))?.signals ?? {}
    expect(unread).toBe(second === 'no' ? 1 : 0)
    expect(await flawsOf(ledger, runId)).toEqual([])
  })

  it('W3 of two signals that are there the older branch wins, once; the other stays', async () => {
    const twice = agent('twice', async (run) => {
      await run.interrupt('Go?')
      const won = []
      for (let n = 0; n < 2; n++)
        won.push((await run.select((on) => ({ a: on.signal('a'), b: on.signal('b') }))).branch)
      return won
    })
    const { runId } = await twice.start(ledger, null, how)
    await signal(ledger, runId, 'b', 1)
    await signal(ledger, runId, 'a', 1)
    const { output } = await twice.resume(ledger, runId, { answer: 'yes', ...how })
    expect((output as string[]).toSorted()).toEqual(['a', 'b'])
    expect((await ledger.getRun(runId))?.signals?.unread).toBe(0)
  })

  it('W3 a select without a branch, and unknown options, are refused', async () => {
    const wrong = agent('wrong', (run) => run.select(() => ({})))
    expect((await wrong.start(ledger, null, how)).error).toMatchObject({ code: 'bad_option' })
    const typo = agent('typo', (run) => run.select((on) => ({ a: on.timer(1) }), { kee: 'x' } as object))
    expect((await typo.start(ledger, null, how)).error).toMatchObject({ code: 'bad_option' })
  })
})
