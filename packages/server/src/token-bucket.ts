/** Limit of tracked names. A full bucket equals none, so the longest unused are dropped first. */
const MAX_BUCKETS = 10_000

export interface Buckets {
  /** Takes one and gives 0, or gives after how many milliseconds there will be one. */
  take(name: string): number
  /** The same without taking. */
  peek(name: string): number
}

interface Bucket {
  left: number
  at: number
}

/** A bucket per name that fills at a rate, up to `burst`. */
export function createBuckets(
  perSecond: number,
  burst: number,
  now: () => number = () => performance.now(),
): Buckets {
  const buckets = new Map<string, Bucket>()

  function fill(name: string): Bucket {
    const at = now()
    const known = buckets.get(name)
    const left = known ? Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond) : burst
    const bucket = { left, at }
    // Put at the end: the first one is the longest unused.
    buckets.delete(name)
    buckets.set(name, bucket)
    const [oldest] = buckets.keys()
    if (buckets.size > MAX_BUCKETS && oldest !== undefined) buckets.delete(oldest)
    return bucket
  }

  const missing = ({ left }: Bucket): number => (left >= 1 ? 0 : ((1 - left) / perSecond) * 1000)

  return {
    take(name) {
      const bucket = fill(name)
      const waitMs = missing(bucket)
      if (waitMs === 0) bucket.left -= 1
      return waitMs
    },
    peek: (name) => missing(fill(name)),
  }
}
