import { type EventInput, isSystemRun } from '@clew/ledger'
import { isId } from '../foreign.ts'
import { classifySpan } from './classify.ts'
import { decodeOtlpLogs, decodeOtlpTraces, type OtlpBody, type OtlpFormat } from './decode.ts'
import { mapLogRecord } from './map-log.ts'
import { mapSpan } from './map-span.ts'
import { createRunSink, type RunSink, sha256 } from './sink.ts'
import { createFacts } from './span-attributes.ts'
import { readSource, type Source } from './source.ts'
import type { OtlpLogRecord, OtlpSpan } from './structure.ts'

export interface FromOtlpOptions {
  /** Which encoding bytes have; left out, it is seen from their beginning. */
  readonly format?: OtlpFormat | undefined
  /**
   * Where calls of tools are read from. `spans`: each call has a span, as agent frameworks do it. `messages`: from what
   * the model asks for, and the results that it is given with its next call, where only the client of the model is
   * instrumented. `auto` (default): `messages` for instrumentations that are known to wrap clients of models, unless the
   * same trace has spans of tools in the same export.
   */
  readonly toolCalls?: 'auto' | 'spans' | 'messages' | undefined
  /** The run of log records that name no trace, session or conversation; without it they are refused. */
  readonly runId?: string | undefined
}

/** A span or a log record that was refused. */
export interface OtlpProblem {
  /** Its index among all spans or records of the body, from 0. */
  readonly index: number
  readonly reason: string
  /** Present for a log record that is sound and belongs to no run: programs log outside of runs, too. */
  readonly withoutRun?: true
}

export interface FromOtlpResult {
  /** In the order in which it happened, run after run; ready for `ledger.append`. */
  readonly events: readonly EventInput[]
  /** How many spans or records the body held. */
  readonly received: number
  /** Items that could not be read; all others are in `events`. */
  readonly problems: readonly OtlpProblem[]
}

/**
 * An export of traces as events: a trace is a run, a span a step of it. The ids of the events follow from trace and span,
 * so an export that is sent again changes nothing, and children may come before their parents.
 */
export function fromOtlpTraces(body: OtlpBody, options: FromOtlpOptions = {}): FromOtlpResult {
  const { toolCalls = 'auto', format } = options
  const groups = decodeOtlpTraces(body, format).resourceSpans.flatMap(({ resource, scopeSpans, schemaUrl }) =>
    scopeSpans.map(({ scope, spans, schemaUrl: own }) => ({
      spans,
      source: readSource(resource, scope, [schemaUrl, own]),
    })),
  )
  const hasClients = toolCalls === 'auto' && groups.some(({ source }) => source.isModelClient)
  const withTools = hasClients ? tracesWithTools(groups) : new Set<string>()
  const taker = createTaker()
  for (const { spans, source } of groups)
    for (const span of spans) {
      const byMessages = source.isModelClient && !withTools.has(span.traceId)
      const readFrom = toolCalls === 'auto' ? (byMessages ? 'messages' : 'spans') : toolCalls
      taker.take(span, checkSpan, (sink) => mapSpan(sink, span, source, readFrom))
    }
  return taker.finish()
}

interface SpanGroup {
  readonly spans: readonly OtlpSpan[]
  readonly source: Source
}

function tracesWithTools(groups: readonly SpanGroup[]): Set<string> {
  const found = new Set<string>()
  for (const { spans, source } of groups) {
    if (source.isModelClient) continue
    for (const { traceId, name, attributes } of spans)
      if (!found.has(traceId) && classifySpan(createFacts(attributes), name) === 'tool') found.add(traceId)
  }
  return found
}

/** An export of logs as events: messages, calls and scores where they are known, everything else as it is. */
export function fromOtlpLogs(body: OtlpBody, options: FromOtlpOptions = {}): FromOtlpResult {
  const { runId, format } = options
  const taker = createTaker()
  for (const { resource, scopeLogs, schemaUrl } of decodeOtlpLogs(body, format).resourceLogs)
    for (const { scope, logRecords, schemaUrl: own } of scopeLogs) {
      const source = readSource(resource, scope, [schemaUrl, own])
      for (const record of logRecords) takeRecord(taker, record, source, runId)
    }
  return taker.finish()
}

