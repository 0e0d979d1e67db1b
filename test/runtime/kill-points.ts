import type { EventInput, Ledger } from '@clew/ledger'
import { dieNow } from '../crash/crash-points.ts'

/** Names for the instants at which a process that runs an agent may die. */
export const KILL_POINTS = [
  'before-effect-dispatch',
  'inside-effect',
  'after-effect',
  'before-commit',
  'after-commit',
  'between-child-and-parent',
  'while-pausing-before-commit',
  'while-pausing-after-commit',
  'while-settling-before-commit',
  'while-settling-after-commit',
  'during-take-over',
  'before-the-end',
  'after-the-end',
] as const
export type KillPoint = (typeof KILL_POINTS)[number]

export interface Armed {
  readonly ledger: Ledger
  /** Dies if this is the instant. */
  pass(here: KillPoint): void
}

/** Dies at the `after`-th passing of the point. Everything is seen from outside, so the code under test has no hooks. */
export function armKill(inner: Ledger, point: KillPoint | undefined, after: number): Armed {
  let left = after
  const pass = (here: KillPoint): void => {
    if (here === point && --left <= 0) dieNow()
  }
  const has = (events: readonly EventInput[], type: string): boolean =>
    events.some(({ eventType }) => eventType === type)

  async function append(...[events, options]: Parameters<Ledger['append']>): ReturnType<Ledger['append']> {
    const isChild = events[0]?.correlationId.includes('/') === true
    const isEnd = has(events, 'system.workflow_completed')
    pass('before-commit')
    if (has(events, 'system.workflow_paused')) pass('while-pausing-before-commit')
    if (has(events, 'ui.input_received')) pass('while-settling-before-commit')
    if (isEnd && !isChild) pass('before-the-end')
    const stored = await inner.append(events, options)
    pass('after-commit')
    if (has(events, 'system.workflow_paused')) pass('while-pausing-after-commit')
    if (has(events, 'ui.input_received')) pass('while-settling-after-commit')
    if (isEnd) pass(isChild ? 'between-child-and-parent' : 'after-the-end')
    return stored
  }

  const leases: Ledger['leases'] = {
    ...inner.leases,
    async acquire(key, threadId) {
      const isKnown = (await inner.getRun(key.runId)) !== null
      const lease = await inner.leases.acquire(key, threadId)
      if (isKnown) pass('during-take-over')
      return lease
    },
  }
  return { ledger: { ...inner, append, leases }, pass }
}
