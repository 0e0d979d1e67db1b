import { type ClewEvent, createDeriver, type ForeignType, type Payload } from '@clew/ledger'
import { type Comparison, createComparison } from '../replay/same-value.ts'
import { toStepError } from '../run/run.ts'
import type { MachineState } from './machine-state.ts'
import { patchIds, patchIn, patchPayload } from './patches.ts'
import { clockKey } from './record.ts'
import { sha256 } from './run-appender.ts'
import { isWithin, type Scope } from './scope.ts'

/** An event by which code says what it did, and which is no step of it (R13). */
export interface Statement {
  readonly eventType: string
  readonly payload: Payload
}

/** Recorded statements by scope and attempt, in the order in which they were made. */
export type StatementIndex = Map<string, ClewEvent[]>

export interface Statements {
  /** Records a statement, or finds it in the record; gives the id of its event. */
  make(scope: Scope, statement: Statement): string
  /** W6: which way the code takes where it was changed; the new one is recorded. */
  patched(scope: Scope, id: string): boolean
  /** The code of a scope begins: in a replay it owes from here on what it said. */
  entered(scope: Scope): void
  /**
   * Writes what the record turned out to lack: it was lost with the process. When a body ends, only what was said within it:
   * later nobody would say it again.
   */
  flush(within?: Scope): void
}

const idParts = (path: string, attempt: number, count: number): (string | number)[] => [
  'statement',
  path,
  attempt,
  count,
]

/** Takes up an event if it is a statement, which only its derived id shows: anybody may record the same types. */
export function addStatement(
  index: StatementIndex,
  event: ClewEvent,
  triedLast: (stepId: string) => number,
): void {
  const { eventId, eventType, source, payload, correlationId } = event
  if (source.origin !== 'agent' || source.runtime !== 'clew') return
  const { stepId } = payload
  const path = typeof stepId === 'string' ? stepId : ''
  const attempt = triedLast(path)
  const key = clockKey(path, attempt)
  const list = index.get(key) ?? []
  const idOf = createDeriver(sha256, correlationId)
  if (eventId === idOf(eventType, ...idParts(path, attempt, list.length))) list.push(event)
  else {
    const at = list.findIndex(
      (said, count) => eventId === idOf(eventType, ...idParts(path, attempt, count), said.eventId),
    )
    if (at < 0) return
    list[at] = event
  }
  index.set(key, list)
}

/** Fields that the ledger or the run adds to what was said. */
const ADDED: ReadonlySet<string> = new Set(['clock', 'usage', 'cost'])

/** Payload of a statement without the fields that recording added. */
export const saidIn = (payload: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !ADDED.has(name)))

export function isSameStatement(
  recorded: ClewEvent,
  { eventType, payload }: Statement,
  comparison: Pick<Comparison, 'compare'>,
): boolean {
  const where = { part: 'output', step: null } as const
  return (
    recorded.eventType === eventType &&
    comparison.compare(saidIn(recorded.payload), saidIn(payload), where) !== 'different'
  )
}

/** Statements of a live run: none wakes the code, so none is waited for; what is recorded next stands behind it. */
export function createStatements(core: () => MachineState): Statements {
  let held: { readonly scope: Scope; readonly go: () => void }[] = []
  let comparison: Comparison | undefined

  function write({ eventType, payload }: Statement, ids: readonly (string | number)[], cause: string | null) {
    const { writes } = core()
    // Its payload was checked when the code made the statement.
    writes.send([writes.draft(eventType as ForeignType, ids, cause, { ...payload })], () => {}, {
      onUnstorable: fail,
    })
  }

  function fail(error: unknown): void {
    core().ended = { error: toStepError(error, null) }
    core().notify()
  }

  return {
    make(scope, statement) {
      const { journal, options, cause, isReading, isOver } = core()
      const { path, attempt } = scope
      const count = scope.statements++
      const { record, runId } = options
      const ids = idParts(path, attempt, count)
      const idOf = (more: readonly string[]): string =>
        createDeriver(sha256, runId)(statement.eventType, ...ids, ...more)
      const said = record?.statements.get(clockKey(path, attempt))?.[count]
      if (said && journal) {
        comparison ??= createComparison(journal.ledger)
        if (isSameStatement(said, statement, comparison)) return said.eventId
        if (!record?.isShared(said)) {
          const { shown } = comparison
          const [expected, received] = [shown(saidIn(said.payload)), shown(saidIn(statement.payload))]
          core().diverge({ kind: 'output', stepId: path === '' ? null : path, expected, received })
          return said.eventId
        }
      }
      const more = said ? [said.eventId] : []
      if (!journal || isOver) return idOf(more)
      const go = (): void => write(statement, [...ids, ...more], cause)
      if (isReading) held.push({ scope, go })
      else go()
      return idOf(more)
    },
    patched(scope, id) {
      const known = scope.patches?.get(id)
      if (known !== undefined) return known
      const { journal, options, cause, isReading, isOver } = core()
      const way = patchIn(options.record, scope, id)
      scope.patches ??= new Map()
      scope.patches.set(id, way !== 'old')
      if (way !== 'new' || !journal || isOver) return way !== 'old'
      const statement = { eventType: 'execution.decision', payload: patchPayload(scope, id) }
      const go = (): void => write(statement, patchIds(scope, id), cause)
      if (isReading) held.push({ scope, go })
      else go()
      return true
    },
    entered() {},
    flush(within) {
      if (held.length === 0) return
      const isDue = ({ scope }: { readonly scope: Scope }): boolean => !within || isWithin(scope, within)
      const due = held.filter(isDue)
      held = held.filter((each) => !isDue(each))
      for (const { go } of due) go()
    },
  }
}
