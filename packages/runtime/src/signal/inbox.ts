import { isOwn, type Ledger, readSignals, type SignalEvent } from '@clew/ledger'

/** Signals of one run that are known to this process. Nothing is read before a step waits for the first one. */
export interface Inbox {
  readonly isOpen: boolean
  readonly hasUnread: boolean
  /** Seq of the newest signal that was read. */
  readonly seenSeq: number
  /** Reads what came since the last time. */
  read(): Promise<void>
  /** The oldest of this name that nobody has taken; what takes it has to record that. */
  take(name: string): SignalEvent | undefined
  /** Seq of the newest signal for a child run, 0 without one. */
  newestFor(childRunId: string): number
}

export function openInbox(ledger: Ledger, runId: string): Inbox {
  const queues = new Map<string, SignalEvent[]>()
  const children = new Map<string, number>()
  let isOpen = false
  let unread = 0
  let seenSeq = 0
  let reading = Promise.resolve()

  function add(event: SignalEvent): void {
    const queue = queues.get(event.payload.name)
    if (queue) queue.push(event)
    else queues.set(event.payload.name, [event])
    unread++
  }

  async function readNew(): Promise<void> {
    const signals = (await ledger.getRun(runId))?.signals
    if (!signals || signals.lastSeq <= seenSeq) return void (isOpen = true)
    const isFirst = !isOpen || seenSeq === 0
    // What was taken here since the first reading is known here.
    if (isFirst) await readFirst(signals.sinceSeq)
    else await readMore()
    isOpen = true
  }

  async function readFirst(afterSeq: number): Promise<void> {
    const found = await readSignals(ledger, runId, { afterSeq, restored: true })
    for (const event of found.unread) add(event)
    for (const [childRunId, seq] of found.children) children.set(childRunId, seq)
    seenSeq = found.lastSeq
  }

  async function readMore(): Promise<void> {
    const options = { afterSeq: seenSeq, types: ['system.signal_received'], restored: true }
    for await (const event of ledger.read(runId, options)) {
      seenSeq = event.ledger.seq
      if (event.ledger.erased || !isOwn(event, 'system.signal_received')) continue
      const { childRunId } = event.payload
      if (childRunId === undefined) add(event as SignalEvent)
      else children.set(childRunId, event.ledger.seq)
    }
  }

  return {
    get isOpen() {
      return isOpen
    },
    get hasUnread() {
      return unread > 0
    },
    get seenSeq() {
      return seenSeq
    },
    read() {
      // One after the other: who asks while a reading is under way may ask for what came after it had begun.
      reading = reading.then(readNew, readNew)
      return reading
    },
    take(name) {
      const event = queues.get(name)?.shift()
      if (event) unread--
      return event
    },
    newestFor: (childRunId) => children.get(childRunId) ?? 0,
  }
}
