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
const MOST_TRIGGERS = 12
const FEW = 4

function partsOf(triggers: readonly string[]): (readonly string[])[] {
  if (triggers.length <= MOST_TRIGGERS) return [triggers]
  const isLetter = (trigger: string): boolean => /^\[?[A-Za-z]/.test(trigger)
  const signs = triggers.filter((trigger) => !isLetter(trigger))
  const parts: (readonly string[])[] = [triggers.filter(isLetter)]
  for (let at = 0; at < signs.length; at += FEW) parts.push(signs.slice(at, at + FEW))
  return parts
}

/** The prefilter as regular expressions: when none of them matches, no detector does. */
export function anchorsOf(detectors: readonly Detector[]): RegExp[] {
  const wanted = detectors.filter((one) => one.anchor.length > 0)
  const together = wanted.filter((one) => !one.alone).flatMap((one) => one.anchor)
  const byTrigger = Map.groupBy(together, (anchor) => /^(?:\\.|\[[^\]]*\]|.)/.exec(anchor)?.[0] ?? '')
  const grouped = partsOf([...byTrigger.keys()]).map((triggers) =>
    triggers
      .map((trigger) => {
        const anchors = byTrigger.get(trigger) ?? []
        return `${trigger}(?:${anchors.map((anchor) => anchor.slice(trigger.length)).join('|')})`
      })
      .join('|'),
  )
  const alone = wanted.filter((one) => one.alone).flatMap((one) => one.anchor)
  return [...grouped, ...alone].filter((source) => source !== '').map((source) => warmed(new RegExp(source)))
}
