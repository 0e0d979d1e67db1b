import { entropyOf, hasDenseRun, isVaried } from './checks.ts'
import { type Detector, type Place, simple } from './detector.ts'

/** Sessions as browsers keep their cookies: a list of objects, or lines of a file. */

const NAMES =
  '(?:(?:sid|sess|session|session_?[iI]d|session[-_.]?token|SESSDATA)|SESSID|SESSIONID|SessionId|auth[-_]?token|user_session|li_at|ct0|SID|sp_dc|sp_key|NetflixId|steamLoginSecure|ROBLOSECURITY|BDUSS|bili_jct|z_c0|reddit_session|token_v2|at-main|x-main|MoodleSession|PVEAuthCookie|SSESS[0-9a-f]{32}|PSID(?:TS|CC)?|PISID|cf_clearance|CF_Authorization|remember_[\\w.-]{1,60}|wordpress_(?:logged_in|sec)_[\\w.-]{1,60}|ESTSAUTH[A-Z]{0,12}|FedAuth|rtFa|AUTH_SESSION_ID|KEYCLOAK_IDENTITY|ASPXAUTH|AspNetCore\\.[\\w.]{1,40}|oauth2_proxy|xs)'
const SESSION = new RegExp(`(?:^|[._-]|(?=[A-Z]))${NAMES}$`)
/** What visits are counted with. */
const COUNTS =
  /^(?:_ga|_gid|_gcl|_fb|__utm|_hj|_clck|_clsk|_uet|amp_|ajs_|mp_|Optanon|optimizely|intercom-id|_pk_)|consent/i

export const isSession = (label: unknown): boolean => typeof label === 'string' && SESSION.test(label)

const isValue = (secret: string): boolean =>
  /\d.*\d.*\d/.test(secret) && /[a-z]/i.test(secret) && !/^[0-9a-f]{8}-|^\d{4}-\d\d/.test(secret)

/** Beside the name of a host, whatever was drawn is a session. */
export const isCookie = ({ name, value, domain }: Readonly<Record<string, unknown>>): boolean =>
  typeof name === 'string' &&
  typeof value === 'string' &&
  typeof domain === 'string' &&
  value.length >= 24 &&
  isValue(value) &&
  entropyOf(value) >= 3.5 &&
  !COUNTS.test(name)

const QUOTE = '\\\\{0,9}"'
const SPACE = '(?:\\s|\\\\{1,9}[nrt]){0,24}'
const VALUE = '[\\w.%+/:=|!~-]{16,4096}'

const MEMBER = new RegExp(
  `\\\\{0,9}["']([\\w.-]{1,80})\\\\{0,9}["'] ?: ?\\\\{0,9}["'](${VALUE})(?=\\\\{0,9}["'])`,
  'g',
)
const LONGEST_OBJECT = 2000

/** The cookies of an object that begins behind the match. */
function membersOf({ 0: found, input, index }: RegExpExecArray): { places: Place[]; isWhole: boolean } {
  const start = index + found.length
  const rest = input.slice(start, start + LONGEST_OBJECT)
  const end = rest.search(/[{}]/)
  const places: Place[] = []
  for (const { 0: member, 1: name = '', 2: value = '', index: at } of rest
    .slice(0, end < 0 ? rest.length : end)
    .matchAll(MEMBER)) {
    const first = start + at + member.length - value.length
    if (isValue(value) && !COUNTS.test(name)) places.push({ start: first, end: first + value.length })
  }
  return { places, isWhole: end >= 0 || rest.length === LONGEST_OBJECT }
}

