import { maskPlaceholders } from './placeholder.ts'
import { isPlain } from './plain-text.ts'
import { anchorsOf, type Detector, type Group } from './detector.ts'
import { type Finder, findSpans, namesOf, settleSpans, type Span } from './spans.ts'
import { createUnsettled, type Unsettled } from './unsettled.ts'

/** All that is looked for. `mayFind` is quick, and true for every text in which `find` finds something. */
export interface Scan {
  readonly mayFind: (text: string) => boolean
  readonly find: (text: string) => Span[]
  /** What a text that goes on has not decided yet. */
  readonly unsettled: Unsettled
}

interface Guard {
  readonly detectors: readonly Detector[]
  readonly needs: RegExp | undefined
  /** Undefined until a text asks for them: to compile those of all guards takes a tenth of a second. */
  anchors: readonly RegExp[] | undefined
}

const guardOf = (detectors: readonly Detector[], needs?: RegExp): Guard => ({
  detectors,
  needs,
  anchors: undefined,
})

function isFit(guard: Guard, text: string): boolean {
  if (guard.needs !== undefined && !guard.needs.test(text)) return false
  guard.anchors ??= anchorsOf(guard.detectors)
  for (const anchor of guard.anchors) if (anchor.test(text)) return true
  return false
}

/** `custom` has no prefilter: patterns of the user's are asked about every text. */
export function createScan(
  custom: readonly Detector[],
  groups: readonly Group[],
  finders: readonly Finder[],
): Scan {
  const guarded = groups.map(({ detectors, needs }) => guardOf(detectors, needs))
  const joined = groups.filter((group) => !group.apart).flatMap(({ detectors }) => detectors)
  const passes = [guardOf(joined), ...guarded.filter((_, at) => groups[at]?.apart)]
  const unsettled = createUnsettled(groups, finders)
  const quick = groups.every((group) => !group.thorough)
  return {
    mayFind(whole) {
      if (quick && isPlain(whole)) return false
      const text = maskPlaceholders(whole)
      for (const pass of passes) if (isFit(pass, text)) return true
      for (const finder of finders) if (finder.mayFind(text)) return true
      return false
    },
    find(whole) {
      const spans = findSpans(whole, custom)
      const text = maskPlaceholders(whole)
      if (!quick || !isPlain(text)) {
        const names = namesOf(text)
        for (const group of guarded)
          if (isFit(group, text)) spans.push(...findSpans(text, group.detectors, names))
        for (const finder of finders) if (finder.mayFind(text)) spans.push(...finder.find(text))
      }
      return settleSpans(whole, spans)
    },
    unsettled,
  }
}
