import { findRun, findSeals } from '../store/find-runs.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { isObject } from '../json.ts'
import type { Redactor } from '../redact/redact.ts'
import type { Store, StoredEvent, StoredRun } from '../store/store.ts'
import type { AdoptedRun, PruneMarker } from '../store/change.ts'

/** A prune marker in a transfer, with the row of the run in case the run begins with it. */
export interface SealLine extends PruneMarker {
  readonly runId: string
  readonly run: AdoptedRun
}

export interface SealLines {
  /** Prune markers between the previous event of the run and this one. */
  before(stored: StoredEvent): Promise<SealLine[]>
  /** The seals behind the last events of these runs. */
  rest(runs: AsyncIterable<StoredRun> | Iterable<StoredRun>): AsyncGenerator<SealLine>
}

/** Seals in the places where the events would be that they stand for (L11). */
export function createSealLines(store: Store, workspace: string): SealLines {
  const passed = new Map<string, number>()

  async function between(run: StoredRun, upToSeq: number): Promise<SealLine[]> {
    const { runId } = run.summary
    const after = passed.get(runId) ?? run.forkOf?.seq ?? 0
    const seals = await findSeals(store, { workspace, runId })
    passed.set(runId, upToSeq)
    const { forkOf, recordedAt } = run
    return seals
      .filter(({ fromSeq, toSeq }) => fromSeq > after && toSeq <= upToSeq)
      .map((seal) => ({ ...seal, runId, run: { summary: summaryAt(run, seal), forkOf, recordedAt } }))
  }

  return {
    async before({ correlationId: runId, seq }) {
      const last = passed.get(runId)
      if (last === seq - 1 || seq === 1) {
        passed.set(runId, seq)
        return []
      }
      const run = await findRun(store, { workspace, runId })
      const lines = run ? await between(run, seq - 1) : []
      passed.set(runId, seq)
      return lines
    },
    async *rest(runs) {
      for await (const run of runs) yield* await between(run, run.seq)
    },
  }
}

/** A run that goes on behind the seal counts from there. */
function summaryAt({ summary }: StoredRun, { toSeq }: PruneMarker): RunSummary {
  if (summary.status === 'deleted') return summary
  const none = { steps: 0, messages: 0, toolCalls: 0, errors: 0, inputTokens: 0, outputTokens: 0 }
  return {
    ...summary,
    ...none,
    status: 'pending',
    events: toSeq,
    modelCalls: 0,
    cost: null,
    unpricedCalls: 0,
    pauses: [],
    error: null,
    checkpoint: null,
  }
}

export function formatSeal({ runId, fromSeq, toSeq, headHash, run }: SealLine, redactor?: Redactor): string {
  const { summary, forkOf, recordedAt } = run
  const text = (given: string): string => (redactor ? redactor.text(given) : given)
  return JSON.stringify({
    seal: {
      run_id: text(runId),
      from_seq: fromSeq,
      to_seq: toSeq,
      head_hash: headHash,
      recorded_at: recordedAt,
      fork_of: forkOf && { run_id: text(forkOf.runId), seq: forkOf.seq },
      summary: redactor ? redactor.value({ ...summary } as never).value : summary,
    },
  })
}

/** Undefined for a line that is no seal; null for one that is broken. */
export function parseSeal(text: string): SealLine | null | undefined {
  if (!text.startsWith('{"seal":')) return undefined
  let data: unknown
  try {
    data = (JSON.parse(text) as Record<string, unknown>)['seal']
  } catch {
    return null
  }
  if (!isObject(data)) return null
  const { run_id, from_seq, to_seq, head_hash, recorded_at, fork_of, summary } = data
  const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1
  if (typeof run_id !== 'string' || !isWhole(from_seq) || !isWhole(to_seq) || to_seq < from_seq) return null
  if (typeof head_hash !== 'string' || !/^[0-9a-f]{64}$/.test(head_hash)) return null
  if (typeof recorded_at !== 'string' || !isObject(summary) || summary['runId'] !== run_id) return null
  const fork = isObject(fork_of) ? { runId: String(fork_of['run_id']), seq: Number(fork_of['seq']) } : null
  return {
    runId: run_id,
    fromSeq: from_seq,
    toSeq: to_seq,
    headHash: head_hash,
    run: { summary: summary as unknown as RunSummary, forkOf: fork, recordedAt: recorded_at },
  }
}
