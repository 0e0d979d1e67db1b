import { isObject } from '../foreign.ts'
import { mapClaudeCodeRecord } from './claude-code-log.ts'
import { MESSAGE_EVENT, readConversation, readMessageEvent } from './conversation.ts'
import { createFacts, toJson } from './span-attributes.ts'
import { readIdentity } from './identity.ts'
import { type Call, tellInput, tellOutput } from './model-span.ts'
import { readModelUse } from './model-use.ts'
import { RANK, type RunSink, sha256 } from './sink.ts'
import { addSource, type Source } from './source.ts'
import type { OtlpLogRecord } from './structure.ts'
import { tellEvaluations } from './tool-spans.ts'
import { type RecordWork, toRecordJson } from './span-mapping.ts'

export function mapLogRecord(sink: RunSink, record: OtlpLogRecord, source: Source): void {
  const facts = createFacts(record.attributes)
  const name = record.eventName || facts.text('event.name') || ''
  const time = record.timeUnixNano || record.observedTimeUnixNano
  const { observedTimeUnixNano: _, ...content } = record
  const digest = sha256(
    source.digest +
      JSON.stringify(content, (_key, value: unknown) =>
        typeof value === 'bigint'
          ? String(value)
          : value instanceof Uint8Array
            ? Array.from(value).join()
            : value,
      ),
  ).slice(0, 32)
  const identity = readIdentity(facts, source)
  const sourceId = addSource(sink, source, time, true)
  const work = { sink, record, facts, name, time, digest, identity, sourceId }
  if (isZero(record.traceId) && mapClaudeCodeRecord(work)) return
  if (name === 'gen_ai.evaluation.result')
    return tellEvaluations(sink, facts, { key: ['log', digest], time, stepId: stepOf(record) })
  if (name === 'gen_ai.client.inference.operation.details' && tellDetails(work)) return
  if (MESSAGE_EVENT.test(name) && tellMessage(work)) return
  tellRaw(work)
}

const isZero = (id: string): boolean => /^0*$/.test(id)

const stepOf = ({ spanId }: OtlpLogRecord): string | undefined => (isZero(spanId) ? undefined : spanId)

function callOf({ sink, record, facts, time, digest }: RecordWork): Call {
  const { model, provider } = readModelUse(facts)
  return {
    sink,
    stepId: stepOf(record) ?? `log-${digest}`,
    start: time,
    end: time,
    use: { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) },
    hasToolsInMessages: false,
  }
}

/** Maps messages of a model call that are sent as logs and not in the span. */
function tellDetails(work: RecordWork): boolean {
  const conversation = readConversation(work.facts, [])
  if (conversation.input.length === 0 && conversation.output.length === 0) return false
  const call = callOf(work)
  tellInput(call, conversation.input)
  tellOutput(call, conversation.output, `log-${work.digest}`)
  return true
}

/** Messages of old: each is a record of its own. A history is sent again with each call, so only new ones count. */
function tellMessage(work: RecordWork): boolean {
  const { record, name } = work
  const body = toJson(record.body)
  if (!isObject(body)) return false
  const { isOutput, messages } = readMessageEvent(name, body)
  const call = callOf(work)
  if (isOutput) tellOutput(call, messages, `log-${work.digest}`)
  else if (messages.some(({ role }) => role === 'assistant' || role === 'tool')) return false
  else tellInput(call, messages)
  return true
}

/** Stores a log of an unknown name unchanged. */
function tellRaw({ sink, record, facts, name, time, digest, identity, sourceId }: RecordWork): void {
  const stepId = stepOf(record)
  sink.add({
    type: 'integration.otel_log',
    key: ['log', digest],
    time,
    rank: RANK.note,
    origin: 'integration',
    cause: stepId === undefined ? null : sink.stepEventId(stepId),
    payload: {
      ...(name !== '' && { name }),
      ...(stepId !== undefined && { stepId }),
      ...identity,
      otel: toRecordJson(record, facts, sourceId),
    },
  })
}
