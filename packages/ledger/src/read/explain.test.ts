import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import type { EventInput } from '../event/envelope.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'

const ledger = createLedger({
  store: createInProcessStore(nodePorts),
  ports: nodePorts,
  secret: 's',
  heads: {} as never,
})
let clock = 0
const at = (): string => new Date(1_800_000_000_000 + clock++ * 1000).toISOString()

/** A run in which each event names the one before as its cause. */
async function record(
  runId: string,
  list: readonly (readonly [string, Record<string, unknown>])[],
  causes = true,
) {
  let causationId: string | null = null
  for (const [eventType, payload] of list) {
    const input: EventInput = { eventType, correlationId: runId, payload, causationId, timestamp: at() }
    const [event] = await ledger.append([input])
    if (causes) causationId = event?.eventId ?? null
  }
}

const started = (stepId: string, input: unknown, more = {}) =>
  ['execution.step_started', { stepId, name: stepId.split('#')[0], input, ...more }] as const
const begin = (agent: string) => ['system.workflow_started', { agent, input: { topic: 'owls' } }] as const

describe('explain', () => {
  it('V10 names the innermost failure, its input, what a person did, and where the last good run went on', async () => {
    const ask = ['execution.message', { role: 'user', content: 'Why are owls quiet?' }] as const
    await record('good', [
      begin('a'),
      ask,
      started('plan#0', 1),
      ['execution.step_completed', { stepId: 'plan#0', output: 2 }],
      ['system.workflow_completed', {}],
    ])
    await record('bad', [
      begin('a'),
      ask,
      started('plan#0', 1),
      started('plan#0/search#0', { q: 'wings' }),
      ['execution.step_failed', { stepId: 'plan#0/search#0', error: { name: 'E', message: 'no net' } }],
      ['execution.step_failed', { stepId: 'plan#0', error: { message: 'no net' } }],
      ['system.workflow_failed', { error: { message: 'no net' } }],
    ])
    const found = await ledger.explain('bad')
    expect(found.place).toMatchObject({
      because: 'failed',
      stepId: 'plan#0/search#0',
      input: '{"q":"wings"}',
      error: 'E: no net',
    })
    expect(found.causesRecorded).toBe(true)
    expect(found.causes.map((cause) => cause.seq)).toEqual([4, 3, 2, 1])
    expect(found.origin).toMatchObject({ by: 'person', seq: 2, label: 'user "Why are owls quiet?"' })
    expect(found.lastGood).toMatchObject({ runId: 'good', same: false, first: { kind: 'output' } })
  })

  it('V10 takes the nearest human action when no causes were recorded, and a failed tool when there are no steps', async () => {
    await record(
      'chat',
      [
        ['execution.message', { role: 'user', content: 'Book it' }],
        ['execution.tool_call', { toolCallId: 'c', name: 'book', arguments: { seat: 1 } }],
        ['execution.tool_error', { toolCallId: 'c', error: 'no seat' }],
        ['execution.message', { role: 'assistant', content: 'There is no seat.' }],
      ],
      false,
    )
    const found = await ledger.explain('chat')
    expect(found).toMatchObject({
      place: { because: 'failed', name: 'book', input: '{"seat":1}', error: '"no seat"' },
      causesRecorded: false,
      origin: { by: 'person', seq: 1 },
      lastGood: null,
    })
  })

  it('V10 a step that was tried again with success is not the failure', async () => {
    await record('again', [
      begin('b'),
      started('a#0', 1),
      ['execution.step_failed', { stepId: 'a#0', error: { message: 'no' } }],
      started('a#0', 1, { attempt: 2 }),
      ['execution.step_completed', { stepId: 'a#0', attempt: 2, output: 'yes' }],
    ])
    expect((await ledger.explain('again')).place).toMatchObject({
      because: 'last',
      attempt: 2,
      output: '"yes"',
    })
  })

  it('V10 a tool that failed in a run that went well explains nothing', async () => {
    await record('got over it', [
      ['execution.tool_error', { name: 'book', error: 'no seat' }],
      ['execution.tool_result', { name: 'book', result: 'fine' }],
      ['system.workflow_completed', {}],
    ])
    expect((await ledger.explain('got over it')).place).toMatchObject({ because: 'last', output: '"fine"' })
  })

  it('V10 unfinished and paused runs show where they stand; an unknown run is an error', async () => {
    await record('open', [begin('c'), started('a#0', 1)])
    expect((await ledger.explain('open')).place).toMatchObject({ because: 'running', stepId: 'a#0' })
    await record('asked', [
      begin('c'),
      started('a#0', 1),
      ['ui.input_requested', { stepId: 'a#0', question: 'ok?' }],
    ])
    expect((await ledger.explain('asked')).place).toMatchObject({ because: 'paused', stepId: 'a#0' })
    await record('odd', [['integration.custom', {}]])
    expect((await ledger.explain('odd')).place).toMatchObject({ because: 'last', kind: 'integration.custom' })
    await expect(ledger.explain('nobody')).rejects.toThrow('There is no run nobody')
  })

  it('V10 a long chain of causes keeps both ends', async () => {
    const notes = Array.from({ length: 40 }, (_, i) => ['execution.note', { i }] as const)
    await record('long', [begin('d'), ...notes])
    const { causes, omittedCauses, origin } = await ledger.explain('long')
    expect([causes.length, omittedCauses, causes.at(-1)?.seq, origin?.by]).toEqual([10, 30, 1, 'input'])
  })
})

