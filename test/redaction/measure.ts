import { createHmac } from 'node:crypto'
import type { JsonValue } from '../../packages/ledger/src/json.ts'
import { createRedactor } from '../../packages/ledger/src/redact/redact.ts'
import { heldOutSecrets, ordinaryTexts } from './blind-corpus.ts'
import { TRIED, UNTRIED } from './carriers.ts'
import { ORDINARY as FOURTH_ORDINARY, SECRETS as FOURTH } from './fourth/load.ts'
import { HELD_OUT, type HeldOut } from './held-out-forms.ts'
import { KNOWN, type Make } from './known-forms.ts'
import { lookAlikes } from './look-alikes.ts'
import { createMaker, type Maker } from './make.ts'
import { ORDINARY } from './ordinary-texts.ts'
import { readAuthors } from './read-texts.ts'
import { findSecretsOf, type Found, isFalseAlarm } from './score.ts'
import type { OrdinaryText, SecretText } from './texts.ts'
import { ORDINARY as THIRD_ORDINARY, SECRETS as THIRD } from './third/load.ts'
import { SECRETS, type SecretCase } from './whole-texts.ts'

/** P2: recall and precision per kind, on secrets and look-alikes made from a seed. */

export interface KindFigures {
  readonly kind: string
  made: number
  found: number
  /** Found, and called by this kind. */
  named: number
  /** Look-alikes that were called by this kind. */
  alarms: number
}

export interface HeldOutFigures extends HeldOut {
  readonly made: number
  readonly found: number
}

export interface Figures {
  readonly kinds: readonly KindFigures[]
  readonly heldOut: readonly HeldOutFigures[]
  readonly clean: number
  readonly alarms: readonly string[]
}

const PLACEHOLDER = /\[redacted:([a-z0-9-]+):[^\]\s]*\]/g

