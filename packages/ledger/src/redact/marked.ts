import { isVaried } from './checks.ts'
import { type Detector, ID, LOOSE_START, simple, START, URL_ID } from './detector.ts'
import { PREFIXED } from './marks.ts'

/** `gh[ps]_` and `gl(?:pat|dt)-` as the texts they stand for; what stands for too many stays as it is. */
function spellOut(source: string): string[] {
  const part = /\(\?:([^()]*)\)|\[([^\]\-\\]*)\](?![+{?])/.exec(source)
  if (!part) return [source]
  const [whole, words, letters = ''] = part
  const choices = words === undefined ? Array.from(letters) : words.split('|')
  return choices.flatMap((choice) => spellOut(source.replace(whole, () => choice)))
}

/**
 * A lookbehind reads backwards, so the character before the trigger decides first: one comparison instead of one for
 * each of a hundred marks.
 */
function byLastCharacter(leads: readonly string[], trigger: string): string {
  const groups = Map.groupBy(new Set(leads), (lead) =>
    /^[\w-]*$/.test(lead.slice(0, -trigger.length)) ? lead.slice(-trigger.length - 1, -trigger.length) : '',
  )
  const parts = [...groups].map(([last, all]) => {
    const fronts = all.map((lead) => lead.slice(0, -trigger.length - last.length))
    return `${LOOSE_START}(?:${fronts.join('|')})${last}`
  })
  return `(?:${parts.join('|')})${trigger}`
}

const choicesOf = (prefix: string): readonly string[] => prefix.split(/\|(?![^(]*\))/)

/** Alone they would fire on every `task_…` of a payload and every `orders.service.…` of a trace. */
const SHORT: Readonly<Record<string, string>> = {
  _: `${LOOSE_START}sk_(?=[0-9a-f]{16})`,
  '\\.': `${LOOSE_START}(?:[sbrpo]|st|t1)\\.(?=[A-Za-z0-9]{20}|[0-9a-f-]{20}|eyJ|[\\w-]{0,8}\\d)`,
}
const isShort = (lead: string): boolean =>
  ['sk_', 's\\.', 'b\\.', 'r\\.', 'p\\.', 'o\\.', 'st\\.', 't1\\.'].includes(lead)

const prefixAnchors = (['_', '-', '\\.'] as const).map((trigger) => {
  const leads = PREFIXED.flatMap(([, prefix]) => choicesOf(prefix)).filter(
    (one) => one.endsWith(trigger) && !isShort(one),
  )
  const short = SHORT[trigger] === undefined ? '' : `|${SHORT[trigger]}`
  const behind = `(?<=${byLastCharacter(leads.flatMap(spellOut), trigger)}${short})`
  const ahead = '(?=[\\w.+/=-]{16})'
  // The cheaper test first: most `_` stand in short names and most `.` before a space, most `-` in long ids and in dates. No mark
  // ends with two digits and a hyphen.
  return trigger + (trigger === '-' ? `(?<!\\d\\d.)${behind}${ahead}` : ahead + behind)
})

/** What all that a prefix stands for begin with. */
const markOf = (prefix: string): string | undefined =>
  choicesOf(prefix).length > 1
    ? undefined
    : /^(?:[\w-]|\\\.)+(?![?*+{])/.exec(prefix)?.[0].replaceAll('\\', '')

const prefixedDetectors = PREFIXED.map(
  ([kind, prefix, body, validate = isVaried], index): Detector => ({
    kind,
    // Built together: one trigger character serves all prefixes that end in it.
    anchor: index === 0 ? prefixAnchors : [],
    pattern: new RegExp(`${START}(?:${prefix})${body}`, 'g'),
    mark: markOf(prefix),
    validate: (secret) => validate(secret.replace(/^[A-Za-z0-9]+[_.-]/, '')),
  }),
)

export const markedDetectors: readonly Detector[] = [
  ...prefixedDetectors,
  // Its mark stands in the middle; the entry among the prefixes brings the anchor.
  simple('terraform-token', [], `${START}${ID}{14}\\.atlasv1\\.${URL_ID}{40,}`),
]
