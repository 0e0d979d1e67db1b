import { asErasable, type ErasableEvent } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import { beginsStep } from '../fold/begins-step.ts'
import { inHappenedOrder } from '../fold/happened-order.ts'
import { foldSteps, type StepRecord } from '../fold/steps.ts'
import { parseStepId } from '../event/step-id.ts'

export type ItemKind = 'start' | 'step' | 'tool' | 'message' | 'answer' | 'handoff'

/**
 * One thing a run did, as it is compared with another run: a step with what its last attempt came to, or, outside of steps,
 * a tool call with its result, a message, an answer of a person, a hand-off. Ids, times and places are left out: they
 * always differ.
 */
export interface Item {
  readonly kind: ItemKind
  /** Name of the step or tool, role of the message. */
  readonly name: string
  readonly stepId: string | null
  /** How often it was tried. */
  readonly attempts: number
  readonly seq: number
  /** For a node of a graph, of which only the digest is recorded, `inputDigest` replaces the state it read. */
  readonly input: unknown
  readonly inputDigest: string | null
  readonly output: unknown
  readonly decision: unknown
  readonly status: string | null
  /** Which of its parts are prose, in which other words may say the same. */
  readonly prose: 'message' | 'arguments' | 'output' | null
  /** Keys of an item: identity, with input, with result. Equal keys mean equal items. */
  readonly keys: {
    readonly weak: string
    readonly mid: string
    readonly strong: string
    readonly decision: string
  }
}

/** A message, or a model that wrote and decided nothing. */
export const isTalk = ({ prose, output, decision, input, inputDigest }: Item): boolean =>
  prose === 'message' ||
  (prose === 'output' &&
    (input ?? inputDigest) === null &&
    typeof output === 'string' &&
    (decision ?? null) === null)

/** Actions of a run, in their order. */
export function toItems(recorded: readonly ClewEvent[]): Item[] {
  const events = inHappenedOrder(recorded)
  const steps = foldSteps(recorded)
  const byStart = new Map(steps.map((step) => [step.startedSeq, step]))
  const lastOf = new Map(steps.map((step) => [step.stepId, step]))
  const inputs = new Map<number, ClewEvent['payload']>()
  for (const event of events) if (byStart.has(event.ledger.seq)) inputs.set(event.ledger.seq, event.payload)
  const told = new Set<string>()
  const results = toolResults(events)
  const items: Item[] = []
  for (const event of events) {
    const { payload } = event
    const step = beginsStep(event) ? byStart.get(event.ledger.seq) : undefined
    if (step) {
      // A step that was tried again stands where it was first tried.
      const last = lastOf.get(step.stepId) ?? step
      if (!told.has(step.stepId))
        items.push(fromStep(last, inputs.get(last.startedSeq) ?? payload, step.startedSeq))
      told.add(step.stepId)
    }
    // Differences inside a step show in the result of the step.
    else if (typeof payload.stepId !== 'string' || !lastOf.has(payload.stepId)) {
      const own = asErasable(event)
      const item = own && fromEvent(own, results)
      if (item) items.push(item)
    }
  }
  return items
}

function fromStep(step: StepRecord, started: ClewEvent['payload'], seq: number): Item {
  const { nodeName, stepId, attempt, status, decision } = step
  const input = parsed(started.input)
  return makeItem({
    kind: 'step',
    name: nodeName,
    stepId,
    attempts: attempt,
    seq,
    input,
    inputDigest: input === null ? step.inputDigest : null,
    output: step.error ?? parsed(step.values),
    decision,
    status,
    // Text of a model differs each time: its input and its decisions are compared instead.
    prose: step.kind === 'model' ? 'output' : null,
    type: step.kind,
  })
}

