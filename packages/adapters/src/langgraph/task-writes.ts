import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'
import type { ClewEvent, Payload } from '@clew/ledger'
import { isInternal } from './next-nodes.ts'
import { isObject, setKey, toPayload } from './rich-values.ts'
import type { TaskWrites, Write } from './saved.ts'

/** Writes that no step stands for: input of the caller's, answers, errors, questions. */
export const PENDING_WRITES = 'execution.pending_writes'
export const STEP_COMPLETED = 'execution.step_completed'
export const WRITE_TYPES: readonly string[] = [STEP_COMPLETED, PENDING_WRITES]

const BRANCH = 'branch:to:'
const TASKS = '__pregel_tasks'

/** Each write with its index in the framework, its value converted for a payload. */
export const toWrites = (given: readonly (readonly [string, unknown])[]): Write[] =>
  given.map(([channel, value], place) => ({
    index: WRITES_IDX_MAP[channel] || place,
    channel,
    value: toPayload(value, channel),
  }))

/** Whether the writes to state channels can be recorded as the step's output: each channel once, and before all other writes. */
export function isOutput(writes: readonly Write[]): boolean {
  const channels = writes.map(({ channel }) => channel)
  const others = channels.findIndex(isInternal)
  const own = others < 0 ? channels : channels.slice(0, others)
  return new Set(own).size === own.length && channels.slice(own.length).every(isInternal)
}

/**
 * Adds the result of a node: its channels as output, its targets as decision. An edge writes null there, a conditional
 * one the name of the node that it leaves, which `signed` says in one word.
 */
export function addOutput(payload: Payload, taskId: string, writes: readonly Write[]): void {
  const output: Record<string, unknown> = {}
  const targets: string[] = []
  let others = 0
  let told = 0
  let signed = 0
  let isOrdered = true
  for (const { channel, value } of writes) {
    if (!isInternal(channel)) {
      if (others > 0 || Object.hasOwn(output, channel)) isOrdered = false
      setKey(output, channel, value)
      continue
    }
    others++
    const isBranch = channel.startsWith(BRANCH)
    const isSigned = isBranch && value !== null && value === payload['name']
    const target =
      isSigned || (isBranch && value === null)
        ? channel.slice(BRANCH.length)
        : channel === TASKS && isObject(value)
          ? value['node']
          : undefined
    if (typeof target !== 'string' || targets.includes(target)) continue
    targets.push(target)
    if (isBranch) told++
    if (isSigned) signed++
  }
  payload['taskId'] = taskId
  if (isOrdered) payload['output'] = output
  else payload['writes'] = writes.map(({ channel, value }) => [channel, value])
  if (targets.length > 0) payload['decision'] = targets.length === 1 ? targets[0] : targets
  if (isOrdered && others > 0) {
    if (told < others || (signed > 0 && signed < told)) payload['rest'] = restOf(writes)
    else if (signed > 0) payload['signed'] = true
  }
  const first = writes[0]?.index ?? 0
  if (first > 0) payload['index'] = first
}

/** Writes to internal channels where the decision does not tell all of them: an edge by its target alone. */
const restOf = (writes: readonly Write[]): unknown[] =>
  writes
    .filter(({ channel }) => isInternal(channel))
    .map(({ channel, value }) =>
      channel.startsWith(BRANCH) && value === null ? channel.slice(BRANCH.length) : [channel, value],
    )

export const pendingFields = (writes: readonly Write[]): Payload => ({
  writes: writes.map(({ channel, value }) => [channel, value]),
  ...(writes.some(({ index }, place) => index >= 0 && index !== place) && {
    index: writes.map(({ index }) => index),
  }),
})

/** The writes that an event carries, and the checkpoint they are for where it is not the last one before it. */
export function readWrites(event: ClewEvent): { call: TaskWrites; checkpointId: string | undefined } | null {
  const { payload, eventType, correlationId: runId, ledger } = event
  const { taskId, stepId, checkpointId } = payload
  if (typeof taskId !== 'string' || ledger.erased) return null
  const isStep = eventType === STEP_COMPLETED
  return {
    call: {
      runId,
      seq: ledger.seq,
      taskId,
      writes: isStep ? readOutput(payload) : readPending(payload),
      ...(isStep && typeof stepId === 'string' && { stepId }),
    },
    checkpointId: typeof checkpointId === 'string' ? checkpointId : undefined,
  }
}

function readOutput({ output, rest, decision, signed, name, writes, index }: Payload): Write[] {
  const first = typeof index === 'number' ? index : 0
  const list: (readonly [string, unknown])[] = []
  if (Array.isArray(writes)) list.push(...(writes as [string, unknown][]))
  else {
    if (isObject(output)) list.push(...Object.entries(output))
    const others = Array.isArray(rest)
      ? rest
      : decision === undefined || decision === null
        ? []
        : Array.isArray(decision)
          ? decision
          : [decision]
    for (const each of others as (string | [string, unknown])[])
      list.push(typeof each === 'string' ? [`${BRANCH}${each}`, signed ? name : null] : each)
  }
  return list.map(([channel, value], place) => ({ index: first + place, channel, value }))
}

function readPending({ writes, index }: Payload): Write[] {
  if (!Array.isArray(writes)) return []
  return (writes as [string, unknown][]).map(([channel, value], place) => ({
    index: WRITES_IDX_MAP[channel] || (Array.isArray(index) ? Number(index[place]) : place),
    channel,
    value,
  }))
}
