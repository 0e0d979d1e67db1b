import { causeTests } from './causes.ts'
import { chainTests } from './chain.ts'
import { changeTests } from './changes.ts'
import { claimTests } from './claims.ts'
import { commitTests } from './commits.ts'
import { consumerTests } from './consumers.ts'
import { envelopeTests } from './envelope.ts'
import { erasureTests } from './erasure.ts'
import { followTests } from './follow.ts'
import { forkTests } from './forks.ts'
import { heldMemoryTests } from './held-memory.ts'
import { idempotencyTests } from './idempotency.ts'
import { leaseTests } from './leases.ts'
import { queueTests } from './queues.ts'
import { memoryTests } from './memory.ts'
import { listingTests } from './listing.ts'
import { orderTests } from './order.ts'
import { nameTests } from './names.ts'
import { privacyTests } from './privacy.ts'
import { progressTests } from './progress.ts'
import { projectionTests } from './projections.ts'
import { rebuildTests } from './rebuilds.ts'
import { refusalTests } from './refusals.ts'
import { removalTests } from './removals.ts'
import { retentionKeepsTests } from './retention-keeps.ts'
import { retentionToldTests } from './retention-told.ts'
import { retentionTests } from './retention.ts'
import { richValueTests } from './rich-values.ts'
import { runQueryTests } from './run-queries.ts'
import { scoreAndTagTests } from './scores-and-tags.ts'
import { searchTests } from './search.ts'
import { stateRetentionTests } from './state-retention.ts'
import { stateTests } from './states.ts'
import { transferTests } from './transfer.ts'
import { valueTests } from './values.ts'
import { vaultTests } from './vault.ts'
import { workspaceTests } from './workspaces.ts'
import { createWorld, type StoreHarness, type StoreTest } from './world.ts'

/** The interfaces of a store, in the order in which they are built. */
export type StorePart =
  | 'core: write and read'
  | 'core: findEvents and findRuns'
  | 'core: values'
  | 'core: blank, prune, adopt and replace'
  | 'core: vault'
  | 'leases'
  | 'slots'
  | 'search'
  | 'memory'
  | 'progress'

/** Which tests prove which interface; those behind the core may be left to `withDefaults`. */
const PARTS: Readonly<Record<StorePart, readonly StoreTest[]>> = {
  'core: write and read': [
    ...envelopeTests,
    ...refusalTests,
    ...projectionTests,
    ...orderTests,
    ...idempotencyTests,
    ...commitTests,
    ...chainTests,
    ...followTests,
    ...transferTests,
    ...forkTests,
    ...workspaceTests,
    ...privacyTests,
    ...nameTests,
    ...stateTests,
  ],
  'core: findEvents and findRuns': [...causeTests, ...listingTests, ...scoreAndTagTests, ...runQueryTests],
  'core: values': [...valueTests, ...richValueTests],
  'core: blank, prune, adopt and replace': [
    ...changeTests,
    ...rebuildTests,
    ...erasureTests,
    ...removalTests,
    ...retentionTests,
    ...retentionKeepsTests,
    ...retentionToldTests,
    ...stateRetentionTests,
  ],
  'core: vault': vaultTests,
  leases: [...leaseTests, ...claimTests, ...queueTests],
  slots: consumerTests,
  search: searchTests,
  memory: [...memoryTests, ...heldMemoryTests],
  progress: progressTests,
}

/** One test of the suite, ready for any runner. */
export interface ConformanceTest {
  /** The rule it proves, and what it proves of it: `L3 seq is dense …`. */
  readonly name: string
  readonly rule: string
  /** The interface it tests. */
  readonly part: StorePart
  /** Why this store does not run it. */
  readonly skip: string | undefined
  run(): Promise<void>
}

/** The functions of a test runner that the suite needs; those of vitest and node:test fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it: ((name: string, body: () => Promise<void>) => unknown) & {
    skip(name: string, body: () => Promise<void>): unknown
  }
}

/** All tests that a store must pass (L10). */
export function conformanceTests(harness: StoreHarness): ConformanceTest[] {
  const tests = Object.entries(PARTS).flatMap(([part, each]) =>
    each.map(({ rule, title, run }): ConformanceTest => {
      const name = `${rule} ${title}`
      const skip = harness.skip?.[name]
      return { name, rule, part: part as StorePart, skip, run: () => runIn(harness, run) }
    }),
  )
  const known = new Set(tests.map((test) => test.name))
  const skips: ConformanceTest = {
    name: 'L10 every skip names a test of the suite and gives a reason',
    rule: 'L10',
    part: 'core: write and read',
    skip: undefined,
    run: async () => checkSkips(harness, known),
  }
  return [...tests, skips]
}

/** Hands the suite to the caller's own test runner. */
export function describeStore(name: string, harness: StoreHarness, { describe, it }: TestRunner): void {
  const tests = conformanceTests(harness)
  for (const part of Object.keys(PARTS))
    describe(`${name} keeps the rules of a store: ${part}`, () => {
      for (const test of tests.filter((each) => each.part === part)) {
        if (test.skip === undefined) it(test.name, test.run)
        else it.skip(`${test.name} (skipped: ${test.skip})`, test.run)
      }
    })
}

async function runIn(harness: StoreHarness, run: StoreTest['run']): Promise<void> {
  const world = await createWorld(harness)
  try {
    await run(world)
  } catch (error) {
    // Throws the first failure, not that a broken store cannot be closed either.
    await world.dispose().catch(() => undefined)
    throw error
  }
  await world.dispose()
}

function checkSkips({ skip = {} }: StoreHarness, known: ReadonlySet<string>): void {
  for (const [name, reason] of Object.entries(skip)) {
    if (!known.has(name)) throw new Error(`the harness skips "${name}", which is not a test of the suite`)
    if (reason.trim().length < 10) throw new Error(`the harness skips "${name}" without a written reason`)
  }
}
