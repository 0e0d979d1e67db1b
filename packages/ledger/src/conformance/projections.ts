import { foldSteps, type StepSkeleton, toSkeleton } from '../fold/steps.ts'
import type { Ledger } from '../ledger.ts'
import { assert, assertEqual } from './assert.ts'
import { runWorkload } from './workload.ts'
import { forked, readAll, started, type StoreTest } from './world.ts'

const USAGE = { inputTokens: 7, outputTokens: 3 }

export const projectionTests: readonly StoreTest[] = [
  ...[1, 2, 3].map(
    (seed): StoreTest => ({
      rule: 'L1',
      title: `stored projections equal a rebuild after a rich workload (seed ${seed})`,
      async run(world) {
        const ledger = await world.open()
        const runs = await runWorkload(ledger, seed, 60)
        const { ok, problems, checked } = await ledger.verify(undefined, { projections: true })
        assert(ok, `problems: ${JSON.stringify(problems.slice(0, 3))}`)
        assertEqual(checked, (await ledger.stats()).events, 'events checked')
        for (const runId of runs) {
          const summary = await ledger.getRun(runId)
          const all = await readAll(ledger, runId)
          const own = all.filter((event) => event.correlationId === runId)
          assertEqual(summary?.events, own.length, `events counted in ${runId}`)
          assertEqual(await ledger.getSkeleton(runId), foldSteps(own).map(toSkeleton), `skeleton of ${runId}`)
          assertEqual(await ledger.getSteps(runId), foldSteps(all), `steps of ${runId}`)
        }
      },
    }),
  ),
  {
    rule: 'V7',
    title: 'a call that is told by two spans counts once, whichever of them is exported first',
    async run(world) {
      const ledger = await world.open()
      const span = (runId: string, stepId: string, parentStepId: string | null, isBilled = true) => ({
        eventType: 'execution.step_completed' as const,
        correlationId: runId,
        source: { origin: 'agent' as const, runtime: 'otel' },
        payload: { stepId, parentStepId, name: stepId, durationMs: 1, ...(isBilled && { usage: USAGE }) },
      })
      const orders = [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [2, 3, 0, 1],
        [1, 3, 2, 0],
      ]
      for (const [nth, order] of orders.entries()) {
        const runId = `exported-${nth}`
        const spans = [
          span(runId, 'root', null, false),
          span(runId, 'call', 'root'),
          span(runId, 'of the client', 'call'),
          span(runId, 'another', 'root'),
        ]
        for (const at of order) await ledger.append([spans[at] as (typeof spans)[number]])
        const run = await ledger.getRun(runId)
        const counted = [run?.modelCalls, run?.inputTokens, run?.outputTokens, run?.awaited]
        assertEqual(counted, [2, 14, 6, undefined], `counts of ${runId}, exported as ${order.join(' ')}`)
      }
      await ledger.append([span('open', 'of the client', 'call')])
      assertEqual((await ledger.getRun('open'))?.awaited, ['call'], 'awaited while it has not come')
      const { ok, problems } = await ledger.verify(undefined, { projections: true })
      assert(ok, `problems: ${JSON.stringify(problems.slice(0, 3))}`)
    },
  },
  {
    rule: 'L1',
    title: 'steps are read page by page, from either end, as they are read at once',
    async run(world) {
      const ledger = await world.open()
      for (const runId of await runWorkload(ledger, 4, 60)) {
        const all = await ledger.getSkeleton(runId)
        const first = all[0]?.startedSeq ?? 0
        const last = all.at(-1)?.startedSeq ?? 0
        for (const limit of [1, 3, all.length + 1]) {
          assertEqual(await forth(ledger, runId, limit), all, `${runId}, ${limit} at a time`)
          assertEqual(await back(ledger, runId, limit), all, `${runId} from its end, ${limit} at a time`)
        }
        const between = { afterSeq: first, beforeSeq: last }
        const inner = all.filter(({ startedSeq }) => startedSeq > first && startedSeq < last)
        assertEqual(await ledger.getSkeleton(runId, between), inner, `${runId} between its ends`)
        const nothing = await ledger.getSkeleton(runId, { afterSeq: last })
        assertEqual([...nothing, ...(await ledger.getSkeleton(runId, { limit: 0 }))], [], 'nothing')
        for (const { stepId } of all) {
          const attempts = all.filter((step) => step.stepId === stepId)
          assertEqual(await ledger.getSkeleton(runId, { stepId }), attempts, `attempts of ${stepId}`)
        }
      }
      assertEqual(await ledger.getSkeleton('nobody', { limit: 5, last: true }), [], 'of no run')
    },
  },
  {
    rule: 'L1',
    title: 'a page of steps has what was written last, also by another connection',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      const step = (eventType: string, at: number, more = {}) => ({
        eventType: `execution.step_${eventType}`,
        correlationId: 'r',
        payload: { stepId: `s#${at}`, name: 's', ...more },
      })
      await one.append([started('r'), ...Array.from({ length: 90 }, (_, at) => step('started', at))])
      for (let at = 0; at < 90; at += 9) await two.append([step('completed', at)])
      await two.append([step('started', 9, { attempt: 2 }), step('started', 90)])
      for (const ledger of [one, two]) {
        const all = await ledger.getSkeleton('r')
        assertEqual(
          all.map(({ status }) => status === 'completed'),
          Array.from({ length: 92 }, (_, at) => at < 90 && at % 9 === 0),
          'which have ended',
        )
        assertEqual(await forth(ledger, 'r', 40), all, 'page by page')
        assertEqual(await back(ledger, 'r', 40), all, 'from the end')
        const tries = await ledger.getSkeleton('r', { stepId: 's#9' })
        assertEqual(
          tries.map(({ attempt, status }) => `${attempt} ${status}`),
          ['1 completed', '2 running'],
          'attempts',
        )
        assertEqual(
          await ledger.getSkeleton('r', { stepId: 's#9', limit: 1, last: true }),
          tries.slice(1),
          'last',
        )
      }
    },
  },
  {
    rule: 'L1',
    title: 'a second connection that goes on writing keeps the projections right',
    async run(world) {
      const [one, two] = [await world.open(), await world.open()]
      for (let i = 0; i < 20; i++) {
        const ledger = i % 2 === 0 ? one : two
        const step = (eventType: string) => ({
          eventType,
          correlationId: 'r',
          payload: { stepId: `s#${Math.floor(i / 2)}`, name: 's' },
        })
        await ledger.append([step(i % 2 === 0 ? 'execution.step_started' : 'execution.step_completed')])
      }
      for (const ledger of [one, two]) {
        const { ok, problems } = await ledger.verify('r', { projections: true })
        assert(ok, JSON.stringify(problems))
        const skeleton = await ledger.getSkeleton('r')
        assertEqual(
          skeleton.map((step) => step.status),
          Array.from({ length: 10 }, () => 'completed'),
          'statuses',
        )
      }
    },
  },
  {
    rule: 'L1',
    title: 'a summary tells status, pauses with rich questions, errors and tokens',
    async run(world) {
      const ledger = await world.open()
      const question = { at: new Date(5), ids: new Set([1]), $clew: 'own key' }
      await ledger.append([
        started('r', { agent: 'owl', agentVersion: '2', threadId: 't', subjects: ['p'], parentRunId: 'up' }),
        { eventType: 'execution.step_started', correlationId: 'r', payload: { stepId: 'a#0', name: 'a' } },
        {
          eventType: 'execution.message',
          correlationId: 'r',
          payload: { usage: { inputTokens: 7, outputTokens: 2 } },
        },
        {
          eventType: 'ui.input_requested',
          correlationId: 'r',
          payload: { pauseId: 'p1', stepId: 'a#0', question },
        },
        { eventType: 'system.workflow_paused', correlationId: 'r', payload: { pauseIds: ['p1'] } },
      ])
      const paused = await ledger.getRun('r')
      assertEqual([paused?.status, paused?.threadId, paused?.parentRunId], ['paused', 't', 'up'], 'identity')
      assertEqual([paused?.inputTokens, paused?.outputTokens, paused?.steps], [7, 2, 1], 'numbers')
      assertEqual(paused?.pauses, [{ pauseId: 'p1', stepId: 'a#0', question }], 'pauses')
      assertEqual((await ledger.listRuns()).runs, [paused], 'the same in a listing')
      assertEqual((await ledger.getSkeleton('r'))[0]?.pause?.question, question, 'the same in the skeleton')
      await ledger.append([
        {
          eventType: 'ui.input_received',
          correlationId: 'r',
          payload: { pauseId: 'p1', stepId: 'a#0', answer: 1 },
        },
        {
          eventType: 'system.workflow_failed',
          correlationId: 'r',
          payload: { error: { name: 'Bad', message: 'm' } },
        },
      ])
      const failed = await ledger.getRun('r')
      assertEqual([failed?.status, failed?.pauses], ['failed', []], 'end')
      assertEqual(failed?.error, { name: 'Bad', code: null, message: 'm' }, 'error')
    },
  },
  {
    rule: 'R0',
    title: 'a summary tells its last checkpoint, when it is due and that it was asked to stop',
    async run(world) {
      const ledger = await world.open()
      const event = (eventType: string, payload: Record<string, unknown> = {}, runId = 'r') => ({
        eventType,
        correlationId: runId,
        payload,
      })
      const seen = async (runId = 'r'): Promise<unknown[]> => {
        const run = await (await world.open()).getRun(runId)
        const { superstep, seq, baseSeq, resumable } = run?.checkpoint ?? {}
        return [run?.status, superstep, seq, baseSeq, resumable, run?.dueAt, run?.stopRequested]
      }
      const dueAt = '2030-01-01T00:00:00.000Z'
      const none = [undefined, undefined, undefined, undefined]
      await ledger.append([started('r'), event('system.workflow_paused', { dueAt })])
      assertEqual(await seen(), ['pending', ...none, dueAt, false], 'asleep')
      const [, , checkpoint] = await ledger.append([
        event('system.workflow_resumed'),
        event('execution.checkpoint', { superstep: 0, next: ['a'], baseSeq: 4 }),
        event('execution.step_completed', {
          stepId: 'a@s1',
          checkpoint: { superstep: 1, next: ['b'], baseSeq: 4 },
        }),
        event('execution.step_completed', { stepId: 'b@s2' }),
      ])
      assertEqual(await seen(), ['running', 1, 5, 4, true, null, false], 'running')
      const first = (await ledger.getRun('r'))?.checkpoint
      assertEqual([first?.id, first?.createdAt], [checkpoint?.eventId, checkpoint?.timestamp], 'which event')
      await ledger.append([
        event('ui.input_requested', { pauseId: 'p', question: 'Go on?', dueAt, default: 'no' }),
        event('system.workflow_paused', { pauseIds: ['p'], dueAt }),
        event('system.stop_requested', { by: 'me', reason: 'enough' }),
      ])
      assertEqual(await seen(), ['paused', 1, 5, 4, true, dueAt, true], 'asked to stop while it is paused')
      await ledger.append([event('ui.input_received', { pauseId: 'p', answer: 'yes' })])
      assertEqual(await seen(), ['pending', 1, 5, 4, true, null, true], 'answered: it is due now')
      await ledger.append([event('system.workflow_resumed')])
      assertEqual(await seen(), ['running', 1, 5, 4, true, null, false], 'resumed')
      await ledger.append([
        event('system.stop_requested'),
        event('system.workflow_stopped'),
        event('system.stop_requested'),
      ])
      assertEqual(await seen(), ['stopped', 1, 5, 4, false, null, false], 'ended')
      await ledger.append([
        event('system.workflow_forked', { sourceRunId: 'r', sourceSeq: 5, checkpoint: first }, 'f'),
        event('system.workflow_forked', { sourceRunId: 'r', sourceSeq: 5 }, 'g'),
      ])
      assertEqual(await seen('f'), ['running', 1, 5, 4, true, null, false], 'a fork')
      assertEqual(await seen('g'), ['running', ...none, null, false], 'a fork that was told nothing')
      await ledger.append([event('system.workflow_resumed')])
      assertEqual(await seen(), ['running', 1, 5, 4, true, null, false], 'taken up again')
      assert((await ledger.verify(undefined, { projections: true })).ok, 'a rebuild gives the same')
    },
  },
  {
    rule: 'L1',
    title: 'state is folded from closed operations, at every superstep, through forks',
    async run(world) {
      const ledger = await world.open()
      const change = (runId: string, superstep: number, operations: unknown[]) => ({
        eventType: 'system.state_transitioned' as const,
        correlationId: runId,
        payload: { superstep, operations },
      })
      await ledger.append([
        started('r'),
        change('r', 1, [
          { op: 'set', channel: 'n', value: 1 },
          { op: 'append', channel: 'list', items: ['a'] },
        ]),
        change('r', 2, [
          { op: 'append', channel: 'list', items: ['b'] },
          { op: 'patch', channel: 'o', set: { k: 1 } },
        ]),
        change('r', 3, [{ op: 'remove', channel: 'n' }]),
      ])
      await ledger.append([
        forked('f', 'r', 3),
        change('f', 3, [{ op: 'set', channel: 'n', value: 'forked' }]),
      ])
      const at = async (runId: string, superstep?: number) =>
        (await ledger.getState(runId, { superstep }))?.state
      assertEqual(await at('r', 1), { n: 1, list: ['a'] }, 'superstep 1')
      assertEqual(await at('r', 2), { n: 1, list: ['a', 'b'], o: { k: 1 } }, 'superstep 2')
      assertEqual(await at('r'), { list: ['a', 'b'], o: { k: 1 } }, 'the latest')
      assertEqual(await at('f'), { n: 'forked', list: ['a', 'b'], o: { k: 1 } }, 'the fork')
      assertEqual(await ledger.getState('nobody'), null, 'an unknown run')
    },
  },
]

async function forth(ledger: Ledger, runId: string, limit: number): Promise<StepSkeleton[]> {
  const all: StepSkeleton[] = []
  for (let page = all; ; ) {
    page = await ledger.getSkeleton(runId, { afterSeq: all.at(-1)?.startedSeq, limit })
    all.push(...page)
    assert(page.length <= limit, 'no more than asked for')
    if (page.length < limit) return all
  }
}

async function back(ledger: Ledger, runId: string, limit: number): Promise<StepSkeleton[]> {
  const all: StepSkeleton[] = []
  for (let page = all; ; ) {
    page = await ledger.getSkeleton(runId, { beforeSeq: all[0]?.startedSeq, limit, last: true })
    all.unshift(...page)
    assert(page.length <= limit, 'no more than asked for')
    if (page.length < limit) return all
  }
}
