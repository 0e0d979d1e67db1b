/**
 * Where a text names a secret: places around which a word may be one. All words of an ordinary text would be far too many to ask,
 * so one loop looks at three characters at a time, and only where these begin a name of the list a pattern is asked.
 */

/** Words within this many characters behind a name, or before it, are looked at. */
interface Reach {
  readonly behind: number
  readonly before: number
}
const NEAR: Reach = { behind: 184, before: 112 }
const NEXT: Reach = { behind: 72, before: 0 }

/** Begins with two or three letters, by which it is found; `after` is what must stand before. */
interface Name {
  readonly head: string
  readonly pattern: string
  readonly after: string
  readonly reach: Reach
}
const near = (pattern: string, after = '', head = pattern.slice(0, 3)): Name => ({
  head,
  pattern,
  after,
  reach: NEAR,
})
const next = (pattern: string, after: string, head = pattern.slice(0, 3)): Name => ({
  head,
  pattern,
  after,
  reach: NEXT,
})
const END = '(?![a-z])'
const ALONE = '(?<![a-z])'

const PASSWORDS: readonly Name[] = [
  near(`pass(?:[-_ ]?(?:w|ph|code|key)|es?${END}|s?${END}|ord)`),
  near(`pw(?:d|ord|${END})`, '', 'pw'),
  near('p[:=]', '(?<=[ ,;/])', 'p:'),
  near('p[:=]', '(?<=[ ,;/])', 'p='),
  near('user(?: add| \\S{1,40} o)'),
  near('setuser'),
  near('user', '(?<=> ?|create[-_]|\\/)'),
  near('answer', '(?<=secur?[a-z]{1,3} )'),
  near('identifi(?:ed by|ant)'),
  near('encrypted, (?:try|it.s) '),
  near('protected, (?:try|it.s) '),
  near('asks for '),
  ...['account', 'user'].map((one) => near(`${one} [\\w.@-]{2,40} (?:with|mit|avec|con) `)),
  near('community', '(?<=r[ow]|read |write |snmp[v123c]{0,3}[ -])'),
  near('log(?:ged)?[ -]in (?:as|with|using|mit) '),
  near('sign(?:ed)?[ -]in (?:as|with|using|mit) '),
  near('connect(?:ed|ée?)? (?:as|en tant|comme) '),
  near('conect(?:é|ei|ad[oa]) como '),
  near('entr(?:ei|é|at[oa]|ar) com[oe] '),
  near('anmelden als '),
  near('mich als '),
  near('logue[ié] como '),
  near('loggat[oa] come '),
  near('gelogd als '),
  near('loggen als '),
  near('logowa[a-zł]{1,5} się jako '),
  near('ww(?: is| was|:| voor| van)', ALONE, 'ww'),
  near(`cred(?:s|en|${END})`),
  near(`secret(?:[eo]?s?${END})`),
  near(`sandi${END}`),
  near('has[lł]'),
  near('ifre', '(?<=[sş])'),
  near('schl(?:ü|u|ue)ssel'),
  ...'parol|passord|kennwort|adduser|add_user|addauth|psk|pswd|login|loggeg|mdp|contras|wachtwoord|adgangskode|salasana|senord|clave|senha|hesl|lozinka|geslo|slapta|jelsz|geheim|zugang|anmeldedaten'
    .split('|')
    .map((one) => near(one)),
]

/** How many of them a model has read or written. */
const NO_COUNT =
  '(?<!(?:in|out|input|output|prompt|completion|total|max|cached?|read|write|creation|reasoning|thinking|num|n|new)[_-]?)'
const KEYS: readonly Name[] = [
  near(`key[12s]?${END}`, '(?<!pub)'),
  near(`tokens?${END}(?! (?:usage|count|limit|budget))`, NO_COUNT),
  near('hash', '(?<=ap[ip][-_ ]?)'),
  near(`seed${END}`),
  near('auth(?:[ "\']|enticate |token)', '(?<=[ _-])'),
  near('auth', '(?<=_|master)'),
  near('activate ', '(?<= )'),
  near('unseal ', '(?<=operator )'),
  near('signin ', '(?<= )'),
  near(`pk${END}`, '(?<=_)', 'pk'),
  near(`session${END}`, '(?<=_)'),
  near(`pat${END}`, ALONE),
  near('kkel', '(?<=n[øo])'),
  near('gle', '(?<=n[øo])'),
  near(`cle${END}`, ALONE),
  near('accounts["\']?: ?\\['),
  ...'sleutel|nyckel|anahtar|jwt|jeton|segreto|segredo|llave|chave|chiave|klucz|avain|cheie'
    .split('|')
    .map((one) => near(one)),
]

const CODES: readonly Name[] = [
  near(`pin(?:[- ]?(?:code|n)|${END})`, ALONE),
  near(`mpin${END}`, ALONE),
  ...['otp', 'tan', 'cvv', 'cvc', 'puk', 'csc'].map((one) => near(`${one}2?${END}`, ALONE)),
  near(`codes?${END}`, '(?<![</])'),
  near('codi(?:ce|go)'),
  ...'combi|kombi|lockbox|geheimz|keypad|authenticator|padlock|schloss|cadenas|candado|lucchetto|hangslot|unlock|disarm|armed with|entsperr|entsch|verrouill|sactiv|desbloque|sblocc|disattiv|opens with|ffnet|geht mit|ouvre avec|abre con|abre com|apre con|opent met'
    .split('|')
    .map((one) => near(one)),
  near(`combo${END}`, ALONE),
  near('kod(?: |e)'),
  near(`tan${END}`, '(?<=m)'),
  near('number', '(?<=(?:licen[cs]e|product|serial|activation|registration|recovery)[ -]?)'),
]