function takeRecord(taker: Taker, record: OtlpLogRecord, source: Source, runId: string | undefined): void {
  taker.take(
    record,
    (found) => checkRecord(found, runId),
    (sink) => mapLogRecord(sink, record, source),
  )
}

/** The run and what makes a span or record the same as another; or why it is refused. */
type Checked =
  | { readonly runId: string; readonly key: string }
  | { readonly reason: string; readonly withoutRun?: true }

const isHexId = (text: string, length: number): boolean => text.length === length && !/^0+$/.test(text)

function checkSpan(span: OtlpSpan): Checked {
  if (span.problem !== undefined) return { reason: span.problem }
  const { traceId, spanId, parentSpanId } = span
  if (!isHexId(traceId, 32)) return { reason: idReason('traceId', traceId, 32) }
  if (!isHexId(spanId, 16)) return { reason: idReason('spanId', spanId, 16) }
  if (parentSpanId !== '' && !isHexId(parentSpanId, 16))
    return { reason: idReason('parentSpanId', parentSpanId, 16) }
  return { runId: traceId, key: `${traceId} ${spanId} ${span.endTimeUnixNano === 0n}` }
}

function idReason(field: string, id: string, length: number): string {
  const found = id === '' ? 'missing' : id.length === length ? 'all zeros' : `${id.length} digits long`
  const hint = id === '' && field === 'traceId' ? '; logs and metrics have paths of their own' : ''
  return `${field} is ${found}; it must be ${length} hex digits${hint}`
}

function checkRecord(record: OtlpLogRecord, otherwise: string | undefined): Checked {
  if (record.problem !== undefined) return { reason: record.problem }
  const { traceId, spanId } = record
  if (traceId !== '' && !isHexId(traceId, 32) && !/^0+$/.test(traceId))
    return { reason: idReason('traceId', traceId, 32) }
  if (spanId !== '' && !isHexId(spanId, 16) && !/^0+$/.test(spanId))
    return { reason: idReason('spanId', spanId, 16) }
  const runId = isHexId(traceId, 32) ? traceId : (sessionOf(record) ?? otherwise)
  if (runId === undefined)
    return {
      reason: 'it names no trace, session.id or gen_ai.conversation.id, so it belongs to no run',
      withoutRun: true,
    }
  if (!isId(runId))
    return { reason: 'its session id is longer than 512 characters or has control characters' }
  if (isSystemRun(runId))
    return { reason: 'its session id begins with clew:, which is reserved for system runs of Clew' }
  return { runId, key: '' }
}

function sessionOf({ attributes }: OtlpLogRecord): string | undefined {
  const found = attributes['session.id'] ?? attributes['gen_ai.conversation.id']
  return typeof found === 'string' && found !== '' ? found : undefined
}

interface Taker {
  take<Item>(item: Item, check: (item: Item) => Checked, map: (sink: RunSink) => void): void
  finish(): FromOtlpResult
}

function createTaker(): Taker {
  const sinks = new Map<string, RunSink>()
  const problems: OtlpProblem[] = []
  const seen = new Map<string, unknown>()
  let received = 0

  return {
    take(item, check, map) {
      const index = received++
      const checked = check(item)
      if ('reason' in checked) return void problems.push({ index, ...checked })
      const { runId, key } = checked
      const before = key === '' ? undefined : seen.get(key)
      if (before !== undefined) {
        if (digest(before) !== digest(item))
          problems.push({
            index,
            reason: 'another span of this body has the same ids and says something else',
          })
        return
      }
      if (key !== '') seen.set(key, item)
      let sink = sinks.get(runId)
      if (!sink) sinks.set(runId, (sink = createRunSink(runId)))
      map(sink)
    },
    finish() {
      const runs = [...sinks.values()].map((sink) => ({ runId: sink.runId, ...sink.take() }))
      runs.sort((a, b) =>
        a.firstTime === b.firstTime ? (a.runId < b.runId ? -1 : 1) : a.firstTime < b.firstTime ? -1 : 1,
      )
      return { events: runs.flatMap((run) => run.events), received, problems }
    },
  }
}

const digest = (item: unknown): string =>
  sha256(JSON.stringify(item, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
