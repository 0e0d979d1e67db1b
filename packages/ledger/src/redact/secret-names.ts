import { anyCase } from './keys.ts'
import { MAKERS } from './naming.ts'

/** What people call a secret, in the languages in which agents are spoken to. Each pattern is asked about the text before a word. */

/** Passwords, and the words for a pair of a name and a password. */
const PASSWORD_NAMES = [
  anyCase(
    'pass[-_ ]?(?:word|wort|wd|phrase|code|key)s?|parole?(?:s|ord|a)?|kennwort(?:s|er)?|pass?ord(?:et)?',
  ),
  '(?:add_user|change_password|set_password|adduser|user add|create[-_]user|addauth digest) \\S{1,40}|addauth digest',
  '> ?user \\S{1,40}|SETUSER \\S{1,40} (?:on|off)[^\\r\\n]{0,60}?(?=>)|[sS]ecurity [aA]nswer|[sS]ecret [aA]nswer|wpa_passphrase \\S{1,40}|user \\S{1,40} (?:on|off)[^\\r\\n]{0,60}?(?=>)|[iI]dentified [bB]y|IDENTIFIED BY|masterauth|requirepass|[kK]ey-string|psksecret|r[ow]community6?|/user:[\\w.@-]+|isakmp key(?: \\d)?|auth-pass \\S{1,40}|[sS][nN][mM][pP](?:v[123]c?)?[ -][cC]ommunity(?: [sS]tring)?',
  '(?:[sS]tore|[kK]ey|[sS]sh|[bB]ind|[uU]ser|[aA]dmin|[rR]oot)[pP]ass(?![a-zA-Z])',
  '(?:[a-z]|_)P[wW](?:[dD])?(?![a-zA-Z])|(?:root|bind|admin|user|db|my|ssh|ftp|smtp)_?pw|(?:_PASS|_pass|_PWD|_pwd|_PW|_pw)(?![A-Za-z])',
  // The name and the password of an account, and the key of a network.
  '[uU](?:ser(?:name)?)?[:=] ?\\S{1,40}[ ,;/]{1,3}[pP](?=[:=])',
  '(?:WPA\\d?|WEP|SSID|[wW]i-?[fF]i|WLAN|iwconfig)[^\\r\\n]{0,40}?[kK]ey(?![A-Za-z])',
  '(?:WLAN|[wW]i-?[fF]i)[- ](?:[sS]chlüssel|[sS]leutel|[cC]ode)|(?:[cC]ode|[cC]ódigo|[cC]odice) (?:(?:d[aeou]|del|de la) )?[wW]i-?[fF]i|(?:[cC]lé|[cC]lave|[cC]have|[cC]hiave|[kK]lucz) (?:(?:d[aeiou]|del|de la) )?[wW]i-?[fF]i|(?:[pP]re-?)?[sS]hared (?:[kK]ey|[sS]ecret)|(?:[rR]ead|[wW]rite) community|(?:encrypted|protected)(?=, (?:try|it.s) )|asks for (?:the |a |your )?(?:keychain|keystore|wallet|admin|root|sudo|bios)(?=,? (?:try|use|it.s|enter|type) )',
  `(?<![A-Za-z])${anyCase('(?:(?<!(?:first|second|third|final|last|next|single|each|per|every|render|boarding|ski|season|day|bus|hall|forward|backward|tests?|checks?|specs?|suites?|builds?|jobs|cases|all|can|to|must|should|will|may|you|we|they|now|also|still)[- ])pass(?![a-z]| (?:the|an?|it|in|this|that|any|all|by|through|your) )|pw|pwd|psk|pswd|pword|creds?|credentials?|logins?|secrets?|mdp|mot de passe|passe|ww(?= is| was|:| voor| van))')}`,
  anyCase(
    'contrase(?:ñ|n)as?|wachtwoord(?:en)?|adgangskoden?|salasana(?:n|si)?|l(?:ö|o)senord(?:et)?|palavra-passe',
  ),
  `(?<![A-Za-z])${anyCase('(?:clave|senha|heslo|heslem|lozinka|geslo|slapta(?:ž|z)odis|jelsz(?:ó|o|ava)|has(?:ł|l)(?:o|a|em)|(?:ş|s)ifre(?:si|niz|m)?|parol(?:ă|a)|kata sandi|sandi|geheimzahl|codice(?! (?:articolo|prodotto|fiscale|cliente|ordine|di errore|errore|postale|sorgente|sconto))|schl(?:ü|ue)sselwort)')}`,
  anyCase(
    'zugang(?:sdaten|scode)?|anmeldedaten|identifiants?|credenciales|credenziali|credenciais|inloggegevens',
  ),
  '[mM]ật khẩu|[пП]арол[а-я]{0,3}|[κΚ]ωδικ[όο][ςύ]|密[码碼]|口令|パスワード|暗証|비밀번호|비번|암호|पासवर्ड|รหัสผ่าน|סיסמ[הת]|كلمة (?:المرور|السر)|گذرواژه|رمز (?:عبور|الدخول|المرور|السر)',
].join('|')

