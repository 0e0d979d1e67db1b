import { findRun } from '../store/find-runs.ts'
import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import { isSystemRun } from '../event/system-run.ts'
import { ClewError } from '../errors.ts'
import { isTerminal } from '../fold/run-summary.ts'
import type { Identities } from '../event/identity.ts'
import type { Ledger } from '../ledger.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { expandToWholeItems, writtenFor } from '../memory/fold.ts'
import { memoryRunId, parseMemoryRunId } from '../memory/item.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'
import { findHold } from '../retention/find-hold.ts'
import { readHeldItems } from '../retention/held-items.ts'
import { type Hold, heldBy, isHeldName, readHolds } from '../retention/holds.ts'
import type { RunReader } from '../read/run-reader.ts'
import type { Store, StoredEvent, StoredRun } from '../store/store.ts'
import type { EraseTarget, KeptPart } from './erase-types.ts'
import { createDescendants, type Descendants } from './descendants.ts'
import { findSubjectEvents } from './find-subject.ts'
import { divideItems } from './others-writes.ts'

export interface EraseParts {
  readonly ledger: Ledger
  readonly store: Store
  readonly reader: PayloadReader
  readonly runs: RunReader
  readonly redactor: Redactor
  readonly identities: Identities
  readonly ports: Pick<Ports, 'now' | 'defer' | 'sleep'>
  readonly workspace: string
}

export interface PlannedRun {
  readonly run: StoredRun
  readonly events: ReadonlyMap<number, StoredEvent>
}

export interface ErasurePlan {
  readonly runs: ReadonlyMap<string, PlannedRun>
  readonly kept: readonly KeptPart[]
  /** Seq of the audit run up to which holds were read. */
  readonly auditSeq: number
}

const CAUSES = 200

/** Which events a target stands for, without what a hold keeps; refuses what may not be erased at all. */
export async function planErasure(
  parts: EraseParts,
  target: EraseTarget,
  onProgress?: (events: number) => void,
): Promise<ErasurePlan> {
  const { store, workspace } = parts
  const { holds, seq: auditSeq } = await readHolds(parts.ledger)
  const found = new Map<string, { run: StoredRun; events: Map<number, StoredEvent> }>()
  let looked = 0

  async function runOf(runId: string): Promise<StoredRun> {
    return found.get(runId)?.run ?? ((await findRun(store, { workspace, runId })) as StoredRun)
  }

  async function add(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) {
      looked++
      if (event.erased || event.body === null) continue
      const planned = found.get(event.correlationId) ?? {
        run: await runOf(event.correlationId),
        events: new Map<number, StoredEvent>(),
      }
      planned.events.set(event.seq, event)
      found.set(event.correlationId, planned)
    }
    onProgress?.(looked)
  }

  async function addRun(run: StoredRun): Promise<void> {
    for await (const page of parts.runs.ownEvents(run)) await add(page)
  }

  const descendants = createDescendants(parts)
  const onRead = (events: number): void => {
    looked += events
    onProgress?.(looked)
  }
  for await (const part of collect(parts, target, descendants, onRead))
    await ('run' in part ? addRun(part.run) : add(part.events))
  const others = await addMemory(parts, target, found, add, addRun)
  const kept = [...(await takeOutHeld(parts, descendants, target, found, holds)), ...others]
  assertNotHeld(target, found, kept)
  await assertNotLive(parts, descendants, found)
  return { runs: found, kept, auditSeq }
}

type Part = { readonly run: StoredRun } | { readonly events: readonly StoredEvent[] }

async function* collect(
  parts: EraseParts,
  target: EraseTarget,
  descendants: Descendants,
  onRead: (events: number) => void,
): AsyncGenerator<Part> {
  const { store, workspace } = parts
  if ('eventId' in target) {
    const events = await store.findEvents({ workspace, ids: [target.eventId] })
    if (events.length === 0) throw missing('event', target.eventId)
    if (events.some((event) => event.correlationId === AUDIT_RUN_ID)) throw auditStays()
    yield { events }
    return
  }
  if ('runId' in target) {
    const run = await findRun(store, { workspace, runId: target.runId })
    if (!run) throw missing('run', target.runId)
    if (target.runId === AUDIT_RUN_ID) throw auditStays()
    await descendants.readStarts(onRead)
    const all = await descendants.withBelow([run])
    const forks = all.filter(({ summary }) => summary.forkedFrom && summary.runId !== target.runId)
    if (forks.length > 0 && target.withForks !== true) throw hasForks(target.runId, forks)
    for (const each of all) yield { run: each }
    return
  }
  const names = namesOf(parts, target.subject)
  // The index of subjects may lack a run, and then a certificate would be false: the events decide.
  const { runs } = await store.findRuns({ workspace, subjects: names, deleted: true, order: 'oldest' })
  const about = new Map(runs.map((run) => [run.summary.runId, run]))
  for await (const page of findSubjectEvents(parts, names, target.paths ?? [])) {
    const found = page.filter(({ event }) => event.correlationId !== AUDIT_RUN_ID)
    for (const { event, isSubject } of found) {
      const { correlationId: runId } = event
      if (!isSubject || about.has(runId)) continue
      const run = await findRun(store, { workspace, runId })
      if (run && isAboutRun(event, run)) about.set(runId, run)
    }
    yield { events: found.map(({ event }) => event) }
  }
  if (about.size === 0) return
  await descendants.readStarts(onRead)
  for (const run of await descendants.withBelow([...about.values()])) yield { run }
}

