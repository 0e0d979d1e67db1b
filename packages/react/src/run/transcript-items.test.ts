import type { StepSkeleton, TranscriptEntry } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { transcriptItemsInSlices, transcriptItems, textOf, wordsOf } from './transcript-items.ts'

const step = (stepId: string, startedSeq: number, more: Partial<StepSkeleton> = {}): StepSkeleton =>
  ({
    stepId,
    nodeName: stepId.split('#')[0],
    kind: 'step',
    attempt: 1,
    parentStepId: null,
    childRunId: null,
    startedSeq,
    status: 'completed',
    ...more,
  }) as StepSkeleton
const entry = (kind: string, seq: number, stepId: string | null = null): TranscriptEntry =>
  ({ kind, seq, stepId, performedBy: null }) as TranscriptEntry

describe('the story of a run', () => {
  it('U1 puts steps where they began, and gathers those of one name that follow each other', () => {
    const rows = transcriptItems(
      [entry('message', 1), entry('message', 9)],
      [step('plan', 2), step('read', 3), step('read#1', 4), step('write', 11)],
    )
    expect(
      rows.map((row) => (row.type === 'entry' ? row.entry.kind : `${row.name} ×${row.steps.length}`)),
    ).toEqual(['message', 'plan ×1', 'read ×2', 'message', 'write ×1'])
  })

  it('U1 a step that its tool call tells is not told twice', () => {
    const rows = transcriptItems(
      [entry('tool_call', 3, 'search')],
      [step('search', 2, { kind: 'web_search' })],
    )
    expect(rows).toMatchObject([{ type: 'entry', step: { kind: 'web_search' } }])
  })

  it('U1 a call of a model stands for the step that performed it, and for the one that made it', () => {
    const asked = step('ask', 1, { kind: 'effect', endedSeq: 2 })
    const done = step('workspace_search', 3, { kind: 'effect', endedSeq: 4 })
    const call = { ...entry('tool_call', 2, 'ask'), performedBy: 'workspace_search' } as TranscriptEntry
    expect(transcriptItems([call], [asked, done])).toMatchObject([
      { type: 'entry', step: { stepId: 'workspace_search' } },
    ])
  })

  it('U1 what a model thought and said stands for its step, each under a key of its own', () => {
    const asked = step('ask', 2, { kind: 'effect', endedSeq: 3 })
    const rows = transcriptItems([entry('reasoning', 3, 'ask'), entry('message', 3, 'ask')], [asked])
    expect(rows.map((row) => row.type === 'entry' && row.entry.kind)).toEqual(['reasoning', 'message'])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(2)
    expect(transcriptItems([entry('reasoning', 3, 'ask')], [{ ...asked, endedSeq: 9 }])).toHaveLength(2)
    expect(transcriptItems([entry('failure', 3, 'ask')], [asked])).toHaveLength(2)
  })

  it('U1 each entry knows its own attempt, and whether more can come of it', () => {
    const lost = step('ask', 2, { kind: 'effect', status: 'interrupted', endedSeq: 4 })
    const second = step('ask', 5, { kind: 'effect', attempt: 2, endedSeq: 6 })
    const said = [entry('tool_call', 2, 'ask'), entry('status', 3), entry('reasoning', 6, 'ask')]
    const tell = (...more: TranscriptEntry[]) =>
      transcriptItems([...said, ...more], [lost, second]).map(
        (row) => row.type === 'entry' && [row.step?.attempt ?? null, row.isOver],
      )
    expect(tell()).toEqual([
      [1, false],
      [null, false],
      [2, false],
    ])
    expect(tell(entry('end', 7)).map((each) => each && each[1])).toEqual([true, true, true, true])
  })

  it('U1 in a very long run, steps that tell by what they gave back stand alone and are read when they are seen', () => {
    const asked = [step('ask', 2, { kind: 'effect' }), step('ask#1', 4, { kind: 'effect' })]
    const rows = transcriptItems([], [...asked, step('work', 6), step('work#1', 8)], true)
    expect(rows.map((row) => row.type === 'steps' && [row.steps.length, row.isUnread])).toEqual([
      [1, true],
      [1, true],
      [2, false],
    ])
    expect(transcriptItems([], asked)).toHaveLength(1)
    const child = transcriptItems([], [step('a', 1, { childRunId: 'child' })], true)
    expect(child).toMatchObject([{ isUnread: true }])
  })

  it('U1 a call of which only the beginning was read is told by its step', () => {
    const call = (outcome: unknown): TranscriptEntry =>
      ({ ...entry('tool_call', 2, 'ask'), toolCallId: null, outcome }) as TranscriptEntry
    const asked = step('ask', 2, { kind: 'effect', endedSeq: 9 })
    expect(transcriptItems([call(null)], [asked], true)).toMatchObject([{ type: 'steps', isUnread: true }])
    expect(transcriptItems([call({ result: 1 })], [asked], true)).toMatchObject([{ type: 'entry' }])
    const running = step('ask', 2, { kind: 'effect', endedSeq: null, status: 'running' })
    expect(transcriptItems([call(null)], [running], true)).toMatchObject([{ type: 'entry' }])
  })

  it('U1 told in slices it is the same', () => {
    const steps = Array.from({ length: 3000 }, (_, at) => step(`s#${at}`, at * 2 + 1, { kind: 'effect' }))
    const entries = Array.from({ length: 1500 }, (_, at) => entry('message', at * 4 + 2))
    const slices = transcriptItemsInSlices(entries, steps)
    let pauses = 0
    let piece = slices.next()
    for (; piece.done !== true; piece = slices.next()) pauses++
    expect(pauses).toBeGreaterThan(5)
    expect(piece.value).toEqual(transcriptItems(entries, steps))
  })

  it('U1 steps inside steps stand deeper', () => {
    const rows = transcriptItems(
      [],
      [step('a', 1), step('a/b', 2, { parentStepId: 'a' }), step('a/b/c', 3, { parentStepId: 'a/b' })],
    )
    expect(rows.map((row) => row.type === 'steps' && row.depth)).toEqual([0, 1, 2])
  })
})

describe('words', () => {
  it('U1 are found in what people and frameworks call an input', () => {
    expect(wordsOf('owls')).toBe('owls')
    expect(wordsOf({ question: 'Which owls?' })).toBe('Which owls?')
    expect(wordsOf({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] })).toBe(
      'Hello',
    )
    expect(wordsOf({ pace: 3 })).toBeNull()
    expect(
      textOf([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toBe('a\n\nb')
    expect(textOf([{ type: 'image' }])).toBeNull()
  })
})
