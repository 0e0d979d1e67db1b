import { anyCase } from './keys.ts'
import { isIdName } from './long-runs.ts'
import { isNumberedPair, isPassphrase } from './passphrase.ts'
import {
  lastDigitName,
  lastGroupedName,
  lastKeyName,
  lastMaker,
  lastPassword,
  PASSWORD_BEHIND,
} from './secret-names.ts'
import { formOf, type WordForm } from './secret-words.ts'

/** What a line makes of a word that looks like a secret: how it ties the word to a name, and what it says against it. */

/** What may stand behind the verb: since when, and what people say while they think. */
export const ADVERBS =
  'now|currently|actually|again|also|just|simply|still|set to|changed to|reset to|right now|jetzt|nun|wieder|weiterhin|einfach|aktuell|ab sofort|maintenant|désormais|actuellement|toujours|ahora|actualmente|agora|atualmente|ora|adesso|attualmente|nu|momenteel|teraz|obecnie|nadal|gewoon|literally|really|always|immer|siempre|sempre|altijd|zawsze|uh|um|uhm|erm|äh|ähm|euh|ehm|capital [A-Z]'
/** Since when it is, or was, and how sure of it whoever tells it is. */
const EARLIER =
  'before|previously|originally|formerly|probably|früher|damals|vorher|zuvor|noch|wohl|eigentlich|vermutlich|wahrscheinlich|auparavant|avant|encore|sans doute|antes|todavía|aún|ainda|provavelmente|prima|ancora|forse|vroeger|eerst|nog|waarschijnlijk|dawniej|wcześniej|kiedyś|jeszcze|chyba|le|el|il'
/** What it was, or should be. */
const WAS =
  '(?:has|had) (?:always )?been|lautete|hieß|müsste|dürfte|sollte|était|a (?:toujours )?été|serait|(?:doit|devrait) être|ha (?:siempre )?sido|fue|sería|debe(?:ría)? ser|foi|tem sido|seria|deve(?:ria)? ser|è (?:sempre )?stat[ao]|(?:deve|dovrebbe) essere|luidt|luidde|zou|moet|był[ao]?|brzmi|brzmiał[ao]|powinno być'
/** What the word is said to be: it follows, or it is quoted or marked. */
const TIED = new RegExp(
  `(?:[:=：→>|…]|\\.{3}|(?<=[- ])-|–|—|は|是|为|為|은|는)[ \\t]{0,40}[*_]{0,2}\\\\{0,3}["'\`“„«‘]?$|(?:[ \\t]|(?=['’]s ))(?:(?:changed|rotated|reset|updated|switched|geändert|cambiada?) (?:from|von|de|da)|salasana on|is|are|was|to|as|be|set|use|using|with|type|typed|put|took|chose|picked|enter|entered|try|tried|first|still|(?:isn['’]t|wasn['’]t|not|nicht|n['’]est (?:pas|plus))|(?:printed|saved|stored|written) as|something like|c['’]est|it['’]s|that['’]s|says|shows|reads|remains|stays|becomes|used to be|ist|war|lautet|heißt|heisst|bleibt|auf|sind|est|sera|reste|sont|es|son|era|será|queda|sarà|resta|blijft|wordt|sigue siendo|continua sendo|è rimast[ao]|è|é|sono|são|jest|je|är|este|olarak|adalah|là|это|равен|à savoir|namely|nämlich|und zwar|cioè|ossia|namelijk|czyli|${WAS}|(?<=\\w)['’]s)(?:,? (?:${ADVERBS}|${EARLIER})){0,2}[:,]?[ \\t]{1,3}[*_]{0,2}\\\\{0,3}["'\`“„«‘]?$|\\\\{0,3}["'\`“„«‘*][*]?$`,
  'i',
)

