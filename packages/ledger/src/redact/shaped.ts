import {
  decodeBase64,
  hasDenseRun,
  isBasicCredentials,
  isJwt,
  isPaymentCard,
  isRandom,
  isTemplate,
  isVaried,
} from './checks.ts'
import { isCertain } from './plain-words.ts'
import { type Detector, ID, LOOSE_START, simple, START, URL_ID } from './detector.ts'
import { anyCase } from './keys.ts'

const BEARER = '[A-Za-z0-9._~+/=-]'
const PEM_LABEL = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
/** What may stand between BEGIN and END, as in the file or with its line ends escaped. */
export const PEM_BODY = '(?:[A-Za-z0-9+/=\\s\\\\:,.>]|-(?!----))'

/** Who knows the address may write. */
const HOOKS = [
  'hooks\\.slack(?:-gov)?\\.com\\/(?:services|workflows|triggers)\\/',
  'discord(?:app)?\\.com\\/api\\/webhooks\\/',
  'hooks\\.zapier\\.com\\/hooks\\/(?:catch|standard)\\/',
  'hook\\.[\\w.]{0,24}(?:make|integromat)\\.com\\/',
  'ifttt\\.com\\/trigger\\/[\\w-]{1,64}\\/(?:json\\/)?with\\/key\\/',
  'office(?:365)?\\.com\\/webhook(?:b2)?\\/',
  '\\/bot\\/(?:v\\d\\/)?hook\\/',
  'hc-ping\\.com\\/|healthchecks\\.io\\/ping\\/',
  '\\/api\\/v\\d\\/(?:incoming-webhook|heartbeat)\\/',
  'infura\\.io\\/(?:ws\\/)?v3\\/|alchemy\\.com\\/v2\\/|quiknode\\.pro\\/|ankr\\.com\\/\\w{2,12}\\/',
  'events\\.pagerduty\\.com\\/integration\\/',
  'hooks\\.airtable\\.com\\/workflows\\/',
  'script\\.google\\.com\\/macros\\/s\\/',
  'api\\.day\\.app\\/|sctapi\\.ftqq\\.com\\/|webhook\\.site\\/|nosnch\\.in\\/|cronitor\\.link\\/p\\/',
  'api\\.netlify\\.com\\/build_hooks\\/|\\/deploy_hooks\\/|\\/integrations\\/deploy\\/|\\/api\\/push\\/',
  ':\\/\\/[\\w.:-]{3,80}\\/hooks\\/(?=[a-z0-9]{26}(?![a-z0-9])|[A-Za-z0-9]{17,24}\\/[A-Za-z0-9]{20})',
  ':\\/\\/[\\w.:-]{3,80}\\/webhook(?:-test)?\\/(?=[0-9a-f]{8}-[0-9a-f]{4}-)',
  'guilded\\.gg\\/webhooks\\/|webexapis\\.com\\/v1\\/webhooks\\/incoming\\/|hooks\\.bitrise\\.io\\/h\\/\\w{3,12}\\/',
  'automation\\.atlassian\\.com\\/pro\\/hooks\\/|victorops\\.com\\/integrations\\/generic\\/\\d{1,12}\\/alert\\/',
  '\\/api\\/webhook\\/|\\/sendwebhookdata\\/',
].join('|')

const isSecretJson = (text: string): boolean =>
  /"(?:s|t|k|secret|token|password|key|auth|private_?key|access_?token|refresh_?token)" ?:/i.test(
    decodeBase64(text) ?? '',
  )

/** `://user:password@`, as documentation has it. */
const isExample = (secret: string, found: string): boolean =>
  /^(?:(?:some|my|the)?[-_]?(?:pass(?:word|wd)?|secret)|pw|pwd|your[-_]?\w*)\\?$/i.test(secret) &&
  /\/(?:(?:some|my|db)?_?user(?:name)?|login|name|your[-_]?\w*):\S*$/i.test(found)

