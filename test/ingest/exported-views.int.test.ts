import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromOtlpTraces } from '@clew/adapters/otel'
import { openLedger } from 'clew'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BIN, ended, startNode } from '../../packages/clew/test/run-clew.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-exported-'))
const env = { CLEW_STORE: `sqlite:${join(folder, 'l.db')}`, COLUMNS: '100' }
const RUN = 'a'.repeat(32)
const OTHER = 'b'.repeat(32)

const spansOf = (traceId: string, topic: string) =>
  [
    { id: 'c', name: 'invoke_agent ferry', parent: '', from: 0, to: 9, kind: 'AGENT' },
    { id: 'd', name: 'find boats', parent: 'c', from: 1, to: 3, kind: 'CHAIN', input: topic },
    { id: 'e', name: 'book seat', parent: 'c', from: 4, to: 6, kind: 'TOOL', input: topic },
    { id: 'f', name: 'write receipt', parent: 'c', from: 7, to: 8, kind: 'CHAIN', fails: true },
  ].map(({ id, name, parent, from, to, kind, input, fails }) => ({
    traceId,
    spanId: id.repeat(16),
    parentSpanId: parent.repeat(16),
    name,
    startTimeUnixNano: `176319000000${from}000000`,
    endTimeUnixNano: `176319000000${to}000000`,
    attributes: [
      { key: 'openinference.span.kind', value: { stringValue: kind } },
      ...(input === undefined ? [] : [{ key: 'input.value', value: { stringValue: input } }]),
    ],
    ...(fails && { status: { code: 2, message: 'no paper' } }),
  }))

beforeAll(async () => {
  const ledger = await openLedger(env.CLEW_STORE)
  for (const [traceId, topic] of [
    [RUN, 'Sunday'],
    [OTHER, 'Monday'],
  ] as const) {
    const [root, ...children] = spansOf(traceId, topic)
    for (const spans of [...children, root].map((each) => [each]))
      await ledger.append(fromOtlpTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] }).events)
  }
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const clew = (...args: string[]) => ended(startNode(folder, [BIN, ...args], env))

describe('V12 views of an exported run', () => {
  it.each([
    ['show'],
    ['steps'],
    ['transcript'],
    ['timeline'],
    ['graph'],
    ['explain'],
    ['events'],
    ['audit'],
    ['cost'],
    ['search', 'receipt'],
    ['diff', OTHER],
  ])(
    '%s names steps by their names, not by the ids of their spans',
    async (command: string, more?: string) => {
      const args = command === 'search' ? [command, more ?? ''] : [command, RUN, ...(more ? [more] : [])]
      const { stdout, stderr } = await clew(...args)
      expect(stderr).toBe('')
      expect(stdout.replaceAll(RUN, 'RUN').replaceAll(OTHER, 'OTHER')).not.toMatch(/([c-f])\1{7}/)
    },
  )

  it('V12 steps are paged in the order in which they began', async () => {
    const names: string[] = []
    let cursor: string | null = null
    do {
      const page = ['steps', RUN, '--limit', '1', '--json', ...(cursor === null ? [] : ['--cursor', cursor])]
      const { data } = JSON.parse((await clew(...page)).stdout)
      for (const step of data.steps) names.push(step.nodeName)
      cursor = data.nextCursor
    } while (cursor !== null)
    expect(names).toEqual(['invoke_agent ferry', 'find boats', 'book seat', 'write receipt'])
  })
})
