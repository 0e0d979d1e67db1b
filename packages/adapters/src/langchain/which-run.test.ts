import type { ClewEvent } from '@clew/ledger'
import { RunnableLambda, RunnableParallel } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { describe, expect, it } from 'vitest'
import { ClewCallbackHandler } from './index.ts'
import { open, onlyRun, eventsOf } from '../../test/langchain-calls.ts'

describe('which run', () => {
  const hoot = () => new FakeListChatModel({ responses: ['hoot'] })

  it('A4 each call at the top is a run of its own, under the id that LangChain gave it', async () => {
    const ledger = open()
    const handler = new ClewCallbackHandler({ ledger })
    const id = '0198f0aa-0000-7000-8000-00000000000a'
    const call = RunnableLambda.from((text: string) => text)
    await Promise.all([
      call.invoke('a', { callbacks: [handler], runId: id }),
      call.invoke('b', { callbacks: [handler] }),
    ])
    const { runs } = await ledger.listRuns()
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(await ledger.getRun(id)).not.toBeNull()
  })

  it('A4 a given run that is there gets steps, again and again, and is neither begun nor ended', async () => {
    const ledger = open()
    await ledger.record({
      eventType: 'system.workflow_started',
      correlationId: 'mine',
      payload: { agent: 'me' },
    })
    for (let n = 0; n < 2; n++)
      await hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger, runId: 'mine' })] })
    expect(await ledger.getRun('mine')).toMatchObject({ agent: 'me', status: 'running', steps: 2 })
    await hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger, runId: 'new' })] })
    expect(await ledger.getRun('new')).toMatchObject({ agent: 'FakeListChatModel', status: 'completed' })
  })

  it('L9 inside a step of a run that is recorded by hand, its steps lie below that step', async () => {
    const ledger = open()
    await ledger.record({ eventType: 'system.workflow_started', correlationId: 'mine', payload: {} })
    const step = await ledger.record({
      eventType: 'execution.step_started',
      correlationId: 'mine',
      payload: { stepId: 'plan#0', name: 'plan' },
    })
    await ledger.causedBy(step, () =>
      hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] }),
    )
    const steps = await ledger.getSteps('mine')
    expect(steps.map(({ parentStepId }) => parentStepId)).toEqual([null, 'plan#0'])
    const events = await eventsOf(ledger, 'mine')
    expect(events.find(({ payload }) => payload['role'] === 'user')?.causationId).toBe(step.eventId)
  })

  it('R9 inside a run that somebody drives it is a run below, and the driven run stays its owner’s', async () => {
    const ledger = open()
    const lease = await ledger.leases.acquire({ workspace: ledger.workspace, runId: 'driven' })
    const [, step] = await ledger.append(
      [
        { eventType: 'system.workflow_started', correlationId: 'driven', payload: {} },
        {
          eventType: 'execution.step_started',
          correlationId: 'driven',
          payload: { stepId: 'plan#0', name: 'plan' },
        },
      ],
      { epoch: lease.epoch },
    )
    await ledger.causedBy(step as ClewEvent, () =>
      hoot().invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] }),
    )
    expect((await ledger.getRun('driven'))?.events).toBe(2)
    const { runs } = await ledger.listRuns()
    const below = runs.find(({ runId }) => runId !== 'driven')
    expect(below).toMatchObject({ parentRunId: 'driven', status: 'completed' })
    const [started] = await eventsOf(ledger, below?.runId as string)
    expect(started).toMatchObject({ causationId: step?.eventId, payload: { parentStepId: 'plan#0' } })
  })
})

describe('calls at once', () => {
  it('L9 steps side by side have one cause, what they call lies in them, and nothing claims the wrong one', async () => {
    const ledger = open()
    const branch = (name: string, waits: number) =>
      RunnableLambda.from(async (text: string, config) => {
        for (const n of [1, 2]) {
          await new Promise((resolve) => setTimeout(resolve, waits))
          await new FakeListChatModel({ responses: [`${name}${n}`] }).invoke(`${text} ${name}${n}`, config)
        }
        return name
      }).withConfig({ runName: name })
    const all = RunnableParallel.from({ a: branch('a', 3), b: branch('b', 1), c: branch('c', 2) })
    await all.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const runId = await onlyRun(ledger)
    const events = await eventsOf(ledger, runId)
    const byId = new Map(events.map((event) => [event.eventId, event]))
    const causeOf = (event: ClewEvent | undefined) => byId.get(event?.causationId ?? '')
    const starts = events.filter(({ eventType }) => eventType === 'execution.step_started')
    expect(starts).toHaveLength(9)
    for (const start of starts) {
      const { stepId, kind } = start.payload as { stepId: string; kind: string }
      if (kind === 'chain') expect(causeOf(start)?.eventType).toBe('system.workflow_started')
      else {
        // Its question, and before that its branch's start or the end of the first call of the same branch.
        const before = causeOf(causeOf(start))
        expect(String(before?.payload['stepId']).split('/')[0]).toBe(stepId.split('/')[0])
      }
    }
    const steps = await ledger.getSteps(runId)
    expect(steps.every(({ status }) => status === 'completed')).toBe(true)
    expect(new Set(steps.map(({ stepId }) => stepId)).size).toBe(9)
  })

  it('L9 after two calls at once directly in one function, the next one names the function’s start', async () => {
    const ledger = open()
    const call = (config: object | undefined) =>
      new FakeListChatModel({ responses: ['y'] }).invoke('x', config)
    const both = RunnableLambda.from(async (_: string, config) => {
      await Promise.all([call(config), call(config)])
      await call(config)
      await call(config)
      return 'done'
    })
    await both.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    const events = await eventsOf(ledger, await onlyRun(ledger))
    const starts = events.filter(({ eventType }) => eventType === 'execution.step_started')
    const types = new Map(
      events.map(({ eventId, eventType, payload }) => [
        eventId,
        `${eventType} ${(payload['stepId'] as string | undefined) ?? ''}`,
      ]),
    )
    expect(starts.slice(2).map(({ causationId }) => types.get(causationId ?? ''))).toEqual([
      'system.workflow_started ',
      'execution.step_completed FakeListChatModel#2',
    ])
  })

  it('D3 what a run leaves running ends with it, as stopped', async () => {
    const ledger = open()
    let release: () => void = () => {}
    const slow = RunnableLambda.from(
      () => new Promise<string>((resolve) => (release = () => resolve('late'))),
    ).withConfig({ runName: 'slow' })
    let left: Promise<unknown> | undefined
    const hasty = RunnableLambda.from(async (_: string, config) => {
      left = slow.invoke('x', config)
      await new Promise((resolve) => setTimeout(resolve, 10))
      return 'done'
    })
    await hasty.invoke('x', { callbacks: [new ClewCallbackHandler({ ledger })] })
    release()
    await left
    const runId = await onlyRun(ledger)
    expect((await ledger.getSteps(runId)).map(({ nodeName, status }) => [nodeName, status])).toEqual([
      ['slow', 'stopped'],
    ])
    expect((await ledger.getRun(runId))?.status).toBe('completed')
  })
})
