import type { ClewEvent, Ledger } from '@clew/ledger'
import { foldStream, type MessageAuthor, streamBook } from '@clew/trace'
import type { Asked, createAgents } from './agents.ts'
import { PERSONAS, personaFor } from './personas.ts'

type Agents = ReturnType<typeof createAgents>
type Persona = (typeof PERSONAS)[number]

interface Wanted {
  readonly sessionId: string
  readonly streamId: string
  readonly messageId: string
  readonly content: string
  readonly persona: Persona
  readonly supersedes?: string | undefined
}

/**
 * Begins a session for what a person has written or wants again. Each process goes through all of it: what has its
 * session already is passed over, so a death between a message and its session loses nothing.
 */
export async function answerPeople(ledger: Ledger, agents: Agents, signal: AbortSignal): Promise<void> {
  const types = ['ui.message_created', 'ui.session_requested']
  for await (const event of ledger.follow({ types, signal })) {
    const wanted =
      event.eventType === 'ui.message_created' ? asMessage(event) : await asRequest(ledger, event)
    if (wanted && !(await ledger.getRun(wanted.sessionId))) begin(ledger, agents, wanted)
  }
}

function begin(ledger: Ledger, agents: Agents, wanted: Wanted): void {
  const { sessionId, streamId, messageId, content, persona, supersedes } = wanted
  const { id, name, avatarUrl } = persona
  const asked: Asked = { question: content.replace(/@\w+\s*/, ''), streamId }
  const session = { streamId, triggerMessageId: messageId, persona: { id, name, avatarUrl }, supersedes }
  const options = { runId: sessionId, onBusy: 'wait' as const, session }
  const ended =
    id === 'ariadne' ? agents.ariadne.invoke({ asked }, options) : agents[id].start(ledger, asked, options)
  // What becomes of it is in the record, and nobody here waits for it.
  ended.catch((error: unknown) => console.error(error))
}

function asMessage({ eventId, payload }: ClewEvent): Wanted | null {
  const { streamId, messageId = eventId, content, author } = payload as unknown as MessagePayload
  if (author.type !== 'user' || typeof content !== 'string') return null
  return { sessionId: `session-${messageId}`, streamId, messageId, content, persona: personaFor(content) }
}

interface MessagePayload {
  readonly streamId: string
  readonly messageId?: string
  readonly content: unknown
  readonly author: MessageAuthor
}

/** The same question as it reads now, to the one who answered it. */
async function asRequest(ledger: Ledger, { payload }: ClewEvent): Promise<Wanted | null> {
  const { sessionId, streamId, triggerMessageId, supersedes } = payload as unknown as RequestPayload
  const before = supersedes === null ? null : await ledger.getRun(supersedes)
  const { messages } = foldStream(await Array.fromAsync(ledger.read(streamBook(streamId))))
  const message = messages.find(({ messageId }) => messageId === triggerMessageId)
  if (typeof message?.content !== 'string') return null
  const { messageId, content } = message
  const persona = PERSONAS.find(({ id }) => id === before?.session?.persona?.id) ?? personaFor(content)
  return { sessionId, streamId, messageId, content, persona, ...(supersedes !== null && { supersedes }) }
}

interface RequestPayload {
  readonly sessionId: string
  readonly streamId: string
  readonly triggerMessageId: string | null
  readonly supersedes: string | null
}
