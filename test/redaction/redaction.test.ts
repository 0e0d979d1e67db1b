import { expect, test } from 'vitest'
import { measure, measureBlind, measureFourth, measureThird, measureWholeTexts } from './measure.ts'

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

test('P2 finds no less of the half that nobody read than when it was first judged', () => {
  const { found, alarms, texts } = measureFourth('unread')
  const share = found.filter((each) => each.found).length / found.length
  expect(share).toBeGreaterThanOrEqual(0.94)
  expect(alarms.length / texts).toBeLessThanOrEqual(0.03)
})
