import { agent, openLedger, replay } from 'clew'
import { describe, expect, it } from 'vitest'

const PASSWORD = 'hunter2-Zq9!xKpw77'

/** Takes a password out of a text: what is left has no shape by which redaction would know it. */
const connecting = (options: { isChanged: boolean }) =>
  agent('connecting', async (run) => {
    const text = await run.effect('read', '.env', () => `DB=postgres://app:${PASSWORD}@db/x\n`)
    const found = /:([^:@]+)@/.exec(text)?.[1] ?? ''
    await run.effect(
      'connect',
      options.isChanged ? { as: ['app', found, found.slice(0, 9)] } : { as: ['app'] },
      () => 1,
    )
    return run.interrupt<string>('Go on?')
  })

describe('P3 with a vault, what is reported of a run', () => {
  it('P3 holds no original that the code took apart: a diverged resume, a replay and its kept report', async () => {
    const ledger = await openLedger('memory:', { vault: true })
    const { runId } = await connecting({ isChanged: false }).start(ledger, null)
    const changed = connecting({ isChanged: true })
    const report = await replay(changed, { ledger, runId, keep: true })
    expect(report.verdict).toBe('diverged')
    const blocked = await changed.resume(ledger, runId, { answer: 'yes' })
    expect(blocked.status).toBe('blocked')
    const lines = await Array.fromAsync(ledger.export())
    for (const text of [JSON.stringify(report), JSON.stringify(blocked), lines.join('')])
      for (const part of [PASSWORD, PASSWORD.slice(0, 9), PASSWORD.slice(-8)])
        expect(text).not.toContain(part)
    await ledger.close()
  })

  it('P3 the same for secrets that were given with resume', async () => {
    const ledger = await openLedger('memory:')
    const { runId } = await connecting({ isChanged: false }).start(ledger, null)
    const changed = connecting({ isChanged: true })
    const blocked = await changed.resume(ledger, runId, { answer: 'yes', secrets: [PASSWORD] })
    expect(blocked.status).toBe('blocked')
    expect(JSON.stringify([blocked, await Array.fromAsync(ledger.export())])).not.toContain(
      PASSWORD.slice(0, 9),
    )
    await ledger.close()
  })

  it('R5 an error message is the same to resumed code as it was to live code', async () => {
    const failing = agent('failing', async (run) => {
      const message = await run
        .effect('login', 1, () => Promise.reject(new Error(`failed for https://bob:${PASSWORD}@host/`)))
        .catch((error: Error) => error.message)
      await run.effect('log', message.slice(0, 40), () => 1)
      return run.interrupt<string>('Go on?')
    })
    const ledger = await openLedger('memory:', { vault: true })
    const { runId } = await failing.start(ledger, null)
    expect(await failing.resume(ledger, runId, { answer: 'yes' })).toMatchObject({ status: 'completed' })
    expect((await replay(failing, { ledger, runId })).verdict).toBe('identical')
    await ledger.close()
  })
})

describe('P2 a placeholder in the input of a write', () => {
  const rules = [{ kind: 'code', pattern: /CODE-\d{6}/ }]
  it.each<[string, (text: string) => unknown]>([
    ['bytes', (text) => ({ data: new TextEncoder().encode(text) })],
    ['a URL', (text) => new URL(`https://example.org/?q=${text}`)],
    ['an error', (text) => new Error(text)],
    ['a map', (text) => new Map([['text', text]])],
  ])('P2 R10 is found in %s, and asked about', async (_, inputOf) => {
    const ledger = await openLedger('memory:', { redact: { rules } })
    let written = 0
    const writing = agent('writing', async (run) => {
      const text = await run.effect('read', null, () => 'use CODE-123456 now')
      await run.interrupt('Go on?')
      await run.effect('write', inputOf(text), () => ++written, { safety: 'write' })
    })
    const { runId } = await writing.start(ledger, null)
    const asked = await writing.resume(ledger, runId, { answer: 'yes' })
    expect([asked.status, written]).toEqual(['paused', 0])
    expect(asked.pause?.question).toMatchObject({ kind: 'code' })
    await ledger.close()
  })

  it('P2 R10 refresh is refused for a write, which would be performed again', async () => {
    const ledger = await openLedger('memory:')
    const minting = agent('minting', (run) =>
      run.effect('mint', null, () => 1, { safety: 'external', refresh: true }),
    )
    expect(await minting.start(ledger, null)).toMatchObject({
      status: 'failed',
      error: { code: 'bad_option' },
    })
    await ledger.close()
  })
})
