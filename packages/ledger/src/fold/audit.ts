import { asErasable, type ErasableEvent, type OwnEventType, type PayloadOf } from '../catalogue/catalogue.ts'
import { contentText } from './content-text.ts'
import { countPlaceholders, type Redactions } from './count-placeholders.ts'
import { isErased, stepOf, textOf, whoOf } from './fields.ts'
import { beginsStep } from './begins-step.ts'
import type { Fold } from './fold.ts'
import { createPairing, type Pairing } from './pairing.ts'
import { applyProgress, beginProgress, type RunProgress } from './run-progress.ts'
import { type RunStatus, toRunError } from './run-summary.ts'
import { callTie } from './pair-keys.ts'
import { errorText, oneLine } from './transcript-text.ts'

export type AuditAction =
  | 'run_started'
  | 'run_forked'
  | 'run_paused'
  | 'run_resumed'
  | 'lease_taken'
  | 'run_interrupted'
  | 'run_blocked'
  | 'divergence_accepted'
  | 'run_replayed'
  | 'run_stopped'
  | 'run_superseded'
  | 'run_completed'
  | 'run_failed'
  | 'message_received'
  | 'input_requested'
  | 'input_received'
  | 'tool_called'
  | 'effect_begun'
  | 'external_called'
  | 'handed_off'
  | 'memory_changed'
  | 'policy_changed'
  | 'payload_erased'
  | 'range_pruned'
  | 'accessed'

export type Safety = 'read' | 'write' | 'destructive' | 'external'

/** Audit trail: actor, action, time, target and outcome. */
export interface AuditEntry {
  readonly seq: number
  readonly eventId: string
  /** The producer's clock. */
  readonly at: string
  /** The ledger's clock. */
  readonly recordedAt: string
  readonly runId: string
  readonly who: string
  readonly action: AuditAction
  readonly target: string | null
  readonly detail: string | null
  readonly stepId: string | null
  /** Declared safety of a tool or effect; null if not declared. */
  readonly safety: Safety | null
  readonly outcome: 'completed' | 'failed' | 'stopped' | 'interrupted' | 'open' | null
  /** Placeholders that redaction left in this event. */
  readonly redactions: number
  readonly erased: boolean
}

/** V6: the audited actions of one run. */
export interface AuditTrail {
  readonly runId: string | null
  readonly status: RunStatus | null
  readonly entries: readonly AuditEntry[]
  /** Placeholders in all events of the run, by kind. */
  readonly redactions: Redactions
  readonly events: number
  readonly erasedEvents: number
}

type Outcome = NonNullable<AuditEntry['outcome']>
type MutableAuditEntry = { -readonly [K in keyof AuditEntry]: AuditEntry[K] }

/** Changed in place by `apply`; each view is a new object and never changes. */
export interface AuditState {
  readonly progress: RunProgress
  readonly entries: MutableAuditEntry[]
  readonly calls: Pairing<MutableAuditEntry, Outcome>
  readonly safety: Map<string, Safety>
  readonly effects: Map<string, MutableAuditEntry>
  readonly questions: Map<string, string>
  readonly redactions: Map<string, number>
  events: number
  erasedEvents: number
}

export const auditFold: Fold<AuditState, AuditTrail> = {
  name: 'audit',
  version: 1,
  begin: () => ({
    progress: beginProgress(),
    entries: [],
    calls: createPairing(),
    safety: new Map(),
    effects: new Map(),
    questions: new Map(),
    redactions: new Map(),
    events: 0,
    erasedEvents: 0,
  }),
  apply(state, event) {
    applyProgress(state.progress, event)
    state.events++
    if (isErased(event)) state.erasedEvents++
    const found = countPlaceholders(event.payload)
    let redactions = 0
    for (const [kind, count] of found) {
      redactions += count
      state.redactions.set(kind, (state.redactions.get(kind) ?? 0) + count)
    }
    const own = asErasable(event)
    if (own) addDeed(state, own, redactions)
    return state
  },
  view({ progress, entries, safety, redactions, events, erasedEvents }) {
    return {
      runId: progress.runId,
      status: progress.status,
      // A step may be recorded after the call inside it, so its safety is looked up last.
      entries: entries.map((entry) => ({
        ...entry,
        safety:
          entry.safety ?? (entry.action === 'tool_called' ? (safety.get(entry.stepId ?? '') ?? null) : null),
      })),
      redactions: Object.fromEntries([...redactions].sort(([a], [b]) => (a < b ? -1 : 1))),
      events,
      erasedEvents,
    }
  },
}

