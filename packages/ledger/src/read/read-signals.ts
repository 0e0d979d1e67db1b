import { asOwn, type OwnEvent } from '../catalogue/catalogue.ts'
import type { SignalCounts } from '../fold/signals.ts'
import type { Ledger } from '../ledger.ts'

export type SignalEvent = OwnEvent<'system.signal_received'>

export interface ReadSignals {
  /** Signals that no step has taken, in the order in which they are received. */
  readonly unread: readonly SignalEvent[]
  /** Seq of the newest signal for each child run. */
  readonly children: ReadonlyMap<string, number>
  /** Seq of the newest signal, those for child runs included; `afterSeq` without one. */
  readonly lastSeq: number
}

const TYPES = ['system.signal_received', 'execution.step_completed', 'execution.step_failed'] as const

/** Signals of a run after a seq, and which of them it has not received. A summary says from where on to read (`signals.sinceSeq`). */
export async function readSignals(
  ledger: Pick<Ledger, 'read'>,
  runId: string,
  options: {
    readonly afterSeq?: number | undefined
    readonly toSeq?: number | undefined
    readonly restored?: boolean | undefined
  } = {},
): Promise<ReadSignals> {
  const { afterSeq = 0, toSeq = Number.POSITIVE_INFINITY, restored } = options
  const unread = new Map<string, SignalEvent>()
  const children = new Map<string, number>()
  let lastSeq = afterSeq
  for await (const event of ledger.read(runId, { afterSeq, types: TYPES, restored })) {
    const { seq } = event.ledger
    if (seq > toSeq) break
    if (event.eventType === 'system.signal_received') lastSeq = seq
    const own = asOwn(event)
    if (own?.eventType === 'system.signal_received') {
      const { childRunId } = own.payload
      if (childRunId === undefined) unread.set(own.eventId, own)
      else children.set(childRunId, seq)
    } else if (own?.eventType === 'execution.step_completed' || own?.eventType === 'execution.step_failed')
      if (own.payload.signal) unread.delete(own.payload.signal.eventId)
  }
  return { unread: [...unread.values()], children, lastSeq }
}

/** As a payload field. */
export type ForkSignals = Readonly<Record<keyof SignalCounts, number>>

/** Signals of a run up to an event, as a fork from there begins with them. */
export async function readForkSignals(
  ledger: Pick<Ledger, 'read' | 'getRun'>,
  runId: string,
  seq: number,
): Promise<{ readonly signals?: ForkSignals }> {
  if (!(await ledger.getRun(runId))?.signals) return {}
  const { unread, lastSeq } = await readSignals(ledger, runId, { toSeq: seq })
  if (lastSeq === 0) return {}
  const sinceSeq = (unread[0]?.ledger.seq ?? seq + 1) - 1
  return { signals: { unread: unread.length, sinceSeq, lastSeq } }
}
