import { foldSteps, formatStepId, type ClewEvent } from '@clew/ledger'
import { expect, it } from 'vitest'
import { createColours } from './colour.ts'
import { stepTree } from './step-tree.ts'

let seq = 0
function event(eventType: string, payload: ClewEvent['payload']): ClewEvent {
  const ledger = {
    workspace: 'default',
    seq: ++seq,
    position: seq,
    recordedAt: '',
    hash: '',
    schemaVersion: 0,
  }
  const timestamp = new Date(seq * 1000).toISOString()
  return {
    eventId: String(seq),
    eventType,
    timestamp,
    source: { origin: 'agent', runtime: 'clew' },
    correlationId: 'r',
    causationId: null,
    payload,
    ledger,
  }
}
const started = (stepId: string, more = {}): ClewEvent =>
  event('execution.step_started', { stepId, name: 'n', ...more })
const tree = (events: ClewEvent[], width = 80): string[] =>
  stepTree(foldSteps(events), createColours(false), width)

it('draws steps below their parents, attempts one after the other', () => {
  const lines = tree([
    started('plan#0'),
    started('plan#0/search#0'),
    event('execution.step_failed', { stepId: 'plan#0/search#0', error: { message: 'no\u001b[2J' } }),
    started('plan#0/read#0'),
    started('plan#0/search#0', { attempt: 2 }),
    event('execution.step_completed', { stepId: 'plan#0/search#0', attempt: 2, output: 1 }),
    started('end#0'),
  ])
  expect(lines.map((line) => line.trimEnd())).toEqual([
    '● plan        running',
    '├ ✗ search      1.0 s  no\\e[2J',
    '├ ✓ search      1.0 s  attempt 2',
    '└ ● read      running',
    '● end         running',
  ])
})

it('makes a step without its parent a root, and survives ten thousand levels and a wide run', () => {
  expect(tree([started('gone#0/child#0')])[0]).toContain('child')
  const deep: ClewEvent[] = []
  let parentStepId: string | null = null
  for (let level = 0; level < 3000; level++) {
    const stepId: string = level === 0 ? 's#0' : `s${level}`
    deep.push(started(stepId, { parentStepId }))
    parentStepId = stepId
  }
  expect(tree(deep)).toHaveLength(3000)
  const wide = Array.from({ length: 20_000 }, (_, ordinal) =>
    started(formatStepId({ parentStepId: null, name: 's', ordinal })),
  )
  expect(tree(wide)).toHaveLength(20_000)
})
