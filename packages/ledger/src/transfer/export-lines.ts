import { findRun, findSeals } from '../store/find-runs.ts'
import { missingRun } from '../check-options.ts'
import { partEvents, relatedRuns } from './export-run.ts'
import type { ExportOptions } from '../ledger.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'
import { createExportRedactor } from './redact-export.ts'
import { prunedRun } from '../retention/pruned.ts'
import { createSealLines, formatSeal } from '../retention/seal-lines.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { Store } from '../store/store.ts'
import { formatLine } from './transfer.ts'

interface ExportParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly ports: Pick<Ports, 'sha256'>
  readonly redactor: Redactor
  readonly workspace: string
}

/** One event a line, as it is chained; where a range was pruned, its seal in its place. */
export async function* exportLines(
  { store, reader, runs, ports, redactor, workspace }: ExportParts,
  { runId, redacted = false, onProgress }: ExportOptions,
): AsyncGenerator<string> {
  const named = runId === undefined ? null : await findRun(store, { workspace, runId })
  if (runId !== undefined && !named) throw missingRun(runId)
  if (named?.summary.status === 'deleted')
    throw prunedRun(named.summary.runId, await findSeals(store, { workspace, runId: named.summary.runId }))
  const parts = runId === undefined ? undefined : await relatedRuns({ store, reader, runs, workspace }, runId)
  const clean = redacted
    ? createExportRedactor(
        { sha256: ports.sha256, redactor, reader },
        parts?.map(({ run }) => run) ?? (await Array.fromAsync(runs.allRuns({ deleted: true }))),
      )
    : undefined
  const seals =
    (await store.info('prunedEvents')).prunedEvents > 0 ? createSealLines(store, workspace) : undefined
  let events = 0
  for await (const page of parts ? partEvents({ runs }, parts) : runs.allEvents()) {
    for (const stored of page) {
      for (const seal of (await seals?.before(stored)) ?? []) {
        clean?.passSeal(seal.runId, seal.headHash)
        yield `${formatSeal(seal, clean && redactor)}\n`
      }
      const isErasedFork = stored.erased && stored.eventType === 'system.workflow_forked'
      const fork = isErasedFork ? await findRun(store, { workspace, runId: stored.correlationId }) : null
      const source = fork?.summary.forkedFrom
      yield `${await formatLine(clean ? await clean.event(stored) : stored, reader, source)}\n`
    }
    events += page.length
    onProgress?.(events)
  }
  const all = parts
    ? parts.map(({ run, upToSeq }) => ({ ...run, seq: upToSeq }))
    : runs.allRuns({ deleted: true })
  for await (const seal of seals?.rest(all) ?? []) yield `${formatSeal(seal, clean && redactor)}\n`
}
