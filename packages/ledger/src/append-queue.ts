import type { ClewEvent } from './envelope.ts'
import { ClewError } from './errors.ts'
import type { Ports } from './ports.ts'
import type { AppendCall, AppendOutcome, Store } from './store.ts'

const GROUP_EVENTS = 1000
const GROUP_CHARS = 8 * 1024 * 1024
/** Beyond this much waiting text a new call waits before it joins. */
const QUEUE_CHARS = 64 * 1024 * 1024

interface Waiting {
  readonly call: AppendCall
  readonly chars: number
  readonly settle: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

export interface AppendQueue {
  /** Resolves with what `answer` makes of the events when the call is committed (L5), in the order of the calls. */
  push<T>(call: AppendCall, answer: (events: readonly ClewEvent[]) => T): Promise<T>
  /** Resolves when all that was pushed before is settled. */
  drain(): Promise<void>
  readonly waiting: number
}

/**
 * Group commit: what arrives within one turn of the event loop, or while a commit is under way, shares one
 * transaction. Nothing is ever dropped; a full queue makes its callers wait.
 */
export function createAppendQueue(store: Store, ports: Pick<Ports, 'defer'>): AppendQueue {
  let queue: Waiting[] = []
  let chars = 0
  let scheduled = false
  let idle: (() => void)[] = []
  let space: (() => void)[] = []

  function schedule(): void {
    scheduled = true
    ports.defer(() => void flush())
  }

  function takeGroup(): Waiting[] {
    let events = 0
    let size = 0
    let end = 0
    for (const { call, chars: own } of queue) {
      if (end > 0 && (events + call.events.length > GROUP_EVENTS || size + own > GROUP_CHARS)) break
      events += call.events.length
      size += own
      end++
    }
    const group = end === queue.length ? queue : queue.slice(0, end)
    queue = end === queue.length ? [] : queue.slice(end)
    return group
  }

  /** One group a turn, so that timers and sockets get their turn under any load. */
  async function flush(): Promise<void> {
    const group = takeGroup()
    try {
      const outcomes = await store.write(group.map((each) => each.call))
      for (let i = 0; i < group.length; i++)
        (group[i] as Waiting).settle(outcomes[i] ?? { error: noAnswer() })
    } catch (error) {
      for (const each of group) each.reject(error)
    }
    for (const each of group) chars -= each.chars
    if (chars <= QUEUE_CHARS) space = release(space)
    if (queue.length > 0) schedule()
    else {
      scheduled = false
      idle = release(idle)
    }
  }

  function enqueue<T>(
    call: AppendCall,
    size: number,
    answer: (events: readonly ClewEvent[]) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: AppendOutcome): void =>
        'events' in outcome ? resolve(answer(outcome.events)) : reject(outcome.error)
      chars += size
      queue.push({ call, chars: size, settle, reject })
      if (!scheduled) schedule()
    })
  }

  return {
    get waiting() {
      return queue.length + space.length
    },
    push(call, answer) {
      let size = 0
      for (const event of call.events) size += event.text.length + 400
      if (chars <= QUEUE_CHARS && space.length === 0) return enqueue(call, size, answer)
      // Joins in the same turn in which there is room, so that draining sees it.
      return new Promise((resolve) => space.push(() => resolve(enqueue(call, size, answer))))
    },
    drain() {
      if (!scheduled && space.length === 0) return Promise.resolve()
      return new Promise((resolve) => idle.push(resolve))
    },
  }
}

/** Lets all that wait go on; gives back the empty list that takes their place. */
function release(waiting: readonly (() => void)[]): (() => void)[] {
  for (const go of waiting) go()
  return []
}

function noAnswer(): ClewError {
  return new ClewError(
    'store_failed',
    'The store gave no answer for an append',
    'Read the run to see whether it was written.',
  )
}
