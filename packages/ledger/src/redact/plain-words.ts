import { isTemplate } from './checks.ts'
import { isNameWord, isWordPair, isWordPhrase } from './passphrase.ts'

/** Plain words that are a password only by their place. */

/** What is said there instead of a password, and passwords that everybody knows. */
const NO_PASSWORD =
  /^(?:pass(?:word|wd|phrase|code)?|pwd|secret|test(?:ing)?|change-?me|string|str|bytes|entr(?:y|ies)|pairs?|text|varchar|char|bool(?:ean)?|true|false|null|nil|none|empty|undefined|any|unknown|required|optional|missing|invalid|wrong|incorrect|hidden|masked|redacted|removed|omitted|example|sample|placeholder|admin|root|guest|user|postgres|yes|no|on|off|directive|expire|never|default|prompt|stdin|error|warning|fatal|failed|denied|forbidden|usage|not|the|and|see|here|plain(?:text)?|raw|hashed|encrypted|digest|typed|given|entered|generated|cancell?ed|kennwort|wachtwoord|contraseña|senha|heslo|hasło|motdepasse|anmelden|x+|\.+|\*+)$/i
export const isNoPassword = (text: string): boolean => NO_PASSWORD.test(text)

/** A word or some of them, joined as nobody writes a path, a name of a file, a member or a call. */
export const isCertain = (text: string): boolean =>
  text.length >= 5 &&
  !isTemplate(text) &&
  !isNoPassword(text) &&
  !/[(){}[\]<>,;\s]|^\$|\$[A-Z_]{3}|^(?:[-/.~:%&!=]|@(?:[\w-]*$|.*[./]))|:\/\/|^\d+$|^[A-Z_]+$|\w\.\w{1,4}$/.test(
    text,
  ) &&
  !/pass|secret|vault|env/i.test(text) &&
  (/[-_.]/.test(text) && /^[a-z._-]+$/i.test(text)
    ? isWordPhrase(text) || isWordPair(text)
    : !isNameWord(text))

/** How what is said of a password ends: it is expired, reachable, obligatoire, abgelaufen, incorrecta. */
const OF_PASSWORD =
  /(?:[^e]ed|(?<!spr|str|k|w|r)ing|(?<!f)ly|[ai]ble|less|[^n]ful|ous|[st]ive|ical|i[sz]ed|lich|isch|igt|tzt|iert|[ai]d[oa]s?|[iu]t[oa]|ect[aeo]?|ett[oa]|[ao]ri[oa]|oire|aire)$/i
const SAID = new Set(
  (
    'briefly static generic automatic dynamic numeric alphanumeric basic specific cryptic constant important redundant relevant different present consistent sufficient insufficient current recent frequent mandatory temporary necessary arbitrary compulsory secondary primary shown known unknown brought bought about above absent accepted access account again always another anything around asked aside back because before behind being below beneath between blank bogus both bound broken called case cheap clean clear common compromised copied correct crypted dead different dummy each easy either else enough even ever every everything except exact exists expires fake false fine first fixed followed following forbid forgot forgotten found free from fresh full given global gone good great greater guess handy hard hash held hello here hers himself identical ignored illegal impossible inside instead into invalid issued just kept known later least leaked less like likely live local locked login long longer lost mandatory matched matches maybe mine minimum missing more most much must named neither never next nobody none normal nothing notify null obsolete often okay once only open opposite original other ours outdated over part perhaps plain please plus possible present pretty probably prone proper protected public quite random rather ready real really related right rotated safe same saved scrambled second secure seldom sent several shall shared short shown simple simply since single sized some someone something somewhere sort static still stolen stored strict strong stronger stuck such sure taken temporary that their them then there therefore these they this those through thus together tough trivial typed unchanged under unique unknown unlike unsafe until unset upon used useless using usual usually valid very visible wanted weak weaker what whatever when where whether which while whose with within without worse wrong yours zero ' +
    'abgelaufen vergessen verloren geändert erforderlich ungültig gesperrt gesetzt allowed anders auch dieselbe dasselbe dein ein eine einfach falsch fehlt geheim gleich gültig hier immer jetzt kein keine korrekt kurz lang leer mein nicht noch noch nötig richtig schon schwach sehr sicher stark unbekannt weg ' +
    'aussi avec comme dans encore faible faux fort juste long mais mauvais pour secret toujours trop vide votre ' +
    'ahora aqui como corta correcta débil demasiado diferente errada está falsa fuerte igual larga mala misma muito muy nula para segura siempre sido sobre todavia troppo vacía vazia vuota ancora corta debole forte lunga sempre ' +
    'onjuist vereist verlopen ongeldig nieprawidlowe puste bledne wymagane altijd deze dezelfde fout geen goed hetzelfde leeg nodig sterk verkeerd zwak nadal puste takie zbyt zawsze ' +
    'error failed failure grant hint input label length manager policy prompt reset rules strength type value values ' +
    'parola clave geslo lozinka salasana adgangskode jelszo haslo kodeord sandi sifre parool parole losenord passord'
  ).split(' '),
)

/** "The password is swordfish": a word of letters that nobody says of a password. */
export const isSaidWord = (text: string): boolean =>
  /^[A-Za-z]?[a-z]{4,19}$/.test(text) &&
  isCertain(text) &&
  !OF_PASSWORD.test(text) &&
  !SAID.has(text.toLowerCase())
