import { isPassword, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { isAlone } from './next-line.ts'

/** Fields of a page or of a document that are called password, and what is typed into them. */

const QUOTE = `\\\\{0,9}["'\`]`
const PW = anyCase('pass(?:word|wort|wd|phrase|code)')
const SECRET = '(?<secret>[^"\'`\\r\\n\\\\]{4,128})'
const TYPES =
  '(?:fill|type|typeText|type_text|typeIn|send_keys|sendKeys|send|setValue|set_value|set|addValue|enterText|enter_text|fillIn|clearAndType|pressSequentially|replaceText|input|val|value|write|tap_and_type|clear_and_type)'
const TEXT_NAMES = '"(?:text|value|val|content|input|keys|string|fill|characters)\\\\{0,9}"\\s{0,3}:\\s{0,3}'
const TEXT = `${TEXT_NAMES}\\\\{0,9}"(?<secret>[^"\\s\\\\]{4,128})`
const FIELD_NAMES =
  '"(?:element|selector|label|field|target|locator|placeholder|ref|name|css|xpath|uid)\\\\{0,9}"\\s{0,3}:\\s{0,3}'
const SENT = `assword[^\\r\\n]{0,24}(?:\\s|\\\\{1,9}[nrt]|[{}]){0,24}[\\w.$>-]{0,20}send(?:line|ln|_user)?(?: --| -s| -h)? ?\\(?${QUOTE}(?<secret>[^"'\\r\\n\\\\]{4,128})(?=(?:\\\\{1,9}[rn]){0,2}${QUOTE})`

const isTyped = (text: string): boolean =>
  !isTemplate(text) && (isPassword(text) || isAlone(text)) && !/[\s<>{}]/.test(text)

export const fieldDetectors: readonly Detector[] = [
  // `cy.get('input[name=password]').type('…')`, over the end of a line too.
  simple(
    'password',
    [],
    `${PW}[^\\r\\n;]{0,80}?[\\s\\\\n]{0,24}(?:\\.|->)[cC]?[a-zA-Z]{0,8}?${TYPES}\\(${QUOTE}${SECRET}(?=${QUOTE})`,
    isTyped,
  ),
  // `page.fill('#password', '…')`, `fill_in "Password", with: "…"`, `type(getByLabelText(/password/i), '…')`.
  simple(
    'password',
    [],
    `${PW}[^\\r\\n,;"'\`\\\\]{0,24}(?:${QUOTE}|[\\])/i])+ ?, {0,2}(?:with: ?|value: ?|text: ?|\\{[^"'\`{}\\r\\n]{0,12}(?:\\{[^"'\`{}\\r\\n]{0,12})?)?[bruL@N]?${QUOTE}${SECRET}(?=${QUOTE})`,
    isTyped,
  ),
  // What a browser tool is told: the field, and in the same object the text.
  simple('password', [], `${PW}[^"{}\\r\\n]{0,80}"[^{}]{0,160}?${TEXT}(?=\\\\{0,9}")`, isTyped),
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
