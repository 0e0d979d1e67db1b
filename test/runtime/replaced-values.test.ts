/** Proves R7: a fork has one recorded value otherwise (a result, an answer, a request), says so first, and is replayed as it was. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClewEvent, Ledger } from '@clew/ledger'
import { agent, append, END, fork, last, replay, type Replacement, START, StateGraph } from '@clew/runtime'
import { openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flawsOf } from './worlds.ts'

let ledger: Ledger
const done: string[] = []
beforeEach(async () => {
  done.length = 0
  ledger = await openLedger('memory:')
})
afterEach(() => ledger.close())

const eventsOf = (runId: string): Promise<ClewEvent[]> => Array.fromAsync(ledger.read(runId))
const firstOf = async (runId: string): Promise<ClewEvent | undefined> =>
  (await eventsOf(runId)).find(({ correlationId }) => correlationId === runId)

const order = agent('order', async (run, item: string) => {
  const price = await run.effect('price', { item }, ({ item: of }) => {
    done.push(`price of ${of}`)
    return of.length
  })
  const isAllowed = await run.interrupt<string>({ question: `Pay ${price}?`, options: ['yes', 'no'] })
  if (isAllowed === 'no') return `left for ${price}`
  const paid = await run.step('pay', { price }, (_, inner) =>
    inner.effect('transfer', { price }, ({ price: amount }) => {
      done.push(`paid ${amount}`)
      return amount
    }),
  )
  return `paid ${paid}`
})

async function ordered(): Promise<void> {
  await order.start(ledger, 'apple', { runId: 'r' })
  await order.resume(ledger, 'r', { answer: 'yes' })
  done.length = 0
}

describe('R7 a fork that replaces a value of a function', () => {
  it('has another result of an effect, and goes on from there', async () => {
    await ordered()
    const before = await eventsOf('r')
    const replace = { step: 'transfer', output: 1000 }
    const { output } = await fork(order, { ledger, runId: 'r', newRunId: 'f', replace })
    expect([output, done]).toEqual(['paid 1000', []])
    expect((await firstOf('f'))?.payload['replaced']).toEqual({ what: 'result', stepId: 'pay#0/transfer#0' })
    expect(await eventsOf('r')).toEqual(before)
    expect((await ledger.getSteps('f')).find(({ nodeName }) => nodeName === 'transfer')?.values).toBe(1000)
    expect((await replay(order, { ledger, runId: 'f' })).verdict).toBe('identical')
    expect(await flawsOf(ledger, 'f')).toEqual([])
  })

  it('has another result of a step, whose code is not run', async () => {
    await ordered()
    const { output } = await fork(order, {
      ledger,
      runId: 'r',
      newRunId: 'f',
      replace: { step: 'pay', output: 0 },
    })
    expect([output, done]).toEqual(['paid 0', []])
    expect(await flawsOf(ledger, 'f')).toEqual([])
  })

  it('has a result of an earlier step, and does what comes after it anew', async () => {
    await ordered()
    const replace = { step: 'price#0', output: 7 }
    const asked = await fork(order, { ledger, runId: 'r', newRunId: 'f', replace })
    expect([asked.status, asked.pause?.question.question]).toEqual(['paused', 'Pay 7?'])
    expect((await order.resume(ledger, 'f', { answer: 'yes' })).output).toBe('paid 7')
    expect(done).toEqual(['paid 7'])
    expect((await replay(order, { ledger, runId: 'f' })).verdict).toBe('identical')
  })

  it('has another answer, by step and by pause', async () => {
    await ordered()
    const pauseId = (await eventsOf('r')).find(({ eventType }) => eventType === 'ui.input_requested')
      ?.payload['pauseId'] as string
    for (const which of [{ step: 'interrupt' }, { pauseId }]) {
      const newRunId = Object.keys(which).join()
      const replace: Replacement = { ...which, answer: 'no' }
      const { output } = await fork(order, { ledger, runId: 'r', newRunId, replace })
      expect(output).toBe('left for 5')
      expect((await firstOf(newRunId))?.payload['replaced']).toEqual({
        what: 'answer',
        stepId: 'interrupt#0',
        pauseId,
      })
      expect((await replay(order, { ledger, runId: newRunId })).verdict).toBe('identical')
    }
    expect(done).toEqual([])
  })

  it('performs an effect with another input, now and whenever it is taken up', async () => {
    await ordered()
    const replace = { step: 'price', input: { item: 'pineapple' } }
    const asked = await fork(order, { ledger, runId: 'r', newRunId: 'f', replace })
    expect([asked.pause?.question.question, done]).toEqual(['Pay 9?', ['price of pineapple']])
    expect((await firstOf('f'))?.payload['replaced']).toEqual({
      what: 'request',
      stepId: 'price#0',
      input: { item: 'pineapple' },
    })
    expect((await order.resume(ledger, 'f', { answer: 'yes' })).output).toBe('paid 9')
    expect(done).toEqual(['price of pineapple', 'paid 9'])
    expect((await ledger.getSteps('f'))[0]?.inputDigest).toBe(ledger.digest({ item: 'pineapple' }))
    expect((await replay(order, { ledger, runId: 'f' })).verdict).toBe('identical')
    // A fork of the fork shares what was performed.
    const again = await fork(order, {
      ledger,
      runId: 'f',
      newRunId: 'g',
      replace: { step: 'interrupt', answer: 'no' },
    })
    expect(again.output).toBe('left for 9')
    expect(done).toEqual(['price of pineapple', 'paid 9'])
  })

  it('is what a what-if compares', async () => {
    await ordered()
    const report = await replay(order, {
      ledger,
      runId: 'r',
      mode: 'what-if',
      replace: { step: 'interrupt', answer: 'no' },
    })
    expect([report.verdict, report.outcome.output]).toEqual(['diverged', 'left for 5'])
  })

  it.each<[string, Replacement, object, string]>([
    ['no such step', { step: 'zzz', output: 1 }, {}, 'not_found'],
    ['no such question', { step: 'price', answer: 1 }, {}, 'not_found'],
    ['an answer that is no option', { step: 'interrupt', answer: 'perhaps' }, {}, 'bad_answer'],
    ['together with a place', { step: 'price', output: 1 }, { at: { seq: 3 } }, 'bad_option'],
    ['together with an input', { step: 'price', output: 1 }, { input: 'pear' }, 'bad_option'],
  ])('is refused, and nothing is written: %s', async (_, replace, more, code) => {
    await ordered()
    await expect(fork(order, { ledger, runId: 'r', newRunId: 'f', replace, ...more })).rejects.toMatchObject({
      code,
    })
    expect(await ledger.getRun('f')).toBeNull()
  })

  it('is refused for what has not come to its end', async () => {
    await order.start(ledger, 'apple', { runId: 'r' })
    for (const replace of [
      { step: 'interrupt', answer: 'yes' },
      { step: 'interrupt', output: 'yes' },
    ])
      await expect(fork(order, { ledger, runId: 'r', replace })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('R7 D4 a fork that replaces the request of a model', () => {
  let server: Server
  const asked: { body: unknown; authorization: string | undefined }[] = []
  beforeEach(async () => {
    asked.length = 0
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        const body = JSON.parse(text) as { prompt: string }
        asked.push({ body, authorization: request.headers.authorization })
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ text: `You said ${body.prompt}` }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve))
  })

  it('sends it in place of that of the code, with the headers of the code', async () => {
    const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`
    const chat = agent(
      'chat',
      async (_run, prompt: string) => {
        const response = await fetch(url(), {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer sk-of-the-code' },
          body: JSON.stringify({ prompt }),
        })
        return ((await response.json()) as { text: string }).text
      },
      { recordFetch: true },
    )
    expect((await chat.start(ledger, 'hello', { runId: 'r' })).output).toBe('You said hello')
    const step = (await eventsOf('r')).find(({ eventType }) => eventType === 'execution.step_started')
    const request = step?.payload['input'] as Record<string, unknown>
    const replace = { step: 'fetch', input: { ...request, body: { prompt: 'goodbye' } } }
    const { output } = await fork(chat, { ledger, runId: 'r', newRunId: 'f', replace })
    expect(output).toBe('You said goodbye')
    expect(asked.map(({ body }) => body)).toEqual([{ prompt: 'hello' }, { prompt: 'goodbye' }])
    expect(asked[1]?.authorization).toBe('Bearer sk-of-the-code')
    expect((await replay(chat, { ledger, runId: 'f' })).verdict).toBe('identical')
    expect(asked).toHaveLength(2)
  })
})

describe('R7 a fork that replaces a value inside a graph', () => {
  const graph = () =>
    new StateGraph({ log: append<string>(), total: last(0) })
      .addNode('before', () => ({ log: 'before' }))
      .addNode('left', async (_, run) => {
        const found = await run.effect('find', 'x', () => {
          done.push('found')
          return 'gold'
        })
        const answer = await run.interrupt<string>(`Keep ${found}?`)
        return { log: `${answer} ${found}` }
      })
      .addNode('right', async (_, run) => ({
        log: await run.effect('other', 1, () => (done.push('other'), 'right')),
      }))
      .addNode('after', ({ log }) => ({ total: log.length }), { defer: true })
      .addEdge(START, 'before')
      .addEdge('before', 'left')
      .addEdge('before', 'right')
      .addEdge('left', 'after')
      .addEdge('right', 'after')
      .addEdge('after', END)
      .compile({ checkpointer: ledger, name: 'graph' })

  async function lived(): Promise<ReturnType<typeof graph>> {
    const made = graph()
    await made.invoke({}, { runId: 'r' })
    const { state } = await made.resume({ runId: 'r' }, { answer: 'yes' })
    expect(state).toEqual({ log: ['before', 'yes gold', 'right'], total: 3 })
    done.length = 0
    return made
  }

  it('has another answer: the node goes on with it', async () => {
    const made = await lived()
    const { state } = await fork(made, {
      ledger,
      runId: 'r',
      newRunId: 'f',
      replace: { step: 'interrupt', answer: 'no' },
    })
    expect([state, done]).toEqual([{ log: ['before', 'no gold', 'right'], total: 3 }, []])
    expect((await firstOf('f'))?.payload['replaced']).toMatchObject({ what: 'answer' })
    expect((await replay(made, { ledger, runId: 'f' })).divergences).toEqual([])
    expect(await flawsOf(ledger, 'f')).toEqual([])
  })

  it('has another result of an effect in a node', async () => {
    const made = await lived()
    const replace = { step: 'find', output: 'lead' }
    const asked = await fork(made, { ledger, runId: 'r', newRunId: 'f', replace })
    expect([asked.status, asked.pause?.question.question]).toEqual(['paused', 'Keep lead?'])
    const { state } = await made.resume({ runId: 'f' }, { answer: 'yes' })
    expect(state).toEqual({ log: ['before', 'yes lead', 'right'], total: 3 })
    expect(done).not.toContain('found')
    expect((await replay(made, { ledger, runId: 'f' })).divergences).toEqual([])
    expect(await flawsOf(ledger, 'f')).toEqual([])
  })

  it('performs an effect of a node with another input', async () => {
    const made = new StateGraph({ log: append<string>() })
      .addNode('ask', async (_, run) => ({ log: await run.effect('echo', 'a', (text) => `echo ${text}`) }))
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile({ checkpointer: ledger, name: 'echoes' })
    await made.invoke({}, { runId: 'r' })
    const { state } = await fork(made, {
      ledger,
      runId: 'r',
      newRunId: 'f',
      replace: { step: 'echo', input: 'b' },
    })
    expect(state).toEqual({ log: ['echo b'] })
    expect((await replay(made, { ledger, runId: 'f' })).divergences).toEqual([])
  })

  it('is refused for what a node wrote, with the call that does it', async () => {
    const made = await lived()
    const replace = { step: 'left', output: { log: 'x' } }
    await expect(fork(made, { ledger, runId: 'r', replace })).rejects.toMatchObject({
      code: 'bad_option',
      hint: expect.stringContaining('asNode') as string,
    })
  })
})
