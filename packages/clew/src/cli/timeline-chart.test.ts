import { type ClewEvent, foldEvents, timelineFold } from '@clew/ledger'
import { expect, it } from 'vitest'
import { createColours } from './colour.ts'
import { textWidth } from './text.ts'
import { timelineChart } from './timeline-chart.ts'

const AT = Date.parse('2026-11-15T08:00:00Z')

function draw(events: readonly [string, number, Record<string, unknown>][], width = 60, more = {}): string[] {
  const history = events.map(([eventType, atMs, payload], at): ClewEvent => {
    const timestamp = new Date(AT + atMs).toISOString()
    const ledger = {
      workspace: 'w',
      seq: at + 1,
      position: at + 1,
      recordedAt: timestamp,
      hash: '',
      schemaVersion: 0,
    }
    return {
      eventId: `e${at}`,
      eventType: `execution.${eventType}`,
      timestamp,
      source: { origin: 'agent', runtime: 'clew' },
      correlationId: 'r',
      causationId: null,
      payload,
      ledger,
    }
  })
  const options = { colour: createColours(false), width, rows: 100, events: false, ...more }
  return timelineChart(foldEvents(timelineFold, history), options).lines
}
const step = (stepId: string, name = stepId) => ({ stepId, name })

it('V4 bars lie where their steps lie, and what runs goes on to the edge', () => {
  const lines = draw([
    ['step_started', 0, step('a')],
    ['step_completed', 500, step('a')],
    ['step_started', 500, step('b')],
    ['message', 1000, { role: 'user' }],
  ])
  expect(lines).toEqual(
    [
      '                  0 ms                          1.0 s',
      '✓ a               ━━━━━━━━━━━━━━                     500 ms',
      '● b                            ╾╌╌╌╌╌╌╌╌╌╌╌╌╌       running',
    ].map((line) => expect.stringMatching(squeeze(line)) as unknown as string),
  )
})

/** Bars and names as given, whatever the number of blanks and cells between them. */
const squeeze = (line: string): RegExp =>
  new RegExp(
    `^ *${line
      .trim()
      .replace(/[━╌]+/g, (run) => `${run[0]}+`)
      .replace(/ {2,}/g, ' +')}$`,
    'u',
  )

it('V4 100,000 siblings are one row, and every line fits the terminal', () => {
  const many: [string, number, Record<string, unknown>][] = []
  for (let n = 0; n < 50_000; n++)
    many.push(['step_started', n, step(`s#${n}`, 'map')], ['step_completed', n + 1, step(`s#${n}`)])
  many.push(['step_started', 0, step('odd', '\u001b[2J\u202e日本'.repeat(20))])
  for (const width of [40, 80, 200]) {
    const lines = draw(many, width)
    expect(lines).toHaveLength(3)
    expect(lines[1]).toContain('map ×50,000')
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width)
    for (const char of ['\u001b', '\u202e']) expect(lines.join('')).not.toContain(char)
  }
})

it('V4 without times the places in the run are drawn', () => {
  const [axis] = draw([
    ['step_started', 0, step('a')],
    ['step_completed', 0, step('a')],
  ])
  expect(axis).toMatch(/seq 1 +seq 2/)
})

it('V4 an empty run has an axis and no rows', () => {
  expect(draw([])).toHaveLength(1)
})
