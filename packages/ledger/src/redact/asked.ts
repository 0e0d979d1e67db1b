import { lastDigitName, lastKeyName, lastPassword } from './secret-names.ts'
import type { WordForm } from './secret-words.ts'

/** Whether a word is the answer to the line above that asks for a secret: "pw?", and then "ben: it's …, same as last month". */

const CLOCK = '\\d\\d?:\\d\\d(?::\\d\\d)?(?: ?[AaPp][Mm])?'
const NAME = '[A-Za-zÀ-ɏ#@][\\wÀ-ɏ .-]{0,24}'
const SPEAKER = `^\\s{0,8}(?:> ?)?(?:[\\[(]?(?:[\\d/.-]{4,10},? )?${CLOCK}[\\])]? {0,3}(?:[-–] )?)?(?:[*_<]{0,2}${NAME}[*_>]{0,2}[:>][*_]{0,2} |A[.:] |[➜→-] )?`
const SPEAKS = new RegExp(SPEAKER)
/** Nothing but who speaks and when, and words that lead over to the answer. */
const TURN = new RegExp(
  `${SPEAKER}(?:(?:it(?:['’]s|s| is| was)|that(?:['’]s| is)|sure|ok(?:ay)?|yes|so|try|use|here|still|now|es ist|das ist|immer noch|c['’]est|es|è|é|to|het is)[,:!.]? ){0,3}(?:it uses |we use )?(?:[\\w.@-]{2,32} \\/ )?["'\`*]{0,2}$`,
  'i',
)
/** Any words that end in a sign or in what says that it is it: "same one as always, …", "old one still works: …", "tenho, é …". */
const LED = new RegExp(
  `${SPEAKER}(?:[a-zÀ-ɏ'’]{1,14}[,!.:;]? ){0,7}(?:[a-zÀ-ɏ'’]{1,14} ?[,:!]|(?:is|was|be|here you go|ist|lautet|est|es|é|è|era|foi|jest|to)(?: (?:still|now|noch|encore))?|it['’]?s|c['’]est) ["'\`*]{0,2}$`,
  'i',
)
const LED_ENDS =
  /^["'`*)]{0,2}(?:$|[,.!;)\r\n]|\\[nr]| {0,2}(?:[\r\n(–-]|\\n|$)| (?:but|iirc|i think|i guess|and|as|for|on|if|unless|aber|und|mais|et|pero|y|mas|e|ma|maar|en|ale|i)(?![a-z]))/i
const HEADER = new RegExp(`^\\s{0,4}${NAME}[^\\r\\n]{0,16}${CLOCK}\\s*$`)
const ASKS =
  /\?["'*)]{0,2}\s*$|(?:enter|type|need|send|give|tell|ask(?:s|ing)?|wants|what['’]?s|brauche?|fragt|demande|besoin|necesito|pide|preciso|pede|serve|chiede|nodig|vraagt|potrzebuję|pyta)(?![a-z])[^\r\n]*$/i
/** Asked is not for it, but about it. */
const ABOUT =
  /(?:^|[:>.!?\])] )(?:which(?! (?:pass|pw|cred|login))|who(?! (?:has|knows|got))|when|where|why|how (?:many|long|often)|did|does(?! (?:any|some))|do(?! (?:you|we|u) (?:have|know|remember|still have))|can(?! (?:you|u|any\w+|some\w+) (?:please |pls )?(?:send|give|tell|share|remind|resend|dm|pass|paste))|should|is|are|was|has(?! (?:any|some))|have(?! you got))(?![a-z'’])|(?:chang|expir|reset|work|length|polic|page|bug|fix|broken|fail|hash|manager)[^\r\n]*$/i

/** The line that asks, of which a match has the end only. */
export const questionOf = ({ 0: found, input, index }: RegExpExecArray): string =>
  `${
    input
      .slice(Math.max(0, index - 80), index)
      .split(LINE_END)
      .at(-1) ?? ''
  }${found.split(LINE_END)[0] ?? ''}`
const LINE_END = /\r?\n|\\n/
export const isAboutSecret = (match: RegExpExecArray): boolean => ABOUT.test(questionOf(match))

const ENDS = /^(?:$|[,.!;)"'`*\r\n]|\\[nr]| {0,2}(?:[\r\n(]|\\n|$))/
const LONGEST = 240

/** The line above, or the one above that when a name and a time stand between them. */
function lineAbove(text: string, start: number): string {
  const lines = text.slice(Math.max(0, start - LONGEST), start).split(LINE_END)
  const above = lines.at(-2) ?? ''
  return HEADER.test(above) ? (lines.at(-3) ?? '') : above
}

const isAnswer = (before: string, after: string, form: WordForm): boolean =>
  (TURN.test(before) && ENDS.test(after)) || (form !== 'faint' && LED.test(before) && LED_ENDS.test(after))
const LONGEST_END = 12

/** What stands before a word in its line, when there is a line above. */
function turnBefore(text: string, start: number): string | undefined {
  const from = Math.max(
    text.lastIndexOf('\n', start - 1) + 1,
    text.lastIndexOf('\\n', start - 1) + 2,
    start - 80,
  )
  return from < 2 ? undefined : text.slice(from, start)
}

function questionAbove(text: string, start: number): string | undefined {
  const above = lineAbove(text, start)
  return ASKS.test(above) && !ABOUT.test(above) ? above.replace(SPEAKS, '') : undefined
}

/** Whether the words behind an answer, of which a text that goes on has only some, have a say. */
export const isLedTo = (text: string, start: number, after: string): boolean =>
  after.length < LONGEST_END &&
  LED.test(turnBefore(text, start) ?? '') &&
  questionAbove(text, start) !== undefined

export function kindAsked(text: string, start: number, end: number, form: WordForm): string | undefined {
  const before = turnBefore(text, start)
  if (before === undefined || !isAnswer(before, text.slice(end, end + LONGEST_END), form)) return undefined
  const above = questionAbove(text, start)
  if (above === undefined) return undefined
  if (form === 'digits') return lastDigitName(above) ? 'pin' : undefined
  const name = lastPassword(above)?.name
  if (name !== undefined && !/(?:logins?|secrets?)$/i.test(name))
    return form === 'plain' ? undefined : 'password'
  return end - start >= 16 && form !== 'weak' && form !== 'faint' && lastKeyName(above) ? 'token' : undefined
}
