import { isCapitalPair, isNumberedPair, isPassphrase } from './passphrase.ts'

/** The checks that turn "has the shape of a secret" into "is one". All are linear and free of dependencies. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SEXTETS = new Map(Array.from(ALPHABET, (char, index): [string, number] => [char, index]))
SEXTETS.set('-', 62)
SEXTETS.set('_', 63)

/** Decodes base64 and base64url to Latin-1 text; undefined when a character is foreign. */
export function decodeBase64(text: string): string | undefined {
  let out = ''
  let bits = 0
  let count = 0
  for (const char of text.replace(/=+$/, '')) {
    const sextet = SEXTETS.get(char)
    if (sextet === undefined) return undefined
    bits = ((bits << 6) | sextet) & 0xffffff
    count += 6
    if (count >= 8) {
      count -= 8
      out += String.fromCharCode((bits >> count) & 0xff)
    }
  }
  return out
}

export function isJwt(token: string): boolean {
  const header = decodeBase64(token.slice(0, token.indexOf('.')))
  if (header === undefined) return false
  try {
    const parsed: unknown = JSON.parse(header)
    return typeof parsed === 'object' && parsed !== null && 'alg' in parsed && typeof parsed.alg === 'string'
  } catch {
    return false
  }
}

/** `Basic` credentials are base64 of `user:password`; the words after "basic" in prose are not. */
export function isBasicCredentials(text: string): boolean {
  const decoded = decodeBase64(text)
  return decoded !== undefined && /^[\x20-\x7e\xa0-\xff]*:[\x20-\x7e\xa0-\xff]*$/.test(decoded)
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = digits.length - 1, twice = false; i >= 0; i--, twice = !twice) {
    const digit = digits.charCodeAt(i) - 48
    sum += twice ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}

const ISSUERS: readonly RegExp[] = [
  /^4\d{15}(?:\d{3})?$/, // Visa; its 13-digit numbers are gone, and EAN-13 codes look the same
  /^(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^(?:6011|65\d{2}|64[4-9]\d)\d{12}$/, // Discover
  /^3(?:0[0-5]|[689]\d)\d{11}$/, // Diners Club
  /^35(?:2[89]|[3-8]\d)\d{12}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
  /^(?:5018|5020|5038|6304|6759|676[1-3])\d{12}$/, // Maestro
]

export function isPaymentCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '')
  if (/^(\d)\1*$/.test(digits)) return false
  return ISSUERS.some((issuer) => issuer.test(digits)) && passesLuhn(digits)
}

