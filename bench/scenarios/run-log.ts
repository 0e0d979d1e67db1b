import type { NodeRecord } from '../../packages/runtime/src/log/node-record.ts'
import { createRunLog } from '../../packages/runtime/src/log/run-log.ts'
import { type Figure, seconds, sideBySide } from '../measure.ts'

const STEPS = 100_000
const NAMES = ['plan', 'search', 'read', 'write', 'check']

const makeRecord = (at: number): NodeRecord => ({
  nodeName: NAMES[at % NAMES.length] as string,
  superstep: at,
  durationMs: (at * 7) % 100,
  status: 'completed',
  error: null,
  cached: false,
  decision: null,
})

/** What the always-on log adds to a step, and what its statistics cost whoever asks for them. */
export async function runLogFigures(): Promise<Figure[]> {
  let kept = 0
  const record = () => {
    const { log, push, end } = createRunLog({
      graphName: 'bench',
      runId: 'run',
      now: () => performance.now(),
    })
    for (let at = 0; at < STEPS; at++) push(makeRecord(at))
    end()
    kept += log.steps.length
    return log
  }
  const { ours, floor } = await sideBySide(
    9,
    () => seconds(record),
    () =>
      seconds(() => {
        for (let at = 0; at < STEPS; at++) kept += makeRecord(at).durationMs
      }),
  )
  const log = record()
  const asking = await seconds(() => log.table())
  if (kept === 0 || log.nodeStats['plan']?.count !== STEPS / NAMES.length)
    throw new Error('the log lost a step')
  const each = (ours * 1e6) / STEPS
  return [
    {
      name: 'run log, one step recorded',
      ours: `${each.toFixed(3)} µs`,
      beside: `the record alone ${((floor * 1e6) / STEPS).toFixed(3)} µs; promise 2 µs`,
      ratio: each,
      most: 2,
      unit: 'µs',
    },
    {
      name: `run log, statistics and table of ${STEPS.toLocaleString('en')} steps`,
      ours: `${(asking * 1000).toFixed(0)} ms`,
      beside: 'promise 500 ms',
      ratio: asking * 1000,
      most: 500,
      unit: 'ms',
    },
  ]
}