/** Keys and tokens that are beyond doubt. */
const API =
  'api|access|secret|auth|private|bearer|bot|session|refresh|service|licen[cs]e|signing|encryption|master|deploy|app|client|webhook|personal access|subscription|account|admin|server|integration|ingest|recovery|unseal|root|sdk|rest|storage|tunnel|registration|runner|shared|pairing|activation|join|bootstrap|push|project|developer|consumer|write|publish'
const KEY_NAMES = [
  anyCase(
    `(?:${API})[-_ ]?(?:key|token|secret|hash|password|credential|sleutel|nyckel|schl(?:ü|ue)ssel|anahtar(?:ı)?)s?`,
  ),
  anyCase('(?:totp|otp|2fa|mfa|authenticator)[- ](?:seed|secret|key|setup key)'),
  'operator unseal(?: -\\S{1,20}){0,2}',
  '(?<=_)AUTH(?:_[A-Z]+)?(?![A-Za-z])|(?<=_)(?:PK|SESSION)(?![A-Za-z])',
  '(?<![A-Za-z])[kK]ey[12]?(?![A-Za-z_-])|(?<=[a-z_])_?(?:Key|KEY|key|TOKEN|Token|Secret)(?![A-Za-z])',
  `(?<![A-Za-z])${anyCase('(?:secret|token|jwt|pat|credentials?|apikey|appkey|appsecret|jeton|geheimnis|segreto|segredo|secreto)s?')}(?![a-z])`,
  anyCase(
    '(?:clave|llave|cl(?:é|e)|chave|chiave|klucz(?:a|em)?|klíč|kľúč|sleutel|nyckel|n(?:ø|o)(?:gle|kkel)|avain|cheie|schl(?:ü|ue)ssel|api[- ]schl(?:ü|ue)ssel)(?: (?:de|d’|d.|di|da|secr[a-zè]{1,6}))? ?(?:la |l’|l.)?(?:api|acceso|acc(?:è|e)s|acesso|accesso|secr[a-zè]{1,6}|priv[a-zé]{1,6})?',
  ),
  '[кК]люч[а-я]{0,3}|[тТ]окен[а-я]{0,3}|[сС]екрет[а-я]{0,3}|密[钥鑰]|令牌|金[钥鑰]|秘[钥鑰密]|キー|トークン|シークレット|키|토큰|시크릿|مفتاح|رمز|токен|κλειδί|מפתח|टोकन|कुंजी',
].join('|')

/** Keys of a table, a cache or a lock, and names of keys. */
const NO_KEY =
  /(?:public(?:key)?|primary|foreign|cache|sort|partition|idempotency|object|row|hash|range|host|group|unique|composite|dedup\w*|routing|ssh|gpg|pgp|rsa|dsa|eddsa|ecdsa|ed25519|answer|hot|arrow|next|page|continuation|sync|cursor|start|stop|eos|bos)[-_ ]?(?:key|token)s?$/i

