import { isTemplate } from './checks.ts'
import { fold } from './fold.ts'
import { isCommonWord, isNameWord, isWordPair, isWordPhrase } from './passphrase.ts'

/** Plain words that are a password only by their place. */

/** What is said there instead of a password, and passwords that everybody knows. */
const NO_PASSWORD =
  /^(?:pass(?:word|wd|phrase|code)?|pwd|secret|test(?:ing)?|change-?me|string|str|bytes|entr(?:y|ies)|pairs?|text|varchar|char|bool(?:ean)?|true|false|null|nil|none|empty|undefined|any|unknown|required|optional|missing|invalid|wrong|incorrect|hidden|masked|redacted|removed|omitted|example|sample|placeholder|todo|fixme|tbd|admin|root|guest|user|postgres|yes|no|on|off|directive|expire|never|default|prompt|stdin|error|warning|fatal|failed|denied|forbidden|usage|not|the|and|see|here|plain(?:text)?|raw|hashed|encrypted|digest|typed|given|entered|generated|cancell?ed|kennwort|wachtwoord|contraseña|senha|heslo|hasło|motdepasse|anmelden|x+|\.+|\*+)$/i
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
    ? isWordPhrase(text) || isWordPair(text) || isSaidJoined(text)
    : !isNameWord(text))

/** How what is said of a password ends: it is expired, reachable, obligatoire, abgelaufen, incorrecta. */
const OF_PASSWORD =
  /(?:[^e]ed|(?<=[aeiouy][a-z]{0,9})ing|(?<!f)ly|[ai]ble|less|[^n]ful|ous|[st]ive|ical|i[sz]ed|lich|isch|igt|tzt|iert|[ai]d[oa]s?|[iu]t[oa]|ect[aeo]?|ett[oa]|[ao]ri[oa]|oire|aire|(?:[^r]i|[dfgklnt]|[eo]w)est)$/i
const SAID = new Set(
  (
    'briefly static generic automatic dynamic numeric alphanumeric basic specific cryptic constant important redundant relevant different present consistent sufficient insufficient current recent frequent mandatory temporary necessary arbitrary compulsory secondary primary shown known unknown brought bought about above absent accepted access account again always another anything around asked aside back because before behind being below beneath between blank bogus both bound broken called case cheap clean clear common compromised copied correct crypted dead different dummy each easy either else enough even ever every everything except exact exists expires fake false fine first fixed followed following forbid forgot forgotten found free from fresh full given global gone good great greater guess handy hard hash held hello here hers himself identical ignored illegal intact active impossible inside instead into invalid issued just kept known later least leaked less like likely live local locked login long longer lost mandatory matched matches maybe mine minimum missing more most much must named neither never next nobody none normal nothing notify null obsolete often okay once only open opposite original other ours outdated over part perhaps plain please plus possible present pretty probably prone proper protected public quite random rather ready real really related right rotated safe same saved scrambled second secure seldom sent several shall shared short shown simple simply since single sized some someone something somewhere sort static still stolen stored strict strong stronger simpler easier safer slower faster shorter newer older stuck such sure taken temporary that their them then there therefore these they this those through thus together tough trivial typed unchanged under unique unknown unlike unsafe until unset upon used useless using usual usually valid very visible wanted weak weaker what whatever when where whether which while whose with within without worse wrong yours zero twice three four five seven eight times ' +
    'abgelaufen vergessen verloren geändert erforderlich ungültig gesperrt gesetzt allowed anders auch dieselbe dasselbe dein ein eine einfach falsch fehlt geheim gleich gültig hier immer jetzt kein keine korrekt kurz lang leer mein nicht noch noch nötig richtig schon schwach sehr sicher stark unbekannt weg ' +
    'aussi avec comme dans encore faible faux fort juste long mais mauvais pour secret toujours trop vide votre ' +
    'ahora aqui como corta correcta débil demasiado diferente errada está falsa fuerte igual larga mala misma muito muy nula para segura siempre sido sobre todavia troppo vacía vazia vuota ancora corta debole forte lunga sempre ' +
    'onjuist vereist verlopen ongeldig nieprawidlowe puste bledne wymagane altijd deze dezelfde fout geen goed hetzelfde leeg nodig sterk verkeerd zwak pflichtfeld sache sensitiv pessoal personal persoonlijk nadal puste takie zbyt zawsze ' +
    'error failed failure grant hint input label length manager policy prompt reset rules strength type value values ' +
    'parola clave geslo lozinka salasana adgangskode jelszo haslo kodeord sandi sifre parool parole losenord passord'
  ).split(' '),
)

