import { inputDigest, type JsonObject } from '@clew/ledger'
import { readArguments } from '../foreign.ts'
import { readModelUse } from './model-use.ts'
import { RANK, sha256 } from './sink.ts'
import { type RecordWork, toRecordJson } from './span-mapping.ts'

/**
 * Claude Code without its spans: what people ask, calls of the model and of tools as records. A session is the run. The
 * records are told when something has ended, hence a step begins `duration_ms` earlier.
 */
export function mapClaudeCodeRecord(work: RecordWork): boolean {
  const what = work.name.replace(/^claude_code\./, '')
  if (what === work.name && work.facts.text('event.name') === undefined) return false
  switch (what) {
    case 'user_prompt':
      return tellPrompt(work)
    case 'api_request':
      return tellRequest(work)
    case 'api_error':
      return tellFailure(work, 'model', 'api_request')
    case 'tool_result':
      return tellTool(work)
    default:
      return false
  }
}

const MS = 1_000_000n

function startOf({ facts, time }: RecordWork): bigint {
  const ms = BigInt(Math.round(facts.count('duration_ms') ?? 0))
  return time > ms * MS ? time - ms * MS : time
}

function tellPrompt(work: RecordWork): boolean {
  const { sink, facts, time, digest, identity, record, sourceId } = work
  const content = facts.take('prompt') ?? null
  sink.add({
    type: 'execution.message',
    key: ['log', digest],
    time,
    rank: RANK.said,
    origin: 'ui',
    cause: null,
    payload: { role: 'user', content, ...identity, otel: toRecordJson(record, facts, sourceId) },
  })
  return true
}

function begin({ digest, identity }: RecordWork, name: string, kind: string): JsonObject {
  return { stepId: `log-${digest}`, name, kind, parentStepId: null, ...identity }
}

function tellRequest(work: RecordWork): boolean {
  const { sink, facts, time, digest, record, sourceId } = work
  const place = startOf(work)
  const use = readModelUse(facts)
  sink.add({
    type: 'execution.step_completed',
    key: ['log', digest],
    time,
    place,
    rank: RANK.begin,
    origin: 'agent',
    cause: null,
    payload: {
      ...begin(work, 'api_request', 'model'),
      durationMs: Number(time - place) / 1e6,
      ...use,
      otel: toRecordJson(record, facts, sourceId),
    },
  })
  return true
}

function tellFailure(work: RecordWork, kind: string, name: string): boolean {
  const { sink, facts, time, digest, record, sourceId } = work
  const code = facts.attributes['status_code']
  const error = {
    message: facts.text('error', 'error_message') ?? 'the request failed',
    ...((typeof code === 'string' || typeof code === 'number') && { code: String(code) }),
  }
  const started = sink.add({
    type: 'execution.step_started',
    key: ['log', digest, 'start'],
    time: startOf(work),
    rank: RANK.begin,
    origin: 'agent',
    cause: null,
    payload: begin(work, name, kind),
  })
  sink.add({
    type: 'execution.step_failed',
    key: ['log', digest],
    time,
    rank: RANK.end,
    origin: 'agent',
    cause: started,
    payload: { stepId: `log-${digest}`, name, error, otel: toRecordJson(record, facts, sourceId) },
  })
  return true
}

function tellTool(work: RecordWork): boolean {
  const { sink, facts, time, digest, record, sourceId } = work
  const name = facts.text('tool_name') ?? 'tool'
  const given = readArguments(facts.take('tool_input', 'tool_parameters'))
  const stepId = `log-${digest}`
  const known = { toolCallId: facts.text('tool_use_id') ?? stepId, name, stepId }
  const isFailed = facts.text('success') === 'false' || facts.attributes['success'] === false
  const place = startOf(work)
  const input = given['arguments']
  if (isFailed) tellFailure(work, 'tool', name)
  const cause = sink.derive(...(isFailed ? ['log', digest, 'start'] : ['log', digest]))
  const call = sink.add({
    type: 'execution.tool_call',
    key: ['log', digest, 'call'],
    time: place,
    rank: RANK.call,
    origin: 'agent',
    cause,
    payload: { ...known, ...given },
  })
  const error = { message: facts.text('error') ?? 'the tool failed' }
  sink.add({
    type: isFailed ? 'execution.tool_error' : 'execution.tool_result',
    key: ['log', digest, 'result'],
    time,
    rank: RANK.result,
    origin: 'integration',
    cause: call,
    payload: isFailed
      ? { ...known, error }
      : { ...known, result: facts.take('tool_result', 'result') ?? null },
  })
  if (isFailed) return true
  sink.add({
    type: 'execution.step_completed',
    key: ['log', digest],
    time,
    place,
    rank: RANK.begin,
    origin: 'agent',
    cause: null,
    payload: {
      ...begin(work, name, 'tool'),
      ...(input !== undefined && { input, inputDigest: inputDigest(sha256, input) }),
      durationMs: Number(time - place) / 1e6,
      otel: toRecordJson(record, facts, sourceId),
    },
  })
  return true
}