/** Whether the subjects of an event are those of its run: of its first event, and of a start that comes later (`beginRun`). */
const isAboutRun = ({ seq, eventType }: StoredEvent, { forkOf }: StoredRun): boolean =>
  eventType === 'system.workflow_started' ||
  (seq === (forkOf?.seq ?? 0) + 1 && !eventType.startsWith('execution.memory_'))

/** Names under which events may record a subject. Earlier versions of Clew recorded a placeholder if redaction removed it. */
const namesOf = ({ identities, redactor }: EraseParts, subject: string): string[] => [
  ...new Set([...identities.identity(subject).names, redactor.text(subject)]),
]

/**
 * Adds memory that came from what goes, and that of the runs and of the subject: each item whole, without what others wrote
 * under its name. Returns what stays for that.
 */
async function addMemory(
  parts: EraseParts,
  target: EraseTarget,
  found: ReadonlyMap<string, { readonly events: ReadonlyMap<number, StoredEvent> }>,
  add: (events: readonly StoredEvent[]) => Promise<void>,
  addRun: (run: StoredRun) => Promise<void>,
): Promise<KeptPart[]> {
  const { store, reader, runs, workspace } = parts
  const isEvent = 'eventId' in target
  const scopes = isEvent ? [] : [...found.keys()].filter((runId) => !isSystemRun(runId))
  const memoryRuns = scopes.map((scope) => memoryRunId({ layer: 'short', scope }))
  if ('subject' in target)
    for (const name of namesOf(parts, target.subject))
      memoryRuns.push(memoryRunId({ layer: 'long', scope: `user:${name}` }))
  for (const runId of memoryRuns) {
    const memoryRun = await findRun(store, { workspace, runId })
    if (memoryRun) await addRun(memoryRun)
  }
  const seen = new Set<string>()
  const kept = new Map<string, number>()
  for (;;) {
    const ids = [...found.values()].flatMap(({ events }) =>
      [...events.values()].map(({ eventId }) => eventId),
    )
    const open = ids.filter((id) => !seen.has(id))
    if (open.length === 0) break
    for (let at = 0; at < open.length; at += CAUSES) {
      const caused = await store.findEvents({ workspace, causes: open.slice(at, at + CAUSES) })
      await add(caused.filter((event) => parseMemoryRunId(event.correlationId) !== undefined))
    }
    for (const id of open) seen.add(id)
    for (const [runId, { events }] of found) {
      if (!parseMemoryRunId(runId)) continue
      const memoryRun = await findRun(store, { workspace, runId })
      const stored: StoredEvent[] = []
      if (memoryRun) for await (const page of runs.ownEvents(memoryRun)) stored.push(...page)
      const erased = new Set(events.keys())
      const whole = expandToWholeItems(await reader.toPlainEvents(stored), erased)
      // Naming one event of memory selects the item that it wrote.
      const isOfOthers = isEvent ? () => false : await findOthers(parts, target, found, whole)
      const items = divideItems(whole, erased, isOfOthers)
      if (items.kept.size > 0) kept.set(runId, items.kept.size)
      await add(stored.filter((event) => items.going.has(event.seq)))
    }
  }
  return [...kept].map(([runId, events]) => ({ reason: 'others', runId, events }))
}

/**
 * Finds the events of memory that others wrote: those of another run, named by the event or by its cause, or about
 * other subjects. An event without such information is erased with the item.
 */
async function findOthers(
  parts: EraseParts,
  target: EraseTarget,
  found: ReadonlyMap<string, unknown>,
  events: readonly ClewEvent[],
): Promise<(event: ClewEvent) => boolean> {
  const { store, workspace } = parts
  const names = new Set('subject' in target ? namesOf(parts, target.subject) : [])
  const runOfCause = new Map<string, string>()
  const causes = [...new Set(events.map(({ causationId }) => causationId).filter((id) => id !== null))]
  for (let at = 0; at < causes.length; at += CAUSES)
    for (const { eventId, correlationId } of await store.findEvents({
      workspace,
      ids: causes.slice(at, at + CAUSES),
    }))
      runOfCause.set(eventId, correlationId)
  return (event) => {
    const { subjects, runId } = writtenFor(event)
    if (subjects.some((name) => names.has(name))) return false
    const run = runId ?? runOfCause.get(event.causationId ?? '')
    if (run !== undefined && !isSystemRun(run)) return !found.has(run)
    return names.size > 0 && subjects.length > 0
  }
}

