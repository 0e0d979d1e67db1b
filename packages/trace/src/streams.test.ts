import { foreignType, type Ledger } from '@clew/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, typesOf, type World } from '../test/world.ts'
import { listStreams, readStream } from './read-stream.ts'
import { createStream, deleteMessage, editMessage, postMessage, streamRunId } from './streams.ts'

const user = { type: 'user', id: 'u', name: 'Uli' } as const
let world: World
let ledger: Ledger
const post = (messageId: string, content = `text of ${messageId}`, streamId = 'general') =>
  postMessage(ledger, { streamId, messageId, author: user, content })

beforeEach(async () => {
  world = createWorld()
  ledger = world.open()
  await createStream(ledger, { streamId: 'general', title: 'General' })
})
afterEach(() => world.close())

describe('T2 streams are system runs', () => {
  it('T2 a stream is made once, whoever asks again', async () => {
    await Promise.all([1, 2, 3].map(() => createStream(ledger, { streamId: 'general', title: 'other' })))
    expect(await typesOf(ledger, streamRunId('general'))).toEqual(['ui.stream_created'])
    await post('m')
    await createStream(ledger, { streamId: 't', parentStreamId: 'general', parentMessageId: 'm' })
    await createStream(ledger, { streamId: 't', parentStreamId: 'general', parentMessageId: 'm' })
    await expect(createStream(ledger, { streamId: 't' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(createStream(ledger, { streamId: 'u', parentStreamId: 'general' })).rejects.toMatchObject({
      code: 'bad_option',
    })
    await expect(
      createStream(ledger, { streamId: 'u', parentStreamId: 'general', parentMessageId: 'nobody' }),
    ).rejects.toMatchObject({ code: 'not_found' })
    expect(
      (await typesOf(ledger, streamRunId('general'))).filter((type) => type === 'ui.thread_created'),
    ).toHaveLength(1)
    expect((await listStreams(ledger)).streams).toMatchObject([{ streamId: 'general', title: 'General' }])
    expect((await ledger.listRuns()).runs).toEqual([])
  })

  it('T2 a message posted again under its id is one message, also from inside another step', async () => {
    const cause = await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r' })
    await post('m')
    await ledger.causedBy(cause, () => post('m'))
    await expect(post('m', 'something else')).rejects.toMatchObject({ code: 'conflict' })
    expect((await readStream(ledger, 'general')).messages).toHaveLength(1)
    await expect(post('x', 'y', 'nowhere')).rejects.toMatchObject({ code: 'not_found' })
    const made = await postMessage(ledger, { streamId: 'general', author: user, content: 'no id' })
    await editMessage(ledger, { streamId: 'general', messageId: made, content: 'edited' })
    expect((await readStream(ledger, 'general')).messages.at(-1)).toMatchObject({
      messageId: made,
      content: 'edited',
    })
  })

  it('T2 edits and deletions change a message; what is deleted stays so', async () => {
    await post('m')
    await editMessage(ledger, { streamId: 'general', messageId: 'm', content: { blocks: ['new'] } })
    expect((await readStream(ledger, 'general')).messages[0]).toMatchObject({ content: { blocks: ['new'] } })
    await deleteMessage(ledger, { streamId: 'general', messageId: 'm' })
    await editMessage(ledger, { streamId: 'general', messageId: 'm', content: 'back' })
    const [message] = (await readStream(ledger, 'general')).messages
    expect([message?.content, message?.deletedAt === null]).toEqual([null, false])
    await expect(deleteMessage(ledger, { streamId: 'general', messageId: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('T2 pages go backwards without a gap or a repeat, with later edits and each session once', async () => {
    const expected: string[] = []
    for (let n = 0; n < 37; n++) {
      await post(`m${n}`)
      expected.push(`m${n}`)
      if (n % 9 === 4) {
        const trace = await world.emitter(ledger).forSession({ streamId: 'general', sessionId: `s${n}` })
        await trace.notifyCompleted()
        expected.push(`s${n}`)
      }
      for (let edits = 0; edits < n % 4; edits++)
        await editMessage(ledger, { streamId: 'general', messageId: 'm1', content: `edit ${n}` })
    }
    const seen: string[] = []
    let before: string | undefined
    do {
      const page = await readStream(ledger, 'general', { limit: 5, before })
      const items = [...page.messages, ...page.sessions].toSorted((a, b) => a.position - b.position)
      seen.unshift(...items.map((each) => ('messageId' in each ? each.messageId : each.sessionId)))
      const edited = page.messages.find(({ messageId }) => messageId === 'm1')
      if (edited) expect(edited.content).toBe('edit 35')
      before = page.previousCursor ?? undefined
    } while (before !== undefined)
    expect(seen).toEqual(expected)
    await expect(readStream(ledger, 'general', { before: 'x' })).rejects.toMatchObject({ code: 'bad_option' })
    await expect(readStream(ledger, 'nowhere')).rejects.toMatchObject({ code: 'not_found' })
  })
})
