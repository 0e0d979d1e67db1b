import type { JsonValue } from '../json.ts'

/** What the names of an object's members say about each other. */
type Members = Readonly<Record<string, JsonValue>>

/** `{ element: 'Password field', text: '…' }`. */
export const isTypedName = (key: string): boolean => /^(?:text|keys|characters)$/.test(key)
const isFieldOf = (name: JsonValue | undefined, form: RegExp): name is string =>
  typeof name === 'string' && name.length < 200 && form.test(name)
const PASSWORD_FIELD =
  /pass(?:word|wort|wd|phrase|code)|mot de passe|contraseña|(?:^|[#="'_.-])(?:pass|pwd|pw)(?:$|["'\]])/i
export const typesPassword = ({ element, selector, target, field, ref }: Members): boolean =>
  [element, selector, field, ref].some((name) => isFieldOf(name, PASSWORD_FIELD)) ||
  (isFieldOf(target, PASSWORD_FIELD) && !/\/|\.\w+$/.test(target))

/** `{ selector: '#cvc', text: '…' }`. */
const CODE_FIELD =
  /(?<![a-z])(?:cvv2?|cvc2?|otp|totp)(?![a-z])|[#=_-]pin(?![a-z])|(?:security|verification|one-time|2fa|mfa|sms|pin)[-_ ]?code|pin[-_ ](?:input|field)/i
export const typesCode = ({ element, selector, target, field, ref }: Members): boolean =>
  [element, selector, target, field, ref].some((name) => isFieldOf(name, CODE_FIELD))

/** `{ user, pass }`, `{ ssid, psk }`, `{ usuario, clave }`. */
export const isShortName = (key: string): boolean => /^(?:pass|pw|pwd|psk|clave|chiave|chave)$/i.test(key)
const USER = /^(?:user|username|login|e?mail|ssid|usuario|usuário|utente|utilizador|nombre_?usuario|correo)$/i
export const hasUser = (source: Members): boolean =>
  Object.keys(source).some((name) => USER.test(name) && typeof source[name] === 'string')

/** `pwd` is where a shell stands, too. */
export const isDirectory = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && /^(?:[~/]|[A-Z]:\\)/.test(value)

/** `{ new_password, confirm }`. */
export const isRepeat = (key: string): boolean => /^(?:confirm|confirmation|repeat|retype|again)$/i.test(key)

/** What stands beside the name of a secret, or under it, in an object of its own. */
export const isValueName = (key: string): boolean => /^(?:(?:[A-Z][a-z]{2,12})?[vV]al(?:ue)?|S)$/.test(key)
const LABELS = [
  'name',
  'key',
  'Name',
  'Key',
  'label',
  'field',
  'id',
  'variable',
  'ParameterKey',
  'OutputKey',
] as const
export const labelsOf = (source: Members): string[] =>
  LABELS.map((name) => source[name]).filter((label) => typeof label === 'string')

/** The program that wrote the object says that its value is a secret: an output of Terraform, a parameter of AWS, a field of 1Password. */
export const isDeclared = ({ sensitive, Type, type }: Members): boolean =>
  sensitive === true || Type === 'SecureString' || type === 'CONCEALED' || type === 'password'

/** What Terraform keeps of `random_password`. */
export const isDrawn = ({ type }: Members): boolean => type === 'random_password'

/** What is typed to prove that somebody is there: `otp`, `mfa_code`, `recovery_codes`. */
export const isCodeName = (key: string): boolean =>
  /^(?:pin|otp|cvv2?|cvc2?|puk|totp)$|(?:otp|mfa|2fa|totp|verification|sms|one[-_]?time|login|recovery|backup|scratch)[-_]?(?:code|pin)s?$/i.test(
    key,
  )
export const kindOfCode = (key: string): string =>
  /recovery|backup|scratch/i.test(key) ? 'recovery-code' : /^totp$/i.test(key) ? 'totp-secret' : 'pin'
export const isTypedCode = (text: string, kind: string): boolean =>
  kind === 'totp-secret'
    ? /^[A-Z2-7]{16,64}$|^\d{6,8}$/.test(text)
    : /^\d{3,10}$|^\d{3,4}[- ]\d{3,4}$/.test(text) ||
      (kind === 'recovery-code' && /^(?=.*\d)[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,4}$/.test(text))
