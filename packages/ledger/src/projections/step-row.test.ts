import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StepSkeleton } from '../fold/steps.ts'
import { packStep, unpackStep } from './step-row.ts'

const timestamp = fc.oneof(
  fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
    .map((date) => date.toISOString()),
  fc.constantFrom('2026-11-15T07:17:00Z', '2026-11-15T07:17:00.5+01:00', '2026-11-15T07:17:00.123Z'),
)
const maybe = <T>(arb: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arb, { nil: null })
const stepId = fc.constantFrom('a#0', 'think@s12', 'plan#0/search#2', 'no-mark', 'x%2fy#1', 'a/b', '#1', '')

const steps: fc.Arbitrary<StepSkeleton> = fc.record({
  runId: fc.constant('r'),
  stepId,
  parentStepId: maybe(fc.constantFrom('plan#0', 'a', 'other')),
  nodeName: fc.constantFrom('a', 'think', 'search', 'no-mark', 'x/y', ''),
  kind: fc.constantFrom('step', 'node', 'effect'),
  attempt: fc.integer({ min: 1, max: 3 }),
  superstep: fc.nat(20),
  index: fc.nat(3),
  status: fc.constantFrom('running', 'completed', 'failed', 'paused', 'stopped', 'interrupted'),
  inputDigest: maybe(fc.string()),
  inputVersions: maybe(fc.constant({ messages: 3 })),
  decision: maybe(fc.oneof(fc.string(), fc.array(fc.string()))),
  error: maybe(fc.constant({ name: 'E', code: null, message: 'm' })),
  pause: maybe(fc.constant({ pauseId: 'p', stepId: null, question: null })),
  partial: fc.boolean(),
  cached: fc.boolean(),
  restored: fc.boolean(),
  childRunId: maybe(fc.string()),
  usage: maybe(fc.constant({ inputTokens: 1 })),
  billing: fc.constantFrom('step', 'inside', null),
  spanId: fc.uuid(),
  createdAt: timestamp,
  completedAt: maybe(timestamp),
  durationMs: maybe(fc.oneof(fc.nat(100_000), fc.constantFrom(1.5, 9e15, 1e300))),
  startedSeq: fc.integer({ min: 1, max: 9 }),
  endedSeq: maybe(fc.integer({ min: 1, max: 12 })),
})

describe('rows of steps', () => {
  it('L1 a packed step comes back as it was, in the same order of keys', () => {
    fc.assert(
      fc.property(steps, (step) => {
        expect(JSON.stringify(unpackStep(packStep(step), step))).toBe(JSON.stringify(step))
      }),
      { numRuns: 2000 },
    )
  })

  it('L1 a row that holds the whole step, as older versions wrote it, gives the same', () => {
    fc.assert(
      fc.property(steps, (step) => {
        expect(unpackStep(JSON.stringify(step), step)).toEqual(step)
      }),
    )
  })

  it('L8 a node of a loop is packed to what is its own', () => {
    const createdAt = '2026-11-15T07:17:00.123Z'
    const [step] = fc.sample(steps, 1) as [StepSkeleton]
    const loop: StepSkeleton = {
      ...step,
      stepId: 'think@s12',
      parentStepId: null,
      nodeName: 'think',
      kind: 'node',
      superstep: 12,
      index: 0,
      status: 'completed',
      inputDigest: null,
      inputVersions: null,
      decision: null,
      error: null,
      pause: null,
      partial: false,
      cached: false,
      restored: false,
      childRunId: null,
      usage: null,
      billing: null,
      spanId: 'id',
      createdAt,
      completedAt: createdAt,
      durationMs: 0.21,
      startedSeq: 7,
      endedSeq: 7,
    }
    expect(JSON.parse(packStep(loop))).toEqual({
      k: 'node',
      s: 12,
      id: 'id',
      at: Date.parse(createdAt),
      ms: 0.21,
    })
  })
})
