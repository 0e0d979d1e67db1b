import { auditEvent } from '../audit-book.ts'
import { isBook } from '../book.ts'
import { checkInput, type ClewEvent } from '../envelope.ts'
import { ClewError } from '../errors.ts'
import { hasSameIdentity, type RunSummary } from '../fold/run-summary.ts'
import { parseMemoryBook } from '../memory/item.ts'
import { nextTurn } from '../next-turn.ts'
import type { Preparer } from '../prepare.ts'
import { sweepValues } from '../retention/sweep-values.ts'
import { SEARCH_VERSION, toDocument } from '../search/extract.ts'
import type { BlankedDocument } from '../search/search-index.ts'
import type { StoredRun } from '../store.ts'
import { signCertificate } from './certificate.ts'
import type { EraseOptions, EraseReport, EraseTarget, KeptPart } from './erase-types.ts'
import type { ErasedRun } from './erasing.ts'
import { foldWithout, withoutPayload } from './fold-without.ts'
import { type ErasurePlan, type EraseParts, planErasure } from './plan-erasure.ts'

/** Others may write what the plan stands on: then it is made again. */
const ATTEMPTS = 20
/** Beyond so much text the search index is made again instead. */
const MOST_SEARCHED_CHARS = 64 * 1024 * 1024
const NODES = 1000

interface Erased {
  readonly audit: ClewEvent
  readonly documents: readonly BlankedDocument[] | undefined
}

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
      const searchRows = await store.search.blank([], SEARCH_VERSION)
      return report(plan, { ...(await store.erasure.scrub(scrubbing(options))), searchRows })
    }
    const erased = await tryOnce(parts, plan, target, options)
    if (!erased) continue
    parts.forget()
    await sweepValues(parts)
    const searchRows = await blankSearch(parts, erased.documents)
    const scrubbed = await store.erasure.scrub(scrubbing(options))
    const shared = await countKept(parts, values)
    const kept: KeptPart[] =
      shared > 0 ? [...plan.kept, { reason: 'shared', values: shared }] : [...plan.kept]
    const done = report({ ...plan, kept }, { values: values.length - shared, searchRows, ...scrubbed })
    const { audit } = erased
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
): Promise<Erased | undefined> {
  const { store, workspace, preparer, ports } = parts
  const rows = await foldAll(parts, plan)
  if (!rows) return undefined
  const documents = await documentsOf(parts, plan)
  // Live progress of runs that have ended is of no use to anybody, and lies elsewhere.
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
  const prepared = preparer.prepare(checkInput(auditEvent('system.payload_erased', payload)))
  const audit = await store.erasure.erase({
    workspace,
    positions: [...plan.runs.values()].flatMap(({ events }) =>
      [...events.values()].map(({ position }) => position),
    ),
    runs: rows,
    erasedAt: new Date(ports.now()).toISOString(),
    call: { workspace, events: [prepared], expectedSeq: plan.bookSeq },
  })
  return audit ? { audit, documents } : undefined
}

/** Where payloads went. Not those of books: the name of a book of memory may be that of the subject. */
function rangesOf({ runs }: ErasurePlan): { runId: string; fromSeq: number; toSeq: number }[] {
  const ranges: { runId: string; fromSeq: number; toSeq: number }[] = []
  for (const [runId, { events }] of runs) {
    if (isBook(runId)) continue
    for (const seq of [...events.keys()].sort((a, b) => a - b)) {
      const last = ranges.at(-1)
      if (last?.runId === runId && last.toSeq === seq - 1) last.toSeq = seq
      else ranges.push({ runId, fromSeq: seq, toSeq: seq })
    }
  }
  return ranges
}

const countEvents = ({ runs }: ErasurePlan): number =>
  [...runs.values()].reduce((sum, { events }) => sum + events.size, 0)

/** Rows of the runs concerned, and of forks that took over whose they are. Undefined when one has moved on. */
async function foldAll(parts: EraseParts, plan: ErasurePlan): Promise<ErasedRun[] | undefined> {
  const { store, workspace } = parts
  const done = new Map<string, ErasedRun>()
  const nothing = new Map<number, never>()

  async function fold(run: StoredRun): Promise<boolean> {
    const { runId, forkedFrom } = run.summary
    if (done.has(runId)) return true
    let source: RunSummary | undefined
    if (forkedFrom) {
      const named = await store.findRun({ workspace, runId: forkedFrom.runId })
      const planned = plan.runs.get(forkedFrom.runId)
      if (planned && !(await fold(planned.run))) return false
      source = done.get(forkedFrom.runId)?.summary ?? named?.summary
    }
    const rows = await foldWithout(parts, run, plan.runs.get(runId)?.events ?? nothing, source)
    if (rows.seq !== run.seq) return false
    done.set(runId, { runId, ...rows })
    await nextTurn(parts.ports)
    if (hasSameIdentity(run.summary, rows.summary)) return true
    for (const fork of await store.findBelow(workspace, [runId]))
      if (fork.summary.forkedFrom?.runId === runId && !(await fold(fork))) return false
    return true
  }

  for (const { run } of plan.runs.values()) if (!(await fold(run))) return undefined
  return [...done.values()]
}

/** What the search index holds of the events, to take it out, and what it holds of erased ones. */
async function documentsOf(
  { reader }: EraseParts,
  { runs }: ErasurePlan,
): Promise<BlankedDocument[] | undefined> {
  const documents: BlankedDocument[] = []
  let chars = 0
  for (const { events } of runs.values())
    for (const stored of events.values()) {
      const [event] = await reader.toPlainEvents([stored])
      const [blank] = await reader.toPlainEvents([withoutPayload(stored)])
      const before = toDocument(event as ClewEvent)
      for (const text of Object.values(before.fields)) chars += text.length
      if (chars > MOST_SEARCHED_CHARS) return undefined
      documents.push({ before, after: toDocument(blank as ClewEvent) })
    }
  return documents
}

async function blankSearch(
  { store }: EraseParts,
  documents: readonly BlankedDocument[] | undefined,
): Promise<number> {
  if (documents) return store.search.blank(documents, SEARCH_VERSION)
  const { position } = await store.search.state()
  await store.search.clear()
  return position === 0 ? 0 : store.countAfter(0)
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
    kept += (await store.readNodes(values.slice(at, at + NODES))).size
  return kept
}

function report(plan: ErasurePlan, counts: Partial<EraseReport>): EraseReport {
  const memory = [...plan.runs].filter(([runId]) => parseMemoryBook(runId))
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
