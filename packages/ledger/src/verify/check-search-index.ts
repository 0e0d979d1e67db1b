import type { PayloadReader } from '../read/payload-reader.ts'
import type { RunReader } from '../read/run-reader.ts'
import { SEARCH_VERSION, toDocument } from '../search/extract.ts'
import type { Store, StoredEvent, StoredRun } from '../store/store.ts'
import type { Problem } from './verify.ts'

interface CheckParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
}

/** Compares the words by which the events of a run are found with the events, as far as the index has come (L1). */
export async function checkSearchIndex(
  { store, reader, runs }: CheckParts,
  run: StoredRun,
): Promise<Problem[]> {
  async function findDiffering(stored: readonly StoredEvent[]): Promise<StoredEvent[]> {
    const { position, version } = await store.search.state()
    // The next search makes an index of another version again.
    if (version !== SEARCH_VERSION) return []
    const whole = stored.filter((event) => event.body !== null && !event.pruned && event.position <= position)
    const documents = (await reader.toPlainEvents(whole)).map(toDocument)
    const differing = new Set(await store.search.differing(documents))
    return whole.filter((event) => differing.has(event.position))
  }

  const { workspace, summary } = run
  const problems: Problem[] = []
  for await (const page of runs.ownEvents(run, {})) {
    const positions = (await findDiffering(page)).map((event) => event.position)
    if (positions.length === 0) continue
    // Some may have been erased, or the index emptied, since the page was read.
    for (const { seq } of await findDiffering(await store.findEvents({ workspace, positions })))
      problems.push({
        runId: summary.runId,
        seq,
        problem: 'projection_differs',
        detail: 'the search index has other words of it than its payload',
      })
  }
  return problems
}
