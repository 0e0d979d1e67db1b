import { AUDIT_RUN_ID, auditEvent } from '../append/audit-run.ts'
import { asOwn } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { isObject } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { type MemoryLayer, parseMemoryRunId } from '../memory/item.ts'

/** Scope of a legal hold: one run, all runs about a subject, or all runs of a thread, future ones included. */
export type HoldTarget =
  | { readonly runId: string }
  | { readonly subject: string }
  | { readonly threadId: string }

export interface HoldOptions {
  /** Recorded in the compliance log. */
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

/** P4: while a hold is in force, neither retention nor erasure deletes anything in its scope. */
export interface Hold {
  readonly holdId: string
  readonly target: HoldTarget
  readonly reason: string | null
  readonly by: string | null
  readonly since: string
}

export interface ActiveHolds {
  readonly holds: readonly Hold[]
  /** Seq of the audit run at which the holds were read. Append with it as `expectedSeq`, so that a hold added since is a conflict. */
  readonly seq: number
}

const KINDS = ['runId', 'subject', 'threadId'] as const
/** Event types that set and release holds. */
const HOLD_TYPES: readonly string[] = ['system.access']

function checkHoldTarget(given: unknown): HoldTarget {
  if (isObject(given)) {
    const named = KINDS.filter((kind) => given[kind] !== undefined)
    const [kind] = named
    const value = kind && given[kind]
    if (kind && named.length === 1 && typeof value === 'string' && value.trim() !== '')
      return { [kind]: value } as unknown as HoldTarget
  }
  throw new ClewError(
    'bad_option',
    'A hold covers one run, one subject or one thread, and none or several were named',
    'Give exactly one of runId, subject and threadId; nothing was held.',
    { option: 'target' },
  )
}

/** Holds in force after one more event, oldest first. */
function foldHolds(holds: ReadonlyMap<string, Hold>, event: ClewEvent): ReadonlyMap<string, Hold> {
  const own = asOwn(event)
  if (own?.eventType !== 'system.access') return holds
  const { action, target, holdId: released, reason = null, by = null } = own.payload
  if (action === 'hold' && isObject(target)) {
    const { eventId: holdId, ledger } = event
    const hold: Hold = { holdId, target: checkHoldTarget(target), reason, by, since: ledger.recordedAt }
    return new Map([...holds, [holdId, hold]])
  }
  if (action !== 'release' || released === undefined) return holds
  return new Map([...holds].filter(([holdId]) => holdId !== released))
}

/** A hold with its matcher: a recorded name is the plain one or its `id-` form. */
interface NamedHold extends Hold {
  readonly isNamed?: (name: string) => boolean
}

/** Whether a recorded name of a subject or thread is the one that the hold names. */
export const isHeldName = ({ target, isNamed }: NamedHold, name: string): boolean =>
  isNamed ? isNamed(name) : !('runId' in target) && nameIn(target) === name

const nameIn = (target: Exclude<HoldTarget, { readonly runId: string }>): string =>
  'subject' in target ? target.subject : target.threadId

/** Removes the matcher, which holds names in the clear and must not leave the process. */
export const toHold = ({ isNamed: _, ...hold }: NamedHold): Hold => hold

function withNames(hold: Hold, identity: Ledger['identity']): NamedHold {
  if ('runId' in hold.target) return hold
  const idOf = (name: string): string => identity(name).names.at(-1) as string
  const meant = idOf(nameIn(hold.target))
  return { ...hold, isNamed: (name) => idOf(name) === meant }
}

export async function readHolds(ledger: Pick<Ledger, 'read' | 'getRun' | 'identity'>): Promise<ActiveHolds> {
  // Later events are not read, so that the returned seq matches the holds.
  const seq = (await ledger.getRun(AUDIT_RUN_ID))?.events ?? 0
  let holds: ReadonlyMap<string, Hold> = new Map()
  for await (const event of ledger.read(AUDIT_RUN_ID, { types: HOLD_TYPES })) {
    if (event.ledger.seq > seq) break
    holds = foldHolds(holds, event)
  }
  return { holds: [...holds.values()].map((hold) => withNames(hold, ledger.identity)), seq }
}

/** Fields of a run that decide whether a hold covers it. */
export type Holdable = Pick<RunSummary, 'runId' | 'threadId' | 'parentRunId' | 'subjects'>

/** The holds that name a run, or the memory run that belongs to what they name. */
export function heldBy(holds: readonly Hold[], run: Omit<Holdable, 'parentRunId'>): Hold[] {
  if (holds.length === 0) return []
  const memory = parseMemoryRunId(run.runId)
  const scopeOf = (layer: MemoryLayer): string | null => (memory?.layer === layer ? memory.scope : null)
  return holds.filter((hold) => {
    const { target } = hold
    if ('runId' in target) return [run.runId, scopeOf('short')].includes(target.runId)
    const names =
      'threadId' in target
        ? [run.threadId, scopeOf('session')]
        : [...run.subjects, /^user:(.*)/s.exec(scopeOf('long') ?? '')?.[1]]
    return names.some((name) => typeof name === 'string' && isHeldName(hold, name))
  })
}

export async function setHold(
  ledger: Pick<Ledger, 'record' | 'getRun'>,
  given: HoldTarget,
  { reason, by }: HoldOptions,
): Promise<Hold> {
  const target = checkHoldTarget(given)
  if ('runId' in target && !(await ledger.getRun(target.runId)))
    throw new ClewError(
      'not_found',
      `There is no run ${target.runId} to hold`,
      'See the runs with `clew runs`; nothing was held.',
      { runId: target.runId },
    )
  const event = await ledger.record(auditEvent('system.access', { action: 'hold', target, reason, by }))
  const { eventId, ledger: place } = event
  return { holdId: eventId, target, reason: reason ?? null, by: by ?? null, since: place.recordedAt }
}

export async function releaseHold(
  ledger: Pick<Ledger, 'record' | 'read' | 'getRun' | 'identity'>,
  holdId: string,
  { reason, by }: HoldOptions,
): Promise<Hold> {
  const hold = (await readHolds(ledger)).holds.find((each) => each.holdId === holdId)
  if (!hold)
    throw new ClewError(
      'not_found',
      `There is no hold ${holdId}`,
      'See those that stand with `clew hold list`; nothing was released.',
      { holdId },
    )
  const { target } = hold
  await ledger.record(auditEvent('system.access', { action: 'release', holdId, target, reason, by }))
  return hold
}
