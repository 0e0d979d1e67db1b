import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClewEvent, EventInput, Ledger } from '@clew/ledger'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
let file: string
let ledger: Ledger
beforeEach(() => {
  folder = makeFolder()
  file = join(folder, 'clew.db')
  ledger = openLedger(file)
})
afterEach(async () => {
  await ledger.close()
  removeFolder(folder)
})

const event = (eventType: string, payload: Record<string, unknown>, runId = 'r'): EventInput => ({
  eventType,
  correlationId: runId,
  payload,
})
const step = (n: number): EventInput[] => [
  event('execution.step_started', { stepId: `s#${n}`, name: 's', input: n }),
  event('execution.step_completed', { stepId: `s#${n}`, output: n }),
]

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

const append = async (input: EventInput): Promise<ClewEvent> => (await ledger.append([input]))[0] as ClewEvent

/** One commit each. */
async function recordAll(events: readonly EventInput[]): Promise<ClewEvent[]> {
  const recorded: ClewEvent[] = []
  for (const each of events) recorded.push(await append(each))
  return recorded
}

describe('L1 a commit', () => {
  it('has events, payloads, the head, the summary and the steps, as any other connection reads them', async () => {
    const plain = new DatabaseSync(file, { readOnly: true })
    const row = plain.prepare(
      `SELECT seq, hash, summary, (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM payloads) AS payloads,
         (SELECT count(*) FROM steps) AS steps FROM runs`,
    )
    const events = [event('system.workflow_started', { agent: 'a' }), ...[1, 2, 3, 4, 5, 6].flatMap(step)]
    for (const [at, each] of events.entries()) {
      const { ledger: place } = await append(each)
      const { summary, hash, ...counts } = row.get() as Record<string, unknown>
      const seq = at + 1
      expect(counts).toEqual({ seq, events: seq, payloads: seq, steps: Math.ceil(at / 2) })
      expect(JSON.parse(summary as string)).toEqual(await ledger.getRun('r'))
      expect(Buffer.from(hash as Uint8Array).toString('hex')).toBe(place.hash)
    }
    plain.close()
  })

  it('survives the death of its process, for readers and for whoever writes next', async () => {
    const recorded = await recordAll([1, 2, 3].flatMap(step))
    // The files that a process leaves which is killed now.
    const copy = join(folder, 'copy.db')
    for (const part of ['', '-wal']) copyFileSync(`${file}${part}`, `${copy}${part}`)
    const reader = openLedger(copy, { readOnly: true })
    expect(await all(reader.read('r'))).toEqual(recorded)
    expect(await reader.getSkeleton('r')).toHaveLength(3)
    await reader.close()
    const heir = openLedger(copy)
    expect((await heir.append([event('execution.note', {})]))[0]?.ledger).toMatchObject({
      position: 7,
      seq: 7,
    })
    expect(await heir.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 7 })
    await heir.close()
  })
})

describe('L4 an id that is there already', () => {
  it('is answered with its first place or refused, also with an expected seq, and harms no neighbour of its group', async () => {
    const [first] = (await recordAll([event('execution.note', { n: 1 })])) as [ClewEvent]
    const { eventId, timestamp } = first
    const again = { ...event('execution.note', { n: 1 }), eventId, timestamp }
    const [same, expected, other, next] = await Promise.allSettled([
      append(again),
      ledger.append([again], { expectedSeq: 0 }),
      append({ ...again, payload: { n: 2 } }),
      append(event('execution.note', { n: 3 })),
    ])
    expect(same).toMatchObject({ value: { ledger: { seq: 1 } } })
    expect(expected).toMatchObject({ value: [{ ledger: { seq: 1 } }] })
    expect(other).toMatchObject({ reason: { code: 'conflict' } })
    expect(next).toMatchObject({ value: { ledger: { seq: 2 } } })
  })
})

describe('L1 several connections to one file', () => {
  it('never use a cached row that another connection, or a transaction that was rolled back, made wrong', async () => {
    const other = openLedger(file)
    for (const each of [ledger, other, ledger, ledger, other, other, ledger]) {
      await each.append([event('execution.note', {})])
      await expect(each.append([event('execution.note', {})], { expectedSeq: 99 })).rejects.toMatchObject({
        code: 'wrong_seq',
      })
    }
    // A statement that the file refuses rolls the whole group back.
    const plain = new DatabaseSync(file)
    plain.exec(`CREATE TRIGGER stop BEFORE INSERT ON payloads WHEN NEW.body LIKE '%stop%'
      BEGIN SELECT RAISE(ABORT, 'stopped'); END`)
    await expect(append(event('execution.note', { text: 'stop' }))).rejects.toThrow()
    plain.exec('DROP TRIGGER stop')
    plain.close()
    expect((await append(event('execution.note', {}))).ledger).toMatchObject({ seq: 8, position: 8 })
    await other.close()
    expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: 8 })
  })

  it('leave rows that equal a rebuild, whatever they write and in whatever turns', async () => {
    const write = fc.record({
      who: fc.boolean(),
      times: fc.constantFrom(1, 1, 3, 12),
      run: fc.constantFrom('a', 'b'),
      kind: fc.constantFrom('start', 'end', 'fail', 'pause', 'ask', 'large', 'usage', 'message'),
      step: fc.integer({ min: 0, max: 4 }),
    })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 25 }), async (writes) => {
        const path = join(folder, `random-${round++}.db`)
        const two = [openLedger(path), openLedger(path)] as const
        for (const { who, times, run, kind, step: number } of writes)
          for (let i = 0; i < times; i++) {
            const stepId = `s#${number + (i % 7)}`
            const inputs: Record<typeof kind, [string, Record<string, unknown>]> = {
              start: ['execution.step_started', { stepId, name: 's', attempt: 1 + (i % 2) }],
              end: ['execution.step_completed', { stepId, attempt: 1 + (i % 2), name: 's' }],
              fail: ['execution.step_failed', { stepId, error: { message: 'no' } }],
              pause: ['system.workflow_paused', {}],
              ask: ['ui.input_requested', { pauseId: `p${number}`, stepId, question: '?' }],
              large: ['execution.step_completed', { stepId, output: 'long '.repeat(600) }],
              usage: ['execution.step_completed', { stepId, usage: { inputTokens: 2 }, cost: 0.1 }],
              message: ['execution.message', { content: 'hello' }],
            }
            await two[who ? 1 : 0].append([event(...inputs[kind], run)])
          }
        for (const each of two) {
          expect((await each.verify(undefined, { projections: true })).problems).toEqual([])
          await each.close()
        }
      }),
      { numRuns: 15 },
    )
  })
})
