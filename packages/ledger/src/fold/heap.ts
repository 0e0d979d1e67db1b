/** A binary heap: the smallest first. */
export interface Heap<T> {
  push(item: T): void
  peek(): T | undefined
  pop(): T | undefined
}

export function createHeap<T>(compare: (a: T, b: T) => number): Heap<T> {
  const items: T[] = []
  const isBefore = (a: number, b: number): boolean => compare(items[a] as T, items[b] as T) < 0
  const swap = (a: number, b: number): void => {
    const kept = items[a] as T
    items[a] = items[b] as T
    items[b] = kept
  }
  return {
    peek: () => items[0],
    push(item) {
      let at = items.push(item) - 1
      for (let up = (at - 1) >> 1; at > 0 && isBefore(at, up); up = (at - 1) >> 1) {
        swap(at, up)
        at = up
      }
    },
    pop() {
      const top = items[0]
      const last = items.pop()
      if (items.length === 0 || last === undefined) return top
      items[0] = last
      for (let at = 0; ; ) {
        const left = 2 * at + 1
        let least = at
        if (left < items.length && isBefore(left, least)) least = left
        if (left + 1 < items.length && isBefore(left + 1, least)) least = left + 1
        if (least === at) return top
        swap(at, least)
        at = least
      }
    },
  }
}