const LIFE: { readonly [T in OwnEventType]?: AuditAction } = {
  'system.workflow_started': 'run_started',
  'system.workflow_forked': 'run_forked',
  'system.workflow_paused': 'run_paused',
  'system.workflow_resumed': 'run_resumed',
  'system.workflow_interrupted': 'run_interrupted',
  'system.workflow_blocked': 'run_blocked',
  'system.divergence_accepted': 'divergence_accepted',
  'system.replay_completed': 'run_replayed',
  'system.workflow_stopped': 'run_stopped',
  'system.workflow_superseded': 'run_superseded',
  'system.workflow_completed': 'run_completed',
  'system.workflow_failed': 'run_failed',
  'execution.memory_written': 'memory_changed',
  'execution.memory_promoted': 'memory_changed',
  'execution.memory_forgotten': 'memory_changed',
  'execution.handoff': 'handed_off',
  'ui.message_created': 'message_received',
  'system.policy_changed': 'policy_changed',
  'system.payload_erased': 'payload_erased',
  'system.range_pruned': 'range_pruned',
  'system.access': 'accessed',
}
const STEP_ENDS: { readonly [T in OwnEventType]?: Outcome } = {
  'execution.step_completed': 'completed',
  'execution.step_failed': 'failed',
  'execution.step_stopped': 'stopped',
  'execution.step_interrupted': 'interrupted',
}
const SAFETIES: ReadonlySet<unknown> = new Set<Safety>(['read', 'write', 'destructive', 'external'])
const safetyOf = (value: unknown): Safety | null => (SAFETIES.has(value) ? (value as Safety) : null)

function addDeed(state: AuditState, event: ErasableEvent, redactions: number): void {
  const add = (action: AuditAction, fields: Partial<AuditEntry> = {}): MutableAuditEntry => {
    const entry: MutableAuditEntry = { ...entryOf(event, action, redactions), ...fields }
    state.entries.push(entry)
    return entry
  }
  if (event.eventType === 'execution.step_started' || event.eventType === 'execution.step_completed') {
    const { stepId = '', name = null, safety } = event.payload
    const isDeclared = safety !== undefined && safety !== 'undeclared'
    if (isDeclared && beginsStep(event, state.effects.has(stepKeyOf(event)))) {
      state.safety.set(stepId, safety)
      if (safety !== 'read')
        state.effects.set(stepKeyOf(event), add('effect_begun', { target: name, safety, outcome: 'open' }))
    }
  }
  const end = STEP_ENDS[event.eventType]
  if (end !== undefined) {
    const effect = state.effects.get(stepKeyOf(event))
    if (effect) effect.outcome = end
    return
  }
  switch (event.eventType) {
    case 'execution.message': {
      const { role, name, content } = event.payload
      if (role === 'user' || role === 'human')
        add('message_received', { target: textOf(name), detail: brief(contentText(content)) })
      return
    }
    case 'execution.tool_call':
    case 'integration.call': {
      const action = event.eventType === 'execution.tool_call' ? 'tool_called' : 'external_called'
      const entry = add(action, { safety: safetyOf(event.payload.safety) })
      entry.outcome = state.calls.ask(callTie(event, true), entry) ?? 'open'
      return
    }
    case 'integration.api_called':
      add('external_called', { outcome: 'completed' })
      return
    case 'execution.tool_result':
    case 'execution.tool_error':
    case 'integration.response': {
      const isError = event.eventType === 'execution.tool_error' || event.payload.error !== undefined
      const outcome = isError ? 'failed' : 'completed'
      const call = state.calls.answer(callTie(event, false), outcome)
      if (call) {
        call.outcome = outcome
        call.redactions += redactions
      }
      return
    }
    case 'ui.input_requested': {
      const question = brief(contentText(event.payload.question))
      state.questions.set(event.payload.pauseId ?? event.eventId, question ?? '')
      add('input_requested', { detail: question })
      return
    }
    case 'ui.input_received': {
      const question = state.questions.get(event.payload.pauseId ?? '')
      const answer = brief(contentText(event.payload.answer)) ?? ''
      add('input_received', { detail: question ? `${question} → ${answer}` : answer })
      return
    }
    default: {
      const action = LIFE[event.eventType]
      if (action === undefined) return
      const takesLease = event.eventType === 'system.workflow_resumed' && event.payload.epoch !== undefined
      add(takesLease ? 'lease_taken' : action)
    }
  }
}

