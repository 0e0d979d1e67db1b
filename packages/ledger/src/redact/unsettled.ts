import { type Beginnings, createBeginnings, type Open, type Tables } from './beginnings.ts'
import type { Detector, Group } from './detector.ts'
import { parsePattern, tellingOf } from './pattern-tree.ts'
import type { Finder } from './spans.ts'
import { openingsOf } from './unfinished.ts'

export interface Unsettled {
  /** For one text that goes on. */
  readonly watch: () => Beginnings
  /** Where the text begins that a table at its end needs, or `at`. */
  readonly headBefore: (text: string, at: number) => number
}

type Located = Required<Pick<Detector, 'pattern' | 'locate' | 'unsettled'>>

export function createUnsettled(groups: readonly Group[], finders: readonly Finder[]): Unsettled {
  const detectors = groups.flatMap((group) => group.detectors)
  const located = [...new Set(detectors.filter((one) => one.unsettled !== undefined))] as Located[]

  const eachTable = (
    text: string,
    since: number,
    visit: (place: { from: number; head: number } | undefined, match: RegExpExecArray, of: Located) => void,
  ): void => {
    for (const one of located) {
      one.pattern.lastIndex = since
      for (let match = one.pattern.exec(text); match !== null; match = one.pattern.exec(text))
        visit(one.unsettled(match), match, one)
    }
  }
  const openRow: Open = (text, from) => {
    let first = text.length
    eachTable(text, 0, (place) => {
      if (place && place.from >= from && place.from < first) first = place.from
    })
    return first
  }
  const hasCell: Tables['hasCell'] = (text, from, since) => {
    let has = false
    eachTable(text, since, (place, match, { locate }) => {
      has ||= place !== undefined || locate(match).some(({ end }) => end > from)
    })
    return has
  }

  // Made when the first text comes in pieces; most redactors never see one.
  let watch: (() => Beginnings) | undefined
  const createWatch = (): (() => Beginnings) => {
    const heads = located.flatMap(
      ({ pattern }) => tellingOf(parsePattern(pattern.source))?.sources ?? ['[^]'],
    )
    return createBeginnings(
      detectors.filter((one) => one.locate === undefined).flatMap(openingsOf),
      finders,
      {
        telling: new RegExp(heads.length === 0 ? '(?!)' : heads.join('|'), 'g'),
        hasCell,
        open: openRow,
      },
    )
  }

  return {
    watch: () => (watch ??= createWatch())(),
    headBefore(text, at) {
      let first = at
      eachTable(text, 0, (place) => {
        if (place && place.head < first) first = place.head
      })
      return first
    },
  }
}
