import { expect, test } from 'vitest'
import { measure, measureBlind, measureThird, measureWholeTexts } from './measure.ts'

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
const share = (half: typeof third.read): number => half.filter(({ found }) => found).length / half.length

test('P2 finds what stands in transcripts of a third author, of which half was never read', () => {
  expect(share(third.read)).toBeGreaterThanOrEqual(0.99)
  expect(share(third.unread)).toBeGreaterThanOrEqual(0.97)
})

test('P1 leaves ordinary transcripts of the third author as they are', () => {
  expect(third.alarms.length / third.texts).toBeLessThanOrEqual(0.01)
})
