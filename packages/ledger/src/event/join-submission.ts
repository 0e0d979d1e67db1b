import { isOwn } from '../catalogue/catalogue.ts'
import type { Ledger, ReadOptions } from '../ledger.ts'
import type { ClewEvent } from './envelope.ts'

const isSubmission = (event: ClewEvent | undefined): event is ClewEvent<'system.workflow_submitted'> =>
  event !== undefined && isOwn(event, 'system.workflow_submitted')
const isStart = (event: ClewEvent): boolean => isOwn(event, 'system.workflow_started')

/** A run that was submitted and has not started: its code has nothing to go on from (W1). */
export const isUnstarted = (events: readonly ClewEvent[]): boolean =>
  isSubmission(events[0]) && !events.some(isStart)

/** The start says what the submission before it said, the input too, unless it says otherwise. */
const joined = (submission: ClewEvent, start: ClewEvent): ClewEvent => {
  const { input, inputDigest, threadId, subjects, tags, session } = submission.payload
  const given = { input, inputDigest, threadId, subjects, tags, session }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...start, payload: { ...Object.fromEntries(known), ...start.payload } }
}

/**
 * Events of a submitted run as code reads them: the start comes first, with the input of its submission, which is stored once.
 * Others are as they are, and so is a run that has not started.
 */
export function joinSubmission(events: ClewEvent[]): ClewEvent[] {
  const [first, ...others] = events
  const at = isSubmission(first) ? others.findIndex(isStart) : -1
  const start = others[at]
  if (first === undefined || start === undefined) return events
  return [joined(first, start), ...others.slice(0, at), ...others.slice(at + 1)]
}

/** The first event of a run, or the start of a submitted one, joined; its submission while it has not started. */
export async function readBeginning(
  ledger: Pick<Ledger, 'read'>,
  runId: string,
  options: Pick<ReadOptions, 'afterSeq' | 'restored'> = {},
): Promise<ClewEvent | undefined> {
  for await (const first of ledger.read(runId, { ...options, limit: 1 })) {
    if (!isSubmission(first)) return first
    const types = ['system.workflow_started']
    for await (const start of ledger.read(runId, { ...options, types, limit: 1 })) return joined(first, start)
    return first
  }
  return undefined
}
