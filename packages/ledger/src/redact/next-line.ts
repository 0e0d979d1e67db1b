import { isAboutSecret } from './asked.ts'
import { entropyOf, isGenerated, isMixed, isPassword, isScrambled, isTemplate } from './checks.ts'
import { type Detector, simple } from './detector.ts'
import { anyCase } from './keys.ts'
import { isPassphrase, isShortPhrase } from './passphrase.ts'
import { PASSWORD } from './said.ts'
import { LINE } from './pieces.ts'

/** A line asks for a secret, announces it or prints it, and the next line is the secret and nothing else. */

const END = `(?=[\`"'*» ]{0,3}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`
const WORD = '[^\\s"\'`\\\\<>]'

/** A name of a file, a version, a path, an address or code is the usual answer of a command. */
const isOrdinary = (text: string): boolean =>
  /^[\w@./-]*\.[a-z]{1,5}\d?$|^[a-z][a-z0-9_-]*(?:\/[a-z][a-z0-9_-]*)+$|:\/\/|^[~.]{0,2}\/|^v?\d+(?:\.\d+)+|[(){}[\]<>,;]|==|=>|^[\w.+-]+@[\w-]+\.[\w.-]+$|:$/.test(
    text,
  )

/** What stands alone in its line: no word, and no name of a thing. */
export const isAlone = (text: string): boolean => {
  if (text.length < 6 || isTemplate(text)) return false
  if (isPassphrase(text) || isShortPhrase(text)) return true
  if (isOrdinary(text)) return false
  if (/^\d{6}(?:-\d{6}){7}$/.test(text)) return true
  if (/^(?:[a-z]+[-_.]){2,}[a-z]*\d{2,}$/.test(text)) return true
  return isMixed(text)
    ? isPassword(text) && !/^[a-z]+[-_]?\d{0,3}$/.test(text)
    : isScrambled(text) || /[a-z].*[!#$%^&*+?=]|[!#$%^&*+?=].*[a-z]/i.test(text)
}

/** Commands that print a secret. */
const PRINTS = [
  anyCase('pass(?:word|wd|phrase|code)'),
  '[sS]ecrets?(?![a-zA-Z-]*(?:\\.[a-z]|s? ls))|SECRET|[tT]oken|TOKEN',
  '_KEY|[aA]pi-?[kK]ey|master\\.key|private[-_]?key|genkey|genpsk|[-_./]priv(?![a-z])|[-_.]psk(?![a-z])|op read|pass show|rand -|pwgen|SecureString|unseal|keygen',
].join('|')

const isPrinted = (text: string): boolean =>
  isAlone(text) &&
  !/^[a-z][\w.-]{0,24}=\S/.test(text) &&
  (isGenerated(text) || isPassword(text) || entropyOf(text) > 2.8)

export const nextLineDetectors: readonly Detector[] = [
  // "Please use the following password to proceed:", a blank line, and the password.
  simple(
    'password',
    [],
    `(?:${PASSWORD})s?(?: \\S{1,24}){0,10} ?[:：][*_\`]{0,3} ?(?:${LINE}(?:[\\w.-]{1,40} {1,6}\\| ?)?){1,3}[ \\t>*_\`"'«-]{0,10}(?<secret>${WORD}{6,128})${END}`,
    isAlone,
  ),
  // A line that is nothing but the name, or its heading.
  simple(
    'password',
    [],
    `(?<=(?:^|\\n|\\\\n)[ \\t*_#>-]{0,6}(?:[A-Za-zÀ-ɏ]{2,12} ){0,2})(?:${PASSWORD})[*_]{0,3}[ \\t]{0,4}${LINE}{1,3}[ \\t>*_\`-]{0,10}(?<secret>${WORD}{6,64})${END}`,
    isAlone,
  ),
  // `Assistant: I need the password.`, `User: …`.
  simple(
    'password',
    [],
    `(?:${PASSWORD})s?[^\\r\\n\\\\]{0,100}?[.?!:)]?["'*_]{0,2} ?${LINE}{1,3}[^\\S\\r\\n]{0,4}[*_>[(<]{0,3}(?:(?:\\d\\d?:\\d\\d(?::\\d\\d)?[\\])]? )?[*_<]{0,2}[A-Za-zÀ-ɏ][\\wÀ-ɏ .]{0,20}[\\])>]?[:>]|[A-Za-zÀ-ɏ][\\wÀ-ɏ .]{0,20} \\d\\d?:\\d\\d(?::\\d\\d)?\\])[*_]{0,2} ?(?:(?:[iI]t(?:'s|’s| is)|[sS]ure|[oO]k(?:ay)?|[yY]es|[hH]ere|[eE]s ist|[cC]'est)[,:]? )?(?<secret>${WORD}{6,64})(?=[.!]?${END.slice(3)}`,
    (secret, match) =>
      isAlone(secret) && !/^[\d.:,/-]+$|[:=]/.test(secret) && isTurn(match[0]) && !isAboutSecret(match),
  ),
  // "What is the password of the guest network?", and the answer below.
  simple(
    'password',
    [],
    `(?:${PASSWORD})s?(?: [^\\s?"'\`\\\\]{1,24}){0,8} ?\\?["'*_]{0,2} ?${LINE}{1,3}[ \\t>*_\`"'«-]{0,6}(?:(?:[iI]t(?:'s|’s| is)|[sS]ure|[oO]k(?:ay)?|[yY]es|[tT]ry)[,:]? )?(?<secret>${WORD}{6,64})(?=[.!]?${END.slice(3)}`,
    (secret, match) => isAlone(secret) && !isAboutSecret(match),
  ),
  // The same as messages of a model.
  simple(
    'password',
    [],
    `(?:${PASSWORD})s?[^"\\r\\n{}]{0,100}"[^"{}]{0,12}\\}[\\s,]{1,12}\\{[^{}]{0,60}?"(?:content|text)" ?: ?"(?<secret>[^"\\s\\\\]{6,64})(?=")`,
    isAlone,
  ),
  simple(
    'secret',
    [],
    `(?:^|\\n)(?:[#%>❯➜»]|PS [^\\r\\n>]{0,40}>) ?[^\\r\\n#]{0,200}?(?:${anyCase('pass(?:word|wd|phrase)')})[^\\r\\n]{0,160}${LINE}(?<secret>${WORD}{8,512})${END}`,
    isPrinted,
  ),
  // What was typed, as a log of a terminal keeps it: `Enter passphrase for key '…': …`.
  simple(
    'password',
    [],
    `(?:[eE]nter|[nN]ew|[tT]ype|[cC]onfirm|[rR]epeat|[rR]etype|[eE]nter new|\\[sudo\\]) (?:[a-zA-Z]{2,12} ){0,3}?(?:${PASSWORD})(?: [^\\r\\n:]{0,100})?: ?(?<secret>${WORD}{6,128})(?=[ ]{0,3}(?:${LINE}|\\r|$))`,
    isAlone,
  ),
]

/** Told by the sign of a prompt. */
export const printedDetectors: readonly Detector[] = [
  // `$ kubectl get secret … | base64 -d`, and its output. What it prints is looked for once, or a long line would take long.
  simple(
    'secret',
    `\\$(?= [^\\r\\n]{0,240}?(?:${PRINTS}))`,
    `(?:(?<![^\\s"'\`~])|(?<=\\\\[nrt])|(?<=[\\w~)\\]]))\\$ (?=[^\\r\\n\\\\]{0,240}?(?:${PRINTS}))(?![^\\r\\n\\\\]{0,240}pubkey)(?:[^\\r\\n\\\\]|\\\\{1,9}["']){0,600}${LINE}(?<secret>${WORD}{8,512})${END}`,
    isPrinted,
  ),
]

/** A name with a colon is somebody who speaks, not one more field of a form. */
const isTurn = (text: string): boolean =>
  !/(?:url|host|user ?name|email|port|id|version|date|time|branch|commit|file|path|login|type|status|name|plan|size)[*_]{0,2}[:>][*_]{0,2} ?\S*$/i.test(
    text,
  )
