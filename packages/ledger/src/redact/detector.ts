import { mayPrecedeDigit } from './digit-ahead.ts'

/**
 * One thing to look for. The secret is the group `secret` of `pattern`, which ends the match, or the
 * whole match. `anchor` are fragments of the prefilter, weaker than `pattern`:
 * one rare character and then only lookarounds, because V8 skips to such characters many
 * bytes at a time. An anchor with a common first character is scanned `alone`, or it would slow all others.
 */
export interface Detector {
  readonly kind: string | ((match: RegExpExecArray) => string)
  readonly anchor: string | readonly string[]
  readonly alone?: boolean
  readonly pattern: RegExp
  /** Without this in the text the pattern matches nothing; quicker to ask for when there are many patterns. */
  readonly mark?: string | undefined
  validate?(secret: string, match: RegExpExecArray): boolean
  /** Where the secrets stand when `pattern` finds only what tells of them, such as the head of a column. */
  locate?(match: RegExpExecArray): readonly Place[]
  /** Beside `locate`, for a text that goes on: the place of which the rest decides, and from where on that needs the text. */
  unsettled?(match: RegExpExecArray): { readonly from: number; readonly head: number } | undefined
}

export interface Place {
  readonly start: number
  readonly end: number
}

/** Detectors that are asked together, about a text that one of their anchors fits. */
export interface Group {
  readonly detectors: readonly Detector[]
  /** The anchors make a pass of their own, since V8 can leap only to so many different characters. */
  readonly apart?: boolean
  /** Without this in the text that pass is not made. */
  readonly needs?: RegExp
  /** Finds something even in a text that is plain. */
  readonly thorough?: boolean
}

/** A token begins where no letter or digit stands before it; `\n` and `%3D` of escaped text count as gaps. */
export const START = '(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt]|%[0-9A-F]{2}))'
/** What the prefilter may demand instead: the letters of `\b \f \n \r \t` could be an escape. */
export const LOOSE_START = '(?<![ac-eg-mo-qsu-z])'

/** The same where a sign may not stand before it either. */
export const NAME_START = '(?:(?<![\\w-])|(?<=\\\\[bfnrt]))'

export const ID = '[A-Za-z0-9]'
export const URL_ID = '[A-Za-z0-9_-]'

export const simple = (
  kind: Detector['kind'],
  anchor: Detector['anchor'],
  pattern: string,
  validate?: Detector['validate'],
): Detector => ({ kind, anchor, pattern: new RegExp(pattern, 'g'), ...(validate && { validate }) })

const SAMPLE = 'tell me a little '.repeat(16)

/** V8 looks at the first texts to decide which characters it can leap to; many signs in them would make it slow for ever. */
export function warmed(pattern: RegExp): RegExp {
  for (let n = 0; n < 3; n++) pattern.test(SAMPLE)
  pattern.lastIndex = 0
  return pattern
}

/** So many first characters V8 can leap to in one pass; of more it is quicker to make several. */
const MOST_TRIGGERS = 14
const FEW = 4
/** Of longer ones V8 makes slow code. */
const LONGEST_PASS = 19_000

const isLetter = (source: string): boolean => /^\[?[A-Za-z]/.test(source)

/** In a log most signs stand before a digit, where few anchors can fit: the others are passed over at once. */
function joinAnchors(trigger: string, anchors: readonly string[]): string {
  const looks = anchors.map((anchor) => anchor.slice(trigger.length))
  const away = isLetter(trigger) ? [] : looks.filter((one) => !mayPrecedeDigit(one))
  if (away.length < 2) return `${trigger}(?:${looks.join('|')})`
  const near = looks.filter((one) => !away.includes(one))
  return `${trigger}(?:${[...near, `(?!\\d)(?:${away.join('|')})`].join('|')})`
}

/** As many in each as in the others: to a single character V8 leaps no faster than it walks. */
function passesOf(sources: readonly string[], most: number): string[] {
  const passes: string[][] = []
  const even = Math.ceil(sources.length / Math.ceil(sources.length / most))
  for (const source of sources) {
    const last = passes.at(-1)
    if (last && last.length < even && last.join('|').length + source.length < LONGEST_PASS) last.push(source)
    else passes.push([source])
  }
  return passes.map((pass) => pass.join('|'))
}

/** The prefilter as regular expressions: when none of them matches, no detector does. */
export function anchorsOf(detectors: readonly Detector[]): RegExp[] {
  const wanted = detectors.filter((one) => one.anchor.length > 0)
  const together = wanted.filter((one) => !one.alone).flatMap((one) => one.anchor)
  const byTrigger = Map.groupBy(together, (anchor) => /^(?:\\.|\[[^\]]*\]|.)/.exec(anchor)?.[0] ?? '')
  const sources = Array.from(byTrigger, ([trigger, anchors]) => joinAnchors(trigger, anchors))
  const grouped =
    sources.length <= MOST_TRIGGERS
      ? passesOf(sources, MOST_TRIGGERS)
      : [
          ...passesOf(sources.filter(isLetter), sources.length),
          ...passesOf(
            sources.filter((source) => !isLetter(source)),
            FEW,
          ),
        ]
  const alone = wanted.filter((one) => one.alone).flatMap((one) => one.anchor)
  return [...grouped, ...alone].map((source) => warmed(new RegExp(source)))
}
