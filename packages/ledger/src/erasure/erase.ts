import { findBelow, findRun } from '../store/find-runs.ts'
import { auditEvent } from '../append/audit-run.ts'
import { writeAudited } from '../append/audited-change.ts'
import { isSystemRun } from '../event/system-run.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { hasSameIdentity, type RunSummary } from '../fold/run-summary.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { Preparer } from '../append/prepare.ts'
import { rangeOf } from '../removal/removed-range.ts'
import { sweepValues } from '../retention/sweep-values.ts'
import { compareSteps } from '../projections/rebuild.ts'
import type { StoredRun } from '../store/store.ts'
import { signCertificate } from './certificate.ts'
import type { EraseOptions, EraseReport, EraseTarget, KeptPart } from './erase-types.ts'
import { type FoldedRows, foldWithout } from './fold-without.ts'
import { type ErasurePlan, type EraseParts, planErasure } from './plan-erasure.ts'

/** Others may write what the plan stands on: then it is made again. */
const ATTEMPTS = 20
const NODES = 1000

/**
 * P5. Plans, does it in one transaction, then makes it physical. A kill before the transaction leaves all as it was, one
 * after it leaves nothing that can be read; what is left to clean is cleaned when it is repeated.
 */
export async function erase(
  parts: EraseParts & { readonly preparer: Preparer; readonly forget: () => void },
  target: EraseTarget,
  options: EraseOptions = {},
): Promise<EraseReport> {
  checkTarget(target)
  const { store, workspace } = parts
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const plan = await planErasure(parts, target, options.onProgress)
    const values = await valuesBelow(parts, plan)
    if (options.dryRun) return report(plan, { values: values.length, dryRun: true })
    if (plan.runs.size === 0) {
      await sweepValues(parts)
      await dropWords(parts)
      return report(plan, await store.disk.scrub(scrubbing(options)))
    }
    const audit = await tryOnce(parts, plan, target, options)
    if (!audit) continue
    parts.forget()
    // A value that others wrote before an erased one counts again: the next read folds the rows again.
    if (plan.kept.some((part) => part.reason === 'others')) await store.memory.clear(workspace)
    await sweepValues(parts)
    const indexed = await dropWords(parts)
    const searchRows = positionsOf(plan).filter((position) => position <= indexed).length
    const scrubbed = await store.disk.scrub(scrubbing(options))
    const shared = await countKept(parts, values)
    const kept: KeptPart[] =
      shared > 0 ? [...plan.kept, { reason: 'shared', values: shared }] : [...plan.kept]
    const done = report({ ...plan, kept }, { values: values.length - shared, searchRows, ...scrubbed })
    const certificate = await signCertificate({ report: done, workspace, target, options, audit, plan })
    return { ...done, certificate }
  }
  throw new ClewError(
    'busy',
    'Runs or holds changed again and again while an erasure was planned',
    'Try again when less is written; nothing was erased.',
  )
}

const scrubbing = ({ rewrite = false }: EraseOptions): { rewrite: boolean } => ({ rewrite })

async function tryOnce(
  parts: EraseParts & { readonly preparer: Preparer },
  plan: ErasurePlan,
  target: EraseTarget,
  { by, reason }: EraseOptions,
): Promise<ClewEvent | undefined> {
  const { store, workspace } = parts
  const rows = await foldAll(parts, plan)
  if (!rows) return undefined
  // Live progress is stored apart from the events, and useless once the run has ended.
  for (const runId of plan.runs.keys()) await store.progress.clear({ workspace, runId })
  const payload = {
    target: 'subject' in target ? 'subject' : 'runId' in target ? 'run' : 'event',
    ...('runId' in target && { runId: target.runId }),
    events: countEvents(plan),
    runs: plan.runs.size,
    kept: plan.kept.length,
    ranges: rangesOf(plan),
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
  }
  const outcome = await writeAudited(parts, auditEvent('system.payload_erased', payload), plan.auditSeq, {
    expect: [...rows].map(([runId, { seq }]) => ({ workspace, runId, seq })),
    blank: [{ as: 'erased', positions: positionsOf(plan) }],
    replace: await Promise.all(
      [...rows].map(async ([runId, { summary, steps }]) => {
        const stored = await store.readSteps({ workspace, runId })
        return { workspace, runId, summary, ...compareSteps(stored, steps) }
      }),
    ),
  })
  return 'event' in outcome ? outcome.event : undefined
}