export const shapedDetectors: readonly Detector[] = [
  simple(
    'google-key',
    'A(?=(?:Iza|[KSBC][IC]A|KID)[\\w-]{16}|T[AC]TT3|TBB[A-Za-z0-9]{28}|BSK[A-Za-z0-9+/]{60}|A{18,24}[A-Za-z0-9%]{40})',
    `${START}AIza${URL_ID}{35,}`,
  ),
  simple('aws-key', [], `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])`),
  // The secret behind the id, with a sign or a gap between them.
  simple(
    'aws-secret',
    [],
    `${START}(?:AKIA|ASIA)[A-Z0-9]{16}\\\\{0,3}["']?(?: ?[/,:;|] ?| {1,3}|\\t)\\\\{0,3}["']?(?<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])`,
    isRandom,
  ),
  simple('twitter-token', [], `${START}A{19,25}(?:[A-Za-z0-9]|%[0-9A-F]{2}){40,200}`, isRandom),
  simple('aws-bedrock-key', [], `${START}ABSK[A-Za-z0-9+/]{60,}={0,2}`),
  simple('facebook-token', `A(?<=${LOOSE_START}EAA)(?=${ID}{100})`, `${START}EAA${ID}{100,}`, isVaried),
  simple('twilio-key', 'S(?=K[0-9a-f]{32})', `${START}SK[0-9a-f]{32}(?![A-Za-z0-9])`),
  simple('atlassian-token', [], `${START}AT[AC]TT3[A-Za-z0-9_=-]{60,}`),
  simple('bitbucket-token', [], `${START}ATBB${ID}{28,32}(?![A-Za-z0-9])`, isVaried),
  simple('tencent-key', [], `${START}AKID${ID}{32}(?![A-Za-z0-9])`, isVaried),
  simple('alibaba-key', 'A(?<=LTA)(?=I[A-Za-z0-9]{16})', `${START}LTAI${ID}{16,20}(?![A-Za-z0-9])`, isVaried),
  simple(
    'mailchimp-key',
    '-(?=us\\d)(?<=[0-9a-f]{32}-)',
    '(?<![A-Za-z0-9])[0-9a-f]{32}-us\\d{1,2}(?![A-Za-z0-9])',
    isVaried,
  ),
  simple('google-token', '\\/(?<=1\\/\\/)(?=0[\\w-]{30})', `(?<![\\w/.:])1\\/\\/0${URL_ID}{30,}`, isVaried),
  simple('airtable-token', [], `${START}pat${ID}{14}\\.[0-9a-f]{64}`),
  simple(
    'asana-token',
    ':(?=[0-9a-f]{32})(?<=(?:\\/\\d{13,17}|AC[0-9a-f]{32}).)',
    '(?<![\\w/])[12]\\/\\d{13,17}(?:\\/\\d{13,17})?:[0-9a-f]{32}',
  ),
  simple(
    'telegram-token',
    ':(?=AA[\\w-]{32})',
    `(?:(?<![\\w.])|(?<=\\/bot))\\d{8,11}:AA${URL_ID}{32,34}(?![\\w-])`,
    isVaried,
  ),
  simple(
    'discord-token',
    '\\.(?<=[\\w-]{17}.)(?=[\\w-]{6}\\.|[0-9a-f]{32})(?<=(?:[MNO][\\w-]{23,27}|pat[A-Za-z0-9]{14})\\.)',
    `${START}[MNO]${URL_ID}{23,27}\\.${URL_ID}{6}\\.${URL_ID}{27,}`,
    isVaried,
  ),
  simple(
    'webhook-url',
    `\\/(?<=(?:\\/(?:services|webhooks?|workflows|triggers|hooks?|alert|sendwebhookdata|h\\/\\w{3,12}|catch|webhookb2|ping|heartbeat|integration|key|incoming|incoming-webhook|s|p|build_hooks|deploy_hooks|deploy|push|v\\d|eth)|\\.(?:com|io|pro|app|site|in))\\/)(?=[\\w@/-]{12})(?<=${HOOKS})`,
    '(?<=hooks\\.slack(?:-gov)?\\.com\\/(?:services|workflows|triggers)\\/|discord(?:app)?\\.com\\/api\\/webhooks\\/)[\\w/-]{24,}',
  ),
  simple(
    'webhook-url',
    [],
    `\\/(?<=${HOOKS})(?<secret>[\\w@/-]{12,})`,
    (path) => /[A-Za-z\d]{7}/.test(path) && isVaried(path),
  ),
  // Their path alone, as a log of requests has it.
  simple(
    'webhook-url',
    [
      '\\/(?<=\\/(?:services|workflows|triggers).)(?=[TE][A-Z0-9]{7,12}\\/)',
      '\\/(?<=\\/api\\/(?:v\\d{1,2}\\/)?webhooks.)(?=\\d{17,20}\\/[\\w-]{50})',
    ],
    '(?<=\\/(?:services|workflows|triggers)\\/[TE][A-Z0-9]{7,12}\\/(?:[A-Z0-9]{8,14}\\/)?(?:\\d{12,20}\\/)?)[A-Za-z0-9]{24,40}(?![A-Za-z0-9])|(?<=\\/webhooks\\/\\d{17,20}\\/)[\\w-]{50,90}',
    isVaried,
  ),
  // The address of a calendar that is nobody else's.
  simple('webhook-url', '-(?<=\\/private.)(?=[0-9a-f]{16})', '(?<=\\/)private-[0-9a-f]{16,}'),
  simple(
    'recovery-key',
    '-(?<=\\d{6}.)(?=(?:\\d{6}-){6}\\d{6})',
    '(?<![\\w-])\\d{6}(?:-\\d{6}){7}(?![\\w-])',
  ),
  // A token that is JSON in base64, without a signature.
  simple('token', [], `(?<![\\w/+.-])eyJ[A-Za-z0-9+/_-]{40,}={0,2}(?![\\w.])`, isSecretJson),
  simple(
    'azure-key',
    '=(?<=(?:[Kk]ey|sig)=)(?=[A-Za-z0-9%+/]{40})',
    '(?:AccountKey|SharedAccessKey|[?&]sig)=(?<secret>[A-Za-z0-9%+/]{40,}={0,2})',
    isVaried,
  ),
  simple(
    'azure-secret',
    '~(?<=\\dQ~)(?=[\\w~.-]{31})',
    '(?<![\\w~.-])[\\w~.-]{3}\\dQ~[\\w~.-]{31,34}(?![\\w~.-])',
    isVaried,
  ),
  // Of OpenShift, and what belongs to an account of Twilio.
  simple(
    'openshift-token',
    '~(?<=sha256.)(?=[\\w-]{43})',
    '(?<=(?<![\\w-])sha256~)[\\w-]{43}(?![\\w-])',
    isVaried,
  ),
  simple('twilio-token', [], '(?<=(?<![A-Za-z0-9])AC[0-9a-f]{32}:)[0-9a-f]{32}(?!\\w)'),
  simple(
    'jwt',
    'J(?<=eyJ)(?=[\\w-]{8})',
    `(?:(?<![A-Za-z0-9_-])|(?<=\\\\[bfnrt]|%[0-9A-F]{2}))eyJ${URL_ID}{8,}\\.${URL_ID}{8,}(?:\\.${URL_ID}*){1,3}`,
    isJwt,
  ),
  simple(
    'private-key',
    '-(?=----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY)',
    `-----BEGIN ${PEM_LABEL}${PEM_BODY}*(?:-----END ${PEM_LABEL})?`,
    (text) => /-----[\s\S]{0,400}?[A-Za-z0-9+/]{24}/.test(text.slice(11)),
  ),
  simple(
    'url-password',
    ':(?=\\/\\/[^\\s"\'<>/]*@)',
    ':\\/\\/[^\\s"\'<>/:@]{0,256}:(?<secret>[^\\s"\'<>/]{1,256})(?=@[A-Za-z0-9[_$.-])',
    (secret, match) =>
      !/^(?:\$|<|\{|%[({]|\*+$|PASS(?:WORD)?$|\.{3})/.test(secret) && !isExample(secret, match[0]),
  ),
  // The password alone, as a proxy has it.
  simple(
    'url-password',
    [],
    '(?<=(?<![A-Za-z])(?:trojan|ss|ssr|snell|anytls|hysteria2?|hy2):\\/\\/)[^\\s"\'<>/:@]{6,256}(?=@[A-Za-z0-9[_.-])',
    (secret) => !/^(?:\$|<|\{|%[({])/.test(secret),
  ),
  simple(
    'bearer-token',
    `[bB](?=${anyCase('earer')} +${BEARER}{16})`,
    `(?<![A-Za-z0-9])${anyCase('bearer')} +(?<secret>${BEARER}{16,})`,
    (secret) => /\d/.test(secret) && isVaried(secret),
  ),
  simple(
    'basic-credentials',
    `[bB](?=${anyCase('asic')} +[A-Za-z0-9+/]{4})`,
    `(?<![A-Za-z0-9])${anyCase('basic')} +(?<secret>[A-Za-z0-9+/]{4,}={0,2})`,
    isBasicCredentials,
  ),
  simple(
    'url-signature',
    '=(?<=[sS]ignature=)(?=["\\\\]{0,9}[\\w~%+/-]{24})',
    '(?<=(?:[?&]|, ?)(?:X-Amz-|X-Goog-|oauth_)?[sS]ignature=\\\\{0,9}"?)[\\w~%+/-]{24,}={0,2}',
    isVaried,
  ),
  simple(
    'okta-token',
    'S(?=SWS {1,3}[\\w-]{30})',
    `(?<![A-Za-z0-9])SSWS {1,3}(?<secret>${URL_ID}{30,})`,
    isVaried,
  ),
]

/** Their first characters are too many for one pass over the text with the others. */
export const furtherDetectors: readonly Detector[] = [
  simple(
    'password-hash',
    '\\$(?=(?:2[abxy]|[156y]|apr1|argon2id?)\\$)',
    '\\$(?:2[abxy]|[156y]|apr1|argon2id?)\\$[\\w./$=,+-]{20,200}',
    // Behind the parameters alone stands `<salt>`.
    (hash) => isVaried(hash) && /[^$]{8}$/.test(hash),
  ),
  // Who has the link may set the password.
  simple(
    'url-secret',
    '\\/(?<=\\/(?:verify|reset|invite|confirm|activate|magic|join|reset-password|password-reset|set-password|onboard|confirmation|invitation|unlock|recover)\\/)(?=[\\w.~-]{20})',
    '(?<=\\/(?:verify|reset|invite|confirm|activate|magic|join|reset-password|password-reset|set-password|onboard|confirmation|invitation|unlock|recover)\\/)[\\w.~-]{20,2048}',
    (secret) => isVaried(secret) && hasDenseRun(secret),
  ),
  // Who is known to a bridge of lamps.
  simple(
    'url-secret',
    '\\/(?<=\\/api.)(?=[\\w-]{32,40}\\/)',
    '(?<=\\/api\\/)[\\w-]{32,40}(?=\\/(?:lights|groups|sensors|scenes|config)(?!\\w))',
  ),
  // A private key in PEM, in base64 once more, and that of minisign.
  simple(
    'private-key',
    'L(?=S0tLS1CRUdJTi)',
    'LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}(?:UFJJVkFURSBLRV|QUklWQVRFIEtFW|BSSVZBVEUgS0VZ)[A-Za-z0-9+/=]{16,}',
  ),
  // With the scheme, which Fly prints as a part of it.
  simple('fly-token', 'F(?=lyV1 f[mo]\\d)', 'FlyV1 f[mo]\\d[ar]?_[A-Za-z0-9+/=_,-]{40,}'),
  // Of a cluster: the digest of its certificate, and the token behind it.
  simple('k3s-token', 'K(?=10[0-9a-f]{64}::)', `${START}K10[0-9a-f]{64}::[\\w:.-]{8,120}`),
  simple(
    'kubeadm-token',
    '\\.(?=[a-z0-9]{16}(?![\\w.-]))(?<=(?<![\\w.-])[a-z0-9]{6}.)',
    '(?<![\\w.-])[a-z0-9]{6}\\.[a-z0-9]{16}(?![\\w.-])',
    (secret, { input, index }) =>
      /\d.*\d/.test(secret.slice(7)) &&
      /[a-z].*[a-z]/.test(secret.slice(7)) &&
      /token/i.test(input.slice(Math.max(0, index - 240), index)),
  ),
  // What an OAuth client gets a token for, and what a tunnel is run with.
  simple('google-code', '4(?=(?:\\/|%2F)0A[\\w-]{30})', `${START}4(?:\\/|%2F)0A[\\w-]{30,200}`),
  simple(
    'cloudflare-token',
    'J(?<=ey.)(?=hIjoi[A-Za-z0-9+/]{80})',
    `${START}eyJhIjoi[A-Za-z0-9+/]{80,}={0,2}`,
  ),
  simple(
    'wallet-key',
    'W(?=IF[ :=])',
    'WIF[^\\r\\n]{0,60}?[:= ](?<secret>[5KLc9][A-Za-z0-9]{50,51})(?![A-Za-z0-9])',
    isRandom,
  ),
  simple('gitlab-token', 'G(?=R1348941)', `${START}GR1348941[\\w-]{20,}`, isVaried),
  // Of Laravel.
  simple(
    'app-key',
    ':(?<=base64.)(?=[A-Za-z0-9+/]{43}=)',
    '(?<=(?<![\\w;,/])base64:)[A-Za-z0-9+/]{43}=(?![\\w=])',
    isRandom,
  ),
  simple('private-key', 'R(?=WRTY0Iy)', `${START}RWRTY0Iy[A-Za-z0-9+/]{100,}={0,2}`),
  simple(
    'password',
    'I(?=DENTIFIED BY )',
    'IDENTIFIED BY \\\\{0,3}["\'](?<secret>[^"\'\\\\]{4,128})(?=\\\\{0,3}["\'])',
    (secret) => !isTemplate(secret),
  ),
  simple('password', [], 'IDENTIFIED BY (?<secret>[A-Za-z][\\w#$]{4,64})(?=[;\\s\\\\"]|$)', isCertain),
  simple(
    'basic-credentials',
    'A(?=UTH(?:ENTICATE)? (?:PLAIN|LOGIN) )',
    'AUTH(?:ENTICATE)? (?:PLAIN|LOGIN) (?<secret>[A-Za-z0-9+/]{8,}={0,2})',
    isVaried,
  ),
  // What a client answers to "Password:" in base64.
  simple(
    'basic-credentials',
    'U(?=GFzc3dvcmQ6)',
    'UGFzc3dvcmQ6(?:\\r?\\n|\\\\{1,9}r?\\\\{0,9}n)[^\\r\\n\\w]{0,8}(?:C: ?|[\\w.-]{1,40}[>:] ?)?(?<secret>[A-Za-z0-9+/]{6,200}={0,2})(?=[\\s\\\\"]|$)',
  ),
]

export const cardDetector: Detector = {
  kind: 'payment-card',
  anchor: '[2-6](?<![\\d.A-Z_a-mo-qsu-z].)(?=\\d{3}(?:\\d{10}|[ -](?:\\d{4}[ -]\\d{4}|\\d{6})[ -]\\d{3}))',
  alone: true,
  pattern: new RegExp(
    '(?:(?<![\\w#/]|\\d[ .-]|[\\w.]-|\\.)|(?<=\\\\[nrt]))' +
      '(?:\\d{14,19}|\\d{4}([ -])\\d{4}\\1\\d{4}\\1\\d{3,4}(?:\\1\\d{3})?|\\d{4}([ -])\\d{6}\\2\\d{4,5})' +
      '(?![\\w]|[./-]\\d|[ -]\\d{4}(?!\\d))',
    'g',
  ),
  validate: isPaymentCard,
}
