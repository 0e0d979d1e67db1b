import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'
import type { ClewEvent, Payload } from '@clew/ledger'
import { isInternal } from './next-nodes.ts'
import { isObject, setKey } from './rich-values.ts'
import type { TaskWrites, Write } from './saved.ts'

/** Writes that no step stands for: input of the caller's, answers, errors, questions. */
export const PENDING_WRITES = 'execution.pending_writes'
export const WRITE_TYPES: readonly string[] = ['execution.step_completed', PENDING_WRITES]

const BRANCH = 'branch:to:'
const TASKS = '__pregel_tasks'

/** Each write with the index the framework tells it by; `encode` makes the value fit for a payload. */
export const toWrites = (
  given: readonly (readonly [string, unknown])[],
  encode: (value: unknown, channel: string) => unknown,
): Write[] =>
  given.map(([channel, value], place) => ({
    index: WRITES_IDX_MAP[channel] || place,
    channel,
    value: encode(value, channel),
  }))

/** What a node gave back: its channels as output, where it goes as its decision. */
export function outputFields(writes: readonly Write[]): Payload {
  const output: Record<string, unknown> = {}
  const rest: unknown[] = []
  const targets: string[] = []
  let isOrdered = true
  for (const { channel, value } of writes) {
    if (!isInternal(channel)) {
      if (rest.length > 0 || Object.hasOwn(output, channel)) isOrdered = false
      setKey(output, channel, value)
      continue
    }
    const isBranch = channel.startsWith(BRANCH) && value === null
    const target = isBranch
      ? channel.slice(BRANCH.length)
      : channel === TASKS && isObject(value)
        ? value['node']
        : undefined
    if (typeof target === 'string' && !targets.includes(target)) targets.push(target)
    rest.push(isBranch ? target : [channel, value])
  }
  const first = writes[0]?.index ?? 0
  const decision = targets.length === 1 ? targets[0] : targets
  const isTold = rest.every((each) => typeof each === 'string') && rest.length === targets.length
  return {
    ...(isOrdered ? { output } : { writes: writes.map(({ channel, value }) => [channel, value]) }),
    ...(targets.length > 0 && { decision }),
    ...(isOrdered && !isTold && { rest }),
    ...(first > 0 && { index: first }),
  }
}

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
  const isStep = eventType === 'execution.step_completed'
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

function readOutput({ output, rest, decision, writes, index }: Payload): Write[] {
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
      list.push(typeof each === 'string' ? [`${BRANCH}${each}`, null] : each)
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