/** Makers whose keys have no mark: behind their name alone, a long word is one. */
export const MAKERS =
  'twilio|mandrill|mailgun|mailjet|sendgrid|postmark|sparkpost|datadog|newrelic|rollbar|bugsnag|loggly|papertrail|pagerduty|opsgenie|uptimerobot|algolia|twitch|spotify|jenkins|travis|drone|circleci|codecov|snyk|heroku|linode|vultr|hetzner|cloudflare|fastly|railway|netlify|openai|anthropic|cohere|mistral|deepl|deepgram|assemblyai|serpapi|wolfram|trello|asana|clickup|jira|zendesk|freshdesk|intercom|pipedrive|hubspot|stripe|adyen|plaid|paypal|razorpay|shopify|woocommerce|binance|kraken|coinbase|infura|alchemy|etherscan|nuget|artifactory|jfrog|okta|mapbox|giphy|consul|nomad|codacy|sonarqube|gitea|jina|tavily|replicate|huggingface'

/** Behind makers, users whom everybody has, and arguments, the secret comes next. */
const USERS = 'root|admin|postgres|ubuntu|test|guest|demo|deploy|jenkins|svc|user|oracle|mysql|operator'
const NEXTS: readonly Name[] = [
  ...MAKERS.split('|').map((one) => next(`${one}(?![a-z./])`, '(?<![a-z.@/])')),
  ...USERS.split('|').map((one) =>
    next(`${one}[\\w-]{0,24}(?:@[\\w.-]{1,60})?["'\`]?(?: ?[/:] ?| )["'\`]?(?=\\S{8})`, '(?<![\\w.])'),
  ),
  ...['sa', 'pi', 'qa'].flatMap((one) =>
    [' ', '/', ':', '@'].map((sign) => next(`${one}[ /:@]`, '(?<![\\w.])', one + sign)),
  ),
  ...['-p ', '-w ', '-t ', '-k '].map((one) => next(one, '(?<=\\s)')),
  next(' \\/ ', '', ' / '),
]

/** Written with letters that are not ASCII. */
const FOREIGN =
  /[пП]арол|[κΚ]ωδικ|密[码碼钥鑰]|口令|令牌|パスワード|暗証|비밀번호|비번|암호|पासवर्ड|รหัสผ่าน|סיסמ|كلمة|گذرواژه|رمز|[кК]люч|[тТ]окен|[сС]екрет|金[钥鑰]|秘[钥鑰密]|キー|トークン|シークレット|키|토큰|시크릿|مفتاح|κλειδί|מפתח|टोकन|कुंजी|[пП][иИ][нН]|验证码|驗證碼|認証コード|確認コード|인증번호|[кК]од(?: (?:подтверждения|доступа|от |для |на )|[: ]{1,2}(?=\d))|(?<=[mM])ật khẩu|(?<=[cC]l)é|(?<=[kK]l)íč|(?<=[kK])ľúč|(?<=[cC])ódi|(?<=[kK])ód|(?<=[tT])ürcode/y
const FOREIGN_FIRST = new Set(
  Array.from('пПκΚ密口令パ暗비암पรסكگرкКтТсС金秘キトシ키토시مמटक验驗認確인ậéíľóü', (char) =>
    char.charCodeAt(0),
  ),
)

/** Five bits of each of three characters; capital letters have those of small ones. */
const codeOf = (head: string): number =>
  Array.from(head, (char) => char.charCodeAt(0)).reduce((code, char) => (code << 5) | (char & 31), 0)
const codesOf = (head: string): number[] =>
  head.length === 3 ? [codeOf(head)] : Array.from({ length: 32 }, (_, third) => (codeOf(head) << 5) | third)

interface Place {
  readonly pattern: RegExp
  readonly reach: Reach
}
/** By code: one more than the index of the places that begin so, or 0. */
const FIRST = new Uint16Array(1 << 15)
const PLACES: (readonly Place[])[] = []
const byCode = Map.groupBy(
  [...PASSWORDS, ...KEYS, ...CODES, ...NEXTS].flatMap((name) =>
    codesOf(name.head).map((code) => ({ code, name })),
  ),
  ({ code }) => code,
)
for (const [code, all] of byCode) {
  const byReach = Map.groupBy(all, ({ name }) => name.reach)
  FIRST[code] = PLACES.push(
    [...byReach].map(([reach, names]) => ({
      reach,
      pattern: new RegExp(names.map(({ name }) => `${name.after}${name.pattern}`).join('|'), 'iy'),
    })),
  )
}

function reachAt(text: string, at: number, places: readonly Place[]): Reach | undefined {
  for (const { pattern, reach } of places) {
    pattern.lastIndex = at
    if (pattern.test(text)) return reach
  }
  return undefined
}

/** Calls `visit` with each place at which a name begins, until it says true. */
export function eachName(text: string, visit: (at: number, reach: Reach) => boolean): void {
  const { length } = text
  let code = 0
  // One step more, for a name of two letters at the end.
  for (let at = 0; at <= length; at++) {
    const char = at < length ? text.charCodeAt(at) : 0
    code = ((code << 5) | (char & 31)) & 0x7fff
    if (char > 127) {
      if (!FOREIGN_FIRST.has(char)) continue
      FOREIGN.lastIndex = at
      if (FOREIGN.test(text) && visit(at, NEAR)) return
      continue
    }
    const first = FIRST[code] as number
    if (first === 0 || at < 2) continue
    const reach = reachAt(text, at - 2, PLACES[first - 1] as readonly Place[])
    if (reach !== undefined && visit(at - 2, reach)) return
  }
}