const isOf = (word: string): boolean =>
  OF_PASSWORD.test(word) || SAID.has(word.toLowerCase()) || isNameWord(word) || isNoPassword(word)

/** `case-sensitive`, `auto-filled`, `one-time`, `read-only`: said of passwords, and of all things. */
const COMPOUND =
  /^(?:non|pre|post|auto|self|well|per|too|all|multi|cross|semi|anti|sub|super|inter|mid|read|write|one|two|three|half|high|low|long|short|hard|soft|case|time|plain|clear|mixed|upper|lower|opt|built|re|un|co|de|ex|in|on|up|no|by|to|of|client|server|single|double|full|copy|drop|log|sign|check|plug|follow|set|roll|stand|snake|camel|kebab|jean|hans|anna|karl|klaus|marie|maria|heinz)[-_.]|[-_](?:only|sensitive|insensitive|specific|wide|in|out|up|down|on|off|side|based|free|safe|lived|time|like|proof|empty|case|known|text|to|by|of|at|term|level|grade|ready|aware|friendly|compliant|agnostic|style|party|factor|words?|wise|long|old|new|bound|box|line|way|characters?|digits?|chars?|letters?|bits?|bytes?|paste|keeper|less|agent|link|flow|number|minded)$/i
const JOINED = /^[a-z]{2,14}([-_])[a-z]{1,14}(?:\1[a-z]{2,14}){0,5}[!?]?$|^[a-z]{3,14}[&+!*%][a-z]{3,14}$/i
const DOTTED = /^[A-Z][a-z]{2,13}(?:\.[A-Z][a-z]{2,13}){1,3}$|^[A-Z][a-z]{3,13}\.[a-z]{5,14}$/

/** `Copper-Kettle`, `coffee_and_cake`, `Stapler+Gabel`: words that were joined, and that nobody says of a password. */
export function isSaidJoined(text: string): boolean {
  const plain = text.replace(/(?<=[a-zA-Z])[0134](?=[a-z])/g, 'o')
  if (plain.length < 8 || !(JOINED.test(plain) || DOTTED.test(plain)) || COMPOUND.test(plain)) return false
  const words = plain.split(/[^A-Za-z]+/).filter((word) => word !== '')
  return (
    words.every(
      (word) =>
        /^[A-Z]?[a-z]+$/.test(word) &&
        (word.length < 3 || !isOf(word) || isJoint(word) || isCommonWord(word)),
    ) &&
    words.some((word) => word.length > 3 && !isOf(word)) &&
    new Set(words).size === words.length
  )
}
/** Between two words that are none of these, one of them may stand. */
const isJoint = (word: string): boolean =>
  /^(?:and|the|for|with|over|under|from|not|all|une?|les|des|das)$/.test(word)

/** "lantern gravel orbit walrus": words of which no sentence is made. */
export const isSaidPhrase = (text: string): boolean => {
  const words = fold(text).split(' ')
  const said = words.filter(isOf).length
  return (
    words.every((word) => /^[A-Z]?[a-z]+$/.test(word)) &&
    said <= (words.length > 4 ? 1 : 0) &&
    new Set(words).size > 3
  )
}

/** "crimson otter 42". */
export const isNumberedSaying = (text: string): boolean =>
  text
    .replace(/ \d+$/, '')
    .split(' ')
    .every(
      (word) =>
        /^[A-Z]?[a-z]+$/.test(word) &&
        !isOf(word) &&
        !/^(?:least|digits?|chars?|ticket|version|days?|than|until|since|port|item|slot|card|room|gen|age)$/i.test(
          word,
        ),
    )

/** "The password is swordfish": a word of letters that nobody says of a password. */
export const isSaidWord = (text: string): boolean =>
  /^[A-Za-z]?[a-z]{4,19}$/.test(fold(text)) &&
  isCertain(text) &&
  !OF_PASSWORD.test(fold(text)) &&
  !SAID.has(text.toLowerCase())
