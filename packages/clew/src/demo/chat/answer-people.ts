import { asOwn, ClewError, type ClewEvent, type Ledger, type OwnEvent, type RunSummary } from '@clew/ledger'
import { foldStream, postMessage, streamRunId } from '@clew/trace'
import type { Asked, createAgents } from './agents.ts'
import { PERSONAS, personaFor } from './personas.ts'
import { workInLine } from './wait-in-line.ts'

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
    const wanted = await toWanted(ledger, event)
    if (!wanted || (await ledger.getRun(wanted.sessionId))) continue
    // The outcome is in the record, and no code here waits for it.
    begin(ledger, agents, wanted, signal)
      .catch((error: unknown) => (signal.aborted ? undefined : sayWhyNot(ledger, wanted, error)))
      .catch((error: unknown) => console.error(error))
  }
}

async function begin(ledger: Ledger, agents: Agents, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { sessionId, streamId, messageId, content, persona, supersedes } = wanted
  const { id, name, avatarUrl } = persona
  const asked: Asked = { question: content.replace(/@\w+\s*/, ''), streamId }
  const session = { streamId, triggerMessageId: messageId, persona: { id, name, avatarUrl }, supersedes }
  const options = { runId: sessionId, onBusy: 'wait' as const, session }
  if (id !== 'ariadne') {
    await agents[id].start(ledger, asked, options)
    return
  }
  const tell = (waiting: RunSummary): Promise<void> => sayWhatWaits(ledger, wanted, waiting)
  const line = { ledger, streamId, supersedes, signal, tell }
  await workInLine(line, () => agents.ariadne.invoke({ asked }, options))
}

/** Posts a message for a run that waits, so that the page shows its question below. */
async function sayWhatWaits(ledger: Ledger, wanted: Wanted, waiting: RunSummary): Promise<void> {
  const { runId, status, pauses } = waiting
  const what = pauses[0]?.pauseId ?? status
  const content =
    pauses.length > 0
      ? 'I come to this as soon as you have answered what I asked you before, or have stopped that run.'
      : `I come to this as soon as my run before it is over: it is ${status}. Resume it, or stop it.`
  await say(ledger, wanted, { messageId: `waits-${wanted.sessionId}-${what}`, sessionId: runId, content })
}

/** A failure inside a session is in its record, and its card shows it. */
async function sayWhyNot(ledger: Ledger, wanted: Wanted, error: unknown): Promise<void> {
  console.error(error)
  if (await ledger.getRun(wanted.sessionId)) return
  const { message, hint } = error instanceof ClewError ? error : { message: String(error), hint: '' }
  await say(ledger, wanted, { content: `I could not begin with this. ${message}. ${hint}`.trim() })
}

async function say(
  ledger: Ledger,
  { streamId, persona: { id, name } }: Wanted,
  message: { readonly content: string; readonly messageId?: string; readonly sessionId?: string },
): Promise<void> {
  await postMessage(ledger, { streamId, author: { type: 'persona', id, name }, ...message })
}

async function toWanted(ledger: Ledger, event: ClewEvent): Promise<Wanted | null> {
  const own = asOwn(event)
  if (own?.eventType === 'ui.message_created') return asMessage(own)
  return own?.eventType === 'ui.session_requested' ? asRequest(ledger, own) : null
}

function asMessage({ eventId, payload }: OwnEvent<'ui.message_created'>): Wanted | null {
  const { streamId, messageId = eventId, content, author } = payload
  if (streamId === undefined || author?.type !== 'user' || typeof content !== 'string') return null
  return { sessionId: `session-${messageId}`, streamId, messageId, content, persona: personaFor(content) }
}

/** The same question as it reads now, to the one who answered it. */
async function asRequest(
  ledger: Ledger,
  { payload }: OwnEvent<'ui.session_requested'>,
): Promise<Wanted | null> {
  const { sessionId, streamId, triggerMessageId, supersedes = null } = payload
  const before = supersedes === null ? null : await ledger.getRun(supersedes)
  const { messages } = foldStream(await Array.fromAsync(ledger.read(streamRunId(streamId))))
  const message = messages.find(({ messageId }) => messageId === triggerMessageId)
  if (typeof message?.content !== 'string') return null
  const { messageId, content } = message
  const persona = PERSONAS.find(({ id }) => id === before?.session?.persona?.id) ?? personaFor(content)
  return { sessionId, streamId, messageId, content, persona, ...(supersedes !== null && { supersedes }) }
}
