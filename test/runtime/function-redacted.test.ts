import type { Ledger } from '@clew/ledger'
import { agent, recordAnswers } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { KEPT_WORLDS } from './worlds.ts'

const SECRET = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')

describe.each(KEPT_WORLDS)('resuming what was redacted, %s', (name, open) => {
  const { ledger } = open()

  it('P2 resume never hands code a placeholder in place of a whole value: refresh runs again, otherwise the run is blocked, naming step and path', async () => {
    let calls = 0
    const seen: unknown[] = []
    const keyed = agent('keyed', async (run, refresh: boolean) => {
      const got = await run.effect('key', null, () => ({ deep: [{ key: SECRET, calls: ++calls }] }), {
        refresh,
      })
      seen.push(got.deep[0]?.key)
      await run.interrupt('Go on?')
      return run.effect('after', null, () => 'done')
    })
    const fresh = await keyed.start(ledger, true, {})
    expect((await keyed.resume(ledger, fresh.runId, { answer: 1 })).output).toBe('done')
    const stale = await keyed.start(ledger, false, {})
    const blocked = await keyed.resume(ledger, stale.runId, { answer: 1 })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'key#0' },
    ])
    expect(blocked.divergence?.expected).toContain('deep[0].key')
    const event = (await Array.fromAsync(ledger.read(stale.runId))).at(-1)
    expect(event?.payload).toMatchObject({ stepId: 'key#0', path: expect.stringContaining('deep[0].key') })
    expect(new Set(seen)).toEqual(new Set([SECRET]))
  })

  it('P2 so does a redacted input of the run, and an answer; who gives the answer may use it', async () => {
    const secretive = agent('secretive', async (run, _input: { key: string } | null) => {
      const answer = await run.interrupt<string>('Key?')
      return run.effect('use', null, () => answer === SECRET)
    })
    const input = await secretive.start(ledger, { key: SECRET })
    const blocked = await secretive.resume(ledger, input.runId, { answer: 'x' })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: null, expected: '$.key' },
    ])
    const asked = await secretive.start(ledger, null)
    expect((await secretive.resume(ledger, asked.runId, { answer: SECRET })).output).toBe(true)
    const told = await secretive.start(ledger, null)
    await recordAnswers(ledger, told.runId, { answer: SECRET })
    const later = await secretive.resume(ledger, told.runId)
    expect([later.status, later.divergence?.stepId]).toEqual(['blocked', 'interrupt#0'])
  })

  it('P2 a child whose output was redacted blocks its parent when it would be restored', async () => {
    const child = agent('child', async (run) => ({ key: await run.effect('key', null, () => SECRET) }))
    const parent = agent('parent', async (run) => (await run.child(child, null)).key === SECRET)
    expect((await parent.start(ledger, null)).output).toBe(true)
    const runId = `${name.length}-redacted`
    let dead = false
    const mortal: Ledger = {
      ...ledger,
      append: (events, options) => {
        dead ||= events.some(
          ({ eventType, correlationId }) =>
            eventType === 'execution.step_completed' && correlationId === runId,
        )
        return dead ? Promise.reject(new Error('dead')) : ledger.append(events, options)
      },
    }
    await expect(parent.start(mortal, null, { runId })).rejects.toThrow('dead')
    const blocked = await parent.resume(ledger, runId)
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'redacted', stepId: 'child#0', expected: '$.key' },
    ])
  })
})
