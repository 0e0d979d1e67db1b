import { inspect } from 'node:util'
import { RUN_STATUSES, type RunStatus } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '../log/node-record.ts'
import { createRunLog } from '../log/run-log.ts'
import { aggregateStatus, type ItemStatus } from './aggregate-status.ts'
import { createMapResult, type MapItem } from './map-result.ts'

describe('R8 the status of a map', () => {
  it.each<[ItemStatus[], RunStatus]>([
    [[], 'completed'],
    [['completed'], 'completed'],
    [['completed', 'completed'], 'completed'],
    // Unstarted → stopped, whatever else there is.
    [['unstarted'], 'stopped'],
    [['completed', 'unstarted'], 'stopped'],
    [['completed', 'failed', 'unstarted'], 'stopped'],
    [['failed', 'unstarted'], 'stopped'],
    [['paused', 'unstarted'], 'stopped'],
    // Mixed → partial.
    [['completed', 'failed'], 'partial'],
    [['failed', 'completed', 'paused'], 'partial'],
    [['completed', 'stopped', 'failed'], 'partial'],
    [['completed', 'partial'], 'partial'],
    [['failed', 'partial'], 'partial'],
    // Then failed, paused, stopped, completed: the first that any item has.
    [['failed'], 'failed'],
    [['failed', 'failed'], 'failed'],
    [['failed', 'paused'], 'failed'],
    [['failed', 'stopped'], 'failed'],
    [['completed', 'paused'], 'paused'],
    [['paused', 'stopped'], 'paused'],
    [['completed', 'paused', 'stopped'], 'paused'],
    [['completed', 'stopped'], 'stopped'],
    [['stopped'], 'stopped'],
    // What a resumed map can meet beside these.
    [['completed', 'blocked'], 'blocked'],
    [['completed', 'interrupted'], 'interrupted'],
    [['completed', 'pending'], 'pending'],
  ])('R8 %j → %s', (items, status) => {
    expect(aggregateStatus(items)).toBe(status)
  })

  it('R8 does not hang on the order or the number of items, and is completed only if all are', () => {
    const status = fc.constantFrom<ItemStatus>(...RUN_STATUSES, 'unstarted')
    fc.assert(
      fc.property(fc.array(status), fc.array(fc.nat()), (items, keys) => {
        const whole = aggregateStatus(items)
        const shuffled = items
          .map((item, at) => [keys[at] ?? 0, item] as const)
          .sort((a, b) => a[0] - b[0])
          .map(([, item]) => item)
        expect(aggregateStatus(shuffled)).toBe(whole)
        expect(aggregateStatus([...items, ...items])).toBe(whole)
        const gone = new Set<ItemStatus>(['completed', 'superseded', 'deleted'])
        expect(whole === 'completed').toBe(items.every((item) => gone.has(item)))
      }),
    )
  })
})

const step: NodeRecord = {
  nodeName: 'a',
  superstep: 1,
  durationMs: 1,
  status: 'completed',
  error: null,
  cached: false,
  decision: null,
}

function logOf(totalMs: number, ...steps: readonly NodeRecord[]) {
  let ms = 0
  const { log, push, end } = createRunLog({ graphName: 'g', runId: 'r', now: () => ms })
  for (const each of steps) push(each)
  ms = totalMs
  end()
  return log
}

const item = (index: number, change: Partial<MapItem<{ title?: string; size?: number }>> = {}) => ({
  index,
  status: 'completed' as ItemStatus,
  output: { title: `t${index}`, size: index },
  error: null,
  pauses: [],
  runId: `run.i${index}`,
  log: logOf(10, step),
  restored: false,
  warnings: [],
  ...change,
})
const FAILED = {
  status: 'failed',
  output: undefined,
  error: { name: 'Error', code: 'E_READ', message: 'no such\npage' },
} as const

describe('R8 MapResult', () => {
  it('R8 gives outputs and columns in the order of items, undefined where one is missing', () => {
    const result = createMapResult([item(0), item(1, FAILED), item(2, { output: { size: 7 } })])
    expect(result.status).toBe('partial')
    expect(result.outputs()).toEqual([{ title: 't0', size: 0 }, undefined, { size: 7 }])
    expect(result.column('title')).toEqual(['t0', undefined, undefined])
    expect(result.column('size')).toEqual([0, undefined, 7])
    expect(result.errors().map((each) => each.index)).toEqual([1])
    expect(result.items[1]?.log?.steps).toHaveLength(1)
  })

  it('R8 a column that no output has is missing, whatever it is called', () => {
    const result = createMapResult<unknown>([item(0), item(1, { output: undefined })] as MapItem[])
    for (const name of ['constructor', '__proto__', 'toString', 'other'])
      expect(result.column(name)).toEqual([undefined, undefined])
  })

  it('R8 average duration leaves out restored, failed and fully cached items', () => {
    const cached = { ...step, cached: true }
    const result = createMapResult([
      item(0, { log: logOf(100, step) }),
      item(1, { log: logOf(300, cached, step) }),
      item(2, { log: logOf(5000, step), restored: true }),
      item(3, { ...FAILED, log: logOf(6000, step) }),
      item(4, { log: logOf(7000, cached, cached) }),
      item(5, { status: 'unstarted', log: null, runId: null }),
    ])
    expect(result.averageDurationMs).toBe(200)
    expect(createMapResult([item(0, { restored: true })]).averageDurationMs).toBeNull()
  })

  it('R8 prints each of a few items, and of many those that did not complete', () => {
    const few = createMapResult([item(0), item(1, FAILED)])
    expect(few.table().split('\n')).toEqual([
      'partial: 2 items, 1 completed, 1 failed, 10 ms on average',
      'item  status     duration  steps  error',
      '   0  completed     10 ms      1',
      '   1  failed        10 ms      1  E_READ no such\\u000apage',
    ])
    expect([inspect(few), String(few)]).toEqual([few.table(), few.table()])
    const many = createMapResult(Array.from({ length: 500 }, (_, i) => item(i, i === 77 ? FAILED : {})))
    expect(many.table().split('\n')).toHaveLength(4)
    expect(many.table()).toContain('… and 499 items more')
    expect(createMapResult([]).table()).toBe('completed: 0 items')
  })

  it('R8 goes to JSON with the log of each item', () => {
    const result = createMapResult([item(0), item(1, { status: 'unstarted', log: null, runId: null })])
    const data = JSON.parse(JSON.stringify(result)) as typeof result
    expect(data.status).toBe('stopped')
    expect(data.items[0]?.log?.nodeStats['a']?.count).toBe(1)
    expect(data.items[1]?.log).toBeNull()
  })
})