export const cookieDetectors: readonly Detector[] = [
  // `"name": "sid", "value": "…"`.
  simple(
    'cookie',
    `[vV](?=alue${QUOTE} ?:)(?<=${QUOTE},${SPACE}${QUOTE}.)(?<=[nN]ame${QUOTE} ?: ?${QUOTE}[\\w.-]{1,160}${QUOTE},${SPACE}${QUOTE}.)`,
    `[nN]ame${QUOTE} ?: ?${QUOTE}(?:[\\w.-]{0,60}[._-]|[A-Z]{0,12})?${NAMES}${QUOTE},${SPACE}${QUOTE}[vV]alue${QUOTE} ?: ?${QUOTE}(?<secret>${VALUE})(?=${QUOTE})`,
    isValue,
  ),
  simple(
    'cookie',
    [],
    `[nN]ame${QUOTE} ?: ?${QUOTE}[\\w.-]{1,80}${QUOTE},${SPACE}${QUOTE}[vV]alue${QUOTE} ?: ?${QUOTE}(?<secret>${VALUE})(?=${QUOTE},${SPACE}${QUOTE}[dD]omain${QUOTE})`,
    (value, { 0: found }) =>
      isCookie({ name: /: ?\\{0,9}"([\w.-]+)/.exec(found)?.[1] ?? '', value, domain: '' }),
  ),
  // `addCookies([{ name: 'sid', value: '…' }])`, as a script writes it.
  simple(
    'cookie',
    `[vV](?=alue ?:|alue\\\\{0,9}' ?:)(?<=["'],${SPACE}'?.)(?<=[nN]ame'? ?: ?["'][\\w.-]{1,160}["'],${SPACE}'?.)`,
    `[nN]ame'? ?: ?(?:["'])(?:[\\w.-]{0,60}[._-]|[A-Z]{0,12})?${NAMES}["'],${SPACE}'?[vV]alue'? ?: ?["'](?<secret>${VALUE})(?=["'])`,
    isValue,
  ),
  simple(
    'cookie',
    [],
    `[nN]ame'? ?: ?["'](?<name>[\\w.-]{1,80})["'],${SPACE}'?[vV]alue'? ?: ?["'](?<secret>${VALUE})(?=["'],${SPACE}'?(?:[dD]omain|url)'? ?:)`,
    (value, { groups }) => isCookie({ name: groups?.['name'] ?? '', value, domain: '' }),
  ),
  {
    // `cookies={"JSESSIONID": "…", "other": "…"}`.
    kind: 'cookie',
    anchor: `\\{(?<=[cC]ookies["'\\\\]{0,10} ?[:=] ?.)`,
    pattern: /[cC]ookies["'\\]{0,10} ?[:=] ?\{/g,
    locate: (match) => membersOf(match).places,
    unsettled: (match) =>
      membersOf(match).isWhole ? undefined : { from: match.index + match[0].length, head: match.index },
  },
  // `"lang=de; sid=…; theme=dark"`, what a page sees of them; the anchor of a cookie by itself serves it.
  simple(
    'cookie',
    [],
    `(?<=(?:["'] ?|; ?)(?:[\\w.-]{0,40}[._-]|[A-Z]{0,12})?(?:sid|session|sessionid|session_id|session[-_.]?token|SESSID|SESSIONID|auth_token|li_at|ct0|PSID|clearance)=)${VALUE}(?=; ?[\\w.-]{1,60}=|\\\\{0,9}["'])`,
    (secret, { input, index }) =>
      /^[\w.%+/:-]{20}/.test(secret) &&
      isValue(secret) &&
      /; ?[\w.-]+=$|cookie.{0,24}$/is.test(input.slice(Math.max(0, index - 80), index)),
  ),
  // A line of the file of curl and wget.
  simple(
    'cookie',
    '[\\t\\\\](?<=(?:TRUE|FALSE)(?:\\t|\\\\{1,9}t)\\d{1,12}(?:\\t|\\\\{1,9}t)[\\w.-]{1,80}.)',
    `(?:TRUE|FALSE)(?:\\t|\\\\{1,9}t)\\d{1,12}(?:\\t|\\\\{1,9}t)(?<name>[\\w.-]{1,80})(?:\\t|\\\\{1,9}t)(?<secret>${VALUE})`,
    (secret, { groups }) =>
      (hasDenseRun(secret) || isSession(groups?.['name'])) &&
      isVaried(secret) &&
      !COUNTS.test(groups?.['name'] ?? ''),
  ),
]

/** Of a call, and so among the calls. */
export const setCookies: readonly Detector[] = [
  // `cy.setCookie('sid', '…')`, `jar.cookies.set("sid", "…")`.
  simple(
    'cookie',
    `\\((?<=[cC]ookie(?:s|Jar|jar)?(?:\\.(?:set|add|append|put))?.|jar\\.set.|Cookie\\.new.)(?=["'\\\\]{1,10}[\\w.-]{1,160}["'\\\\]{1,10}, ?["'\\\\])`,
    `(?:[cC]ookie|[jJ]ar)[\\w.]{0,12}\\(\\\\{0,9}["'](?:[\\w.-]{0,60}[._-]|[A-Z]{0,12})?${NAMES}\\\\{0,9}["'], ?\\\\{0,9}["'](?<secret>${VALUE})(?=\\\\{0,9}["'])`,
    isValue,
  ),
]
