import type { Ledger } from '@clew/ledger'
import { postMessage } from '@clew/trace'
import { createAgents } from './agents.ts'
import { modelFrom } from './call-model.ts'
import { PERSONAS } from './personas.ts'

export interface DemoSettings {
  readonly scriptedModel: string
  /** The file that published texts are written to. */
  readonly board: string
  readonly isFast: boolean
}

/** The agents of the demo over a ledger, with the model that this process can reach. */
export const createDemoAgents = (ledger: Ledger, { scriptedModel, board, isFast }: DemoSettings) =>
  createAgents({
    ledger,
    model: modelFrom(process.env, scriptedModel),
    board,
    isFast,
    async post({ streamId, sessionId, author, content, sources }) {
      const { id, name } = PERSONAS.find((persona) => persona.id === author) ?? PERSONAS[0]
      const messageId = `answer-${sessionId}`
      await postMessage(ledger, {
        streamId,
        sessionId,
        messageId,
        content,
        sources,
        author: { type: 'persona', id, name },
      })
      return messageId
    },
  })
