import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  assignment,
  command,
  gap,
  pem,
  phrase,
  run,
  short,
  telling,
  text,
  token,
  value,
  word,
} from '../../test/made-texts.ts'
import { placed } from '../../test/placed-secrets.ts'
import { PERSONAL } from './personal.ts'
import { maskPlaceholders } from './placeholder.ts'
import { createRedactor } from './redact.ts'
import { longRuns, markedRuns } from './long-runs.ts'
import { nearName } from './near-name.ts'
import { recoveryPhrases } from './recovery-phrase.ts'
import { SECRETS } from './rules.ts'
import { createScan } from './scan.ts'
import { cleanText, findSpans, settleSpans } from './spans.ts'
import { HOLD_LIMIT } from './stream.ts'
import { createWalk } from './walk.ts'

const fingerprint = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 10)
const redactor = createRedactor({ policies: ['secrets', 'personal'] }, fingerprint)

/** A redactor, its prefilter, and every detector on every text with no prefilter. */
const setUps = [[PERSONAL], []].map((personal) => {
  const groups = [...SECRETS, ...personal]
  const all = groups.flatMap((group) => group.detectors)
  const findAll = (whole: string, isId: boolean) => {
    const text = maskPlaceholders(whole)
    return settleSpans(whole, [
      ...findSpans(text, all),
      ...(isId ? markedRuns : longRuns).find(text),
      ...nearName.find(text),
      ...recoveryPhrases.find(text),
    ])
  }
  return {
    quick: personal.length > 0 ? redactor : createRedactor({}, fingerprint),
    scan: createScan([], groups, [longRuns, nearName, recoveryPhrases]),
    slow: createWalk({
      clean: (text, isId = false) => cleanText(text, (part) => findAll(part, isId), fingerprint),
      fingerprint,
      rules: [],
      byKeyName: true,
    }),
  }
})

/** One seed for all, so that a delivery is not held up by a text of one in a million; `CLEW_SEED` looks further. */
const SEED = Number(process.env['CLEW_SEED'] ?? 1)

test('P1 a quick look and a prefilter change nothing of what is found', () => {
  fc.assert(
    fc.property(value, (one) => {
      for (const { quick, slow } of setUps) expect(quick.value(one)).toEqual(slow(one))
    }),
    { numRuns: 1500, seed: SEED },
  )
})

test('P1 the prefilter sees every single secret that the slow path finds, alone and escaped', () => {
  fc.assert(
    fc.property(
      fc.oneof(token, pem, word, assignment, telling, phrase, run, short, command, placed),
      gap,
      (secret, before) => {
        for (const one of [secret, before + secret, JSON.stringify({ one: before + secret })])
          for (const { scan, slow } of setUps)
            if (slow(one).redacted > 0) expect([one, scan.mayFind(one)]).toEqual([one, true])
      },
    ),
    { numRuns: 4000, seed: SEED },
  )
})

test('P1 redacting twice changes nothing more', () => {
  fc.assert(
    fc.property(value, (one) => {
      const once = redactor.value(one).value
      expect(redactor.value(once)).toEqual({ value: once, redacted: 0 })
    }),
    { numRuns: 1500, seed: SEED },
  )
})

test('P1 the input is never mutated, and an unchanged one keeps its identity', () => {
  fc.assert(
    fc.property(value, (one) => {
      const before = JSON.stringify(one)
      const out = redactor.value(one)
      expect(JSON.stringify(one)).toBe(before)
      if (out.redacted === 0) expect(out.value).toBe(one)
    }),
    { numRuns: 500, seed: SEED },
  )
})

test('P1 a text is redacted alike as a value, in a list and by itself, and its placeholders keep their form', () => {
  fc.assert(
    fc.property(text, (one) => {
      const clean = redactor.text(one)
      expect(redactor.value(one).value).toBe(clean)
      expect(redactor.value([[one]]).value).toEqual([[clean]])
      expect(redactor.text(clean)).toBe(clean)
      const torn = (part: string): number =>
        part.replaceAll(/\[redacted:[a-z0-9-]+:[0-9a-f]{10}\]/g, '').split('[redacted:').length
      expect(torn(clean)).toBeLessThanOrEqual(torn(one))
    }),
    { numRuns: 1500, seed: SEED },
  )
})

test('T4 a stream gives what the whole text gives, wherever it is cut', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(400)), (whole, cuts) => {
      const stream = redactor.stream()
      let out = ''
      let at = 0
      for (const cut of [
        ...cuts.filter((one) => one < whole.length).toSorted((a, b) => a - b),
        whole.length,
      ]) {
        out += stream.push(whole.slice(at, cut))
        at = cut
      }
      expect(out + stream.end()).toBe(redactor.text(whole))
    }),
    { numRuns: 3000, seed: SEED },
  )
})

test('T4 a stream of single characters gives what the whole text gives', () => {
  fc.assert(
    fc.property(text, (whole) => {
      const stream = redactor.stream()
      const out = Array.from({ length: whole.length }, (_, i) => stream.push(whole[i] ?? '')).join('')
      expect(out + stream.end()).toBe(redactor.text(whole))
      expect(whole.length).toBeLessThan(HOLD_LIMIT)
    }),
    { numRuns: 400, seed: SEED },
  )
})
