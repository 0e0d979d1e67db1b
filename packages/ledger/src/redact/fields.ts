import { isJoinedInQuotes } from './joined-words.ts'
import { isPassword, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { isAlone } from './next-line.ts'
import { isNumberedPair } from './passphrase.ts'
import { isCertain, isSaidWord } from './plain-words.ts'
import { QUOTE } from './pieces.ts'

/** Fields of a page or of a document that are called password, and what is typed into them. */

const LINE = '(?:\\r?\\n|\\\\{1,9}r\\\\{1,9}n|\\\\{1,9}n)'
const PW = `(?:${anyCase('pass(?:word|wort|wd|phrase|code)')}|[kK]ennwort|[cC]ontraseña|[sS]enha|[wW]achtwoord|[mM]ot de passe|[hH]asło|[lL]ösenord|[hH]eslo|[şŞ]ifre|[пП]арол[ья]|密码|パスワード|비밀번호)`
/** `#pass`, `input[name="pw"]`. */
const SHORT_FIELD = `[_#="'-](?:pass|pwd|pw)(?=["'\\]\\\\])`
const SECRET = '(?<secret>[^"\'`\\r\\n\\\\{]{4,128})'
/** `{enter}`. */
const KEYS = '(?:\\{[\\w+]{1,16}\\}){0,3}'
const TYPES =
  '(?:fill|type|typeText|type_text|typeIn|send_keys|sendKeys|send|setValue|set_value|set|addValue|enterText|enter_text|fillIn|clearAndType|pressSequentially|replaceText|input|val|value|write|tap_and_type|clear_and_type)'
const TEXT_NAMES = '(?:text|value|val|content|input|keys|string|fill|characters)'
const TYPED = '(?<secret>[^"\\s\\\\]{4,128})'
const TEXT = `"${TEXT_NAMES}\\\\{0,9}"\\s{0,3}:\\s{0,3}\\\\{0,9}"${TYPED}`
const FIELD_NAMES =
  '"(?:element|selector|label|field|target|locator|placeholder|ref|name|css|xpath|uid)\\\\{0,9}"\\s{0,3}:\\s{0,3}'
const SENT = `assword[^\\r\\n]{0,24}(?:\\s|\\\\{1,9}[nrt]|[{}]){0,24}[\\w.$>-]{0,20}send(?:line|ln|_user)?(?: --| -s| -h)? ?\\(?${QUOTE}(?<secret>[^"'\\r\\n\\\\]{4,128})(?=(?:\\\\{1,9}[rn]){0,2}${QUOTE})`

/** Beyond a plain word. */
const isGiven = (text: string): boolean =>
  !isSaidWord(text) &&
  !/^[a-z]+\d{0,2}$/.test(text) &&
  (isPassword(text) || isAlone(text) || isNumberedPair(text))
const isTyped = (text: string): boolean =>
  !isTemplate(text) &&
  (isPassword(text) || isAlone(text) || isSaidWord(text) || isNumberedPair(text) || isJoinedInQuotes(text)) &&
  !/[\s<>{}]/.test(text)

/** The next name of an object or of a list is none. */
const isArgument = (text: string, { 0: found, input, index }: RegExpExecArray): boolean =>
  isTyped(text) &&
  (isGiven(text) ||
    /with: ?\S*$|[({]\S*$/.test(found) ||
    /(?:fill|type|send_?keys|set|val|input|enter|write)\w{0,12}\([^()\r\n]{0,40}$/i.test(
      input.slice(Math.max(0, index - 60), index),
    ))

export const fieldDetectors: readonly Detector[] = [
  // `cy.get('input[name=password]').type('…')`, over the end of a line too.
  simple(
    'password',
    `[pP](?=(?:ass|ASS|wd|w)["'\\]\\\\\\t])`,
    `(?:${PW}|${SHORT_FIELD})[^\\r\\n;]{0,80}?[\\s\\\\n]{0,24}(?:\\.|->)[cC]?[a-zA-Z]{0,8}?${TYPES}\\(${QUOTE}${SECRET}(?=${KEYS}${QUOTE})`,
    isTyped,
  ),
  // `page.fill('#password', '…')`, `fill_in "Password", with: "…"`, `type(getByLabelText(/password/i), '…')`.
  simple(
    'password',
    [],
    `(?:${PW}|${SHORT_FIELD})[^\\r\\n,;"'\`\\\\]{0,24}(?:${QUOTE}|[\\])/i])+ ?(?:,| with| to| mit| con| avec) {0,2}(?:with: ?|value: ?|text: ?|\\{[^"'\`{}\\r\\n]{0,12}(?:\\{[^"'\`{}\\r\\n]{0,12})?)?[bruL@N]?${QUOTE}${SECRET}(?=${QUOTE})`,
    isArgument,
  ),
  // `document.querySelector('#password').value = '…'`.
  simple(
    'password',
    [],
    `(?:${PW}|${SHORT_FIELD})["'\`\\])]{1,10}\\.value ?= ?${QUOTE}${SECRET}(?=${QUOTE})`,
    isTyped,
  ),
  // What a browser tool is told: the field, and in the same object the text.
  simple(
    'password',
    [],
    `(?:${PW}|${SHORT_FIELD})[^"{}\\r\\n]{0,80}"[^{}]{0,160}?${TEXT}(?=\\\\{0,9}")`,
    isTyped,
  ),
  // `textbox "Password" [ref=e16]: …`, a page as a browser tool tells it.
  simple(
    'password',
    [],
    `(?:textbox|input|field|searchbox) ${QUOTE}[^"'\`\\r\\n]{0,24}${PW}[^"'\`\\r\\n]{0,24}${QUOTE}(?: \\[[^\\]\\r\\n]{1,40}\\]){0,5}: ?(?:${QUOTE})?(?<secret>[^\\s"'\`\\\\]{4,128})(?=${QUOTE}|[ ]{0,3}(?:${LINE}|$))`,
    isTyped,
  ),
  // The same as a call: `type(element="Password field", text="…")`.
  simple(
    'password',
    [],
    `${PW}[^"'{}\\r\\n]{0,80}${QUOTE}, ?(?:[a-z_]{1,16} ?= ?[^\\s,()]{1,40}, ?){0,3}${TEXT_NAMES} ?= ?${QUOTE}${TYPED}(?=${QUOTE})`,
    isTyped,
  ),
  simple(
    'password',
    [],
    `${TEXT}(?=\\\\{0,9}"[^{}]{0,100}?${FIELD_NAMES}\\\\{0,9}"[^"{}\\r\\n]{0,60}${PW})`,
    isTyped,
  ),
  // `<input type="password" value="…">`, in either order.
  simple('password', [], `${PW}[^<>\\r\\n]{0,240}?\\svalue=${QUOTE}${SECRET}(?=${QUOTE})`, isTyped),
  simple('password', [], `\\svalue=${QUOTE}${SECRET}(?=${QUOTE}[^<>\\r\\n]{0,240}?${PW})`, isTyped),
  simple('password', [], `[pP]${SENT}`, (secret) => !isTemplate(secret)),
  // `Content-Disposition: form-data; name="password"`, a blank line, and the value.
  simple(
    'password',
    [],
    `name=${QUOTE}[\\w.-]{0,30}${PW}${QUOTE}(?:${LINE}[^\\r\\n\\\\]{1,80}){0,2}${LINE}{2}(?<secret>[^\\r\\n\\\\]{4,128})(?=${LINE})`,
    (secret) => !isTemplate(secret),
  ),
  // `keychain.set("…", forKey: "user.password")`, `MOVE '…' TO FTP-PASSWORD`.
  simple(
    'password',
    [],
    `(?:[sS]et|[sS]etValue|[sS]ave|[sS]tore|[aA]dd|[pP]ut)\\(${QUOTE}${SECRET}(?=${QUOTE}, {0,2}(?:forKey|for|key|account|withKey|forAccount): {0,2}${QUOTE}[\\w.-]{0,40}${PW}${QUOTE})`,
    (secret) => isCertain(secret) || isJoinedInQuotes(secret) || isNumberedPair(secret),
  ),
  simple('password', [], `(?:MOVE|move) ${QUOTE}${SECRET}(?=${QUOTE} (?:TO|to) [\\w-]{0,30}${PW})`, isTyped),
  // `Input Password    id:pass    …` of Robot Framework.
  simple('password', [], '[iI]nput [pP]assword {2,8}[^\\s]{1,64} {2,8}(?<secret>\\S{4,128})', isTyped),
]

/** `expect "assword:"`, and then what is sent. */
export const expectDetectors: readonly Detector[] = [
  simple(
    'password',
    `["'\`](?=[*?.]{0,2}(?:\\[[pP]{2}\\])?assword)`,
    `(?<=["'\`][*?.]{0,2}(?:\\[[pP]{2}\\])?)${SENT}`,
    (secret) => !isTemplate(secret),
  ),
]
