import {
  measure,
  measureBlind,
  measureFifth,
  measureFourth,
  measurePractice,
  measureThird,
  measureWholeTexts,
  type TranscriptFigures,
} from './measure.ts'

/** npm run redaction: what the rules find, what they miss and what they take for a secret. */
const ROUNDS = 20
const { kinds, heldOut, clean, alarms } = measure(ROUNDS)
const ratio = (part: number, whole: number): string => (whole === 0 ? '–' : (part / whole).toFixed(3))

console.log('KIND                  MADE  FOUND  RECALL  NAMED  ALARMS  PRECISION')
for (const { kind, made, found, named, alarms: wrong } of kinds)
  console.log(
    kind.padEnd(20),
    String(made).padStart(5),
    String(found).padStart(6),
    ratio(found, made).padStart(7),
    ratio(named, made).padStart(6),
    String(wrong).padStart(7),
    ratio(found, found + wrong).padStart(10),
  )
const sum = (pick: (kind: (typeof kinds)[number]) => number): number =>
  kinds.reduce((total, kind) => total + pick(kind), 0)
console.log(
  `\n${kinds.length} kinds: recall ${ratio(
    sum((kind) => kind.found),
    sum((kind) => kind.made),
  )}, ${alarms.length} false alarms on ${clean} look-alikes`,
)

console.log('\nHELD OUT, in layouts the rules were not tried in')
for (const { name, made, found, missed } of heldOut)
  console.log(ratio(found, made).padStart(6), name, missed ? '(known miss)' : '')
const expected = heldOut.filter((form) => !form.missed)
const total = (forms: typeof heldOut, pick: 'made' | 'found'): number =>
  forms.reduce((all, form) => all + form[pick], 0)
console.log(
  `\nheld out: recall ${ratio(total(expected, 'found'), total(expected, 'made'))} of ${expected.length} forms with a mark or a name,`,
  `${ratio(total(heldOut, 'found'), total(heldOut, 'made'))} of all ${heldOut.length}`,
)
for (const alarm of new Set(alarms)) console.log(`false alarm: ${alarm}`)

const blind = measureBlind(40, 3200)
console.log('\nBLIND, by somebody who had not seen the rules; forms that are not found each time')
for (const { name, marked, made, found } of blind.forms)
  if (found < made) console.log(ratio(found, made).padStart(6), name, marked ? '' : '(bare)')
const share = (forms: typeof blind.forms): string =>
  ratio(
    forms.reduce((all, form) => all + form.found, 0),
    forms.reduce((all, form) => all + form.made, 0),
  )
console.log(
  `\nblind: recall ${share(blind.forms.filter((form) => form.marked))} of ${blind.forms.filter((form) => form.marked).length} forms with a mark or a name,`,
  `${share(blind.forms)} of all ${blind.forms.length}; ${blind.alarms.length} of ${blind.texts} ordinary texts changed`,
)
for (const alarm of new Set(blind.alarms)) console.log(`false alarm: ${alarm}`)

const whole = measureWholeTexts()
for (const { kind } of whole.missed) console.log('missed:', kind)
console.log(
  `\nwhole texts of a second blind author, whose misses were all read: recall ${ratio(whole.cases - whole.missed.length, whole.cases)} of ${whole.cases},`,
  `${whole.alarms.length} of ${whole.texts} ordinary texts changed`,
)

function tell(name: string, { found, texts, alarms }: TranscriptFigures): void {
  const hits = found.filter((each) => each.found).length
  console.log(
    `\n${name}: recall ${ratio(hits, found.length)} of ${found.length},`,
    `${alarms.length} of ${texts} ordinary texts changed`,
  )
}

const third = measureThird()
for (const { secret, found } of third.found) if (!found) console.log('missed:', secret)
tell('third blind set, transcripts as in practice, whose misses were all read', third)
const fourth = measureFourth('read')
for (const { secret, found } of fourth.found) if (!found) console.log('missed:', secret)
tell('fourth blind set, the half that was read', fourth)
// Whoever writes rules must not see these texts.
tell('fourth blind set, the half that nobody read', measureFourth('unread'))
tell('texts of many authors by which rules were made, all read', measurePractice())
tell('fifth blind set, by four authors, none of it read', measureFifth())
