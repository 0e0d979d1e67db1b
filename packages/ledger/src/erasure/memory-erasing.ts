import type { RunSummary } from '../fold/run-summary.ts'
import type { StepSkeleton } from '../fold/steps.ts'
import type { AppendCall, AppendOutcome, RunKey, StoredEvent, StoredRun } from '../store.ts'
import type { ClewEvent } from '../envelope.ts'
import type { Erasing } from './erasing.ts'

interface ErasableRun extends RunKey {
  readonly scope: number
  seq: number
  summary: RunSummary
  steps: Map<string, StepSkeleton>
}

interface ErasingParts<Run extends ErasableRun> {
  readonly runs: readonly Run[]
  readonly findRun: (key: RunKey) => Run | undefined
  readonly toStoredRun: (run: Run) => StoredRun
  /** By position, from 1 on; what was pruned is a hole. */
  readonly events: readonly (StoredEvent | undefined)[]
  readonly append: (call: AppendCall) => AppendOutcome
  /** Payload, salt and digest of the event at a position go. */
  readonly dropPayload: (position: number) => void
  /** Values of the scope may be free by now. */
  readonly markScope: (scope: number) => void
  readonly ring: () => void
}

/** Erasure over what lies in memory: nothing of it is anywhere else. */
export function createMemoryErasing<Run extends ErasableRun>(parts: ErasingParts<Run>): Erasing {
  const { runs, findRun } = parts
  return {
    findRuns: async (workspace, subjects) =>
      runs
        .filter(
          (run) => run.workspace === workspace && run.summary.subjects.some((s) => subjects.includes(s)),
        )
        .map(parts.toStoredRun),
    async findPayloads({ workspace, texts, afterPosition, limit }) {
      const events: StoredEvent[] = []
      for (let at = afterPosition; at < parts.events.length && events.length < limit; at++) {
        const event = parts.events[at]
        if (event?.workspace !== workspace || event.body === null) continue
        const { body } = event
        if (!body.startsWith('{') || texts.some((text) => body.includes(text))) events.push(event)
      }
      return { events, next: events.length === limit ? (events.at(-1)?.position ?? null) : null }
    },
    async erase({ workspace, positions, runs: erased, call }) {
      const isMoved = erased.some(({ runId, seq }) => findRun({ workspace, runId })?.seq !== seq)
      if (isMoved) return null
      const outcome = parts.append(call)
      if ('error' in outcome) {
        if (outcome.error.code === 'wrong_seq') return null
        throw outcome.error
      }
      for (const position of positions) parts.dropPayload(position)
      for (const { runId, summary, steps } of erased) {
        const run = findRun({ workspace, runId }) as Run
        run.summary = summary
        run.steps = new Map(steps.map((step) => [`${step.attempt} ${step.stepId}`, step]))
        parts.markScope(run.scope)
      }
      parts.ring()
      return outcome.events[0] as ClewEvent
    },
    scrub: async () => ({ unfinished: null }),
  }
}
