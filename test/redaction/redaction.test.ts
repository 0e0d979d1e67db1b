import { expect, test } from 'vitest'
import {
  measure,
  measureBlind,
  measureFifth,
  measureFourth,
  measurePractice,
  measureThird,
  measureWholeTexts,
} from './measure.ts'

const { kinds, heldOut, clean, alarms } = measure(4)
const recall = (all: readonly { made: number; found: number }[]): number =>
  all.reduce((sum, each) => sum + each.found, 0) / all.reduce((sum, each) => sum + each.made, 0)

test('P1 knows at least forty kinds of secrets and finds each', () => {
  expect(kinds.length).toBeGreaterThanOrEqual(40)
  expect(kinds.filter((kind) => kind.found / kind.made < 0.85)).toEqual([])
  expect(recall(kinds)).toBeGreaterThanOrEqual(0.99)
})

test('P2 calls each by its kind', () => {
  expect(kinds.filter((kind) => kind.named / kind.made < 0.85)).toEqual([])
})

test('P1 leaves what only looks like one', () => {
  expect(alarms).toEqual([])
  expect(clean).toBeGreaterThan(1000)
})

test('P2 finds what it was not tuned on when it has a mark or a name', () => {
  expect(recall(heldOut.filter((form) => !form.missed))).toBeGreaterThanOrEqual(0.98)
})

test('P2 the list of known misses is true', () => {
  const wrong = heldOut.filter(({ missed, made, found }) => missed && found / made > 0.5)
  expect(wrong.map((form) => form.name)).toEqual([])
})

const blind = measureBlind(10, 640)

test('P2 finds most of what somebody else thought of, without having seen the rules', () => {
  expect(recall(blind.forms.filter((form) => form.marked))).toBeGreaterThanOrEqual(0.985)
})

test('P1 leaves ordinary texts of somebody else as they are', () => {
  expect(blind.alarms.length / blind.texts).toBeLessThanOrEqual(0.01)
})

const whole = measureWholeTexts()

test('P2 finds what stands in whole texts of a second author, all of which were read', () => {
  expect(whole.missed.map(({ kind }) => kind)).toEqual([])
})

test('P1 leaves the ordinary texts of the second author as they are', () => {
  expect(whole.alarms).toEqual([])
})

const third = measureThird()

test('P2 finds what stands in transcripts of a third author, all of which were read', () => {
  expect(third.found.filter(({ found }) => !found).map(({ secret }) => secret)).toEqual([])
  expect(third.found.length).toBeGreaterThan(500)
})

test('P1 leaves ordinary transcripts of the third author as they are', () => {
  expect(third.alarms).toEqual([])
})

test('P2 finds what stands in the half that was read of transcripts of a fourth author, and leaves its ordinary ones', () => {
  const { found, alarms } = measureFourth('read')
  expect(found.filter((each) => !each.found).map(({ secret }) => secret)).toEqual([])
  expect([found.length, alarms]).toEqual([296, []])
})

// Whoever writes rules must not see these texts, so only shares are told.
function sharesOf({ found, alarms, texts }: ReturnType<typeof measureFifth>) {
  const hits = found.filter((each) => each.found).length
  return {
    recall: hits / found.length,
    precision: hits / (hits + alarms.length),
    changed: alarms.length / texts,
  }
}

test('P2 finds no less of the half that nobody read than when it was first judged', () => {
  const { recall: share, changed } = sharesOf(measureFourth('unread'))
  expect(share).toBeGreaterThanOrEqual(0.94)
  expect(changed).toBeLessThanOrEqual(0.03)
})

test('P2 finds what many authors wrote for practice, and leaves their ordinary texts', () => {
  const { recall: share, changed } = sharesOf(measurePractice())
  expect(share).toBeGreaterThanOrEqual(0.998)
  expect(changed).toBe(0)
})

test('P2 finds 0.98 of what four authors wrote and nobody read, and 0.99 of what it takes out is a secret', () => {
  const { recall: share, precision, changed } = sharesOf(measureFifth())
  expect(share).toBeGreaterThanOrEqual(0.98)
  expect(precision).toBeGreaterThanOrEqual(0.99)
  expect(changed).toBeLessThanOrEqual(0.0101)
})