/** What one gets in by typing a number, and how the languages tie it to the code. */
const OF = 'for|of|to|on|für|fürs|zum|zur|vom|von|de|du|da|do|del|della|dell|di|van|voor|od'
const ARTICLE = 'the|our|my|die|das|den|der|unser(?:e|en)?|la|le|l|el|il|lo|o|a|het|de'
const DOORS =
  '[dD]oor|[gG]ate|[aA]larme?|[sS]afe|[gG]arage|[kK]eypad|[lL]ockers?|[kK]ey ?box|Schlüssel(?:fach|box|tresor|kasten)|[bB]oîte à clés|[cC]aja de llaves|[eE]ntrance|[eE]levator|(?:Haus|Eingangs|Garagen|Hof)?[tT](?:ür|or)(?![a-z])|Alarmanlage|Tresor|Schließfach|Eingang|[pP]orte|[pP]ortail|[cC]offre|[iI]mmeuble|[eE]ntrée|[pP]uerta|[pP]ortal|[cC]aja fuerte|[gG]araje|[eE]ntrada|[pP]orta|[pP]ortão|[cC]ofre|[gG]aragem|[cC]ancello|[pP]ortone|[aA]llarme|[cC]assaforte|[iI]ngresso|(?:voor|achter)?deur|[pP]oort|[kK]luis|bramy|drzwi|furtki|sejfu|klatki|domofonu'
/** What is ordered, booked or has failed. */
const NO_SECRET_CODE =
  '(?:order|booking|tracking|promo|discount|coupon|voucher|gift|referral|error|status|zip|postal|country|area|customer|product|item|source|QR|tax|bank|sort|swift|dress)'

/** Numbers that are typed. */
const DIGIT_NAMES = [
  '(?<![A-Za-z])m?(?:PIN|[pP]in)(?:[- ]?(?:[cC]ode|[nN]umber|[nN]ummer))?(?![a-z])|(?<![A-Za-z])(?:OTP|m?TAN|CVV2?|CVC2?|PUK|CSC)(?![a-zA-Z])|(?<![A-Za-z])(?:puk|otp)(?![a-z])|[aA]uthenticator(?: app)?(?= (?:shows?|says?))',
  `(?:[yY]our|[mM]y|Ihr|[dD]ein|[vV]otre|[tT]on|[sS]u|[tT]u|[iI]l tuo|[sS]eu|[jJ]e|[dD]in|[tT]wój)(?: (?!${NO_SECRET_CODE})[a-zA-Z-]{2,16}){0,3} [cC]ode|[dD]in kod|[tT]wój kod(?: [a-z]{3,14})?|[вВ]аш(?: [а-я]{2,16})? код`,
  anyCase(
    'pass[- ]?code|geheimzahl|(?:access|door|gate|alarm|safe|vault|entrance|garage|garden|cellar|locker|lockbox|bike lock|lock|operator|panel|engineer|installer|participant|moderator|parent|duress|disarm|steam guard|host|unlock|verification|security|login|entry|lock|confirmation|authentication|auth|pairing|setup|sms|2fa|mfa|one-time|backup|recovery)[-_ ]code(?! review)|enter(?: this| the)? code|type (?:this|the) code|host key|(?:t(?:ü|ue)r|tor|alarm|toegangs|deur|poort)code|(?:larm|port|d(?:ö|o)rr)kod(?:en)?|kapuk(?:ó|o)d|digicode|code du (?:portail|coffre|garage)|ovikoodi|zahlencode|(?:verificatie|bevestigings|inlog|best(?:ä|ae)tigungs|verifizierungs|sicherheits|anmelde|zugangs)code|kod (?:weryfikacyjny|jednorazowy|sms|potwierdzenia)|do(?:ğ|g)rulama kodu|engangskode|vahvistuskoodi',
  ),
  '[cC]ode (?:d’|de |d.)(?:acc[èe]s|v[ée]rification|confirmation|s[ée]curit[ée])|[cC][óo]digo (?:de (?:acceso|verificaci[óo]n|seguridad|verifica[çc][ãa]o|acesso)|PIN)|[cC]odice (?:di (?:verifica|accesso)|PIN)|[kK]od (?:PIN|dostępu)',
  '(?:[cC]ombination|[cC]ombo)(?=[ :=])|[lL]ock ?box(?=[^.\\r\\n]{0,40} is )|[kK]od do [a-zęłóśążźćń]{4,12}',
  '[пП][иИ][нН](?:-?код)?|验证码|驗證碼|暗証番号|認証コード|確認コード|인증번호|[кК]од (?:подтверждения|доступа|(?:от|для|на|к) [а-яё]{3,14})',
].join('|')

