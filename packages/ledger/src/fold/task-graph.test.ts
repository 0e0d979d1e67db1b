import { describe, expect, it } from 'vitest'
import { foldEvents } from './fold.ts'
import { type EventFixture, buildEvents } from './event-fixtures.ts'
import { formatMermaid } from './task-graph-mermaid.ts'
import { taskGraphFold } from './task-graph.ts'

const fold = (...happenings: EventFixture[]) => foldEvents(taskGraphFold, buildEvents(happenings))
const start = (stepId: string, payload: object = {}, more: Partial<EventFixture> = {}): EventFixture => ({
  type: 'execution.step_started',
  payload: { stepId, name: stepId.replace(/.*\//, '').replace(/#\d+$/, ''), ...payload },
  ...more,
})
const end = (stepId: string, payload: object = {}): EventFixture => ({
  type: 'execution.step_completed',
  payload: { stepId, ...payload },
})
const edges = (...happenings: EventFixture[]): string[] => {
  const graph = fold(...happenings)
  const name = (id: string): string => graph.nodes.find((node) => node.id === id)?.name ?? '?'
  return graph.edges.map((edge) => `${name(edge.from)} ${edge.kind} ${name(edge.to)} ${edge.count}`)
}

describe('task graph', () => {
  it('V5 draws a loop as one node that began again', () => {
    const loop = [
      start('think#0'),
      end('think#0'),
      start('act#0'),
      end('act#0'),
      start('think#1'),
      end('think#1'),
      start('act#1'),
      end('act#1'),
    ]
    expect(edges(...loop)).toEqual(['think sequence act 2', 'act sequence think 1'])
    expect(fold(...loop).nodes).toMatchObject([
      { name: 'think', count: 2, loops: 1, statuses: { completed: 2 }, totalMs: 200, maxMs: 100 },
      { name: 'act', count: 2, loops: 1 },
    ])
  })

  it.each([
    ['asks', { type: 'system.workflow_paused', payload: { pauseIds: ['p'] } }, 'paused'],
    ['is answered and not taken up', { type: 'ui.input_received', payload: { pauseId: 'p' } }, 'paused'],
    ['goes on', { type: 'system.workflow_resumed', payload: {} }, 'running'],
  ])('V5 what lies around a question waits with it, until the run goes on: %s', (_, last, expected) => {
    const asked = [
      { type: 'system.workflow_started', payload: {} },
      start('review#0'),
      start('review#0/interrupt#0', { parentStepId: 'review#0' }),
      { type: 'ui.input_requested', payload: { pauseId: 'p', stepId: 'review#0/interrupt#0' } },
    ]
    const paused = { type: 'system.workflow_paused', payload: { pauseIds: ['p'] } }
    const graph = fold(...asked, ...(last.type === paused.type ? [] : [paused]), last)
    expect(graph.nodes.find(({ name }) => name === 'review')).toMatchObject({
      status: expected,
      statuses: { [expected]: 1 },
    })
    expect(formatMermaid(graph)).toContain(`review<br/>1 ${expected}`)
  })

  it('V5 fans out and joins: what begins follows all that ended since', () => {
    expect(
      edges(start('a#0'), end('a#0'), start('b#0'), start('c#0'), end('c#0'), end('b#0'), start('d#0')),
    ).toEqual(['a sequence b 1', 'a sequence c 1', 'c sequence d 1', 'b sequence d 1'])
  })

  it('V5 shows decisions, also for what never ran, and attempts without a circle', () => {
    const graph = fold(
      start('route#0'),
      end('route#0', { decision: ['write', 'ask'] }),
      start('write#0'),
      { type: 'execution.step_failed', payload: { stepId: 'write#0' } },
      start('write#0', { attempt: 2 }),
      end('write#0', { attempt: 2 }),
    )
    expect(graph.nodes.map(({ name, kind, count, attempts }) => [name, kind, count, attempts])).toEqual([
      ['route', 'step', 1, 1],
      ['write', 'step', 1, 2],
      ['ask', 'target', 0, 0],
    ])
    expect(graph.edges.map((edge) => edge.kind)).toEqual(['sequence', 'decision', 'decision'])
  })

  it('V5 follows causes, hand-offs and child runs', () => {
    expect(
      edges(
        start('a#0', {}, { id: 60 }),
        start('b#0'),
        { type: 'execution.checkpoint', cause: 60, id: 61 },
        start('c#0', { childRunId: 'run-1-c' }, { cause: 61 }),
        { type: 'execution.handoff', payload: { to: 'writer', stepId: 'c#0' } },
      ),
    ).toEqual(['c child_run child run 1', 'c handoff writer 1', 'a cause c 1'])
  })

  it('V5 survives causes and parents that go round in circles', () => {
    const graph = fold(
      { type: 'execution.checkpoint', id: 1, cause: 2 },
      { type: 'execution.checkpoint', id: 2, cause: 1 },
      start('a', { parentStepId: 'b' }, { cause: 1 }),
      start('b', { parentStepId: 'a' }, { cause: 2 }),
    )
    expect(graph.nodes.map((node) => node.name)).toEqual(['a', 'b'])
    expect(graph.edges).toEqual([])
  })

  it('V5 Mermaid: names cannot draw, and what does not fit is counted', () => {
    const text = formatMermaid(
      fold(start('x#0', { name: 'a"]; click n1 "javascript:x"\n%% <b>' }), end('x#0')),
    )
    expect(text.split('\n')[1]).toBe('  n1["a#34;#93;#59; click n1 #34;javascript:x#34; #37;#37; #60;b#62;"]')
    const many = formatMermaid(fold(...Array.from({ length: 300 }, (_, n) => start(`s${n}#0`))))
    expect(many).toContain('%% left out: 100 nodes')
  })
})
