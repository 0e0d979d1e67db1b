import { requestStop } from '@clew/runtime'
import { afterEach, describe, expect, it } from 'vitest'
import { openLedger } from '../../open-ledger.ts'
import type { ChatMessage } from './chat-protocol.ts'
import { createAgents } from './agents.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'
import { STOPPED } from './tools.ts'

let model: ScriptedModel | undefined
afterEach(() => model?.close())

describe('the agents of the demo', () => {
  it('R5 a question after a run that was stopped: every call before it has a result', async () => {
    model = await startScriptedModel({ wordMs: 0, refuseEvery: 1000 })
    const ledger = await openLedger('memory:')
    const { ariadne } = createAgents({
      ledger,
      model: { url: model.url, key: 'none', model: 'scripted', about: 'a scripted model' },
      board: '',
      isFast: true,
      post: async ({ sessionId }) => `answer-${sessionId}`,
    })
    const ask = (question: string, runId: string) =>
      ariadne.invoke({ asked: { question, streamId: 'chat' } }, { runId, threadId: 'chat' })
    expect((await ask('Why do owls fly so quietly? And publish it', 'one')).status).toBe('paused')
    await requestStop(ledger, 'one', { by: 'test' })
    const { status, state } = await ask('Which owls hunt by day?', 'two')
    expect(status).toBe('completed')
    const messages = state['messages'] as readonly ChatMessage[]
    const called = messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id))
    expect(messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(called)
    expect(messages.filter(({ content }) => content?.includes(STOPPED))).toHaveLength(1)
    await ledger.close()
  })
})