/** A hold wins over erasure (P5): on the run, on one that was forked from it, on the run it works for, on the subject. */
async function takeOutHeld(
  parts: EraseParts,
  { withBelow }: Descendants,
  target: EraseTarget,
  found: Map<string, { readonly run: StoredRun; readonly events: Map<number, StoredEvent> }>,
  holds: readonly Hold[],
): Promise<KeptPart[]> {
  if (holds.length === 0) return []
  const names = 'subject' in target ? namesOf(parts, target.subject) : []
  const onSubject = holds.find(
    (hold) => 'subject' in hold.target && names.some((name) => isHeldName(hold, name)),
  )
  const kept: KeptPart[] = []
  for (const [runId, { run, events }] of found) {
    let hold = onSubject
    for (const each of await withBelow([run]))
      if (each === run || each.summary.forkedFrom) hold ??= heldBy(holds, each.summary)[0]
    hold ??= await findHold(parts, holds, run.summary)
    if (hold) found.delete(runId)
    else if (parseMemoryRunId(runId)) hold = await takeOutItems(parts, holds, runId, events)
    if (hold) kept.push({ reason: 'held', runId, holdId: hold.holdId })
    if (events.size === 0) found.delete(runId)
  }
  return kept
}

/** Keeps only the held items of a memory run that several runs write to. */
async function takeOutItems(
  parts: EraseParts,
  holds: readonly Hold[],
  memoryRun: string,
  events: Map<number, StoredEvent>,
): Promise<Hold | undefined> {
  const held = await readHeldItems(parts, holds, memoryRun)
  const going = [...events.keys()].filter((seq) => held?.seqs.has(seq))
  for (const seq of going) events.delete(seq)
  return going.length > 0 ? held?.hold : undefined
}

/** Refuses the erasure if the named run, or everything found, is held. Otherwise held parts are skipped. */
function assertNotHeld(
  target: EraseTarget,
  found: ReadonlyMap<string, unknown>,
  kept: readonly KeptPart[],
): void {
  const held = kept.filter((part) => part.reason === 'held')
  const named = held.find(({ runId }) => 'runId' in target && target.runId === runId)
  const first = named ?? held[0]
  if (!first || (found.size > 0 && !named)) return
  throw new ClewError(
    'held',
    `Run ${first.runId} is under a legal hold`,
    `Release the hold first if it may go: clew hold release ${first.holdId}. Nothing was erased.`,
    { runId: first.runId, holdId: first.holdId },
  )
}

/** A run that is running or can be resumed needs its record. */
async function assertNotLive(
  parts: EraseParts,
  { withBelow }: Descendants,
  found: ReadonlyMap<string, { readonly run: StoredRun }>,
): Promise<void> {
  if (found.size === 0) return
  const leases = await parts.store.leases.list()
  const held = new Set(
    leases
      .filter(({ workspace, state }) => workspace === parts.workspace && state !== 'dead')
      .map(({ runId }) => runId),
  )
  const own = [...found.values()].map(({ run }) => run)
  const forks = (await withBelow(own)).filter(({ summary }) => summary.forkedFrom)
  for (const { summary } of [...own, ...forks]) {
    const { runId, status, agent } = summary
    const isOpen = !isTerminal(status) && (status !== 'pending' || agent !== null)
    if (isSystemRun(runId) || !(held.has(runId) || isOpen)) continue
    throw new ClewError(
      'busy',
      `Run ${runId} is ${status}: it still needs what is to be erased`,
      `Stop it first: clew stop ${runId}. Nothing was erased.`,
      { runId, status },
    )
  }
}

const missing = (what: 'run' | 'event', id: string): ClewError =>
  new ClewError(
    'not_found',
    `There is no ${what} ${id} to erase`,
    'Look for it with `clew runs` or `clew search`; nothing was erased.',
    { [`${what}Id`]: id },
  )

const auditStays = (): ClewError =>
  new ClewError(
    'bad_option',
    'The audit run says what was erased, and cannot be erased itself',
    'Name the run, the event or the subject that is meant; nothing was erased.',
    { runId: AUDIT_RUN_ID },
  )

function hasForks(runId: string, forks: readonly StoredRun[]): ClewError {
  const names = forks.slice(0, 3).map(({ summary }) => summary.runId)
  return new ClewError(
    'bad_option',
    `Run ${runId} has ${forks.length} fork${forks.length === 1 ? '' : 's'} that stand${forks.length === 1 ? 's' : ''} on its events, such as ${names.join(', ')}`,
    'Erase it with its forks (withForks, --with-forks), or leave it; nothing was erased.',
    { runId, forks: forks.length },
  )
}
