import type { ReplayDivergence, PathStep, ReplayReport } from '@clew/runtime'
import { expect, it } from 'vitest'
import { createColours } from '../cli/colour.ts'
import { textWidth } from '../cli/text.ts'
import { reportLines } from './report-lines.ts'

const step = (stepId: string, match: PathStep['match'] = 'same', seq: number | null = 3): PathStep => ({
  step: stepId.replace(/#.*/, ''),
  stepId,
  kind: 'effect',
  decision: null,
  match,
  seq: match === 'new' ? null : seq,
})

const divergence: ReplayDivergence = {
  kind: 'input',
  step: 'search',
  stepId: 'search#1',
  seq: 9,
  expected: { q: 'owls', page: 1 },
  received: { q: 'mice', page: 1 },
  changes: [{ path: '$.q', expected: '"owls"', received: '"mice"' }],
}

const report = (more: Partial<ReplayReport> = {}): ReplayReport => ({
  mode: 're-execute',
  verdict: 'diverged',
  sourceRunId: 'trip-12',
  runId: null,
  divergences: [divergence],
  path: [
    ...Array.from({ length: 40 }, (_, at) => step(`read#${at}`, 'same', at + 2)),
    step('search#1', 'changed', 9),
    step('book#0', 'missing', 12),
    step('pay#0', 'new'),
    step('thank#0', 'same', 14),
  ],
  outcome: { status: 'failed', error: { name: 'TypeError', code: 'thrown', message: 'no hits' } },
  recorded: { status: 'completed', output: { booked: 'HAT136' } },
  fidelity: {
    agentVersion: { recorded: '1', now: '1' },
    clewVersion: { recorded: '0.1.0', now: '0.1.0' },
    structureHash: { recorded: null, now: null },
    models: { recorded: [], now: [] },
  },
  steps: 44,
  durationMs: 12,
  ...more,
})

it('D7 a report says what the record was made with where it is read with something else', () => {
  const { fidelity } = report()
  const other = {
    ...fidelity,
    agentVersion: { recorded: '1', now: '2' },
    clewVersion: { recorded: null, now: '9' },
  }
  expect(reportLines(report({ fidelity: other }))[1]).toBe(
    '  recorded with another agent version 1 → 2, Clew none → 9',
  )
  expect(reportLines(report()).join()).not.toContain('recorded with another')
})

it('D2 a divergence is shown with its step, both sides, the paths around it and what can be done', () => {
  expect(reportLines(report()).join('\n')).toMatchInlineSnapshot(`
    "✗ diverged  trip-12  44 steps in 12 ms

    FIRST DIVERGENCE
      input: the same step with another input
      at search#1, event 9 of the record
        $.q
          - "owls"
          + "mice"

    THE PATHS  41 the same, 1 changed, 1 missing, 1 new
        … 38 steps
            #40  read#38                                             effect
            #41  read#39                                             effect
      ≠      #9  search#1                                            effect
      -     #12  book#0                                              effect
      +          pay#0                                               effect
            #14  thank#0                                             effect

    RECORDED  completed { booked: "HAT136" }
    NOW       failed TypeError: no hits

    WHAT NOW
      · If it differs every time: take clock, chance and ids from run.now(),
        run.random() and run.uuid(), or declare it volatile: ['input.q'].
      · If the change is meant, this run is not what the code does any more: record
        a new one.
      · To go on from there, live, with the code as it is now:
        $ clew replay trip-12 --mode what-if --at 'search#1' --agent MODULE"
  `)
})

it('D2 an identical replay is one line', () => {
  const same = report({
    verdict: 'identical',
    divergences: [],
    path: [step('read#0')],
    outcome: { status: 'completed' },
    steps: 1,
  })
  expect(reportLines(same)).toEqual(['✓ identical  trip-12  1 step in 12 ms, completed as recorded'])
})

it('D2 values without parts in common are shown whole, and what is long is cut', () => {
  const whole = {
    ...divergence,
    kind: 'name',
    expected: 'search#1',
    received: 'find#0',
    changes: [],
  } as const
  expect(reportLines(report({ divergences: [whole] }))).toEqual(
    expect.arrayContaining(['    - search#1', '    + find#0']),
  )
  const long = { ...whole, expected: 'owl '.repeat(500), received: undefined }
  const lines = reportLines(report({ divergences: [long], path: [] }))
  expect(lines.filter((line) => line.includes('owl'))).toHaveLength(3)
  expect(lines).toContain('    + nothing')
})

it('P3 nothing in a report can drive a terminal, and no line is wider than was asked for', () => {
  const evil = '\u001b[31mred\r\n\u202e'
  const strange: ReplayDivergence = {
    ...divergence,
    step: evil,
    stepId: `${evil}#0`.repeat(20),
    childRunId: evil.repeat(30),
    changes: [
      { path: `$.${evil}`, expected: evil, received: 'x'.repeat(400) },
      { path: '$.b', expected: null, received: '1' },
    ],
  }
  const lines = reportLines(
    report({
      sourceRunId: evil.repeat(40),
      divergences: [strange, { ...strange, changes: [], expected: evil, received: { [evil]: evil } }],
      path: [{ ...step(evil.repeat(20), 'new'), kind: evil.repeat(9), decision: [evil, evil] }],
      outcome: { status: 'completed', output: evil.repeat(50) },
    }),
  )
  // oxlint-disable-next-line no-control-regex -- these are the ones that must not be there
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u202e]/)
  // Commands are there to be copied whole.
  for (const line of lines.filter((each) => !each.startsWith('    $ ')))
    expect([line, textWidth(line) <= 80]).toEqual([line, true])
})

it('D2 colours are those of the command line, and change nothing but the colour', () => {
  const coloured = reportLines(report(), { colour: createColours(true) }).join('\n')
  // oxlint-disable-next-line no-control-regex -- colours
  expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(reportLines(report()).join('\n'))
})
