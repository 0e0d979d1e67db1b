import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import type { AppendCall, AppendOutcome, Written } from '../store/change.ts'

const GROUP_EVENTS = 1000
const GROUP_CHARS = 8 * 1024 * 1024
/** Beyond this much waiting text a new call waits before it joins. */
const QUEUE_CHARS = 64 * 1024 * 1024
/** Limit of groups written within one turn of the event loop while each holds one call. */
const AT_ONCE = 8
const AT_ONCE_CHARS = 64 * 1024
/** After this many single-call groups in a row, callers are assumed to await each append. */
const ALONE = 4

const NOW = Promise.resolve()

interface Waiting {
  readonly call: AppendCall
  readonly chars: number
  readonly settle: (outcome: AppendOutcome) => void
  readonly reject: (error: unknown) => void
}

export interface AppendQueue {
  /** Resolves with what `answer` makes of the events when the call is committed (L5), in the order of the calls. */
  push<T>(call: AppendCall, answer: (events: readonly ClewEvent[]) => T, isEager?: boolean): Promise<T>
  /** Resolves when all that was pushed before is settled. */
  drain(): Promise<void>
  readonly waiting: number
}

/**
 * Group commit: what arrives within one turn of the event loop, or while a commit is under way, shares one
 * transaction. Nothing is ever dropped; a full queue makes its callers wait.
 *
 * A turn is what a caller who waits for each append pays most for beside the commit. So as long as every group holds one
 * call, groups are written when the code that called has come to its end, a few in a turn; the next one waits for the
 * turn, and if others have joined it by then, all wait for turns again.
 *
 * An eager call waits for no turn: its caller goes on without waiting and may never yield, and then no turn comes.
 */
export function createAppendQueue(store: Store, ports: Pick<Ports, 'defer'>): AppendQueue {
  let queue: Waiting[] = []
  let chars = 0
  let scheduled = false
  /** A group waits for the next turn. */
  let isDeferred = false
  /** An eager call waits. */
  let isUrgent = false
  let alone = 0
  let leftAtOnce = AT_ONCE
  let idle: (() => void)[] = []
  let space: (() => void)[] = []

  function schedule(): void {
    scheduled = true
    if (isUrgent) return void NOW.then(flush)
    if (alone < ALONE || leftAtOnce === 0 || chars > AT_ONCE_CHARS) {
      isDeferred = true
      return ports.defer(() => {
        if (isDeferred) flush()
      })
    }
    if (leftAtOnce-- === AT_ONCE) ports.defer(() => void (leftAtOnce = AT_ONCE))
    void NOW.then(flush)
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

  /** A few groups a turn at most, so that timers and sockets get their turn under any load. */
  function flush(): void {
    isDeferred = false
    const group = takeGroup()
    if (queue.length === 0) isUrgent = false
    alone = group.length === 1 ? alone + 1 : 0
    const answer = (give: (each: Waiting, item: number) => void): void => {
      group.forEach(give)
      for (const each of group) chars -= each.chars
      if (chars <= QUEUE_CHARS) space = release(space)
      if (queue.length > 0) return schedule()
      scheduled = false
      idle = release(idle)
    }
    store.write({ calls: group.map((each) => each.call) }).then(
      (written) => answer((each, item) => each.settle(outcomeOf(written, item))),
      (error: unknown) => answer((each) => each.reject(error)),
    )
  }

  function enqueue<T>(
    call: AppendCall,
    size: number,
    answer: (events: readonly ClewEvent[]) => T,
    isEager: boolean,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: AppendOutcome): void => {
        if ('error' in outcome) return reject(outcome.error)
        try {
          resolve(answer(outcome.events))
        } catch (error) {
          reject(error)
        }
      }
      chars += size
      queue.push({ call, chars: size, settle, reject })
      isUrgent ||= isEager
      if (!scheduled) schedule()
      else if (isEager && isDeferred) {
        isDeferred = false
        schedule()
      }
    })
  }

  return {
    get waiting() {
      return queue.length + space.length
    },
    push(call, answer, isEager = false) {
      let size = 0
      for (const event of call.events) size += event.text.length + 400
      if (chars <= QUEUE_CHARS && space.length === 0) return enqueue(call, size, answer, isEager)
      // Joins in the same turn in which there is room, so that draining sees it.
      return new Promise((resolve) => space.push(() => resolve(enqueue(call, size, answer, isEager))))
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

function outcomeOf(written: Written, item: number): AppendOutcome {
  const outcome = 'outcomes' in written ? written.outcomes[item] : undefined
  if (outcome) return outcome
  const error = new ClewError(
    'store_failed',
    'The store gave no answer for an append',
    'Read the run to see whether it was written.',
  )
  return { error }
}