describe('diff of stored runs', () => {
  it('V10 a fork shares its prefix, which is not compared', async () => {
    await record('source', [
      begin('e'),
      started('a#0', 1),
      ['execution.step_completed', { stepId: 'a#0', output: 1 }],
      started('b#0', 1),
      ['execution.step_completed', { stepId: 'b#0', output: 1 }],
      ['system.workflow_completed', { output: 'x' }],
    ])
    await record('forked', [
      ['system.workflow_forked', { sourceRunId: 'source', sourceSeq: 3 }],
      started('b#0', 1),
      ['execution.step_completed', { stepId: 'b#0', output: 2 }],
      ['system.workflow_completed', { output: 'y' }],
    ])
    const found = await ledger.diff('source', 'forked')
    expect(found).toMatchObject({
      same: false,
      sharedEvents: 3,
      first: { kind: 'output', expected: { stepId: 'b#0' } },
      output: [{ path: '$', expected: '"x"', received: '"y"' }],
      deltas: { steps: { a: 1, b: 1, delta: 0 } },
    })
    const siblings = await ledger.diff('forked', 'forked')
    expect([siblings.same, siblings.rows]).toEqual([true, []])
  })

  it('V10 a step that the fork ends otherwise than its source is compared, though it began before', async () => {
    await record('half', [
      ['system.workflow_forked', { sourceRunId: 'source', sourceSeq: 4 }],
      ['execution.step_completed', { stepId: 'b#0', output: 3 }],
    ])
    expect((await ledger.diff('source', 'half')).first).toMatchObject({
      kind: 'output',
      received: { stepId: 'b#0' },
    })
  })

  it('V10 empty and unlike runs are compared, too', async () => {
    await record('bare', [begin('e')])
    expect((await ledger.diff('bare', 'source')).first).toMatchObject({
      kind: 'extra',
      received: { stepId: 'a#0' },
    })
    expect((await ledger.diff('source', 'bare')).counts).toMatchObject({ missing: 2 })
    await expect(ledger.diff('source', 'nobody')).rejects.toThrow('There is no run nobody')
  })

  describe('the last good run', () => {
    const say = (content: string) => ['execution.message', { role: 'assistant', content }] as const
    const end = ['system.workflow_completed', {}] as const
    const trial = (agent: string, task: number, reward: number, words: string) =>
      [['system.workflow_started', { agent, metadata: { task_id: task, reward } }], say(words), end] as const
    const lastGoodOf = async (runId: string) => {
      const { lastGood } = await ledger.explain(runId)
      return lastGood && [lastGood.runId, lastGood.matched]
    }

    it('V10 is one of the same task, by metadata, whose reward is good, also if it came later', async () => {
      await record('t0-bad', trial('desk', 0, 0, 'No.'))
      await record('t1-good', trial('desk', 1, 1, 'Other.'))
      expect(await lastGoodOf('t0-bad')).toBe(null)
      await record('t0-good', trial('desk', 0, 1, 'Yes.'))
      await record('t0-bad-2', trial('desk', 0, 0, 'Never.'))
      expect(await lastGoodOf('t0-bad')).toEqual(['t0-good', 'task'])
      expect(await lastGoodOf('t0-bad-2')).toEqual(['t0-good', 'task'])
      expect((await ledger.explain('t0-bad-2')).outcome).toEqual({ name: 'reward', value: 0, isGood: false })
      // Nothing of its task was good: the newest good one of its agent.
      await record('t2-bad', trial('desk', 2, 0, 'No.'))
      expect(await lastGoodOf('t2-bad')).toEqual(['t0-good', 'agent'])
    })

    it('V10 is one with the same tag of a task, judged by scores', async () => {
      for (const [runId, value] of [
        ['tag-good', true],
        ['tag-bad', false],
        ['tag-other', true],
        ['tag-here', false],
      ] as const) {
        const task = runId === 'tag-other' ? 'refund' : 'rebook'
        await record(runId, [
          ['system.workflow_started', { agent: 'clerk', input: { n: runId } }],
          say(runId),
          ['system.tagged', { set: { task } }],
          ['system.scored', { target: 'run', name: 'passed', value }],
          end,
        ])
      }
      expect(await lastGoodOf('tag-here')).toEqual(['tag-good', 'task'])
    })

    it('V10 is one with an equal input, whatever the order of its keys, before one of the thread or the agent', async () => {
      const run = (input: unknown, threadId?: string) =>
        [
          ['system.workflow_started', { agent: 'same', input, ...(threadId && { threadId }) }],
          say('x'),
        ] as const
      await record('in-1', [...run({ a: 1, b: 2 }), end])
      await record('in-2', [...run({ a: 5 }, 'th'), end])
      await record('in-3', [...run({ a: 6 }), end])
      await record('in-4', [...run({ b: 2, a: 1 }, 'th'), ['system.workflow_failed', {}]])
      expect(await lastGoodOf('in-4')).toEqual(['in-1', 'input'])
      await record('in-5', [...run({ a: 7 }, 'th'), ['system.workflow_failed', {}]])
      expect(await lastGoodOf('in-5')).toEqual(['in-2', 'thread'])
      await record('in-6', [...run({ a: 8 }), ['system.workflow_failed', {}]])
      expect(await lastGoodOf('in-6')).toEqual(['in-3', 'agent'])
    })

    it('V10 a question of a person is the input of a run that has none', async () => {
      const ask = (content: string) => ['execution.message', { role: 'user', content }] as const
      await record('ask-1', [['system.workflow_started', { agent: 'q' }], ask('When?'), end])
      await record('ask-2', [['system.workflow_started', { agent: 'q' }], ask('Where?'), end])
      await record('ask-3', [
        ['system.workflow_started', { agent: 'q' }],
        ask('When?'),
        ['system.workflow_failed', {}],
      ])
      expect(await lastGoodOf('ask-3')).toEqual(['ask-1', 'input'])
    })
  })
})
