import { formatStepId, inputDigest, type JsonValue, type Payload } from '@clew/ledger'
import type { MapOptions, MappedRun } from './mapped-run.ts'

export interface OpenCall {
  readonly callId: string | undefined
  readonly name: string
  readonly stepId: string
  readonly key: readonly (string | number)[]
  readonly eventId: string
}

export interface CallFound {
  readonly callId: string | undefined
  readonly name: string
  readonly key: readonly (string | number)[]
  /** The message that asked for it. */
  readonly cause: string | null
  readonly payload: Payload & { readonly arguments?: JsonValue }
}

export interface ResultFound {
  readonly key: readonly (string | number)[]
  readonly error?: string | undefined
  readonly payload: Payload
  /** Output of the step. */
  readonly output: JsonValue
}

/** Tool calls as steps: each begins with its call and ends with its result, whatever stands between them. */
export interface ToolSteps {
  call(found: CallFound): string
  /** The call that a result belongs to: the latest open one with this id; without an id, the oldest with this name. */
  find(callId: string | undefined, name: string | undefined): OpenCall | undefined
  /** A result without a call is kept and has no step. */
  result(call: OpenCall | undefined, found: ResultFound, cause: string | null): string
  /** Calls that nothing answered, oldest first. */
  readonly open: readonly OpenCall[]
  interrupt(call: OpenCall, reason: string): void
}

export function createToolSteps(
  draft: MappedRun,
  { sha256 }: MapOptions,
  nextOrdinal: (name: string) => number,
) {
  // In the order of the calls; an id may stand twice, since some models count anew in each turn.
  const open = new Set<OpenCall>()
  const byId = new Map<string, OpenCall[]>()
  const byName = new Map<string, OpenCall[]>()
  const answered = new Map<string, number>()
  const push = (map: Map<string, OpenCall[]>, key: string, call: OpenCall): void => {
    const list = map.get(key)
    if (list) list.push(call)
    else map.set(key, [call])
  }
  const isOpen = (call: OpenCall): boolean => open.has(call)

  const steps: ToolSteps = {
    get open() {
      return [...open]
    },
    call({ callId, name, key, cause, payload }) {
      const stepId = formatStepId({ parentStepId: null, name, ordinal: nextOrdinal(name) })
      const input = payload.arguments
      const started: Payload = { stepId, name, kind: 'tool' }
      if (input !== undefined) Object.assign(started, { inputDigest: inputDigest(sha256, input), input })
      draft.add({
        type: 'execution.step_started',
        key: [...key, 'step'],
        origin: 'agent',
        cause,
        payload: started,
      })
      const eventId = draft.add({
        type: 'execution.tool_call',
        key: [...key, 'call'],
        origin: 'agent',
        cause,
        payload: { ...(callId !== undefined && { toolCallId: callId }), name, stepId, ...payload },
      })
      const call = { callId, name, stepId, key, eventId }
      open.add(call)
      if (callId !== undefined) push(byId, callId, call)
      push(byName, name, call)
      return eventId
    },
    find(callId, name) {
      if (callId !== undefined) {
        const list = byId.get(callId)
        while (list && list.length > 0 && !isOpen(list.at(-1) as OpenCall)) list.pop()
        return list?.at(-1)
      }
      // Calls of a name are answered oldest first. The index of the last search is kept: without it 100,000 calls cost quadratic time.
      const list = byName.get(name ?? '') ?? []
      let at = answered.get(name ?? '') ?? 0
      while (at < list.length && !isOpen(list[at] as OpenCall)) at++
      answered.set(name ?? '', at)
      return list[at]
    },
    result(call, { key, error, payload, output }, cause) {
      const known: Payload = {}
      if (call?.callId !== undefined) known['toolCallId'] = call.callId
      if (call) Object.assign(known, { name: call.name, stepId: call.stepId })
      const failed = error !== undefined
      const eventId = draft.add({
        type: failed ? 'execution.tool_error' : 'execution.tool_result',
        key: [...key, 'result'],
        origin: 'integration',
        cause: call?.eventId ?? cause,
        payload: { ...known, ...payload },
      })
      if (!call) return eventId
      open.delete(call)
      draft.add({
        type: failed ? 'execution.step_failed' : 'execution.step_completed',
        key: [...key, 'done'],
        origin: 'agent',
        cause: eventId,
        payload: failed
          ? { stepId: call.stepId, error: { message: error } }
          : { stepId: call.stepId, output },
      })
      return eventId
    },
    interrupt(call, reason) {
      open.delete(call)
      draft.add({
        type: 'execution.step_interrupted',
        key: [...call.key, 'interrupted'],
        origin: 'system',
        cause: call.eventId,
        payload: { stepId: call.stepId, reason },
      })
    },
  }
  return steps
}

/** How often each name was called: the ordinal of R2, which does not depend on foreign ids. */
export function createOrdinals(): (name: string) => number {
  const counts = new Map<string, number>()
  return (name) => {
    const ordinal = counts.get(name) ?? 0
    counts.set(name, ordinal + 1)
    return ordinal
  }
}
