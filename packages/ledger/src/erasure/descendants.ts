import { asErasable, type ErasableEvent } from '../catalogue/catalogue.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import { findBelow, findRun } from '../store/find-runs.ts'
import type { Store, StoredRun } from '../store/store.ts'

const PAGE = 500
const START_TYPES = ['system.workflow_started', 'system.workflow_forked']
const KEYS = new Set(['parentRunId', 'sourceRunId'])

interface DescendantParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly workspace: string
}

/** Finds the child runs and forks of runs, and theirs. */
export interface Descendants {
  /** The runs themselves first. */
  withBelow(runs: readonly StoredRun[]): Promise<StoredRun[]>
  /** Reads the start of every run: from then on children and forks are found also where the index lost them. */
  readStarts(onEvents: (count: number) => void): Promise<void>
}

/** The run that the start of a run names as its parent or source. */
function aboveOf({ eventType, payload }: ErasableEvent): string | null | undefined {
  if (eventType === 'system.workflow_started') return payload.parentRunId
  return eventType === 'system.workflow_forked' ? payload.sourceRunId : undefined
}

export function createDescendants({ store, reader, workspace }: DescendantParts): Descendants {
  /** Run id → runs that name it as their parent or source. */
  let below: Map<string, Set<string>> | undefined

  return {
    async readStarts(onEvents) {
      const found = new Map<string, Set<string>>()
      const { newestPosition: upToPosition } = await store.info('newestPosition')
      for (let afterPosition = 0; ; ) {
        const page = await store.readAll({
          workspace,
          afterPosition,
          upToPosition,
          limit: PAGE,
          types: START_TYPES,
        })
        for (const stored of page) {
          const event = asErasable(await reader.toPartialEvent(stored, KEYS))
          const above = event && aboveOf(event)
          if (above != null) found.set(above, (found.get(above) ?? new Set()).add(stored.correlationId))
        }
        onEvents(page.length)
        if (page.length < PAGE) break
        afterPosition = page.at(-1)?.position ?? afterPosition
      }
      below = found
    },
    async withBelow(runs) {
      const all = new Map(runs.map((run) => [run.summary.runId, run]))
      for (let open = [...all.keys()]; open.length > 0; ) {
        const found = [...(await findBelow(store, workspace, open))]
        const known = new Set([...all.keys(), ...found.map(({ summary }) => summary.runId)])
        for (const runId of new Set(open.flatMap((each) => [...(below?.get(each) ?? [])]))) {
          const run = known.has(runId) ? null : await findRun(store, { workspace, runId })
          if (run) found.push(run)
        }
        open = []
        for (const run of found)
          if (!all.has(run.summary.runId)) {
            all.set(run.summary.runId, run)
            open.push(run.summary.runId)
          }
      }
      return [...all.values()]
    },
  }
}
