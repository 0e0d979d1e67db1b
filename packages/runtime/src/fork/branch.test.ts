import type { Ledger } from '@clew/ledger'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../test/memory-ledger.ts'
import { START, END } from '../graph/definition.ts'
import { StateGraph } from '../graph/state-graph.ts'
import { last } from '../graph/channels.ts'
import { agent } from '../run/agent.ts'
import { fork } from './fork.ts'

interface Order {
  readonly seats: number
}

let ledger: Ledger
let done: string[]
beforeEach(() => {
  ledger = createMemoryWorld().open()
  done = []
})

const note = (what: string): void => void done.push(what)

const desk = agent('desk', async (run, { seats }: Order) => {
  const found = await run.effect('search', { seats }, () => note('search'), { safety: 'read' })
  const plan = await run.effect('model', { seats, found }, (_, call) => {
    note('model')
    call.usage({ model: 'small', inputTokens: 1, outputTokens: 1 })
    return seats
  })
  const card = await run.effect('charge', { customer: 'ann' }, () => note('charge') ?? 'charged', {
    safety: 'write',
  })
  const mail = await run.effect('send_mail', { plan }, () => note(`mail ${plan}`) ?? 'sent')
  const nested = await run.child(courier, { plan })
  return { card, mail, nested }
})
const courier = agent('courier', async (run, { plan }: { readonly plan: number }) =>
  run.effect('post', { plan }, () => note(`post ${plan}`) ?? 'posted', { safety: 'external' }),
)

describe('R7 a branch that asks', () => {
  it('R7 models and declared reads go live; equal writes give their recorded result; others are asked, in child runs too', async () => {
    await desk.start(ledger, { seats: 2 }, { runId: 'source' })
    done.length = 0
    const input = { seats: 3 }
    const first = await fork(desk, {
      ledger,
      runId: 'source',
      at: { step: 'search' },
      input,
      newRunId: 'b',
      effects: 'ask',
    })
    expect(done).toEqual(['search', 'model'])
    expect(first).toMatchObject({ status: 'paused' })
    expect(first.pause?.question).toMatchObject({
      effect: 'send_mail',
      safety: 'undeclared',
      input: { plan: 3 },
    })
    const second = await desk.resume(ledger, 'b', { answer: 'perform' })
    expect(done).toEqual(['search', 'model', 'mail 3'])
    expect(second.pause?.question).toMatchObject({ effect: 'post', safety: 'external' })
    const third = await desk.resume(ledger, 'b', { answer: 'perform' })
    expect(third).toMatchObject({
      status: 'completed',
      output: { card: 'charged', mail: 'sent', nested: 'posted' },
    })
    expect(done).toEqual(['search', 'model', 'mail 3', 'post 3'])
    const steps = await ledger.getSkeleton('b')
    expect(steps.find(({ nodeName }) => nodeName === 'charge')).toMatchObject({ restored: true })
  })

  it('R7 without a change everything outward is given back, and nothing is asked', async () => {
    await desk.start(ledger, { seats: 2 }, { runId: 'source' })
    done.length = 0
    const again = await fork(desk, { ledger, runId: 'source', at: { step: 'search' }, effects: 'ask' })
    expect(again.status).toBe('completed')
    expect(done).toEqual(['search', 'model'])
  })

  it('R7 an answer "abort" fails the step without performing it', async () => {
    await desk.start(ledger, { seats: 2 }, { runId: 'source' })
    done.length = 0
    const input = { seats: 4 }
    await fork(desk, {
      ledger,
      runId: 'source',
      at: { step: 'search' },
      input,
      newRunId: 'b',
      effects: 'ask',
    })
    const ended = await desk.resume(ledger, 'b', { answer: 'abort' })
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect(done).toEqual(['search', 'model'])
  })

  it('R7 a yes of the source covers its arguments and no others', async () => {
    const refund = agent('refund', async (run, { euros }: { readonly euros: number }) =>
      run.effect('pay', { euros }, () => note(`pay ${euros}`) ?? euros, { safety: 'write', approval: true }),
    )
    await refund.start(ledger, { euros: 5 }, { runId: 'source' })
    await refund.resume(ledger, 'source', { answer: 'approve' })
    done.length = 0
    const same = await fork(refund, {
      ledger,
      runId: 'source',
      at: { step: 'pay' },
      newRunId: 'same',
      effects: 'ask',
    })
    expect(same).toMatchObject({ status: 'completed', output: 5 })
    const more = await fork(refund, {
      ledger,
      runId: 'source',
      at: { step: 'pay' },
      input: { euros: 500 },
      newRunId: 'more',
      effects: 'ask',
    })
    expect(more.pause?.question).toMatchObject({ effect: 'pay', input: { euros: 500 }, default: 'deny' })
    expect(done).toEqual([])
  })

  it('R7 holds for graphs, too', async () => {
    const graph = new StateGraph({ seats: last(2), sent: last('') })
      .addNode('plan', async ({ seats }) => ({ seats }))
      .addNode('send', async ({ seats }, run) => ({
        sent: await run.effect('send', { seats }, () => note(`send ${seats}`) ?? 'sent'),
      }))
      .addEdge(START, 'plan')
      .addEdge('plan', 'send')
      .addEdge('send', END)
      .compile({ name: 'sender', checkpointer: ledger })
    await graph.invoke({}, { runId: 'source' })
    done.length = 0
    const at = { step: 'send' }
    const same = await graph.fork({ runId: 'source', at, effects: 'ask' })
    expect(same).toMatchObject({ status: 'completed', state: { sent: 'sent' } })
    const other = await graph.fork({
      runId: 'source',
      at,
      state: { seats: 9 },
      newRunId: 'b',
      effects: 'ask',
    })
    expect(other).toMatchObject({ status: 'paused' })
    expect(done).toEqual([])
    await graph.resume({ runId: 'b' }, { answer: 'perform' })
    expect(done).toEqual(['send 9'])
  })
})
