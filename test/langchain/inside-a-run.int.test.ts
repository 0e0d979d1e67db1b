import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { agent, openLedger } from 'clew'
import { ClewCallbackHandler } from 'clew/langchain'
import { expect, it } from 'vitest'

it('R5 R9 a model called inside a Clew agent is a run below its step, and a resume meets no steps that are not its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-langchain-'))
  try {
    const ledger = await openLedger(`sqlite:${join(folder, 'ledger.db')}`)
    let calls = 0
    const guard = agent('guard', async (run, place: string) => {
      const said = await run.effect('ask', { place }, async () => {
        calls++
        const model = new FakeListChatModel({ responses: ['three'] })
        const answer = await model.invoke(`owls in ${place}?`, {
          callbacks: [new ClewCallbackHandler({ ledger })],
        })
        return answer.text
      })
      return `${said} ${await run.interrupt<string>('sure?')}`
    })
    const paused = await guard.start(ledger, 'the barn')
    expect(paused.status).toBe('paused')
    const done = await guard.resume(ledger, paused.runId, { answer: 'yes' })
    expect(done).toMatchObject({ status: 'completed', output: 'three yes' })
    expect(calls).toBe(1)

    const { runs } = await ledger.listRuns()
    const below = runs.find(({ runId }) => runId !== paused.runId)
    expect(below).toMatchObject({
      parentRunId: paused.runId,
      status: 'completed',
      agent: 'FakeListChatModel',
    })
    const [started] = await Array.fromAsync(ledger.read(below?.runId ?? '', { limit: 1 }))
    const causes = await ledger.causes(started?.eventId ?? '')
    expect(causes[0]).toMatchObject({ correlationId: paused.runId, eventType: 'execution.step_started' })
    expect(started?.payload['parentStepId']).toBe('ask#0')
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    await ledger.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
