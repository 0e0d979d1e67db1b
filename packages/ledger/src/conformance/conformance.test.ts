import { describe, expect, it } from 'vitest'
import { BROKEN_STORES } from '../../test/broken-stores.ts'
import { memoryHarness } from '../../test/memory-harness.ts'
import { type ConformanceTest, conformanceTests, describeStore, type StoreHarness } from './index.ts'

/** A store that never wakes anyone makes tests wait for ever; that counts as a failure too. */
async function failureOf(test: ConformanceTest): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('it never ended'), 3000)
  const outcome = test.run().then(
    () => undefined,
    (error: Error) => error.message,
  )
  const failure = await Promise.race([outcome, promise])
  clearTimeout(timer)
  return failure
}

describe('the conformance suite finds a store that', () => {
  for (const { what, failing, change } of BROKEN_STORES)
    it(`${what}: ${failing.map((name) => name.split(' ')[0]).join(', ')}`, async () => {
      const harness = { ...memoryHarness((store) => ({ ...store, ...change(store) })), deadlineMs: 400 }
      const tests = conformanceTests(harness)
      for (const name of failing) {
        const chosen = tests.filter((test) => test.name.startsWith(name))
        expect(chosen.length, `a test named ${name}`).toBeGreaterThan(0)
        for (const test of chosen) expect(await failureOf(test), test.name).toBeTypeOf('string')
      }
    })
})

describe('a skip', () => {
  const report = async (skip: Record<string, string>): Promise<string[]> => {
    const seen: string[] = []
    const it = Object.assign((name: string) => void seen.push(name), {
      skip: (name: string) => void seen.push(`- ${name}`),
    })
    describeStore('some', { ...memoryHarness(), skip }, { describe: (_, body) => body(), it })
    return seen
  }
  const skipTest = (harness: StoreHarness): ConformanceTest =>
    conformanceTests(harness).find((test) => test.rule === 'L10') as ConformanceTest
  const name = "E2 the producer's time orders nothing"

  it('L10 is reported with its reason', async () => {
    const all = await report({})
    const some = await report({ [name]: 'this store has no order at all' })
    expect(some).toContain(`- ${name} (skipped: this store has no order at all)`)
    expect(some.length).toBe(all.length)
    expect(new Set(all).size).toBe(all.length)
  })

  it('L10 needs a reason and a test that exists', async () => {
    await expect(
      skipTest({ ...memoryHarness(), skip: { [name]: 'a written reason' } }).run(),
    ).resolves.toBeUndefined()
    await expect(skipTest({ ...memoryHarness(), skip: { [name]: ' ' } }).run()).rejects.toThrow(
      'without a written reason',
    )
    await expect(
      skipTest({ ...memoryHarness(), skip: { 'no such test': 'a written reason' } }).run(),
    ).rejects.toThrow('not a test of the suite')
  })
})