const stepKeyOf = (event: ErasableEvent): string => {
  const { stepId, attempt } = stepOf(event)
  return `${attempt} ${stepId ?? ''}`
}

function entryOf(event: ErasableEvent, action: AuditAction, redactions: number): AuditEntry {
  const { eventId, timestamp, correlationId, ledger } = event
  return {
    seq: ledger.seq,
    eventId,
    at: timestamp,
    recordedAt: ledger.recordedAt,
    runId: correlationId,
    who: whoOf(event),
    action,
    target: targetOf(event),
    detail: detailOf(event),
    stepId: stepOf(event).stepId,
    safety: null,
    outcome: null,
    redactions,
    erased: isErased(event),
  }
}

/** Target of the action. */
export function targetOf(event: ErasableEvent): string | null {
  switch (event.eventType) {
    case 'system.access':
      return brief(contentText(event.payload.target))
    case 'execution.handoff':
      return event.payload.to ?? null
    case 'system.workflow_forked':
      return event.payload.sourceRunId ?? null
    case 'execution.memory_written':
    case 'execution.memory_promoted':
    case 'execution.memory_forgotten': {
      const { layer, namespace, key } = event.payload
      return words(layer, namespace, key)
    }
    default: {
      const { name, service, operation, runId, agent } = namesIn(event)
      return words(name) ?? words(service, operation) ?? words(runId) ?? words(agent)
    }
  }
}

/** Payload fields that several event types share. */
const namesIn = ({ payload }: { readonly payload: object }): Named => payload

interface Named {
  readonly reason?: unknown
  readonly name?: unknown
  readonly service?: unknown
  readonly operation?: unknown
  readonly runId?: unknown
  readonly agent?: unknown
}

/** Text items joined into one; null without any. */
function words(...parts: readonly unknown[]): string | null {
  const texts = parts.filter((part) => typeof part === 'string')
  return texts.length === 0 ? null : texts.join(' ')
}

/** How, or why, on one line. */
export function detailOf(event: ErasableEvent): string | null {
  switch (event.eventType) {
    case 'system.payload_erased': {
      const { seqs, events, reason } = event.payload
      const count = seqs?.length ?? events
      const which = count === undefined ? 'all events' : `${count} ${count === 1 ? 'event' : 'events'}`
      return [which, reason].filter(Boolean).join(': ')
    }
    case 'system.range_pruned': {
      const { ranges, fromSeq = 1, toSeq = 0 } = event.payload
      return ranges ? prunedText(ranges) : `seq ${fromSeq} to ${toSeq}`
    }
    case 'system.policy_changed':
      return brief(contentText(event.payload.policy))
    case 'system.access':
      return event.payload.action ?? null
    case 'system.workflow_forked':
      return `after seq ${event.payload.sourceSeq ?? 0}`
    case 'system.workflow_failed':
      return brief(errorText(toRunError(event.payload.error)))
    case 'execution.tool_call':
      return brief(contentText(event.payload.arguments))
    case 'ui.message_created':
      return brief(contentText(event.payload.content))
    case 'system.workflow_resumed': {
      const { epoch, reason } = event.payload
      return brief([epoch === undefined ? '' : `epoch ${epoch}`, reason].filter(Boolean).join(': '))
    }
    default: {
      return brief(textOf(namesIn(event).reason) ?? '')
    }
  }
}

/** Which ranges went, by which rules. */
function prunedText(ranges: NonNullable<PayloadOf<'system.range_pruned'>['ranges']>): string | null {
  const rules = new Set(ranges.flatMap(({ rule }) => rule ?? []))
  const [first] = ranges
  const which =
    first && ranges.length === 1
      ? `${first.runId} seq ${first.fromSeq} to ${first.toSeq}`
      : `${ranges.length} ranges`
  return brief([which, ...rules].join(': '))
}

const MAX_TEXT_CHARS = 200
/** An audit names what was done; the payload itself is asked for by its event. */
function brief(text: string): string | null {
  const line = oneLine(text.slice(0, 4 * MAX_TEXT_CHARS))
  return line === '' ? null : line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS)}…` : line
}
