import { setTimeout as sleep } from 'node:timers/promises'
import { ClewError, type Ledger, openLedger } from 'clew'
import {
  ACTIVITY_ENDED,
  ACTIVITY_STARTED,
  createStream,
  liveSteps,
  MESSAGE_CREATED,
  MESSAGE_UPDATED,
  postMessage,
  readSession,
  SESSION_COMPLETED,
  SESSION_STARTED,
  STEP_COMPLETED,
  STEP_PROGRESS,
  STEP_STARTED,
  STREAM_PROGRESS,
  type TraceMessage,
} from '@clew/trace'
import { createLog, type RunningServer, startServer } from '@clew/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect, openSessionPage, sessionRoom, streamRoom, type TestClient } from './client.ts'
import { begin, end, note, stepBegins, stepEnds, writeSession } from './session-writer.ts'

const log = createLog('silent')
const W = 'default'

describe('rooms', () => {
  let ledger: Ledger
  let server: RunningServer
  const clients: TestClient[] = []
  beforeEach(async () => {
    ledger = await openLedger('memory:')
    server = await startServer({ ledger, operations: [], port: 0, log })
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close()
    await server.close()
    await ledger.close()
  })
  async function join(...rooms: string[]): Promise<TestClient> {
    const client = await connect(server.url)
    clients.push(client)
    for (const room of rooms) expect(await client.join(room)).toEqual({ ok: true })
    return client
  }
  const names = (told: readonly TraceMessage[]): string[] => told.map(({ name }) => name)

  it('T2 tells steps to the session room and the life cycle to both, to nobody else', async () => {
    const session = await join(sessionRoom(W, 's'))
    const stream = await join(streamRoom(W, 'general'))
    const other = await join(sessionRoom(W, 'q'), streamRoom(W, 's'), sessionRoom('elsewhere', 's'))
    await ledger.record(begin('s', 'general'))
    await ledger.record(stepBegins('s', 'thinking#1'))
    await ledger.record(stepEnds('s', 'thinking#1', 'So it is.'))
    await ledger.record(end('s'))
    await session.hear(({ name }) => name === SESSION_COMPLETED)
    await stream.hear(({ name }) => name === SESSION_COMPLETED)
    expect(names(session.heard)).toEqual([SESSION_STARTED, STEP_STARTED, STEP_COMPLETED, SESSION_COMPLETED])
    expect(session.heard[2]?.payload).toMatchObject({
      content: 'So it is.',
      stepNumber: 1,
      status: 'completed',
    })
    expect(names(stream.heard).filter((name) => !name.includes('activity'))).toEqual([
      SESSION_STARTED,
      STREAM_PROGRESS,
      SESSION_COMPLETED,
    ])
    expect(other.heard).toEqual([])
  })

  it('T2 tells nothing more to who has left, and goes on for the others', async () => {
    const [one, two] = [await join(sessionRoom(W, 's')), await join(sessionRoom(W, 's'))]
    await ledger.record(begin('s', 'general'))
    await one.hear(({ name }) => name === SESSION_STARTED)
    expect(await one.leave(sessionRoom(W, 's'))).toEqual({ ok: true })
    await ledger.record(end('s'))
    await two.hear(({ name }) => name === SESSION_COMPLETED)
    expect(names(one.heard)).toEqual([SESSION_STARTED])
  })

  it('T2 begins anew when all had left: nothing of what it knew is used for what came meanwhile', async () => {
    const one = await join(sessionRoom(W, 's'))
    await ledger.record(begin('s', 'general'))
    await one.hear(({ name }) => name === SESSION_STARTED)
    await one.leave(sessionRoom(W, 's'))
    await ledger.record(stepBegins('s', 'thinking#1'))
    const two = await join(sessionRoom(W, 's'))
    await ledger.record(stepBegins('s', 'thinking#2'))
    const told = await two.hear(({ name }) => name === STEP_STARTED)
    expect(told.payload).toMatchObject({ stepId: 'thinking#2', stepNumber: 2 })
  })

  it('T3 a page that listens, joins, then fetches misses nothing, whenever it comes', async () => {
    const pages: ReturnType<typeof openSessionPage>[] = []
    await writeSession(ledger, 's', 'general', 30, async (step) => {
      if (step % 3 === 0) pages.push(openSessionPage(server.url, W, 's'))
      await sleep(2)
    })
    pages.push(openSessionPage(server.url, W, 's'))
    const { steps } = await readSession(ledger, 's')
    for (const page of pages) {
      await vi.waitFor(
        () => {
          expect(page.state().head?.status).toBe('completed')
          expect(liveSteps(page.state())).toEqual(steps)
        },
        { timeout: 60_000 },
      )
      expect(page.fetches()).toBe(1)
      page.close()
    }
  })

  it('T4 progress is gathered, the newest is told to who joins, and none comes back after the end', async () => {
    await ledger.record(begin('s', 'general'))
    await ledger.record(stepBegins('s', 'thinking#1'))
    const early = await join(sessionRoom(W, 's'))
    let text = ''
    for (let i = 1; i <= 200; i++)
      await ledger.progress.put([note('s', 'thinking#1', i, (text += 'Owls hunt at night. '))])
    const last = await early.hear((told) => told.name === STEP_PROGRESS && told.payload.version === 200)
    expect(last.payload).toMatchObject({
      content: text.slice(0, (last.payload as { content: string }).content.length),
      sessionId: 's',
      streamId: 'general',
    })
    const told = early.heard.filter(({ name }) => name === STEP_PROGRESS).length
    expect(told).toBeLessThan(100)
    const late = await join(sessionRoom(W, 's'))
    expect((await late.hear(({ name }) => name === STEP_PROGRESS)).payload).toMatchObject({ version: 200 })
    const inStream = await join(streamRoom(W, 'general'))
    expect((await inStream.hear(({ name }) => name === STREAM_PROGRESS)).payload).toMatchObject({
      sessionId: 's',
      stepId: 'thinking#1',
      stepType: 'thinking',
      stepNumber: 1,
    })
  })

  it('T5 a message shows that an agent works in the thread on it, live and at first load', async () => {
    await createStream(ledger, { streamId: 'general', title: 'General' })
    const messageId = await postMessage(ledger, {
      streamId: 'general',
      author: { type: 'user', id: 'ada', name: 'Ada' },
      content: 'What do owls eat?',
    })
    await createStream(ledger, { streamId: 'owls', parentStreamId: 'general', parentMessageId: messageId })
    const client = await join(streamRoom(W, 'general'))
    await ledger.record(begin('s', 'owls'))
    const started = await client.hear(({ name }) => name === ACTIVITY_STARTED)
    expect(started.payload).toMatchObject({
      streamId: 'owls',
      parentStreamId: 'general',
      parentMessageId: messageId,
    })
    await ledger.record(stepBegins('s', 'web_search#1', 'web_search'))
    await client.hear(
      (told) =>
        told.name === MESSAGE_UPDATED &&
        told.payload.updateType === 'agent_activity' &&
        told.payload.messageId === messageId &&
        told.payload.activity.stepType === 'web_search' &&
        told.payload.activity.isActive,
    )
    const page = async () =>
      (await (await fetch(`${server.url}/api/workspaces/${W}/streams/general/messages`)).json()) as {
        activities: unknown[]
      }
    expect((await page()).activities).toMatchObject([{ messageId, sessionId: 's', stepType: 'web_search' }])
    await ledger.record(end('s'))
    await client.hear(({ name }) => name === ACTIVITY_ENDED)
    await client.hear(
      (told) =>
        told.name === MESSAGE_UPDATED &&
        told.payload.updateType === 'agent_activity' &&
        !told.payload.activity.isActive,
    )
    expect((await page()).activities).toEqual([])
    await postMessage(ledger, {
      streamId: 'owls',
      author: { type: 'persona', id: 'p', name: 'Owl' },
      content: 'Mice.',
      sessionId: 's',
    })
    await client.hear((told) => told.name === MESSAGE_UPDATED && told.payload.updateType === 'replies')
    expect(client.heard.some(({ name }) => name === MESSAGE_CREATED)).toBe(false)
  })

  it('T2 says what is long and what is not plain as it was written', async () => {
    const client = await join(sessionRoom(W, 's'))
    await ledger.record(begin('s', 'general'))
    const around = (size: number): string[] => [-8, -1, 0, 1, 8].map((more) => 'x'.repeat(size + more))
    // Frames have one kind of head up to 125 bytes, another up to 65,535, and a third beyond.
    const texts = ['', '🦉 "quoted"\n\u2028', ...around(100), ...around(65_000), '猫'.repeat(60_000)]
    for (const [i, text] of texts.entries()) {
      await ledger.record(stepBegins('s', `thinking#${i}`))
      await ledger.record(stepEnds('s', `thinking#${i}`, text))
    }
    await ledger.record(end('s'))
    await client.hear(({ name }) => name === SESSION_COMPLETED)
    const contents = client.heard.flatMap((told) =>
      told.name === STEP_COMPLETED ? [told.payload.content] : [],
    )
    expect(contents).toEqual(texts)
  })

  /** A server over a ledger whose reads of a run fail as long as `fault` gives an error. */
  async function serveFailing(fault: () => Error | undefined): Promise<RunningServer> {
    const failing = (inner: Ledger): Ledger => ({
      ...inner,
      in: (...given) => failing(inner.in(...given)),
      async *read(...given) {
        const error = given[0] === 's' && given[1]?.types ? fault() : undefined
        if (error) throw error
        yield* inner.read(...given)
      },
    })
    await server.close()
    server = await startServer({ ledger: failing(ledger), operations: [], port: 0, log })
    return server
  }

  it('T3 a store that fails for a while makes late, and nothing is lost', async () => {
    let left = 3
    await serveFailing(() =>
      left-- > 0 ? new ClewError('store_unreachable', 'The store is away', 'Wait.', {}) : undefined,
    )
    await ledger.record(begin('s', 'general'))
    const client = await join(sessionRoom(W, 's'))
    await ledger.record(stepBegins('s', 'thinking#1'))
    await ledger.record(stepEnds('s', 'thinking#1', 'So it is.'))
    await client.hear(({ name }) => name === STEP_COMPLETED)
    expect(names(client.heard)).toEqual([STEP_STARTED, STEP_COMPLETED])
    expect(left).toBeLessThan(0)
  })

  it('T3 who cannot be told is cut off, comes back, and fetches what it missed', async () => {
    let left = 1
    await serveFailing(() => (left-- > 0 ? new TypeError('something nobody thought of') : undefined))
    await ledger.record(begin('s', 'general'))
    const page = openSessionPage(server.url, W, 's')
    clients.push(page.client)
    await vi.waitFor(() => expect(page.fetches()).toBe(1), { timeout: 60_000 })
    await ledger.record(stepBegins('s', 'thinking#1'))
    await vi.waitFor(() => expect(liveSteps(page.state()).length).toBe(1), { timeout: 60_000 })
    expect(page.fetches()).toBeGreaterThan(1)
    await ledger.record(end('s'))
    await vi.waitFor(() => expect(page.state().head?.status).toBe('completed'), { timeout: 60_000 })
  })

  it('T2 works over long polling, too', async () => {
    const client = await connect(server.url, { transports: ['polling'] })
    clients.push(client)
    expect(await client.join(sessionRoom(W, 's'))).toEqual({ ok: true })
    await writeSession(ledger, 's', 'general', 20)
    await client.hear(({ name }) => name === SESSION_COMPLETED)
    expect(client.heard.filter(({ name }) => name === STEP_COMPLETED).length).toBe(20)
  })

  it('T3 a client that stops reading is cut, slows nobody, and may come back', async () => {
    const stuck = await join(sessionRoom(W, 's'))
    const other = await join(sessionRoom(W, 's'))
    const transport = Reflect.get(stuck.socket.io.engine, 'transport') as unknown as {
      ws: { pause(): void; resume(): void }
    }
    const gone = new Promise<string>((resolve) => stuck.socket.once('disconnect', resolve))
    transport.ws.pause()
    await ledger.record(begin('s', 'general'))
    const content = 'x'.repeat(60_000)
    const sockets = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^clew_sockets (\d+)$/m.exec(text)?.[1])
    }
    let steps = 0
    while ((await sockets()) === 2) {
      for (let i = 0; i < 20; i++) {
        steps++
        await ledger.record(stepBegins('s', `thinking#${steps}`))
        await ledger.record(stepEnds('s', `thinking#${steps}`, content))
      }
      if (steps > 2000) throw new Error('it was never cut')
    }
    await ledger.record(end('s'))
    await other.hear(({ name }) => name === SESSION_COMPLETED)
    expect(other.heard.filter(({ name }) => name === STEP_COMPLETED).length).toBe(steps)
    // It comes back by itself once it reads again, for nobody told it to stay away.
    stuck.heard.splice(0)
    transport.ws.resume()
    expect(await gone).not.toBe('io server disconnect')
    await new Promise<void>((resolve) => stuck.socket.once('connect', resolve))
  })
})
