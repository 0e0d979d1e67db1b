import { ClewError, isOwn, type Ledger } from '@clew/ledger'
import { z } from 'zod'
import { answering } from '../operations/operation.ts'
import { newRunId, playResearch } from './research.ts'

/** The agents that a chat is with, and the process they live in. */
export const demoChat = z.object({
  model: z.string(),
  personas: z.array(z.object({ id: z.string(), name: z.string(), about: z.string(), example: z.string() })),
  /** Null while none lives. */
  pid: z.int().nullable(),
  deaths: z.int(),
})

const rest = { scope: 'read', surfaces: ['rest'], input: z.object({}), cli: { group: 'Begin' } } as const
const example = { command: 'clew demo', input: {} } as const

/** Answer to the page's question whether there is a chat with agents, and a run to show if there is none. */
export const servedDemo = (chat: () => z.output<typeof demoChat> | null = () => null) => [
  answering({
    ...rest,
    name: 'demo-state',
    summary: 'Whether a demo can be started here, and the agents of the chat if this is one',
    output: z.object({ canStart: z.boolean(), chat: demoChat.nullable() }),
    example,
    rest: { method: 'get', path: '/v1/demo' },
    run: async ({ mode }) => ({ canStart: mode.write, chat: chat() }),
  }),
  answering({
    ...rest,
    name: 'demo-start',
    summary: 'Let the scripted demo agent work: a run to look at while it goes on',
    scope: 'write',
    output: z.object({ runId: z.string() }),
    example,
    rest: { method: 'post', path: '/v1/demo' },
    async run(ledger) {
      const runId = newRunId()
      const played = playResearch(ledger, runId, { fast: false, answered: answerTo(ledger, runId) })
      await Promise.race([played, begun(ledger, runId)])
      // Not awaited: the record shows how far it came, also if the server closes before.
      played.catch((error: unknown) => {
        if (!(error instanceof ClewError && error.code === 'closed')) console.error(error)
      })
      return { runId }
    },
  }),
]

/** The page opens a run as soon as it learns of it. */
async function begun(ledger: Ledger, runId: string): Promise<void> {
  for await (const _ of ledger.follow({ runId })) return
}

/** An answer given in the page, where it is recorded; undefined if none comes in time. */
const answerTo =
  (ledger: Ledger, runId: string) =>
  async (pauseId: string, timeoutMs: number): Promise<string | undefined> => {
    const signal = AbortSignal.timeout(timeoutMs)
    for await (const event of ledger.follow({ runId, types: ['ui.input_received'], signal }))
      if (isOwn(event, 'ui.input_received') && event.payload.pauseId === pauseId)
        return String(event.payload.answer)
    return undefined
  }
