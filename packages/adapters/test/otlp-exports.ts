import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EventInput, JsonObject } from '@clew/ledger'
import { fromOtlpTraces } from '../src/otlp/index.ts'

export const FOLDER = join(import.meta.dirname, 'otlp')
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: JsonObject
    readonly scopeSpans: readonly { readonly scope: JsonObject; readonly spans: readonly JsonObject[] }[]
  }[]
}
export const load = (name: string): Export =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Export
export const withSpans = ({ resourceSpans: [group] }: Export, spans: readonly JsonObject[]): Export => {
  const { resource, scopeSpans } = group as Export['resourceSpans'][number]
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: scopeSpans[0]?.scope ?? {}, spans }] }] }
}
export const spansOf = ({ resourceSpans }: Export): readonly JsonObject[] =>
  resourceSpans[0]?.scopeSpans[0]?.spans ?? []

export const attribute = (key: string, value: string | number) => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
})
export const span = (more: object): JsonObject => ({
  traceId: 'a'.repeat(32),
  spanId: '1'.repeat(16),
  name: 'work',
  startTimeUnixNano: '1763190000000000000',
  endTimeUnixNano: '1763190001000000000',
  ...more,
})
export const from = (...spans: readonly object[]) =>
  fromOtlpTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
export const of = (events: readonly EventInput[], type: string) =>
  events.filter((event) => event.eventType === type).map((event) => event.payload)

export const runOf = (events: readonly EventInput[]): string => events[0]?.correlationId ?? ''
