import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Short files with long work in them, the longest first. Not PostgreSQL's conformance, which comes last: an export holds back
 * what was committed while an older transaction of the same server is open, and others open many.
 */
const LONG = [
  'test/runtime/workers.int.test.ts',
  'test/live/processes.int.test.ts',
  'test/docs.int.test.ts',
  'test/runtime/kills.int.test.ts',
  'test/retention/kills.int.test.ts',
  'test/langgraph/crash.int.test.ts',
  'packages/sqlite/src/sqlite-store.int.test.ts',
  'packages/sqlite/src/kills.int.test.ts',
  'test/replay/long.int.test.ts',
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
