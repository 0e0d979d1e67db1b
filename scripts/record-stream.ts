import type { Ledger } from '@clew/ledger'
import { createStream, postMessage } from '@clew/trace'
import { TraceEmitter } from 'clew'

const STREAM = 'field-notes'
const YOU = { type: 'user', id: 'you', name: 'You' } as const
const ARIADNE = { id: 'ariadne', name: 'Ariadne' }

/** A stream for pictures: one answer with its trace, and one that is being thought about; gives back how to end it. */
export async function recordStream(ledger: Ledger): Promise<() => Promise<void>> {
  const trace = new TraceEmitter({ ledger })
  const ask = (messageId: string, content: string): Promise<string> =>
    postMessage(ledger, { streamId: STREAM, messageId, author: YOU, content })
  const begin = (sessionId: string, triggerMessageId: string) =>
    trace.forSession({
      workspaceId: 'default',
      streamId: STREAM,
      sessionId,
      triggerMessageId,
      persona: ARIADNE,
    })

  await createStream(ledger, { streamId: STREAM, title: STREAM })
  await ask('q1', 'Which owls hunt by day?')
  const first = await begin('session-1', 'q1')
  const thought = await first.startStep({ stepType: 'thinking' })
  await thought.complete({
    content: 'Diurnal owls: the notes of the station may have them. I look there before I say anything.',
  })
  const search = await first.startStep({ stepType: 'workspace_search' })
  await search.complete({
    content: 'diurnal owls',
    sources: [
      {
        type: 'note',
        title: 'Owls that hunt by day',
        snippet: 'A few species of owl hunt by day: the northern hawk-owl …',
      },
      { type: 'note', title: 'Eyes that cannot turn', snippet: 'To look aside an owl turns its head.' },
    ],
  })
  const read = await first.startStep({ stepType: 'visit_page' })
  await read.complete({ content: 'Owls that hunt by day' })
  const sent = await first.startStep({ stepType: 'message_sent' })
  const content =
    'Three kinds do: the **northern hawk-owl**, the **pygmy owls** and the **burrowing owl**. The snowy owl has no choice in summer, when the sun does not set.'
  const author = { type: 'persona', ...ARIADNE } as const
  const sources = [{ type: 'note', title: 'Owls that hunt by day' }]
  await postMessage(ledger, {
    streamId: STREAM,
    messageId: 'a1',
    author,
    content,
    sources,
    sessionId: 'session-1',
  })
  await sent.complete({ content, sources, messageId: 'a1' })
  await first.notifyCompleted()

  await ask('q2', 'And how do they hear a mouse under the snow?')
  const second = await begin('session-2', 'q2')
  const looking = await second.startStep({ stepType: 'workspace_search' })
  await looking.complete({ content: 'owl hearing snow' })
  const thinking = await second.startStep({ stepType: 'thinking' })
  thinking.progress({ content: 'The ears of a barn owl sit at different heights, so height and direction' })
  return () => second.notifyStopped()
}