export function measure(rounds: number, seed = 'corpus'): Figures {
  const redactor = createRedactor({}, (secret) =>
    createHmac('sha256', 'k').update(secret).digest('hex').slice(0, 10),
  )
  const maker = createMaker(seed)
  const redact = (value: JsonValue): string => JSON.stringify(redactor.value(value).value)
  const kinds = new Map<string, KindFigures>()
  const kindOf = (kind: string): KindFigures => {
    const found = kinds.get(kind) ?? { kind, made: 0, found: 0, named: 0, alarms: 0 }
    kinds.set(kind, found)
    return found
  }

  for (const [kind, makes] of Object.entries(KNOWN))
    for (let round = 0; round < rounds; round++)
      for (const make of makes)
        for (const carry of TRIED) {
          const figures = kindOf(kind)
          const secret = makeOne(maker, make)
          const out = redact(carry(secret))
          figures.made++
          if (!leaks(secret, out)) figures.found++
          if ([...out.matchAll(PLACEHOLDER)].some(([, name]) => name === kind)) figures.named++
        }

  const heldOut = HELD_OUT.map((form): HeldOutFigures => {
    let [made, found] = [0, 0]
    for (let round = 0; round < rounds; round++)
      for (const carry of UNTRIED) {
        const secret = makeOne(maker, form.make)
        made++
        if (!leaks(secret, redact(carry(secret)))) found++
      }
    return { ...form, made, found }
  })

  const alarms: string[] = []
  let clean = 0
  for (let round = 0; round < rounds; round++)
    for (const value of lookAlikes(maker))
      for (const carried of [
        value,
        ...(typeof value === 'string' ? TRIED.map((carry) => carry(value)) : []),
      ]) {
        clean++
        for (const [, kind = ''] of redact(carried).matchAll(PLACEHOLDER)) {
          kindOf(kind).alarms++
          alarms.push(`${kind}: ${JSON.stringify(carried).slice(0, 100)}`)
        }
      }
  return {
    kinds: [...kinds.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    heldOut,
    clean,
    alarms,
  }
}

export interface BlindFigures {
  readonly forms: readonly { readonly name: string; readonly marked: boolean; made: number; found: number }[]
  readonly texts: number
  /** Ordinary texts in which something was taken for a secret. */
  readonly alarms: readonly string[]
}

/** The corpus of somebody who had not seen the rules: whole texts, in each of which one secret stands, and texts without any. */
export function measureBlind(samples: number, texts: number, seed = 1): BlindFigures {
  const redactor = createRedactor({}, (secret) =>
    createHmac('sha256', 'k').update(secret).digest('hex').slice(0, 10),
  )
  const forms = new Map<string, BlindFigures['forms'][number]>()
  for (const { form, marked, text, secret } of heldOutSecrets(seed, samples)) {
    const figures = forms.get(form) ?? { name: form, marked, made: 0, found: 0 }
    forms.set(form, figures)
    figures.made++
    if (!redactor.text(text).includes(secret)) figures.found++
  }
  const alarms = ordinaryTexts(seed, texts).flatMap(({ source, text }) => {
    const kinds = [...redactor.text(text).matchAll(PLACEHOLDER)].map(([, kind]) => kind)
    return kinds.length === 0 ? [] : [`${source}: ${kinds.join(', ')}`]
  })
  return { forms: [...forms.values()], texts, alarms }
}

export interface WholeTextFigures {
  readonly cases: number
  readonly missed: readonly SecretCase[]
  readonly texts: number
  readonly alarms: readonly string[]
}

/** A second blind corpus: texts written down one by one, 546 kinds of secrets in them. By now all that was missed has been read. */
export function measureWholeTexts(): WholeTextFigures {
  const redactor = createRedactor({}, () => '')
  return {
    cases: SECRETS.length,
    missed: SECRETS.filter(({ text, secret }) => redactor.text(text).includes(secret)),
    texts: ORDINARY.length,
    alarms: ORDINARY.filter((text) => redactor.text(text) !== text),
  }
}

export interface TranscriptFigures {
  readonly found: readonly Found[]
  readonly texts: number
  readonly alarms: readonly string[]
}

function measureTranscripts(
  secrets: readonly SecretText[],
  ordinary: readonly OrdinaryText[],
): TranscriptFigures {
  const redactor = createRedactor({}, () => '')
  return {
    found: secrets.flatMap((text) => findSecretsOf(text, redactor.value)),
    texts: ordinary.length,
    alarms: ordinary.filter((text) => isFalseAlarm(text, redactor.value)).map(({ text }) => text),
  }
}

/**
 * A third blind corpus: transcripts of agents, with secrets as often as in practice. By now all that was missed has been read;
 * when half of it had not, 0.974 of that half were found.
 */
export const measureThird = (): TranscriptFigures => measureTranscripts(THIRD, THIRD_ORDINARY)

/** A fourth, of which those who write rules read the even texts only: the odd ones tell how much of the unknown is found. */
export function measureFourth(half: 'read' | 'unread'): TranscriptFigures {
  const isIn = (_: unknown, at: number): boolean => at % 2 === (half === 'read' ? 0 : 1)
  return measureTranscripts(FOURTH.filter(isIn), FOURTH_ORDINARY.filter(isIn))
}

const measureAuthors = (corpus: string): TranscriptFigures => {
  const authors = readAuthors(corpus)
  return measureTranscripts(
    authors.flatMap(({ secrets }) => secrets),
    authors.flatMap(({ ordinary }) => ordinary),
  )
}

/** What many authors wrote so that rules could be made from it; all of it was read. */
export const measurePractice = (): TranscriptFigures => measureAuthors('practice')

/** A fifth corpus by four authors, none of which those who write rules have read. */
export const measureFifth = (): TranscriptFigures => measureAuthors('fifth')

const makeOne = (maker: Maker, make: Make): string =>
  typeof make === 'string' ? maker.form(make) : make(maker)

const WINDOW = 8

/** A secret is found when no eight characters of its random part are left; its name and its mark may stay. */
function leaks(secret: string, out: string): boolean {
  const plain = out.replaceAll(/\\+[nr]/g, '').replaceAll('\\', '')
  if (/^[\d -]+$/.test(secret)) return plain.includes(secret)
  const text = secret.replaceAll('\n', '').replace(/-----[A-Z ]+-----/g, '')
  const runs = text.match(/[A-Za-z0-9+/_~!-]{4,}/g) ?? [text]
  const longest = runs.toSorted((a, b) => b.length - a.length)[0] ?? text
  const random = longest.slice(-40)
  for (let at = 0; at + WINDOW <= Math.max(random.length, WINDOW); at++)
    if (plain.includes(random.slice(at, at + WINDOW))) return true
  return false
}
