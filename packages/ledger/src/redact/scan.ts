import { anchorsOf, APART, type Detector } from './rules.ts'
import { type Finder, findSpans, settleSpans, type Span } from './spans.ts'

/** All that is looked for. `mayFind` is quick, and true for every text, plain or as JSON escapes it, in which `find` finds something. */
export interface Scan {
  readonly mayFind: (text: string) => boolean
  readonly find: (text: string) => Span[]
}

const SAMPLE = 'tell me a little '.repeat(16)

/** `custom` has no prefilter: patterns of the user's are asked about every text. */
export function createScan(
  custom: readonly Detector[],
  groups: readonly (readonly Detector[])[],
  finders: readonly Finder[],
): Scan {
  const guarded = groups.map((detectors) => ({ detectors, anchors: anchorsOf(detectors) }))
  const anchors = [...anchorsOf(groups.filter((group) => !APART.has(group)).flat())]
  for (const group of groups) if (APART.has(group)) anchors.push(...anchorsOf(group))
  // V8 looks at the first texts to decide which characters it can leap to; many signs in them would make it slow for ever.
  for (const anchor of anchors) for (let n = 0; n < 3; n++) anchor.test(SAMPLE)
  const mayFind = (text: string): boolean => {
    for (const anchor of anchors) if (anchor.test(text)) return true
    for (const finder of finders) if (finder.mayFind(text)) return true
    return false
  }
  return {
    mayFind,
    find(text) {
      const spans = findSpans(text, custom)
      if (mayFind(text)) {
        for (const group of guarded)
          if (group.anchors.some((anchor) => anchor.test(text)))
            spans.push(...findSpans(text, group.detectors))
        for (const finder of finders) spans.push(...finder.find(text))
      }
      return settleSpans(text, spans)
    },
  }
}
