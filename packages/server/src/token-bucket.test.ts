import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBuckets } from './token-bucket.ts'

it('A2 never gives more than the burst and what has flowed in since, and always gives what has flowed in', () => {
  const waits = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(
      waits,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      (pauses, burst, rate) => {
        let now = 0
        const buckets = createBuckets(rate, burst, () => now)
        let taken = 0
        for (const pause of pauses) {
          now += pause
          const waitMs = buckets.take('a')
          if (waitMs === 0) taken++
          else {
            // What it says is enough, and no more than that.
            now += waitMs + 1e-6
            expect(buckets.peek('a')).toBeLessThan(1e-3)
          }
          expect(taken).toBeLessThanOrEqual(burst + (now / 1000) * rate + 1e-6)
        }
        expect(buckets.take('b')).toBe(0)
      },
    ),
    { numRuns: 100 },
  )
})
