import { agent } from '@clew/runtime'
import { createStream, postMessage, streamRunId } from '@clew/trace'
import { expect, it } from 'vitest'
import { createWorld } from '../../packages/trace/test/world.ts'

const author = { type: 'user', id: 'ann', name: 'Ann' } as const

it('L9 T1 a message causes the session, the session its steps, and the last step the message that is sent', async () => {
  const world = createWorld()
  const ledger = world.open()
  await createStream(ledger, { streamId: 'general' })
  await postMessage(ledger, { streamId: 'general', author, content: 'Owls?', messageId: 'q1' })
  const session = await world.emitter(ledger).forSession({
    streamId: 'general',
    sessionId: 's1',
    triggerMessageId: 'q1',
  })
  const step = await session.startStep({ stepType: 'thinking' })
  await step.complete({ content: 'Two.' })
  const answer = await postMessage(ledger, {
    streamId: 'general',
    author: { type: 'persona', id: 'owl', name: 'Owl' },
    sessionId: 's1',
    content: 'Two.',
  })
  await session.notifyCompleted()
  const named = ({ eventType }: { eventType: string }): string => eventType
  expect((await ledger.causes(answer)).map(named)).toEqual([
    'execution.step_completed',
    'execution.step_started',
    'system.workflow_started',
    'ui.message_created',
  ])
  const events = await Array.fromAsync(ledger.read('s1'))
  expect((await ledger.causes(events.at(-1)?.eventId ?? '')).map(named).at(-1)).toBe('ui.message_created')
})

it('L9 what led to a run is its cause: an event that is named, the message that it answers, the code around', async () => {
  const ledger = createWorld().open()
  const echo = agent('echo', async (_run, input: string) => input)
  await createStream(ledger, { streamId: 'general' })
  await postMessage(ledger, { streamId: 'general', author, content: 'Owls?', messageId: 'q1' })
  const message = await Array.fromAsync(ledger.read(streamRunId('general'))).then((all) => all.at(-1))
  if (!message) throw new Error('no message')
  const causeOf = async (runId: string): Promise<string | null | undefined> =>
    (await Array.fromAsync(ledger.read(runId)))[0]?.causationId
  const named = await echo.start(ledger, 'x', { causedBy: message })
  const session = { streamId: 'general', triggerMessageId: 'q1' }
  const answering = await echo.start(ledger, 'x', { session })
  const inside = await ledger.causedBy(message, () => echo.start(ledger, 'x'))
  const alone = await echo.start(ledger, 'x')
  expect(await Promise.all([named, answering, inside, alone].map(({ runId }) => causeOf(runId)))).toEqual([
    message.eventId,
    message.eventId,
    message.eventId,
    null,
  ])
})
