import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeRecord } from './node-record.ts'
import { computeStats } from './node-stats.ts'
import { textWidth } from './printable-text.ts'
import { createRunLog, type RunLog } from './run-log.ts'

const record = (nodeName: string, change: Partial<NodeRecord> = {}): NodeRecord => ({
  nodeName,
  superstep: 1,
  durationMs: 10,
  status: 'completed',
  error: null,
  cached: false,
  decision: null,
  ...change,
})

function logOf(...steps: readonly NodeRecord[]): RunLog {
  let ms = 1000
  const { log, push, end } = createRunLog({ graphName: 'chat', runId: 'run-1', now: () => ms })
  for (const step of steps) push(step)
  ms += 250
  end()
  ms += 1000
  return log
}

const FAILED = { status: 'failed', error: { name: 'Error', code: 'E_BUSY', message: 'not now' } } as const

describe('R1 the run log', () => {
  it('R1 keeps steps as they were pushed, and the time from its beginning to its end', () => {
    const steps = [record('plan'), record('write', { superstep: 2, decision: ['a', 'b'] })]
    const log = logOf(...steps)
    expect([log.graphName, log.runId, log.totalDurationMs]).toEqual(['chat', 'run-1', 250])
    expect(log.steps).toEqual(steps)
    expect(log.errors).toEqual([])
    expect(log.timing).toEqual({ plan: 10, write: 10 })
  })

  it('R1 tells the time so far while the run goes on, and statistics of what is there', () => {
    let ms = 0
    const { log, push, end } = createRunLog({ graphName: 'g', runId: 'r', now: () => ms })
    ms = 40
    push(record('a'))
    expect([log.totalDurationMs, log.nodeStats['a']?.count]).toEqual([40, 1])
    push(record('a'))
    expect(log.nodeStats['a']?.count).toBe(2)
    end(70)
    ms = 900
    expect(log.totalDurationMs).toBe(70)
  })

  it('R1 counts failed tries that were tried again as errors', () => {
    const log = logOf(record('a', FAILED), record('a', FAILED), record('a'))
    expect(log.nodeStats['a']).toMatchObject({ count: 3, errors: 2 })
    expect(log.errors).toHaveLength(2)
  })

  it('R1 keeps cached and restored results out of the average, and restored ones out of the time spent', () => {
    const log = logOf(
      record('a', { durationMs: 30 }),
      record('a', { durationMs: 1, cached: true }),
      record('a', { durationMs: 500, restored: true }),
    )
    expect(log.nodeStats['a']).toEqual({
      count: 3,
      totalMs: 31,
      averageMs: 30,
      p50Ms: 30,
      p95Ms: 30,
      errors: 0,
      cached: 1,
    })
  })

  it('R1 has no average of a node that never worked', () => {
    expect(logOf(record('a', { cached: true })).nodeStats['a']).toMatchObject({
      averageMs: null,
      p95Ms: null,
    })
  })

  it('R1 p50 and p95 are the least values that half and 95 in 100 do not exceed, whatever the order', () => {
    const durations = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 })
    const naive = (values: readonly number[], percent: number): number =>
      Math.min(
        ...values.filter((v) => values.filter((each) => each <= v).length * 100 >= percent * values.length),
      )
    fc.assert(
      fc.property(durations, (values) => {
        const stats = computeStats(values.map((durationMs) => record('a', { durationMs }))).get('a')
        expect(stats?.p50Ms).toBe(naive(values, 50))
        expect(stats?.p95Ms).toBe(naive(values, 95))
        expect(stats?.averageMs).toBeCloseTo(values.reduce((sum, v) => sum + v, 0) / values.length, 4)
      }),
    )
  })

  it('R1 adds up: counts, errors and times of nodes are those of the steps', () => {
    const step = fc.record({
      nodeName: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
      durationMs: fc.nat(1000),
      status: fc.constantFrom('completed', 'failed', 'paused', 'stopped', 'interrupted'),
      cached: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step), (changes) => {
        const log = logOf(...changes.map((change) => record(change.nodeName, change)))
        const stats = Object.values(log.nodeStats)
        const sum = (pick: (each: (typeof stats)[number]) => number): number =>
          stats.reduce((total, each) => total + pick(each), 0)
        expect(sum((each) => each.count)).toBe(changes.length)
        expect(sum((each) => each.errors)).toBe(log.errors.length)
        expect(sum((each) => each.totalMs)).toBe(changes.reduce((total, each) => total + each.durationMs, 0))
        expect(new Set(Object.keys(log.nodeStats))).toEqual(new Set(changes.map((each) => each.nodeName)))
      }),
    )
  })

  it('R1 goes to JSON and back as data', () => {
    const log = logOf(record('a', { decision: 'b' }), record('b', FAILED))
    const data = JSON.parse(JSON.stringify(log)) as RunLog
    expect(data).toEqual(log.toJSON())
    expect(Object.keys(data)).toEqual([
      'graphName',
      'runId',
      'totalDurationMs',
      'steps',
      'restored',
      'errors',
      'timing',
      'nodeStats',
    ])
  })
})

