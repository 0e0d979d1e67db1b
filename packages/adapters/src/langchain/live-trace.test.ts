import { AIMessageChunk } from '@langchain/core/messages'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { describe, expect, it } from 'vitest'
import { ClewCallbackHandler, type SessionTrace, type StepCompletion } from './index.ts'
import { open, onlyRun, eventsOf, owl, broken, Shelf } from '../../test/langchain-calls.ts'

describe('the live trace', () => {
  interface Told {
    readonly stepType: string
    readonly progress: string[]
    completed?: StepCompletion
  }
  const listen = () => {
    const steps: Told[] = []
    const session: SessionTrace = {
      startStep({ stepType }) {
        const step: Told = { stepType, progress: [] }
        steps.push(step)
        return {
          progress: ({ content }) => void step.progress.push(content),
          complete: (completion) => void (step.completed = completion),
        }
      },
    }
    return { steps, session }
  }

  it('T1 T4 hears tokens as the text so far, which the ledger does not keep', async () => {
    const ledger = open()
    const { steps, session } = listen()
    const chunks = ['Let ', 'me ', 'see'].map((content) => new AIMessageChunk({ content }))
    const model = new FakeStreamingChatModel({ chunks })
    for await (const _ of await model.stream('x', {
      callbacks: [new ClewCallbackHandler({ ledger, session })],
    }));
    expect(steps).toMatchObject([{ stepType: 'thinking', completed: { content: 'Let me see' } }])
    // Held back is only what a keyword may begin with: here the e of eyJ.
    expect(steps[0]?.progress).toEqual(['Let ', 'Let me ', 'Let me se'])
    const types = (await eventsOf(ledger, await onlyRun(ledger))).map(({ eventType }) => eventType)
    expect(types.filter((type) => type === 'execution.message')).toHaveLength(2)
  })

  it('P1 a secret that streams in pieces is not shown', async () => {
    const ledger = open()
    const { steps, session } = listen()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const chunks = ['key ', secret.slice(0, 7), secret.slice(7), ' end'].map(
      (content) => new AIMessageChunk({ content }),
    )
    const model = new FakeStreamingChatModel({ chunks })
    for await (const _ of await model.stream('x', {
      callbacks: [new ClewCallbackHandler({ ledger, session })],
    }));
    expect(JSON.stringify(steps)).not.toContain(secret.slice(7))
    expect(steps[0]?.completed?.content).toContain('[redacted:')
  })

  it('T1 T6 tools and retrievers are steps, with their sources; a failure is told', async () => {
    const ledger = open()
    const { steps, session } = listen()
    const callbacks = [new ClewCallbackHandler({ ledger, session })]
    await owl.invoke({ place: 'a barn' }, { callbacks })
    await new Shelf().invoke('owls', { callbacks })
    await expect(broken.invoke({}, { callbacks })).rejects.toThrow()
    expect(
      steps.map(({ stepType, completed }) => [stepType, completed?.content ?? completed?.sources?.length]),
    ).toEqual([
      ['tool_call', '3 owls in a barn'],
      ['workspace_search', 2],
      ['tool_call', 'the net is torn'],
    ])
  })
})
