import { agent, fork, type Run } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, unheard } from './mortal-ledger.ts'

const secretOf = (text: string): string => ['sk', 'proj', text.repeat(5)].join('-')
const SECRET = secretOf('a1B2c3D4')

describe('results that were redacted', () => {
  /** The body fails once after it has the key; the second attempt pauses, and goes on in another life. */
  const retried = (seen: unknown[], refresh: boolean) => {
    let isFirst = true
    return agent('retried', (run: Run) =>
      run.step(
        'body',
        null,
        async (_none, inner) => {
          seen.push(await inner.effect('key', null, () => ({ key: SECRET }), { refresh }))
          if (isFirst) {
            isFirst = false
            throw new Error('once more')
          }
          await inner.interrupt('Go on?')
          return inner.effect('after', null, () => 'done')
        },
        { retry: { tries: 3, delayMs: 0 } },
      ),
    )
  }

  it('P2 of an earlier attempt of the body around are not handed to the next one after a crash', async () => {
    const ledger = createMemoryWorld().open()
    const seen: unknown[] = []
    const keyed = retried(seen, false)
    const { runId } = await keyed.start(ledger, null)
    const blocked = await keyed.resume(ledger, runId, { answer: 1 })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'body#0/key#0', expected: '$.key' },
    ])
    expect(seen).toEqual([{ key: SECRET }, { key: SECRET }])
  })

  it('P2 refresh fetches them again, as often as the run is taken up', async () => {
    const ledger = createMemoryWorld().open()
    const seen: unknown[] = []
    const keyed = retried(seen, true)
    const { runId } = await keyed.start(ledger, null)
    expect(await keyed.resume(ledger, runId, { answer: 1 })).toMatchObject({
      status: 'completed',
      output: 'done',
    })
    expect(seen).toEqual([{ key: SECRET }, { key: SECRET }, { key: SECRET }])
    const attempts = (await ledger.getSteps(runId)).filter(({ nodeName }) => nodeName === 'key')
    expect(attempts).toHaveLength(1)
  })

  it('P2 nor when a fork asks for them after their turn', async () => {
    const ledger = createMemoryWorld().open()
    const seen: unknown[] = []
    const key = (run: Run): Promise<unknown> => run.effect('key', null, () => ({ key: SECRET }))
    const before = agent('forked', async (run: Run) => {
      await key(run)
      await run.effect('look', 1, () => 1)
      return run.effect('end', null, () => 1)
    })
    const after = agent('forked', async (run: Run) => {
      await run.effect('look', 2, () => 2)
      seen.push(await key(run))
      return run.effect('end', null, () => 1)
    })
    const { runId } = await before.start(ledger, null)
    const branch = await fork(after, { ledger, runId, at: { step: 'end' } })
    expect([branch.status, branch.divergence, seen]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'key#0' },
      [],
    ])
  })
})

describe('inputs that were redacted', () => {
  const calls: unknown[] = []
  const calling = (input: unknown, more: object = {}) =>
    agent('calling', async (run: Run) => {
      await run.effect('call', input, (given) => void calls.push(given), more)
      await run.interrupt('Go on?')
      return 'done'
    })

  it.each([
    ['is another one now', { key: SECRET, q: 1 }, { key: secretOf('z9Y8x7W6'), q: 1 }, 'completed'],
    ['stands in a text', `with ${SECRET} go`, `with ${secretOf('z9Y8x7W6')} go`, 'completed'],
    ['stands beside what has changed', { key: SECRET, q: 1 }, { key: SECRET, q: 2 }, 'blocked'],
    ['has gone', { key: SECRET, q: 1 }, { q: 1 }, 'blocked'],
  ])('D2 a resume goes on by what else they say: a key that %s', async (_, before, after, status) => {
    const ledger = createMemoryWorld().open()
    const { runId } = await calling(before).start(ledger, null)
    const count = calls.length
    const result = await calling(after).resume(ledger, runId, { answer: 1 })
    expect([result.status, calls.length - count]).toEqual([status, 0])
    if (status === 'blocked') expect(result.divergence).toMatchObject({ kind: 'input', stepId: 'call#0' })
  })

  it('D2 rules that came between two lives of a run are no divergence', async () => {
    const world = createMemoryWorld()
    const { runId } = await calling({ q: 'case 4711' }).start(world.open(), null)
    const rules = [{ kind: 'case', pattern: /case \d+/ }]
    const result = await calling({ q: 'case 4711' }).resume(
      world.open('default', { redact: { rules } }),
      runId,
      {
        answer: 1,
      },
    )
    expect(result.status).toBe('completed')
  })

  it('R10 a write whose outcome is unknown stays so, whatever its key is by then', async () => {
    const { open } = createMemoryWorld()
    // Its start, and the reservation of the write.
    const life = createLife(open(), { append: 1, committed: true })
    const sending = (key: string, fn: () => unknown) =>
      agent('sending', (run: Run) => run.effect('send', { key }, fn, { safety: 'write' }))
    let sent = 0
    unheard(sending(SECRET, () => ++sent).start(life.ledger, null, { runId: 'r' }))
    await life.died
    const result = await sending(secretOf('z9Y8x7W6'), () => ++sent).resume(open(), 'r')
    expect([result.status, sent]).toEqual(['paused', 0])
  })
})