describe('R1 the table', () => {
  it('R1 has a line per step when each node ran once', () => {
    const log = logOf(
      record('plan', { decision: 'write', durationMs: 1.234 }),
      record('write', { superstep: 2, durationMs: 1500, cached: true }),
    )
    expect(log.table().split('\n')).toEqual([
      'chat: 2 steps of 2 nodes in 250 ms, 1 cached (run run-1)',
      'superstep  node   status             duration  decision',
      '        1  plan   completed           1.23 ms  write',
      '        2  write  completed, cached    1.50 s',
    ])
  })

  it('R1 has statistics when a node ran again, the most time first, and the errors below', () => {
    const log = logOf(
      record('a'),
      record('b', { durationMs: 5 }),
      record('b', { ...FAILED, superstep: 2, durationMs: 65 }),
    )
    expect(log.table().split('\n')).toEqual([
      'chat: 3 steps of 2 nodes in 250 ms, 1 error (run run-1)',
      'node  count  total  average      p50    p95  errors',
      'b         2  70 ms    35 ms  5.00 ms  65 ms       1',
      'a         1  10 ms    10 ms    10 ms  10 ms',
      'error in b, superstep 2: Error E_BUSY not now',
    ])
  })

  it('R1 is what console.log prints, also inside a result, and what a text makes of it', () => {
    const log = logOf(record('a'))
    expect(inspect(log)).toBe(log.table())
    expect(inspect({ log })).toContain('1 step of 1 node')
    expect(String(log)).toBe(log.table())
    expect(log.summary()).toBe(log.table().split('\n')[0])
  })

  it('R1 of a run without steps is its summary', () => {
    expect(logOf().table()).toBe('chat: 0 steps of 0 nodes in 250 ms (run run-1)')
  })

  it('R1 says how many lines it leaves out', () => {
    const lines = logOf(...Array.from({ length: 1000 }, (_, i) => record(`n${i}`, FAILED)))
      .table()
      .split('\n')
    expect(lines).toHaveLength(1 + 1 + 200 + 1 + 10 + 1)
    expect(lines[202]).toBe('… and 800 steps more')
    expect(lines.at(-1)).toBe('… and 990 errors more')
  })

  it('R1 prints names safely: nothing that drives a terminal, columns that hold for every script', () => {
    const names = [
      '\u001b[2Jclear',
      'two\nlines',
      '猫の計画',
      '👩‍👩‍👧‍👦 家',
      'e\u0301te\u0301',
      'x'.repeat(200),
      '\u202eright',
    ]
    const [, head = '', ...lines] = logOf(...names.map((name) => record(name)))
      .table()
      .split('\n')
    expect(lines).toHaveLength(names.length)
    // oxlint-disable-next-line no-control-regex -- these are the ones that must not be there
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u202e]/)
    const at = head.indexOf('status')
    for (const line of lines) expect(textWidth(line.slice(0, line.indexOf('completed')))).toBe(at)
    expect(lines[5]).toContain(`${'x'.repeat(31)}…`)
  })

  it('R1 never breaks its lines, whatever the names are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { minLength: 1, maxLength: 8 }),
        (names) => {
          const log = logOf(...names.map((name) => record(name, { decision: [name] })))
          const lines = log.table().split(/[\n\r\u2028\u2029\u0085]/)
          expect(lines).toHaveLength(2 + new Set(names).size)
          for (const line of lines) expect(textWidth(line)).toBeLessThan(130)
        },
      ),
    )
  })
})

describe('R1 widths', () => {
  it.each([
    ['abc', 3],
    ['猫', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇩🇪', 2],
    ['e\u0301', 1],
    ['한글', 4],
    ['✅', 2],
    ['', 0],
  ])('R1 %s takes %i columns', (text, width) => {
    expect(textWidth(text)).toBe(width)
  })
})
