import { StatementSync } from 'node:sqlite'

/** Names for the instants at which the process may die. `random` is the parent's choice. */
export const CRASH_POINTS = [
  'before-begin',
  'mid-transaction',
  'before-commit',
  'after-commit',
  'before-ack',
  'random',
] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]

/** Takes effect before the next statement: nothing of this process runs any more, no handler, no `finally`. */
export function dieNow(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}

/**
 * Dies at the `after`-th passing of the point. Statements of node:sqlite are wrapped from here, so that the code
 * under test has no hooks and is exactly what users run.
 */
export function armCrash(point: CrashPoint, after: number): { beforeAck(): void } {
  let left = after
  const passes = (here: CrashPoint): boolean => here === point && --left <= 0
  const run = StatementSync.prototype.run as (...values: unknown[]) => ReturnType<StatementSync['run']>
  let inTransaction = false
  StatementSync.prototype.run = function (this: StatementSync, ...values: unknown[]) {
    const sql = this.sourceSQL
    if (sql.startsWith('BEGIN')) {
      if (passes('before-begin')) dieNow()
      inTransaction = true
    } else if (sql === 'COMMIT') {
      if (passes('before-commit')) dieNow()
      inTransaction = false
    } else if (inTransaction && passes('mid-transaction')) dieNow()
    const result = run.apply(this, values)
    if (sql === 'COMMIT' && passes('after-commit')) dieNow()
    return result
  }
  return {
    beforeAck() {
      if (passes('before-ack')) dieNow()
    },
  }
}