function fromEvent(event: ErasableEvent, results: ReadonlyMap<string, ToolResult>): Item | undefined {
  const base = { stepId: null, attempts: 1, seq: event.ledger.seq, decision: null, status: null, type: '' }
  switch (event.eventType) {
    case 'system.workflow_started':
      if (event.payload.input === undefined) return undefined
      return makeItem({
        ...base,
        kind: 'start',
        name: 'input',
        input: event.payload.input,
        output: null,
        prose: 'arguments',
      })
    case 'execution.step_completed':
    case 'execution.step_failed': {
      // The step was started in the shared prefix, which is not read.
      const { stepId = '' } = event.payload
      const failed = event.eventType === 'execution.step_failed'
      return makeItem({
        ...base,
        kind: 'step',
        name: parseStepId(stepId)?.name ?? stepId,
        stepId,
        input: null,
        output: failed ? event.payload.error : event.payload.output,
        decision: failed ? null : event.payload.decision,
        status: failed ? 'failed' : 'completed',
        prose: null,
      })
    }
    case 'execution.tool_call': {
      const result = results.get(event.eventId)
      const failed = result?.eventType === 'execution.tool_error'
      return makeItem({
        ...base,
        kind: 'tool',
        name: event.payload.name ?? '',
        input: parsed(event.payload.arguments),
        output: result ? parsed(failed ? result.payload.error : result.payload.result) : null,
        status: result ? (failed ? 'failed' : 'completed') : 'running',
        prose: 'arguments',
      })
    }
    case 'execution.message':
    case 'execution.structured_output': {
      const isMessage = event.eventType === 'execution.message'
      const role = (isMessage ? event.payload.role : undefined) ?? 'assistant'
      const content = isMessage ? event.payload.content : event.payload.value
      if (content === undefined || content === null || content === '') return undefined
      const given = role !== 'assistant'
      return makeItem({
        ...base,
        kind: 'message',
        name: role,
        input: given ? content : null,
        output: given ? null : content,
        // Instructions are not talk: one word may change everything.
        prose: role === 'system' || role === 'developer' ? null : 'message',
      })
    }
    case 'ui.input_received':
      return makeItem({
        ...base,
        kind: 'answer',
        name: 'answer',
        input: event.payload.answer,
        output: null,
        prose: null,
      })
    case 'execution.handoff':
      return makeItem({
        ...base,
        kind: 'handoff',
        name: event.payload.to ?? '',
        input: null,
        output: null,
        prose: null,
      })
    default:
      return undefined
  }
}

/** The result of each tool call, under its event id: by the id of the call, or, without ids, the next one of that name. */
function toolResults(events: readonly ClewEvent[]): Map<string, ToolResult> {
  const found = new Map<string, ToolResult>()
  const open = new Map<string, string[]>()
  const keyOf = ({
    payload: { toolCallId, name },
  }: ToolResult | ErasableEvent<'execution.tool_call'>): string =>
    toolCallId === undefined ? `@${name}` : `#${toolCallId}`
  for (const event of events) {
    const own = asErasable(event)
    if (own?.eventType === 'execution.tool_call') {
      const key = keyOf(own)
      const waiting = open.get(key)
      if (waiting) waiting.push(own.eventId)
      else open.set(key, [own.eventId])
    } else if (own?.eventType === 'execution.tool_result' || own?.eventType === 'execution.tool_error') {
      const call = open.get(keyOf(own))?.shift()
      if (call !== undefined) found.set(call, own)
    }
  }
  return found
}

type ToolResult = ErasableEvent<'execution.tool_result' | 'execution.tool_error'>

/** Models write arguments, and tools results, as JSON text; two spellings of the same data are the same. */
export function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value ?? null
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

type Parts = Omit<Item, 'keys' | 'inputDigest'> & {
  readonly type: string
  readonly inputDigest?: string | null
}

function makeItem({ type, inputDigest = null, ...item }: Parts): Item {
  const weak = `${item.kind} ${type} ${item.name}`
  const mid = `${weak} ${digest(item.input ?? inputDigest)}`
  const decision = digest(item.decision)
  return {
    ...item,
    inputDigest,
    keys: { weak, mid, strong: `${mid} ${digest(item.output)} ${decision} ${item.status}`, decision },
  }
}

/** Prefix of a digest that distinguishes contents; equality of it is never shown as proof. */
function digest(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? `"${value}` : comparableText(value)
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return `${text.length.toString(36)}.${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`
}

/** Canonical text also of values that JSON lacks, exact enough to distinguish them. */
export function comparableText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(comparableText).join(',')}]`
  if (value instanceof Map || value instanceof Set) return comparableText([...value])
  if (value instanceof Date) return `"${value.getTime()}"`
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${comparableText(Reflect.get(value, key))}`).join(',')}}`
}