/** The word before says that this is somebody or something, or an example. */
const OTHER =
  /(?:^|[\s("'`])(?:for|of|from|user(?:name)?|account|host|server|on|at|in|by|id|ids|no|nr|ref|ticket|issue|version|commit|branch|tag|file|line|port|e\.g\.|eg|i\.e\.|like|such as|example|ex\.|exemple|ejemplo|esempio|beispiel|z\.B\.|via|hash(?:ed)?|sha\d*|fingerprint|checksum|digest|regex|pattern|format|model|run|job|build|release|request|trace|session|für|von|vom|bei|pour|par|de|para|por|per|di|dla|для|от|username|benutzer(?:name)?|usuario|utilisateur|email|e-mail|mail|url|uri|arn|path|dir|kid|name|namens|called|policy|rule|must|min(?:imum)?|max(?:imum)?|least|only|requires?|contains?)[:=#]?\\?["'`*(]{0,3} ?$/i
/** A property of secrets, what is made of them, or code that is about them. */
const ABOUT =
  /(?:^|[\s_-])(?:hash(?:es|ed|ing)?|digest|checksum|policy|rules|regexp?|pattern|entropy|length|strength|fingerprint|example|e\.g\.|must|at least|contains?|contenir|contener|enthalten|содержать|algorithm|rounds|salt(?:ed)?|bcrypt|argon2\w*|scrypt|pbkdf2\w*)(?![A-Za-z])|(?:_|-)?(?:id|ids|name|count|limit|usage|budget|type|field|input|policy|hash|url|uri|file|path|arn|ref|version)\b["'`]?\s{0,3}[:=]|=>|\(\)|;\s*$|&&|\|\||(?:^|\s)(?:if|return|const|let|var|import|function|class|def)\s/i
/** Another name and another value, as JSON has them. */
const OTHERS = /[{}]|["'`],|["'`]\\{0,3}:[^]*["'`]\\{0,3}:/
const NAMED = /([A-Za-z][\w.-]*)\\{0,3}["'`]?(?: {0,2}[:=] {0,2}| )[\\"'`*]{0,5}$/
/** The digest of a secret in Helm, its address in AWS, the key with which git signs. */
const NAMED_ONLY =
  /v=DKIM1;[^\r\n]*$|(?:checksum\/[\w-]{0,40}:? ?|arn:[^\s"']{0,100}|ENC\[AES256_GCM[^\]]*)$|signing-?key["']? ?[:=]? ?["']?$/i

/** Whether what stands between the name and the word leaves them together. */
const isNear = (rest: string, most: number): boolean =>
  rest.length < 9 && !/\w/.test(rest)
    ? true
    : wordsIn(rest) <= most &&
      !/^[_-]\w|^[A-Z]/.test(rest) &&
      !/(?<!value|content)(?<=\w)=\\{0,3}["'`]?$/.test(rest) &&
      !ABOUT.test(rest) &&
      !OTHERS.test(rest)
const wordsIn = (text: string): number => text.match(/[^\s]+/g)?.length ?? 0
/** Nothing but signs, and the words by which a device or a command says how it is written down. */
const ADJACENT =
  /^[^\w]{0,24}(?:(?:\d|--?[a-z]{2,12}|cipher|irreversible-cipher|plain(?:text)?|clear(?:text)?|encrypted|ENC|ascii(?:-text)?|hex|md5|sha|string|simple|value|line|text|new|wi-?fi|wlan|password)[^\w\r\n]{1,12}){0,3}$/i
/** `ENV.fetch("DB_PASS") { "`, `getenv('DB_PASS') ?: '`. */
const FALLBACK =
  /^\\{0,3}["'`][)\]]{0,2}\s{0,2}(?:\|\||\?\?|\?:|or|else|,|\{|do|\.\w{2,20}\(\|{0,2})[\s({]{0,4}[a-z&@]?\\{0,3}["'`]$/

const ID = /(?:^|[^a-z])(?:ids?|uid|guid|kid|hash|digest|checksum|fingerprint|nonce|etag|commit|sha\d*)$/i
const LOGS_IN =
  /(?:^|[\s$;&`])[a-z][\w.-]{1,20}(?: [a-z-]{2,12})? (?:login|auth|authenticate|activate|authtoken|add-authtoken|set-token|signin)(?: (?:init|add|set))?(?: --?[a-z-]{1,16})? "?$/

/** `-p …` of any command, and a user whom everybody has. */
const PASSWORD_FLAG = /\s-(?:p|P|w|pw|pass) \\{0,3}["']?$/
const TOKEN_FLAG = /\s-(?:t|k|token|key) \\{0,3}["']?$/
const KNOWN_USER =
  /(?:^|[\s("'`,])(?:root|admin\w*|sa|postgres|ubuntu|pi|test\w*|guest|demo|deploy\w*|jenkins|svc[\w-]*|user\d*|ec2-user|oracle|mysql|operator|qa[\w-]*)(?:@[\w.-]+)?["'`]?(?: ?[/:] ?| )["'`]?$/i

/** A name and a password with a slash between them, or behind a word that takes both. */
const SLASHED =
  /(?:wi-?fi|wlan|ssid|hotspot|logins?|user(?:name)?|creds|credentials|account|pass(?:word|wd)?|pw|zugang(?:sdaten)?|anmeldung|benutzer|identifiants?|acc(?:ès|eso|esso)|usuario|utilisateur|utente)(?![a-z])[^\r\n/]{1,40} \/ ["'`]?$/i
const AUTH_PAIR =
  /(?:stats auth|(?:basic|proxy)[-_ ]?auth(?:entication)?(?: is| with|:)?|--auth|userpass|(?:^|\s)auth:)[ =]["'`]?[\w.@-]{1,40}(?:[: ]| \/ | and )["'`]?$/i
/** What stands before a name and a password. */
export const TAKES_PAIR =
  /(?:logins?|creds?|credentials|U\/P|user\/pass(?:word)?|zugangsdaten|identifiants|accounts?)(?: (?:is|are|for|of|ist|sind|on) \S{1,24}| is| are| ist)?(?: is| are)?[:=]? {1,2}["'`*(]{0,3}$/i
const SLASH_PAIR = new RegExp(`${TAKES_PAIR.source.slice(0, -1)}[\\w.@-]{1,24}\\/$`, 'i')
const ADMIN = /(?:^|[\s("'`,])(?:root|admin|administrator|sa|postgres)[:/]$/
/** `printer: kim / …` with nothing behind it, `admin / …`. */
const PAIRED = /(?:^|[:=(>→] {0,2}|[-*•] )["'`]?[A-Za-z][\w.@+-]{1,31}["'`]? \/ ["'`]?$/
const PAIR_ENDS =
  /^["'`]?[)\]]?[.,;]?(?: {0,2}(?:[\r\n]|\\[rn]|$)| (?:on|at|for|if|then|auf|für|pour|para)(?![a-z]))/
const isPaired = (before: string, after: string, word: string, form: WordForm): boolean =>
  / \/ ["'`]?$/.test(before) &&
  (KNOWN_USER.test(before) || (PAIRED.test(before) && PAIR_ENDS.test(after))) &&
  (form === 'chosen' ||
    (form === 'weak' &&
      (KNOWN_USER.test(before) ? /\d.*\d.*\d|^[A-Z][a-z]{3,}[-_.]/ : /(?:\d.*){4}|[-_.]/).test(word)))
const CAPITALS = /^(?:[A-Z][a-z]{3,}){2,3}\d{2,4}[!#]?$/
const CAPITAL_PAIR = /^[A-Z][a-z]{2,}[-_][A-Z][a-z]{2,}[-_]?\d{1,4}$/
const USER_FLAG = /\s-u(?:ser(?:name)?)?[ =]\S+ (?:\S+ )?-p(?:ass(?:word)?)? \\{0,3}["']?$/
/** `[ { accounts: ["0x…"] } ]` of a wallet, `KEY_ID / …`. */
const WALLET = /accounts["']?: ?\[ ?["']?$/
const PAIR = /^[\w-]*\d[\w-]{9,} \/ $/
const isOfMaker = (before: string): boolean => {
  const maker = lastMaker(before)
  return (
    WALLET.test(before) ||
    (before.endsWith(' / ') && PAIR.test(before.slice(before.lastIndexOf(' ', before.length - 4) + 1))) ||
    (maker !== undefined && /^(?:[\s:=,"'`/-]|\b(?:is|key|\w{1,16}(?=:)))*$/i.test(maker.rest))
  )
}

/** A pin of a connector, unless it says whose it is. */
const PIN_OWNER = anyCase(
  'voicemail|lock|screen|card|sim|door|alarm|phone|bank|safe|tablet|laptop|unlock|login|debit|credit|exit|admin|service|supervisor|manager|moderator|host|projector|printer|kiosk|device|tv|parental|bluetooth|pairing|atm|locker|my|your|then',
)
const PLAIN_PIN = new RegExp(`(?:^|[^A-Za-z])(?<!(?:${PIN_OWNER}) )pin$`)

/** "the code for the cellar 4711", "пин-код от сейфа 1800". */
const OF_DOOR =
  /^ (?:for|of|to|on|at|voor|van|do|od|от|до|для|del?|della?|du|till?|für|zum|zur|vom|da|dla)(?: (?!line|row|error|http|page|step)[^\s\d.,;:()]{1,16}){1,3} $/i

const SAYS = / (?:is|ist|lautet|est|es|è|é|to) $/
/** Letters among the digits are no number of anything else right behind the name. */
export function kindOfCode(before: string): string | undefined {
  const pin = lastDigitName(before)
  if (pin && /ombination|combo$/i.test(pin.name) && TIED.test(before) && isNear(pin.rest, 10)) return 'pin'
  if (pin && SAYS.test(before) && isNear(pin.rest, 6)) return 'pin'
  return pin && /^\??(?: (?:is|are|was|ist|lautet|est|es|è|é|to|jest))?[\s:=(>#-]{1,5}$/.test(pin.rest)
    ? 'pin'
    : undefined
}

/** "unlock with 1379", "the safe opens with …". */
const WITH = / (?:with|using|mit|avec|con|com|met) $/
const OPENED =
  /(?:unlock|disarm|(?<![a-z])arm|entsperr|entschärf|déverrouill|désactiv|desbloque|desactiv|sblocc|disattiv)[a-zé]{0,6}(?: \S{1,12}){0,3} (?:with|using|mit|avec|con|com|met) $|(?:safe|vault|door|gate|lock|locker|Tresor|Tür|Tor|Schloss|schloss|coffre|porte|portail|caja fuerte|puerta|cofre|porta|portão|cassaforte|cancello|kluis|deur|sejf|drzwi)(?: [^\s.;:]{1,12}){0,5} (?:opens?|öffnet|s['’]ouvre|(?:se )?abre|si apre|opent|otwiera|geht)(?: (?:sich|się))? (?:with|mit|avec|con|com|met) $/i

function kindOfDigits(line: string): string | undefined {
  const before = line.replace(/#$/, '')
  const isTied = TIED.test(before)
  if (WITH.test(before.slice(-8)) && OPENED.test(before)) return 'pin'
  const pin = lastDigitName(before)
  if (
    pin &&
    !PLAIN_PIN.test(pin.name) &&
    (/^(?: [A-Z][a-zà-ÿ]{2,12})?[\s#:=[(]{1,4}$/.test(pin.rest) || OF_DOOR.test(pin.rest))
  )
    return 'pin'
  if (isTied && pin && isNear(pin.rest, 12)) return 'pin'
  const password = lastPassword(before)
  if (password && /^\s{1,3}$/.test(password.rest) && /(?:pw|password|passcode)$/i.test(password.name))
    return 'password'
  return isTied &&
    password &&
    /[^s]$/.test(password.name) &&
    !/[.!?]/.test(password.rest) &&
    isNear(password.rest, /^ (?:del?|d[aou]|of|for|für|von|vom|pour|van) /.test(password.rest) ? 5 : 2)
    ? 'password'
    : undefined
}

/** Three words that hyphens join are a name too, so what ties them to a password must be beyond doubt. */
const PHRASE_NAME =
  /(?:pass|pw|pwd|psk|keychain|keystore|wallet|sudo|bios|shared (?:key|secret)|community|word|wort|phrase|woord|contrase|clave|senha|parol|hasł|heslo|senord|mdp|passe|парол|المرور|السر|الدخول)[a-zñаąеoyяи]{0,5}$/i
const SERVER_SECRET =
  /(?:^|[\s-])(?:masterauth|requirepass|auth-pass \S{1,40}|r[ow]community6?|bind [^\r\n]{0,60}password|bind password) $/
export function kindOfPhrase(before: string, after: string): string | undefined {
  if (SERVER_SECRET.test(before) || isPairBefore(before, after)) return 'password'
  const found = lastPassword(before)
  if (!found || !PHRASE_NAME.test(found.name) || !TIED.test(before)) return undefined
  if (/ (?:to|with|as|be|use|using|set)[ "'`]{1,3}$/.test(before)) return undefined
  return isNear(found.rest, 6) ? 'password' : undefined
}

/** "kim / … is the login". */
const IS_LOGIN =
  /^["'`]? (?:is|are|was) (?:the |my |your |our )?(?:[a-z]{2,12} )?(?:logins?|creds|credentials)(?![a-z])/
/** Whether the text behind a word may say what it is. */
export const isNamedBehind = (after: string): boolean =>
  PASSWORD_BEHIND.test(after) || IS_LOGIN.test(after) || WRONG.test(after)
const isPairBefore = (before: string, after: string): boolean =>
  /(?:^|\s)[\w.@-]{2,40} \/ ["'`]?$/.test(before) && IS_LOGIN.test(after)

/** "first …, then …": the one before was a password. */
const SECOND =
  /(?:^|[\s"'`])([^\s"'`,]{6,64})["'`]?(?: as (?:the |a )?password| first)?[,;]? (?:(?:and )?(?:then|dann|puis|luego|poi|afterwards)|(?:and )?(?:if not|if that fails|failing that|otherwise|or else|or|else|sonst|oder|sinon|ou|si no|o|altrimenti)(?:,? then)?(?: try| use)?),? ["'`]?$/
const isSecond = (before: string): boolean => {
  const first = SECOND.exec(before)?.[1]
  const form = first === undefined ? undefined : formOf(first)
  return (form === 'weak' || form === 'chosen') && lastPassword(before) !== undefined
}

/** Right behind the name, or with others of its kind in between. */
const isInList = (
  before: string,
  isNamed: (found: { readonly rest: string } | undefined, most: number) => boolean,
): boolean => {
  const found = lastGroupedName(before)
  return (
    isNamed(found, before.endsWith(': ') ? 14 : 6) ||
    /^[\s:=-]*(?:[A-Za-z0-9-]{6,24}[\s,;|/]+)+$/.test(found?.rest ?? '')
  )
}

/** "use …", "it's …": the word is handed over. */
export const HANDED =
  /(?:^|[\s(])(?:use|using|try|tried|type|typed|enter|entered|put|pick|picked|chose|took|agreed on|settled on|with|it['’]s|its|it is|nimm|nimmt|mit|utilise|avec|usa|prova|con|com|met)[: ]["'`“„«]?$/i
/** "with …, the password that I found". */
export const isApposed = (before: string, after: string): boolean =>
  HANDED.test(before) &&
  /^["'`”]?, (?:the|my|our|your|das|le|la|el|a|o|il|het) (?:[a-z-]{2,12} )?(?:pass(?:word|wort|phrase)|pw|mot de passe|Kennwort|contraseña|senha|wachtwoord) (?:that|which|I|we|you|from|in|of|das|aus|qu[ei]|du|del?|da|do|che|dat|uit|van|die)(?![a-z])/.test(
    after,
  )
/** The word behind is the name itself, not that of something for passwords. */
const isHanded = (before: string, after: string): boolean =>
  HANDED.test(before) &&
  !/pass\S{0,8} (?:hash|field|manager|polic|lib|algo|encod|input|column|store|reset|check|valid)/i.test(after)

/** "log in as admin with …", "sign in with kim and …". */
const LOGIN_WITH =
  /(?:log(?:ged)?|sign(?:ed)?)[ -]in (?:as|with|using|mit) \S{1,40}(?:,| \/)? (?:and|with|using|mit|\/) (?:password )?["'`]?$|(?:connect(?:ed|ée?)?|conect(?:é|ei|ad[oa])|anmelden|angemeldet|mich|entr(?:ei|é|at[oa]|ar)|logue[ié]|loggat[oa]|ingelogd|inloggen|logował?[a-z]{0,3} się) (?:as|als|en tant que?['’ ]?|comme|como|come|jako) ?["'`]?[\w.@-]{2,40}["'`]? (?:with|using|mit|avec|con|com|met|hasłem) ["'`]?$/i
/** "the creds of the new box are root and …", "the account svc_import with …". */
const AND = / (?:and|und|et|y|e|plus|with|mit|avec|con) ["'`]?$/
const CREDS_ARE =
  /(?:creds?|credentials|logins?|zugangsdaten|identifiants|credenciales|credenziali)(?: [^\s.;:]{1,20}){0,8} (?:is|are|were|sind|sont|son|sono) [\w.@-]{2,32},? (?:and|und|et|y|e|plus|with) ["'`]?$/i
const ACCOUNT_WITH =
  /(?:use|used|using|log(?:ged)? in|sign(?:ed)? in|connect(?:ed)?) [^.;:]{0,40}(?:account|user) [\w.@-]{2,40} (?:with|mit|avec|con) ["'`]?$/i
const MAIL_PAIR =
  /(?:^|[\s(>*"'`|])[\w.+-]+@[\w-]+(?:\.[\w-]+)+["'`*]{0,2}(?: ?[/|+,] ?| {2,40}| (?:with|and(?: then)?|then|mit|und|avec|et|con|y|e) (?:the )?(?:password |pw |pass )?)["'`*]{0,2}$/
const TO = / (?:to|with|by|durch|à|a|en|par|por|para|in|naar|na|su|op|sur|como|come)[ "'`]{1,3}$/
const CHANGED_TO =
  /(?:chang|rotat|reset|updat|switch|set|mud|alter|troc|troqu|cambi|modifi|réinit|mis|défini|puest|pus[eo]|configur|coloqu|redefini|impost|mess|verander|gewijzig|heb|zmien|ustawi)[a-zéłę]{0,10}(?: \S{1,16}){0,6}(?<! (?:field|input|policy|hash|type|length|manager|up)|[aiu][dt][ao]s?(?= por )) (?:to|à|a|en|por|para|in|naar|na|su|op|sur|como|come)[ "'`]{1,3}$|(?:remplac|replac|ersetz)[a-zé]{0,6} (?:with|by|durch|par|por)[ "'`]{1,3}$/i
/** "changed the password of kim from …": what it was is still a password somewhere. */
const CHANGED = /(?:chang|rotat|reset|updat|switch|änder|cambi|modifi)[a-zé]{0,6}(?![a-z])/i
const BY_SOMEBODY = /[ai]t[ao] da ["'`]?$/
const isChangedFrom = (before: string): boolean => {
  const password = lastPassword(before)
  return (
    password !== undefined &&
    /^(?: [^\s.,;:"'`]{1,24}){0,6} (?:from|von|de|da) (?:\S{4,64} (?:to|auf|zu|à|a) )?["'`]?$/.test(
      password.rest,
    ) &&
    CHANGED.test(before) &&
    !BY_SOMEBODY.test(before)
  )
}

const IS_ONLY = /^ (?:is|was|ist|war|est|es|era)(?: now| set to)?:? ["'`]?$/
/** `the password that you gave me earlier (kettle2019)`. */
const IN_BRACKETS = /^(?: [a-zà-ÿ'’]{1,12}){1,8} \($/

/** "the password that you gave me, …." */
const PROVIDED = /^(?: that| which)? (?:you|I|we|he|she|they)(?: [a-z]{2,12}){1,3}, ["'`]?$/
const isProvided = (rest: string, after: string): boolean =>
  PROVIDED.test(rest) && /^["'`]?(?:[.,;)\r\n]|\\n|$)/.test(after)
/** "I typed … and it said wrong password", "… is not a valid password". */
const WRONG =
  /^["'`]? (?:(?:and|but)[^.;:\r\n]{0,40} (?:wrong|invalid|incorrect|bad)|is (?:not|no longer) (?:the|a|my) (?:valid|right|correct)) (?:password|passphrase|pw)(?![a-z])/i
const TYPED = /(?:typed|entered|tried)(?: in)? ["'`]?$/i

/** Of passwords in general: "never use passwords such as …". */
const EXAMPLE =
  /(?:such as|passwords?,? like|e\.g\.|z\. ?B\.|zum Beispiel|par exemple|por ejemplo|por exemplo|ad esempio|bijvoorbeeld|na przykład)[ (]{1,2}["'`“„«‘]?$/i
/** Whose it is may take some words. */
const OWNED =
  /^s? (?:for|of|on|to|I|we|you|he|she|they|that|ich|wir|que|che|für|von|vom|des|der|zum|zur|de|du|del|della|do|da|di|van|voor|dla|от|для) /
/** Such a word is a member of code, too, so it has to be said of something that is a password only. */
const isFaintTied = (
  before: string,
  { name, rest }: { readonly name: string; readonly rest: string },
  word: string,
  isTied: boolean,
): boolean => {
  if (
    /[={}]|\w\(|;(?! [a-z])/.test(before) ||
    OF_THEM.test(rest) ||
    !(PHRASE_NAME.test(name) || OF_NETWORK.test(before))
  )
    return false
  if (rest === ' ' && (/\d/.test(word) || OF_NETWORK.test(before))) return true
  return isTied && (/\d/.test(word) || (!DOES.test(before) && isSaidOf(name, rest)))
}
const OF_NETWORK =
  /(?:SSID|[wW]i-?[fF]i|WLAN|[nN]etwork|Netz)[ :][^\r\n]{1,40}(?:key|pass|pw|Schlüssel|clave|clé)[ :]{1,2}["'`]?$/
/** Not the password, but who has it or what is made of it. */
const OF_THEM =
  /^s?[- ](?:\S{1,12} )?(?:owner|flow|entry|eintrag|manager|polic(?:y|ies)|rules?|store|team|type|field|hint|source|location|provider|helper|prompt|history|column|vault|dialog|form|page)(?![a-z])/i
/** A word in quotation marks stands beside anything, and to pass is a verb. */
const isSaidOf = (name: string, rest: string): boolean =>
  /(?:^|[^A-Za-z])pass$/i.test(name)
    ? /^(?:[:=]| is | was )/.test(rest)
    : !/["'`“„«‘*]$/.test(rest) ||
      /^(?:['’]?s?:?|[^"'`]* (?:is|was|ist|lautet|est|es|è|é)(?: \S+)?:?) ["'`“„«‘*]{1,2}$/.test(rest)
/** What is done with a password, rather than what it is. */
const DOES =
  / (?:to|as|(?<!(?:should|will|would|might|must|may|could)(?: (?:now|still|also|probably|just|then))? )be|set|use|using|with|type|typed|put|took|enter|try|first|not|nicht|auf|je)[ "'`]{1,3}$/

/** "… is the password". */
const IS_THE = /^["'`)]{0,2} (?:is|was) (?:the|my|our|your|their) (?:[a-z-]{2,12} ){0,2}p(?:ass|w)/i
/** The same, while the text goes on. */
export const IS_THE_BEGUN = /^["'`)]{0,2}(?:$| (?:i|is|w|wa|was)?$| (?:is|was) [a-z -]{0,40}$)/i

/** Right behind the name, so that the key may be short. */
const isShortKey = (word: string): boolean =>
  word.length >= 12 && /(?:\d\D+){3}/.test(word) && !/[a-z]{4}/.test(word)
const IS_KEY = /^(?: (?:is|ist|est|es)(?: now)?:?|:) ["'`]?$/

/** What a word is by its line. */
export function kindIn(before: string, after: string, word: string, form: WordForm): string | undefined {
  if (NAMED_ONLY.test(before) || (before.endsWith('{') && after.startsWith('}'))) return undefined
  if (
    PASSWORD_BEHIND.test(after) &&
    (form === 'chosen' || (form === 'weak' && (isHanded(before, after) || IS_THE.test(after))))
  )
    return 'password'
  if (
    (form === 'chosen' || form === 'weak') &&
    WRONG.test(after) &&
    (TYPED.test(before) || / is n/.test(after.slice(0, 6)))
  )
    return 'password'
  const tail = before.slice(-12)
  const isTied = TIED.test(before) || (TO.test(tail) && CHANGED_TO.test(before))
  if (isTied && EXAMPLE.test(before)) return undefined
  const isNamed = (found: { readonly rest: string } | undefined, most: number): boolean =>
    found !== undefined &&
    (ADJACENT.test(found.rest) || FALLBACK.test(found.rest) || isNear(found.rest, most))
  if (form === 'digits') return kindOfDigits(before)
  if (form === 'chosen' && (PASSWORD_FLAG.test(before) || KNOWN_USER.test(before) || SLASHED.test(before)))
    return 'password'
  if (form === 'drawn' && TOKEN_FLAG.test(before)) return 'token'
  if (form === 'weak' && (USER_FLAG.test(before) || SLASHED.test(before))) return 'password'
  if (form === 'faint' && AUTH_PAIR.test(before)) return 'password'
  if (
    (form === 'weak' || form === 'chosen') &&
    (AUTH_PAIR.test(before) || SLASH_PAIR.test(before) || isPairBefore(before, after) || isSecond(before))
  )
    return 'password'
  if ((form === 'drawn' && SLASH_PAIR.test(before)) || isPaired(before, after, word, form)) return 'password'
  if ((CAPITALS.test(word) || CAPITAL_PAIR.test(word)) && ADMIN.test(before)) return 'password'
  if (AND.test(tail)) {
    if (form !== 'drawn' && form !== 'plain' && CREDS_ARE.test(before)) return 'password'
    if ((form === 'chosen' || isNumberedPair(word)) && ACCOUNT_WITH.test(before)) return 'password'
  }
  if ((form === 'weak' || form === 'chosen') && (LOGIN_WITH.test(before) || isChangedFrom(before)))
    return 'password'
  if (
    (form === 'chosen' || CAPITALS.test(word) || isPassphrase(word) || isNumberedPair(word)) &&
    MAIL_PAIR.test(before)
  )
    return 'password'
  if ((form === 'drawn' || form === 'plain') && isOfMaker(before)) return 'api-key'
  if (form === 'grouped' && isInList(before, isNamed)) return 'recovery-code'
  const id = NAMED.exec(before)?.[1]
  if (id !== undefined && (form === 'chosen' ? ID.test(id) : isIdName(id))) return undefined
  const password = lastPassword(before)
  if (form === 'weak' && password && /login: $/i.test(password.name + password.rest)) return undefined
  const reach = OWNED.test(password?.rest ?? '') ? 12 : 6
  const isAdjacent =
    password !== undefined && (ADJACENT.test(password.rest) || KNOWN_USER.test(password.rest))
  if (!isTied && !isAdjacent && OTHER.test(before)) return undefined
  if (password && (form === 'chosen' || form === 'drawn') && isNamed(password, 9)) return 'password'
  // `wandb login …`, `snyk auth …`.
  if ((form === 'plain' || form === 'drawn') && LOGS_IN.test(before)) return 'token'
  if (password && form === 'plain' && (ADJACENT.test(password.rest) || IS_ONLY.test(password.rest)))
    return 'password'
  // "the password to server01".
  if (
    (form === 'weak' || form === 'faint') &&
    / (?:(?<!printed |saved |stored |written )as|to|with|(?<!(?:should|will|would|might|must|may|could)(?: (?:now|still|also|probably|just|then))? )be)[ "'`]{1,3}$/.test(
      before,
    ) &&
    !CHANGED_TO.test(before)
  )
    return undefined
  if (
    password &&
    form === 'weak' &&
    (isAdjacent ||
      isProvided(password.rest, after) ||
      (IN_BRACKETS.test(password.rest) && isNamed(password, 9) && /^\??\)/.test(after)) ||
      (isTied && isNamed(password, reach)))
  )
    return 'password'
  if (
    form === 'faint' &&
    password &&
    /[_A-Z]/.test(word) &&
    IN_BRACKETS.test(password.rest) &&
    isNamed(password, 9) &&
    after.startsWith(')')
  )
    return 'password'
  if (form === 'faint' && password && isNamed(password, reach) && isFaintTied(before, password, word, isTied))
    return 'password'
  const key = lastKeyName(before)
  if (form === 'weak' || form === 'faint') return undefined
  if (form === 'chosen' && word.length < 16 && !(isShortKey(word) && IS_KEY.test(key?.rest ?? '')))
    return undefined
  if (form === 'grouped' && !/^[A-Z0-9]+(?:-[A-Z0-9]+){2,}$/.test(word)) return undefined
  if (!key || !isNamed(key, isTied ? 9 : 6)) return undefined
  const isSure = isTied || ADJACENT.test(key.rest) || (/key[12]$/.test(key.name) && word.length > 40)
  if (!isSure && (form === 'plain' || /(?:^|[^a-z])key[12]?$/i.test(key.name))) return undefined
  return /token/i.test(key.name) ? 'token' : 'api-key'
}
