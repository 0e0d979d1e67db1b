import type { TraceStep } from '@clew/trace'
import { expect, it } from 'vitest'
import { leavesOf } from './leaves-of.ts'

const step = (stepId: string, parentStepId: string | null, more: Partial<TraceStep> = {}): TraceStep =>
  ({ stepId, parentStepId, status: 'completed', sources: [], messageId: null, ...more }) as TraceStep
const idsOf = (steps: readonly TraceStep[]): string[] => leavesOf(steps).map(({ stepId }) => stepId)

it('T6 leaves out steps that only hold others, however deep', () => {
  expect(
    idsOf([step('node', null), step('inner', 'node'), step('leaf', 'inner'), step('alone', null)]),
  ).toEqual(['leaf', 'alone'])
})

it('T6 keeps a step around others that failed by itself, or that has sources or a message', () => {
  const failed = { status: 'failed' } as const
  expect(idsOf([step('node', null, failed), step('leaf', 'node')])).toEqual(['node', 'leaf'])
  expect(idsOf([step('node', null, failed), step('leaf', 'node', failed)])).toEqual(['leaf'])
  expect(idsOf([step('node', null, { messageId: 'm' }), step('leaf', 'node')])).toEqual(['node', 'leaf'])
})
