import { judge, KEY, kind, QUOTE } from './assignments.ts'
import { isPassword, looksAssigned } from './checks.ts'
import type { Detector } from './detector.ts'
import { HARD_KEY, SOFT_KEY } from './keys.ts'
import { isJoinedInQuotes } from './joined-words.ts'
import { isSaidWord } from './plain-words.ts'

const XML_NAMED = `(?:${HARD_KEY}|${SOFT_KEY})(?:${QUOTE}[^<>"'\`\\r\\n]{0,60}|<\\/[A-Za-z]{1,10})`

/** Names and values in XML. The anchor has a sign that the others do without. */
export const xmlDetectors: readonly Detector[] = [
  {
    // The private half of an RSA key, as .NET writes it.
    kind: 'private-key',
    anchor: '>(?<=<(?:D|P|Q|DP|DQ|InverseQ).)(?=[A-Za-z0-9+/]{40})',
    pattern: /(?<=<(?:D|P|Q|DP|DQ|InverseQ)>)[A-Za-z0-9+/]{40,}={0,2}(?=<\\{0,3}\/)/g,
  },
  {
    // `<key>password</key><string>…</string>`, `<property name="password">…</property>`, `<th>Password</th><td>…</td>`.
    kind,
    anchor: `>(?<=${XML_NAMED}.)`,
    pattern: new RegExp(
      `${KEY}(?:${QUOTE}[^<>"'\`\\r\\n]{0,60}|<\\/[A-Za-z]{1,10})>(?:\\s|\\\\{1,9}[nrt]){0,24}(?:<[A-Za-z]{1,16}[^<>]{0,60}>(?:\\s|\\\\{1,9}[nrt]){0,24}){0,2}(?<secret>[^\\s<>]{5,4096})(?=<\\\\{0,3}\\/)`,
      'g',
    ),
    validate: (secret, match) =>
      judge(
        secret,
        match,
        (text) =>
          looksAssigned(text) ||
          isPassword(text) ||
          (kind(match) === 'password' &&
            (isSaidWord(text) || (isJoinedInQuotes(text) && match.input[match.index - 1] !== ' '))),
      ),
  },
]
