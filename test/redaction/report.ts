import { measure } from './measure.ts'

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
