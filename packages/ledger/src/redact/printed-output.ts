import { type Detector, simple } from './detector.ts'
import { isJoinedHere } from './joined-words.ts'
import { isDrawnBracketed } from './machine-lines.ts'
import { LINE } from './pieces.ts'

/** What a command prints that reads one secret: the next line, and nothing else in it. */

const PRINTED_NAME = '(?:[pP]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE)?|_PWD|_PW|_pass|_pw)'
const FLAGS = '(?: {1,2}-{1,2}[a-zA-Z][\\w-]{0,24}(?:[= ][\\w./:{}\'"-]{1,60})?)'
/** Commands that print nothing but a password. */
const PRINTS = [
  'vault (?:kv get|read) [^\\r\\n]{0,40}?-field[= ][a-z_]{0,20}(?:pass|pw|secret|token|key|value)',
  'kubectl [^\\r\\n]{0,60}get secrets? [^\\r\\n]{0,160}base64 (?:-d|-D|--decode)',
  'pass show',
  'security find-(?:generic|internet)-password [^\\r\\n]{0,120}-[a-z]{0,3}w',
  'gcloud secrets versions access [^\\r\\n]{0,80}--secret',
  'secretsmanager get-secret-value [^\\r\\n]{0,160}--output text',
  'keyvault secret show [^\\r\\n]{0,160}-o(?:utput)? tsv',
  'terraform output -raw [a-z_]{0,40}(?:pass|pw|secret|token)',
  'pulumi stack output [^\\r\\n]{0,60}--show-secrets',
  'secretsmanager get-random-password [^\\r\\n]{0,160}--output text',
  'gcloud auth (?:application-default )?print-(?:access|identity)-token',
  'az account get-access-token [^\\r\\n]{0,120}-o(?:utput)? tsv',
  'op read op:\\/\\/',
  'op item get [^\\r\\n]{0,80}--reveal',
  'ssm get-parameter [^\\r\\n]{0,160}--with-decryption[^\\r\\n]{0,60}--output text',
  '(?:doppler|infisical) secrets get [^\\r\\n]{0,80}--plain',
  'secret-tool lookup',
  'argocd admin initial-password',
  'ecr get-login-password',
  'cat [\\w./~-]{0,60}\\.erlang\\.cookie',
  'nmcli [^\\r\\n]{0,60}wireless-security\\.(?:psk|wep-key\\d)[^\\r\\n]{0,80}show',
  '(?:cat|type|Get-Content) \\/run\\/secrets\\/[\\w.-]{0,40}(?:pass|pw)',
].join('|')
/** Any that reads, when what it reads is called so: `printenv DB_PASSWORD`, `bw get password github`, `cat db_password.txt`. */
const READS = `(?:get|show|read|cat|echo|printenv|lookup|view|print|output|access|type|Get-Content|config:get) (?<=(?:[%❯➜»$]|[\\w~)\\]]#) [^\\r\\n]{0,60}?)[^\\r\\n|;&]{0,100}?${PRINTED_NAME}(?:\\.txt)?["'}\\])]{0,4}(?: [\\w./@-]{1,40})?${FLAGS}{0,4}(?: {0,2}\\| {0,2}(?:base64|jq|tr|head|tail|xargs|openssl)[^\\r\\n|]{0,60}){0,2};?[ ]{0,2}`

/** What else lies in a vault. */
const NO_SECRET =
  /(?:[./={]|\w[-_])(?:user(?:name)?|host(?:name)?|port|dbname|database|endpoint|e?mail)["'})\]]{0,4}(?:[ \r\n\\]|$)/i

/** With what its commands have in common besides the word password. */
export const certainOutput: Detector = simple(
  'secret',
  [
    '-(?=field[= ]|-secret[= ]|secret-value|o(?:utput)? tsv|raw |-reveal|-with-decryption|-plain|-show-secrets|access-token|identity-token|(?:random|initial|login)-password|tool lookup|security\\.(?:psk|wep))',
    '-(?<=base64 -)(?=[dD]|-decode)',
    ':(?<=op.)(?=\\/\\/)',
    '\\.(?=erlang\\.cookie)',
    '\\/(?<=\\/run.)(?=secrets)',
    '\\$(?=[A-Z][A-Z_]{0,40}(?:PASS|PWD|PW))',
    '_(?=(?:PASS|PWD|PW|pass|pw)(?:["\'}\\])]|\\.txt| |\\r|\\n|\\\\)|PASS(?:WORD|WD|PHRASE))',
  ],
  `(?<![(\`"])(?:(?:${PRINTS})[^\\r\\n]{0,200}|${READS})${LINE}(?<secret>[^\\s"'\`\\\\]{5,4096})(?=[ ]{0,3}(?:${LINE}|\\r|\\\\{0,9}["'\`]|$))`,
  (secret, { 0: found }) =>
    !NO_SECRET.test(found.slice(0, -secret.length)) &&
    (isDrawnBracketed(secret) ||
      /^[A-Z]{20}$/.test(secret) ||
      (isJoinedHere(secret) && !/:$|^[\w.]+=|^#|^-+$|[<>]/.test(secret))),
)

/** The same where that word is what is looked for. */
export const passwordOutput: Detector = { ...certainOutput, anchor: [] }