const positionsOf = ({ runs }: ErasurePlan): number[] =>
  [...runs.values()].flatMap(({ events }) => [...events.values()].map(({ position }) => position))

/** Ranges whose payloads were erased. Memory runs are not named: the name may contain the subject, and the hash identifies them. */
const rangesOf = ({ runs }: ErasurePlan) =>
  [...runs].map(([runId, { events }]) => ({
    ...(!isSystemRun(runId) && { runId }),
    ...rangeOf(events.values()),
  }))

const countEvents = ({ runs }: ErasurePlan): number =>
  [...runs.values()].reduce((sum, { events }) => sum + events.size, 0)

/** Rows of the runs concerned, and of forks that took over whose they are. Undefined when one has moved on. */
async function foldAll(
  parts: EraseParts,
  plan: ErasurePlan,
): Promise<ReadonlyMap<string, FoldedRows> | undefined> {
  const { store, workspace } = parts
  const done = new Map<string, FoldedRows>()
  const nothing = new Map<number, never>()

  async function fold(run: StoredRun): Promise<boolean> {
    const { runId, forkedFrom } = run.summary
    if (done.has(runId)) return true
    let source: RunSummary | undefined
    if (forkedFrom) {
      const named = await findRun(store, { workspace, runId: forkedFrom.runId })
      const planned = plan.runs.get(forkedFrom.runId)
      if (planned && !(await fold(planned.run))) return false
      source = done.get(forkedFrom.runId)?.summary ?? named?.summary
    }
    const rows = await foldWithout(parts, run, plan.runs.get(runId)?.events ?? nothing, source)
    if (rows.seq !== run.seq) return false
    done.set(runId, rows)
    await yieldToEventLoop(parts.ports)
    if (hasSameIdentity(run.summary, rows.summary)) return true
    for (const fork of await findBelow(store, workspace, [runId]))
      if (fork.summary.forkedFrom?.runId === runId && !(await fold(fork))) return false
    return true
  }

  for (const { run } of plan.runs.values()) if (!(await fold(run))) return undefined
  return done
}

/** Removes the words of erased events from the search index; returns the position up to which it was filled. */
async function dropWords({ store }: EraseParts): Promise<number> {
  for (;;) {
    const { position, version } = await store.search.state()
    if (position === 0) return 0
    if (await store.search.add({ from: position, position, version, documents: [] })) return position
  }
}

async function valuesBelow({ reader }: EraseParts, { runs }: ErasurePlan): Promise<number[]> {
  const ids = new Set<number>()
  for (const { events } of runs.values())
    for (const { body } of events.values())
      if (body !== null && !body.startsWith('{'))
        for (const id of (await reader.nodesBelow(body)).keys()) ids.add(id)
  return [...ids]
}

async function countKept({ store }: EraseParts, values: readonly number[]): Promise<number> {
  let kept = 0
  for (let at = 0; at < values.length; at += NODES)
    kept += (await store.values.read(values.slice(at, at + NODES))).size
  return kept
}

function report(plan: ErasurePlan, counts: Partial<EraseReport>): EraseReport {
  const memory = [...plan.runs].filter(([runId]) => parseMemoryRunId(runId))
  return {
    events: countEvents(plan),
    runs: plan.runs.size,
    payloads: countEvents(plan),
    values: 0,
    memory: memory.reduce((sum, [, { events }]) => sum + events.size, 0),
    searchRows: 0,
    kept: plan.kept,
    unfinished: null,
    dryRun: false,
    certificate: null,
    ...counts,
  }
}

function checkTarget(target: EraseTarget): void {
  const named = (['subject', 'runId', 'eventId'] as const).filter(
    (kind) => (target as Record<string, unknown>)[kind] !== undefined,
  )
  const [kind] = named
  const value = kind && (target as Record<string, unknown>)[kind]
  if (named.length === 1 && typeof value === 'string' && value.trim() !== '') return
  throw new ClewError(
    'bad_option',
    'An erasure is about one subject, one run or one event, and none or several were named',
    'Give exactly one of subject, runId and eventId; nothing was erased.',
    { option: 'target' },
  )
}