/** What opens something, and is not a secret without it. */
const DOOR_NAMES = [
  `(?<![A-Za-z])(?:[cC]od(?:e|ice|igo)|[cC]ódigo|[kK]od) (?:(?:${OF}) (?:(?:${ARTICLE})[ '’])?(?:[a-zà-ÿ-]{3,12} )?)?(?:${DOORS})(?![a-zà-ÿ])`,
  `(?:${DOORS})(?![a-zà-ÿ])[^.:;\\r\\n\\d]{1,60}[,;–-] ?(?:[a-zA-Z]{2,5} )?[cC]ode`,
  `(?<![A-Za-z])(?:${DOORS}):?[- ](?:[cC]ode(?! (?:review|share|base|change|path))|[kK]eypad)|[pP]adlock|(?:[zZ]ahlen|[vV]orhänge|[fF]ahrrad)schloss|[cC]adenas|[cC]andado|[lL]ucchetto|hangslot|(?:hat den|has the|takes the|a le|tiene el|ha il|tem o|heeft de) [cC](?:ode|ódigo|odice)|(?:[tT]resor|[sS]afe|[sS]chloss|[zZ]ahlen)-?[kK]ombination`,
].join('|')

/** What is printed in groups. */
const GROUPED_NAMES = anyCase(
  '(?:licen[cs]e|product|serial|activation|recovery|backup|unlock|registration|redeem|scratch|emergency|2fa|mfa|reset|setup|pairing|enrol?l?ment|wiederherstellungs|secours|recuperaci(?:ó|o)n|bitlocker|filevault)[ -]?(?:key|code|number|token|schl(?:ü|ue)ssel)s?',
)

/** The last name in a text, and what stands behind it. */
const lastOf = (names: string) => {
  const pattern = new RegExp(names, 'g')
  return (before: string): { readonly name: string; readonly rest: string } | undefined => {
    let [start, end] = [-1, -1]
    pattern.lastIndex = 0
    for (let match = pattern.exec(before); match !== null; match = pattern.exec(before)) {
      if (match[0] === '') break
      start = match.index
      end = pattern.lastIndex
    }
    return start < 0
      ? undefined
      : { name: before.slice(Math.max(0, start - 16), end), rest: before.slice(end) }
  }
}

export const lastMaker = lastOf(`(?<![A-Za-z.@/])(?:${anyCase(MAKERS)})(?: (?:appid|api))?(?![A-Za-z./])`)

export const lastPassword = lastOf(PASSWORD_NAMES)
const lastNumber = lastOf(DIGIT_NAMES)
const lastDoor = lastOf(DOOR_NAMES)
export const lastDigitName = (before: string): ReturnType<typeof lastNumber> =>
  lastNumber(before) ??
  (/[cCkK][oOóÓ][dDmM]|keypad|lock|schloss|adenas|andado|ucchetto|slot/.test(before)
    ? lastDoor(before)
    : undefined)
export const lastGroupedName = lastOf(GROUPED_NAMES)
/** A name that follows the word: "… is the password". */
export const PASSWORD_BEHIND = new RegExp(
  `^(?:<\\/\\w{1,8}>)?["'\`”“»)*_]{0,4}(?:[ ,]{1,2}(?:–|-|—|is|as|for|when|if|once|at|wenn|quand|cuando|quando|ist|als|für|est|comme|es|como|è|é|jako|som|#|//)[ (]| ?[=(] ?|[)\\]},;| ]{0,6}(?:--|#|//|<-|←) ?)[^.;:\\r\\n]{0,48}?(?:${PASSWORD_NAMES})(?![A-Za-z-])`,
)
const lastKey = lastOf(KEY_NAMES)
export const lastKeyName = (before: string): ReturnType<typeof lastKey> => {
  const found = lastKey(before)
  return found && NO_KEY.test(found.name) ? undefined : found
}
