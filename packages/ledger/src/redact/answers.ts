import { isAboutSecret, questionOf } from './asked.ts'
import { isPassword, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { isAlone } from './next-line.ts'
import { PASSWORD } from './said.ts'
import { LINE } from './pieces.ts'

/** One message of a talk asks for a secret, and one of the next is the secret: turns of a chat, an interview, a form that is read aloud. */

const REST = '[^\\r\\n\\\\]'
const ASKED = `(?:${PASSWORD}|(?<![A-Za-z])(?:[pP][wW]|[pP]wd|[mM]dp|[lL]ogin)(?![A-Za-z]))`
const ASKED_CODE =
  '(?<![A-Za-z])(?:PIN|[pP]in|OTP|TAN|CVV|2FA|(?<!(?:[eE]rror|[sS]tatus|[eE]xit|[cC]ountry|[zZ]ip|[pP]ostal|[aA]rea|[pP]romo|[bB]ooking|[dD]iscount|[cC]oupon|[rR]esponse|[sS]ource|QR|[tT]racking|HTTP) )(?:[cC]ode|[cC]ombination)(?![a-z:=(.]))'
const CLOCK = '\\d\\d?:\\d\\d(?::\\d\\d)?(?: ?[AaPp][Mm])?'
/** Who speaks and when, in a line of its own. */
const HEADER = `(?:[A-Za-zÀ-ɏ][\\wÀ-ɏ .()/]{0,30} {1,3}${CLOCK}${LINE}{1,2})`
/** The same at the beginning of the line, or the sign of whoever answers. */
const TURN = `(?:[\\[(]?(?:[\\d/.-]{4,10},? )?${CLOCK}[\\])]? {0,3})?(?:[*_<]{0,2}[A-Za-zÀ-ɏ#@][\\wÀ-ɏ .]{0,20}[*_>]{0,2}[:>]|A\\.|➜|→|»|👤|🧑|🙂)[*_]{0,2} {1,2}`
const LEAD =
  "(?:(?:[iI]t(?:'s|’s| is| was)|[sS]ure|[oO]k(?:ay)?|[yY]es|[nN]o(?:pe)?|[oO]ne|[sS]o|[tT]ry|[uU]se|[hH]ere|[eE]s ist|[cC]'est)[,:!.]? ){0,2}"
const END = `(?=[.!]?[\`"'*» ]{0,3}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`
const WORD = '[^\\s"\'`\\\\<>]'

/** A line between the two, such as "I can add it to the agent if you tell me". */
const BETWEEN = `(?:${REST}{0,120}${LINE}{1,2})?`
const isAnswer = (text: string): boolean =>
  text.length >= 6 &&
  /\d/.test(text) &&
  !/^[\d.:,/-]+$|[:=]|\.[a-z]{1,4}$|^@|^[A-Z]+-\d+$/.test(text) &&
  isAlone(text)
/** A word without a line between it and the question may have a comma, too. */
const isNextAnswer = (text: string): boolean => isAnswer(text) || isAnswer(text.replace(',', ''))

const PHRASE = /^[a-zA-ZÀ-ɏ]+(?: [a-zA-ZÀ-ɏ0-9]+){3,9}$/
const isQuotedAnswer = (text: string): boolean =>
  !isTemplate(text) &&
  ((PHRASE.test(text) && /\d/.test(text)) || (/^\S*\d\S*$/.test(text) && isPassword(text) && isAlone(text)))

/** A question, or that somebody needs it. */
const WANTS =
  /[?]|need|send|enter|give|tell|ask|show|want|type|please|pls|what|brauch|wie |donne|cual|cuál|qual/i

export const answerDetectors: readonly Detector[] = [
  simple(
    'password',
    `[pP](?=[aA][sS][sS]|[wW]d?[ ?.:,])`,
    `${ASKED}${REST}{0,100}${LINE}{1,3}${HEADER}?(?:${TURN})?${LEAD}(?<secret>${WORD}{6,64})${END}`,
    (secret, match) =>
      isNextAnswer(secret) && (/\?/.test(match[0]) || new RegExp(TURN).test(match[0])) && isTalk(match),
  ),
  simple(
    'password',
    [],
    `${ASKED}${REST}{0,100}${LINE}{1,3}${BETWEEN}${TURN}${LEAD}(?<secret>${WORD}{6,64})${END}`,
    (secret, match) => isAnswer(secret) && isTalk(match),
  ),
  // "Here's a strong one: `…`", "it was '…'", "I typed "…"".
  simple(
    'password',
    [],
    `${ASKED}${REST}{0,100}${LINE}{1,3}(?:${REST}{0,80}${LINE}{1,3})?[^\\r\\n"\`“\\\\]{0,40}(?:it|[tT]ry|[uU]se|one|second|typed|is|was|[iI]t's|[iI]t’s)(?: [^\\s"'\`“\\\\]{1,16}){0,4}:? \\\\{0,3}["'\`“](?<secret>[^"'\`“”\\r\\n\\\\]{6,64})(?=\\\\{0,3}["'\`”])`,
    isQuotedAnswer,
  ),
]

/** Codes that are asked for in one line and given in the next. */
export const answeredCodes: readonly Detector[] = [
  simple(
    'pin',
    [
      `[cC](?=o(?:de|mbination)${REST}{0,80}${LINE})`,
      `P(?=IN${REST}{0,80}${LINE})`,
      `O(?=TP${REST}{0,80}${LINE})`,
    ],
    `${ASKED_CODE}${REST}{0,80}${LINE}{1,3}${HEADER}?(?:${TURN})?${LEAD}(?<secret>\\d{4,8}|\\d{3}[ -]\\d{3})(?=[#*]?(?:[.!,]|${END.slice(3)})`,
    (_, match) => WANTS.test(questionOf(match)) && !isAboutSecret(match),
  ),
]

/** A name with a colon is somebody who speaks, not one more field of a form. */
const isTalk = (match: RegExpExecArray): boolean =>
  !isAboutSecret(match) &&
  !/(?:url|host|user ?name|user|email|port|id|version|date|time|branch|commit|file|path|login|type|status|name|plan|size|model|serial|phone|tel|address|ssid|server|release|build|sha|hash|digest|licen[cs]e|copyright|age|kms|arn|image|tag|checksum|namespace|region|zone|package)[*_]{0,2}[:>][*_]{0,2} ?\S*$/i.test(
    match[0],
  )
