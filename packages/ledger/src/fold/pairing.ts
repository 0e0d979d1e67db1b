/** Key that links an answer to its question: an id, else the cause, else the step. */
export interface PairKey {
  readonly id: string | null
  /** The question's event id; in an answer, its cause. */
  readonly event: string | null
  readonly place: string
}

/**
 * Joins calls with results and questions with answers, in whatever order they were recorded, at a constant cost
 * each. An id decides if both have one. Changed in place: it lives inside the state of a fold.
 */
export interface Pairing<Q, A> {
  /** Takes up a question; gives its answer if that was recorded first. */
  ask(tie: PairKey, question: Q): A | undefined
  /** Gives the question that this answers; without one, `answer` waits for it. */
  answer(tie: PairKey, answer: A): Q | undefined
}

interface Open<T> {
  readonly value: T
  done: boolean
}

export function createPairing<Q, A>(): Pairing<Q, A> {
  const byId = createStacks<Q>()
  const byEvent = createStacks<Q>()
  const byEventWithId = createStacks<Q>()
  const withId = createStacks<Q>()
  const withoutId = createStacks<Q>()
  const waitingById = createStacks<A>()
  const waitingByEvent = createStacks<A>()

  return {
    ask({ id, event, place }, question) {
      // An answer with an id is matched by its id only: another id with the right cause answers another question.
      const found =
        (id === null ? undefined : waitingById.take(id)) ??
        (event === null ? undefined : waitingByEvent.take(event))
      const open: Open<Q> = { value: question, done: found !== undefined }
      if (found !== undefined) return found
      if (id !== null) byId.put(id, open)
      if (event !== null) (id === null ? byEvent : byEventWithId).put(event, open)
      ;(id === null ? withoutId : withId).put(place, open)
      return undefined
    },
    answer({ id, event, place }, answer) {
      const found =
        id === null
          ? ((event === null ? undefined : (byEvent.take(event) ?? byEventWithId.take(event))) ??
            withoutId.take(place) ??
            withId.take(place))
          : (byId.take(id) ?? (event === null ? undefined : byEvent.take(event)) ?? withoutId.take(place))
      if (found !== undefined) return found
      const open: Open<A> = { value: answer, done: false }
      if (id !== null) waitingById.put(id, open)
      else if (event !== null) waitingByEvent.put(event, open)
      return undefined
    },
  }
}

interface Stacks<T> {
  put(key: string, open: Open<T>): void
  /** The newest that is still open: an older one with the same key was left behind by a crash. */
  take(key: string): T | undefined
}

function createStacks<T>(): Stacks<T> {
  // Nearly every key is used once, so a list is made only for the second.
  const stacks = new Map<string, Open<T> | Open<T>[]>()
  return {
    put(key, open) {
      const found = stacks.get(key)
      if (found === undefined) stacks.set(key, open)
      else if (Array.isArray(found)) found.push(open)
      else stacks.set(key, [found, open])
    },
    take(key) {
      const found = stacks.get(key)
      if (found === undefined) return undefined
      if (!Array.isArray(found)) {
        stacks.delete(key)
        return takeUp(found)
      }
      for (let open = found.pop(); open; open = found.pop()) if (!open.done) return takeUp(open)
      return undefined
    },
  }
}

function takeUp<T>(open: Open<T>): T | undefined {
  if (open.done) return undefined
  open.done = true
  return open.value
}
