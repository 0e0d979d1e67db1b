import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isUuid } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { decodeOtlpTraces, encodeTracesProtobuf, fromOtlpLogs, fromOtlpTraces } from './index.ts'

const FOLDER = join(import.meta.dirname, '../../test/otlp')
const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json') && !name.endsWith('.events.json'))
  .map((name) => name.slice(0, -'.json'.length))
  .toSorted()
const read = (name: string): unknown => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))

describe('A3 exports of each convention become these events', () => {
  it('has all of them', () => {
    expect(names).toEqual([
      'ai-sdk',
      'claude-code-logs',
      'gen-ai',
      'gen-ai-logs',
      'gen-ai-older',
      'langfuse',
      'mixed',
      'openinference',
      'traceloop',
    ])
  })

  it.each(names)('%s', (name) => {
    const input = read(name) as object
    const expected = read(`${name}.events`)
    const isLogs = name.endsWith('logs')
    const found = isLogs ? fromOtlpLogs(input) : fromOtlpTraces(input)
    expect(found).toEqual(expected)
    for (const { eventId } of found.events) expect(isUuid(eventId ?? '')).toBe(true)
    if (isLogs) return
    expect(fromOtlpTraces(encodeTracesProtobuf(decodeOtlpTraces(input)))).toEqual(expected)
  })
})
