import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Of each tier those that take longest on a quiet machine of two processors, the longest first. */
const LONG = [
  'test/redaction/redaction.test.ts',
  'packages/ledger/src/in-process/in-process-store.test.ts',
  'test/runtime/new-write-on-resume.test.ts',
  'packages/runtime/src/worker/worker.test.ts',
  'packages/ledger/src/conformance/conformance.test.ts',
  'test/runtime/random-lives.test.ts',

  'packages/postgres/src/postgres-store.int.test.ts',
  'test/tamper/postgres.int.test.ts',
  'test/tamper/sqlite.int.test.ts',
  'packages/postgres/src/append.int.test.ts',
  'test/postgres/chaos.int.test.ts',
  'test/runtime/chaos-programs.int.test.ts',
  'test/runtime/workers.int.test.ts',
  'test/docs.int.test.ts',
  'test/ingest/large-bodies.int.test.ts',
  'packages/sqlite/src/sqlite-store.int.test.ts',
  'test/replay/long.int.test.ts',
  'test/postgres/random-lives.int.test.ts',
  'packages/clew/src/cli/cli.int.test.ts',
  'packages/clew/src/cli/control.int.test.ts',
  'packages/clew/src/cli/serve.int.test.ts',
  'test/langgraph/crash.int.test.ts',
  'packages/postgres/src/migrate.int.test.ts',
  'test/crash/crash.int.test.ts',
  'packages/sqlite/src/owner-lock.int.test.ts',
  'packages/postgres/src/leases.int.test.ts',
  'test/erasure/kills.int.test.ts',

  'test/e2e/streams.e2e.ts',
  'test/e2e/access.e2e.ts',
]

/**
 * Before it knows how long files take, vitest begins with the largest ones: a fresh clone would come to these at the
 * end, when the other worker has nothing left to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => this.#rank(a) - this.#rank(b))
  }

  #rank({ moduleId }: TestSpecification): number {
    const place = LONG.indexOf(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
    return place < 0 ? LONG.length : place
  }
}