/** ISO 13616: letters as numbers, the first four characters last, remainder 1 modulo 97. */
export function isIban(text: string): boolean {
  const compact = text.replace(/ /g, '').toUpperCase()
  if (compact.length < 15 || compact.length > 34) return false
  let rest = 0
  for (const char of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(char, 36)
    if (Number.isNaN(value)) return false
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** Letters and digits together: what generated secrets have and words do not. */
export const isMixed = (text: string): boolean => /\d/.test(text) && /[A-Za-z]/.test(text)

/** At least two of lower case, upper case and digits, in more than three different characters. */
export const isVaried = (text: string): boolean =>
  Number(/\d/.test(text)) + Number(/[a-z]/.test(text)) + Number(/[A-Z]/.test(text)) > 1 &&
  new Set(text).size > 3

/** Shannon's entropy in bits per character: words and paths have less than 4, what was drawn at random has more. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** For marks so short that words carry them too. */
export const isRandom = (text: string): boolean => isVaried(text) && entropyOf(text) >= 4

/** One unbroken run that mixes letters and digits, so that `sk-learn-pipeline-version-2` is left alone. */
export const hasDenseRun = (text: string): boolean => (text.match(/[A-Za-z0-9]{16,}/g) ?? []).some(isMixed)

/** `${TOKEN}`, `<password>`, `{{key}}`, `%s`, `your-api-key`, `****`, `process.env.KEY`: names of secrets, not secrets. */
export const isTemplate = (text: string): boolean =>
  isAdvice(text) ||
  ALGORITHM.test(text) ||
  CLASS.test(text) ||
  isIndexed(text) ||
  isMarkedName(text) ||
  isMask(text) ||
  isJoin(text) ||
  isRule(text) ||
  (/^["'`]?(?:\$(?!(?=\S*[!@#%&*])(?:\w*[a-z]\d[a-z]|[a-z]@[a-z]))|<|\{|%[({sd]|your[-_ ]|my[-_ ](?!.*\d\d)[^]{1,21}$|(.)\1*$|\[[A-Za-z ]+\]$|[\w-]*(?:\.{3}|…)$|\*{3}|\?[\w -]*$|[@:][a-z_]*(?:pass|pwd|pw|secret|token|key|value|param|hash)\w*$|process\.|os\.|env[.(]|[A-Za-z]+\.env\b)/i.test(
    text,
  ) &&
    !/^\$(?:(?=\w*\d)\w{2,}|[a-z]+)[!@#%^&*?~](?=.*\d|(?<=\d.*))[\w!@#%^&*?~+-]*$/.test(text))

/** `%API_KEY%`, `__SECRET__`, `@db.password@`, `op://vault/item/field`, `!secret wifi`, `ENC[AES256_GCM,…`, `hmac-sha256:…`: where the secret is, what was made of it, or for whom. */
const isMarkedName = (text: string): boolean =>
  /^[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:PASS|PASSWORD|PWD|TOKEN|KEY|SECRET)$/.test(text) ||
  /^(?:%[A-Z][A-Z0-9_]+%|__[A-Z][A-Z0-9_]*__|@[A-Za-z][\w.-]*@|#\{[\w.-]+\}#?|!(?:secret|vault|env|env_var|ENV|include|Ref|Sub|GetAtt|reference|file|ImportValue|encrypted\/\w+|vault-encrypted)|(?:op|vault|secretref|keyring|keyvault|ssm|awssm|aws-sm|gcpsm|gcp-sm|akv|bws|doppler|infisical|sops|ref\+[a-z]+):\/\/.*|ENC\[.*|Ag[A-D][A-Za-z0-9+/]{180,}={0,2}|hmac-sha\d+:[0-9a-f]{40,}|age1[a-z0-9]{58}|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER|NOT_LOGGING_PASSWORD)$/.test(
    text,
  )

/** What a digest, a signature, a cipher or an encoding is called. */
const ALGORITHM =
  /^(?:scram-sha-\d+(?:-plus)?|rsassa-[\w-]+|(?:aes|rsa|ecdh|hmac)[-_](?:[a-z]{2,6}\d{0,3}[-_]){1,4}[a-z]{2,6}\d{0,3}|base\d+(?:url)?-[a-z]+)$/i
/** `SecuritySchemeOauth2Password`. */
const CLASS = /^(?:[A-Z][a-z]+)*(?:O[Aa]uth2|MD5|Sha\d+|Base64|Http2|Utf8)(?:[A-Z][a-z]{3,})+$/

/** `replace-me`, `changeit`, `change_me_in_production`, `insert your key here`: what an example says in the place of a secret. */
function isAdvice(text: string): boolean {
  return /^(?:change|replace)[-_ ]?(?:me|it|this)\d{0,3}!?$|^(?:replace|change|insert|put|fill|enter|todo|example|placeholder|dummy|sample|generate|paste|set|use|some)[-_](?:me|this|with|in|it|here|an?|your|the|value|secret|key|password|token|random|by|own)(?:[-_][a-z]+)*!?$|[-_]your[-_][a-z_-]+$|^your(?:[-_ ][\w -]+|[a-z]*(?:key|token|secret|password|here))$|^(?:UGFzc3dvcmQ6|VXNlcm5hbWU6)$/i.test(
    text,
  )
}

/** Letters alone, small and capital ones in no order: `hJVijnSPXzGjGW`. Names are made of words, which are longer and have vowels. */
export function isScrambled(text: string): boolean {
  if (!/^[A-Za-z=+~_-]{12,64}$/.test(text) || !/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false
  const parts = text.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? []
  const odd = parts.filter((part) => part.length < 3 || !/[aeiouy]/i.test(part)).length
  if (parts.length < 3) return false
  const capitals = text.replace(/[^A-Z]/g, '').length
  return (
    odd >= 2 ||
    parts.length * 2 >= text.length * 0.8 ||
    (parts.length >= 4 && capitals >= text.length * 0.4 && /^[A-Za-z]+$/.test(text))
  )
}

/** `events[index][1]`, `key[:16]`, `users[1].password`, `*.*.token`. */
const isIndexed = (text: string): boolean =>
  /^[A-Za-z_$][\w$.]*\[[\w$.:[\]-]*\](?:\.[A-Za-z_$][\w$]*)*$|^(?:[A-Za-z_*]+\.)*\*(?:\.[A-Za-z_*]+)*$/.test(
    text,
  )

/** What may follow `password:` in free text and still be a word, a label, code, a path or an address. */
export function looksAssigned(text: string): boolean {
  const value = text.replace(/[.,;:!?]+$/, '')
  if (value.length < 8 || isTemplate(value) || value.includes('://')) return false
  if (isPassphrase(value) || isNumberedPair(value)) return true
  // A base64 secret may begin with a slash too; no path is that long without a hyphen or a dot.
  if (/^(?:\.{0,2}|~\w*)\//.test(value) && !/^[A-Za-z0-9+/]{32,}={0,2}$/.test(value)) return false
  if (
    /^(?:=|urn:|![a-z]+[A-Z][A-Za-z]+$)|^[\w$.]+\[$|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+\(/.test(value) ||
    isIndexed(value)
  )
    return false
  const isMember = /^[A-Za-z_$]\w*[$!]?(?:(?:\??\.#?|::|->)[A-Za-z_$]\w*[$!]?)+$/.test(text)
  if (isMember && !/(?:\d.*){3}/.test(value)) return false
  if (/^[a-z]+(?:[-_][a-z]+)*[-_]?v?\d{0,2}$|^[\w.-]+@$/.test(value) && /[-_@]/.test(value)) return false
  if (/^[A-Za-z+/]{12,}={1,2}$/.test(value)) return true
  return isMixed(value) || (/[A-Za-z]/.test(value) && /[@#$%^&*!?]/.test(value)) || isScrambled(value)
}

/** For names that are words of prose and code too: only what was surely generated counts after them. */
export const isGenerated = (text: string): boolean =>
  text.length >= 16 &&
  isMixed(text) &&
  looksAssigned(text) &&
  // An address of Ethereum, a fingerprint.
  !/^0x[0-9a-fA-F]{40}$|^(?:SHA256|SHA512|MD5|sha256|sha512):/.test(text) &&
  !/^[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,2}$|^[a-z]+(?:[-_:.][a-z]+)+[-_:.]v\d+(?:[._]\d+)*$/.test(text)

/** Technical words with a digit in them, numbers with a unit, ordinals. */
const TECHNICAL =
  /^(?:base\d+(?:-[a-z]+)?|b64(?:enc|dec)|sha-?\d+\w*|md5\w*|utf-?\d+|argon2\w*|pbkdf2\w*|aes-?\d+.*|rsa-?\d+.*|oauth2?|http2|pkcs\d+|x\.?509|ed25519|ipv[46]|v?\d[\d.]*[a-z]{0,5}|\d+-\w+|(?:step|field|arg|param|col|column|row|line|page|part|option|level|phase|section|table|user|test|item|db|s3)-?\d*)$/i
const CODE = /[(){}[\]]|=>|::|->|;|^[\w.+-]+@[\w-]+\.[\w.]+$|:\/\//

/** A word that nobody would say at this place unless it is the secret itself. */
export function isPassword(text: string): boolean {
  if (
    isTemplate(text) ||
    TECHNICAL.test(text) ||
    CODE.test(text) ||
    /^(?:\.{0,2}|~\w*)\/|^\s|\s(?:&&|\|\|?)\s/.test(text)
  )
    return false
  if (isPassphrase(text) || isCapitalPair(text) || isNumberedPair(text)) return true
  if (isIndexed(text)) return false
  if (/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(text) && !/(?:\d.*){2}/.test(text)) return false
  if (
    /[-_]/.test(text) &&
    /^[A-Za-z]+(?:[-_][A-Za-z]+)?[-_]?\d{0,2}$|^[A-Za-z_-]+$|^[a-z]+(?:[-_][a-z]+)+[-_]v\d{1,3}$/.test(text)
  )
    return false
  if (/^[\w*.-]+$/.test(text) && text.includes('*.')) return false
  if (/^\d+$/.test(text)) return text.length >= 5 && text.length <= 16
  return (
    text.length >= 5 &&
    (isMixed(text) ||
      /^(?=.*[A-Za-z]).*[@#$%^&*!+=~].*\w/.test(text) ||
      isScrambled(text) ||
      // Six letters of a machine: `ZHXRRJ`, `fCOZCC`.
      /^[B-DF-HJ-NP-TV-Z]{6,11}$|^[a-z]{1,3}[A-Z]{3,9}$/.test(text))
  )
}

const LABEL_WORD =
  /^(?:pass(?:word|wort|phrase|code|e|ord)s?|kennwort|contraseña|clave|senha|hasł[oa]|wachtwoord|heslo|jelszó|lösenord|parola|salasana|adgangskode|şifre|secrete?o?|secreta?|segreto|segredo|geheim(?:nis)?|clé|chiave|chave|klucz|schlüssel|nyckel|sleutel|key|api(?:-schlüssel)?|token|jeton|cookies?|credentials?|authorization|пароль|ключ|секрет)$/i
const LABEL_SIGNS =
  /^(?:密码|密碼|口令|パスワード|비밀번호|암호|秘密|シークレット|密钥|密鑰|キー|APIキー|API 密钥|API キー|Cookie|令牌|トークン)$/

/** Instead of what was hidden: `********`, `••••••••7f2c`, `sk_live_****`, `sk_test_xxx`, `sk_live_...7f2c`. */
const isMask = (text: string): boolean =>
  /^[\w-]{0,12}([*•●·×#])\1{2,}[\w-]{0,8}$|^(?:[\w-]{1,12}[-_])?(?:x{3,}|X{3,})$|^(?:x{4,}|X{4,}|-{4,})[\w-]{0,4}$|^[\w-]{0,12}(?:\.{3,}|…)[\w-]{0,8}$|^\*+(?:[A-Z_]+\*+)+$|^\((?:sensitive|known|hidden|redacted|not set|unset|none)[\w ]*\)$/.test(
    text,
  )

/** What a setting about passwords may be, `update_password: on_create`, or its type: `"password": "string"`. */
const isChoice = (text: string): boolean =>
  /^(?:on_create|always|never|true|false|yes|no|null|none|required|optional|enabled|disabled|prompt|ask|auto|default|string|str|text|number|integer|boolean|uuid|error|warn|off|on|ignore)$/.test(
    text,
  )

/** What a form demands: `required|string|min:10`. */
const isRule = (text: string): boolean =>
  /^(?:required|nullable|sometimes|string|confirmed|present|filled|omitempty)(?:[|,][\w:=,.]+)+$/.test(text)

/** Strings of a program that are put together: `"Password=" & pwd & ";"`. */
const isJoin = (text: string): boolean => /^ ?(?:[&+.]|\|\|) ?[\w.$()]+ ?(?:[&+.]|\|\|) ?$/.test(text)

/** Where a value is kept, or that there is none to be seen. */
const ELSEWHERE =
  /^(?:(?:process|import\.meta)\.env[.[][\w.'"\]]+|os\.(?:environ|getenv)[^]*|env:[A-Za-z_]\w*|(?:vault|ssm|kv):[\w-]+\/[\w./#@-]+|(?:secrets?|sm|gsm|env|file|k8s):\/\/[\w./#@:-]+|arn:aws[\w-]*:(?:secretsmanager|ssm|kms):\S+|projects\/[\w-]+\/secrets\/\S+|(?:\/var)?\/run\/secrets\/\S+|secretKeyRef|\(?(?:not set|known after apply|redacted|masked|hidden|sensitive(?: value)?)\)?|\(set\)|[Nn]\/[Aa]|[-–—?…])$/
/** How one proves who one is, the type of a column or a field, what a form fills in, and keys that are made to be shown. */
const KIND =
  /^(?:(?:bearer|basic|token|digest|negotiate|api-?key|aws4-hmac-sha256) *|(?:str|secretstr|string|varchar|char|character varying|binary|varbinary|bytea|keyword)(?:\(\d+\))?[!?]?|Optional\[\w+\]|\w+ \| (?:None|null|undefined)|(?:new|current)-password|password_hash|pk_(?:live|test)_\w+)$/i

/** `{{ vault_password }}`, `${DB_PASSWORD}`, `<password>`, `[REDACTED]`, `Bearer ${TOKEN}`; the version of a package; `sops -d secrets.yaml` under the name of a script. */
export const isReference = (text: string): boolean =>
  /^(?:(?:[bB]earer|[bB]asic|[tT]oken|[aA]pi-?[kK]ey) +)?(?:\{\{[^]*\}\}|\$\{\{[^{}]*\}\}|[*•]{3,}[\w-]{0,6}|\$\{[^{}]*\}|\$[A-Z][A-Z0-9_]*|\$\([^]*\)|<[A-Za-z][\w -]{0,60}>|\[[A-Za-z ]+\]|[~^]?\d+\.\d+\.\d+(?:-[\w.]+)?)$/.test(
    text,
  ) ||
  ELSEWHERE.test(text) ||
  KIND.test(text) ||
  isMarkedName(text) ||
  isAdvice(text) ||
  isMask(text) ||
  isRule(text) ||
  isChoice(text) ||
  isJoin(text) ||
  /^[a-z][\w./-]*(?: [\w./:=@-]+)*? (?:-{1,2}[a-z][\w-]*(?: |=|$)|[\w./-]+\.(?:ya?ml|json|[cm]?[jt]s|sh|py|env)(?: |$)|&& )/.test(
    text,
  )

/** What a form says of what was typed, or asks: "must contain a digit", "Nie pamiętasz hasła?". */
const REMARK =
  /^(?:is|isn['’]t|must|can|can['’]t|don['’]t|doesn['’]t|didn['’]t|cannot|should|has|does|may|needs|was|are|too|at least|please|enter|invalid|wrong|the|this|your|no) [\p{L}\d]|^\p{L}+(?: \p{L}+){1,9}\?$|(?:ください|ません|ます|です|ました|ない)。?$/iu

/** What a page calls such a field, as the catalogues of its languages have it: "Mot de passe", "Clé API". */
export function isLabel(text: string): boolean {
  if (text.length > 80) return false
  if (LABEL_SIGNS.test(text) || REMARK.test(text)) return true
  if (!/^[\p{L}’'-]+(?: [\p{L}’'()-]+){0,9}[.:?!…*]{0,3}$/u.test(text)) return false
  const words = text.replace(/[().:?!…*]+/g, '').split(/[ ’']/)
  return (words.length > 1 || /^\p{Lu}\p{Ll}/u.test(text)) && words.some((word) => LABEL_WORD.test(word))
}

/** The name of a secret in an address of AWS, and the digest of one in Helm. */
export const isNamedOnly = ({ input, index }: RegExpExecArray): boolean =>
  /(?:arn:[\w:*-]{0,80}:|checksum\/[\w-]{0,40})$/.test(input.slice(Math.max(0, index - 100), index))
