import { hasDenseRun, isBasicCredentials, isJwt, isPaymentCard, isRandom, isVaried } from './checks.ts'
import { anyCase } from './keys.ts'
import { assignmentDetectors, labelledDetectors } from './assignments.ts'
import { saidDetectors } from './said.ts'

/**
 * One thing to look for. The secret is the group `secret` of `pattern`, which ends the match, or the
 * whole match. `anchor` is a fragment of the prefilter: weaker than `pattern`, also true on the text as JSON
 * would escape it: one rare character and then only lookarounds, because V8 skips to such characters many
 * bytes at a time. An anchor with a common first character is scanned `alone`, or it would slow all others.
 */
export interface Detector {
  readonly kind: string | ((match: RegExpExecArray) => string)
  readonly anchor: string
  readonly alone?: boolean
  readonly pattern: RegExp
  validate?(secret: string, match: RegExpExecArray): boolean
}

/** A token begins where no letter or digit stands before it; `\n` and `%3D` of escaped text count as gaps. */
const START = '(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt]|%[0-9A-F]{2}))'
/** What the prefilter may demand instead: the letters of `\b \f \n \r \t` could be an escape. */
const LOOSE_START = '(?<![ac-eg-mo-qsu-z])'

const ID = '[A-Za-z0-9]'
const URL_ID = '[A-Za-z0-9_-]'
/** These are letters only, as are the names of Objective-C methods. */
const isHuggingFace = (body: string): boolean =>
  isVaried(body) && (/\d/.test(body) || !/[a-z]{12}/.test(body))

type Prefixed = readonly [kind: string, prefix: string, body: string, validate?: (body: string) => boolean]

/** Tokens that carry their maker's mark. Each prefix ends in `_`, `-` or `.`; each body has 16 or more. */
const PREFIXED: readonly Prefixed[] = [
  ['anthropic-key', 'sk-ant-', `${URL_ID}{20,}`],
  ['openrouter-key', 'sk-or-', `${URL_ID}{20,}`],
  ['langfuse-key', 'sk-lf-', `${URL_ID}{20,}`],
  ['openai-key', 'sk-(?:proj|svcacct|admin|None)-', `${URL_ID}{20,}`],
  ['openai-key', 'sk-', `${URL_ID}{20,}`, hasDenseRun],
  ['huggingface-key', 'hf_|api_org_', `${ID}{30,}`, isHuggingFace],
  ['groq-key', 'gsk_', `${ID}{32,}`],
  ['xai-key', 'xai-', `${ID}{32,}`],
  ['perplexity-key', 'pplx-', `${ID}{32,}`],
  ['replicate-key', 'r8_', `${ID}{32,}`],
  ['fireworks-key', 'fw_', `${ID}{20,}`],
  ['cerebras-key', 'csk-', `${ID}{40,}`],
  ['nvidia-key', 'nvapi-', `${URL_ID}{40,}`],
  ['together-key', 'tgp_v1_', `${URL_ID}{30,}`],
  ['tavily-key', 'tvly-', `${URL_ID}{20,}`, hasDenseRun],
  ['firecrawl-key', 'fc-', '[0-9a-f]{32,}'],
  ['pinecone-key', 'pcsk_', '\\w{40,}'],
  ['e2b-key', 'e2b_', '[0-9a-f]{40,}'],
  ['jina-key', 'jina_', `${URL_ID}{40,}`],
  ['elevenlabs-key', 'sk_', '[0-9a-f]{32,}'],
  ['langsmith-key', 'lsv2_(?:pt|sk)_|ls__', '[0-9a-f]{32}[0-9a-z_]*'],
  ['google-key', 'AQ\\.', `${URL_ID}{30,}`],
  ['google-token', 'ya29\\.', '[A-Za-z0-9_.-]{20,}'],
  ['google-secret', 'GOCSPX-', `${URL_ID}{20,}`],
  ['github-token', 'gh[pousr]_', '[A-Za-z0-9_.-]{36,}'],
  ['github-token', 'github_pat_', '\\w{36,}'],
  ['gitlab-token', 'gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-', '[A-Za-z0-9_.-]{20,}'],
  ['clew-token', 'clew_', `${URL_ID}{43}(?!${URL_ID})`, isRandom],
  ['slack-token', 'xox[a-z]-|xoxe\\.xox[bp]-|xapp-', '[A-Za-z0-9-]{16,}'],
  ['stripe-key', '[sr]k_(?:live|test|prod)_', `${ID}{16,}`],
  ['webhook-secret', 'whsec_', '[A-Za-z0-9+/=]{24,}'],
  ['sendgrid-key', 'SG\\.', `${URL_ID}{16,}\\.${URL_ID}{16,}`],
  ['mailgun-key', 'key-', '[0-9a-f]{32,}'],
  ['npm-token', 'npm_', `${ID}{36,}`],
  ['pypi-token', 'pypi-', `${URL_ID}{50,}`],
  ['digitalocean-token', 'do[opr]_v1_', '[0-9a-f]{40,}'],
  ['shopify-token', 'shp(?:at|ca|pa|ss|tka)_', '[0-9a-fA-F]{32,}'],
  ['linear-key', 'lin_(?:api|oauth)_', `${ID}{32,}`],
  ['notion-token', 'ntn_|secret_', `${ID}{40,}`],
  ['vercel-token', 'vc[pkria]_|vercel_blob_rw_', '\\w{24,}'],
  ['supabase-key', 'sbp_', '[0-9a-f]{40,}'],
  ['supabase-key', 'sb_secret_', `${URL_ID}{20,}`],
  ['planetscale-token', 'pscale_(?:tkn|pw|oauth)_', '[A-Za-z0-9_.-]{32,}'],
  ['doppler-token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.', '[A-Za-z0-9_.-]{40,}'],
  ['vault-token', 'hv[sbr]\\.', `${URL_ID}{24,}`],
  ['figma-token', 'fig[dour]_', `${URL_ID}{36,}`],
  ['newrelic-key', 'NRAK-', '[A-Z0-9]{27,}'],
  ['grafana-token', 'gl(?:sa|c)_', '[A-Za-z0-9_+/=]{32,}'],
  ['sentry-token', 'sntry[su]_', '[A-Za-z0-9_+/=]{40,}'],
  ['docker-token', 'dckr_(?:pat|oat)_', `${URL_ID}{24,}`],
  ['rubygems-key', 'rubygems_', '[0-9a-f]{48,}'],
  ['posthog-key', 'phx_', `${ID}{32,}`],
  ['age-key', 'AGE-SECRET-KEY-', '1[A-Z0-9]{58}'],
  ['postman-key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}'],
  ['pulumi-token', 'pul-', '[0-9a-f]{40,}'],
  ['resend-key', 're_', `${ID}{8,}_${ID}{20,}`],
  ['sourcegraph-token', 'sgp_', '\\w{40,}'],
  ['onepassword-token', 'ops_', `eyJ${ID}{60,}`],
  ['square-token', 'sq0[a-z]{3}-', `${URL_ID}{22,}`],
  ['openai-key', 'sess-', `${ID}{40,}`],
  ['voyage-key', 'pa-', `${URL_ID}{40,}`, isRandom],
  ['wandb-key', 'wandb_v1_', `${URL_ID}{40,}`],
  ['netlify-token', 'nfp_', `${ID}{36,}`],
  ['render-key', 'rnd_', `${ID}{28,}`],
  ['neon-key', 'napi_', `${ID}{48,}`],
  ['fly-token', 'fm[12][ar]?_|fo1_', '[A-Za-z0-9+/=_-]{40,}'],
  ['heroku-key', 'HRKU-', `${URL_ID}{36,}`],
  ['buildkite-token', 'bk[cu]a_', '[0-9a-f]{40,}'],
  ['circleci-token', 'CCI(?:PAT|PRJ)_', `${ID}{20,}_[0-9a-f]{40}`],
  ['terraform-token', 'atlasv1\\.', `${URL_ID}{40,}`],
  ['mapbox-token', 'sk\\.', `eyJ${URL_ID}{40,}\\.${URL_ID}{16,}`],
  ['dropbox-token', 'sl\\.|sl\\.u\\.', `${URL_ID}{100,}`],
  ['brevo-key', 'xkeysib-', `[0-9a-f]{64}-${ID}{16}`],
  ['hubspot-token', 'pat-(?:na|eu|ap)\\d-', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['honeycomb-key', 'hc[abx]?ik_', '[0-9a-z]{40,}'],
  ['dynatrace-token', 'dt0[a-z]\\d\\d\\.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}'],
  ['contentful-token', 'CFPAT-', `${URL_ID}{43,}`],
  ['prefect-key', 'pn[ub]_', `${ID}{36,}`],
  ['tailscale-key', 'tskey-[a-z]+-', `${ID}{10,}-${ID}{20,}`],
  ['onepassword-token', 'A3-', '[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}'],
  ['typeform-token', 'tfp_', `${URL_ID}{40,}`],
  ['shippo-token', 'shippo_(?:live|test)_', '[0-9a-f]{40}'],
  ['readme-key', 'rdme_', '[a-z0-9]{60,}'],
  ['cloudflare-token', 'cf(?:ut|at|k)_', `${ID}{40,}`],
  ['clickup-token', 'pk_', '\\d{6,10}_[A-Z0-9]{32}'],
]

const prefixedDetectors = PREFIXED.map(
  ([kind, prefix, body, validate = isVaried]): Detector => ({
    kind,
    // Built together below: one trigger character serves all prefixes that end in it.
    anchor: '',
    pattern: new RegExp(`${START}(?:${prefix})${body}`, 'g'),
    validate: (secret) => validate(secret.replace(/^[A-Za-z0-9]+[_.-]/, '')),
  }),
)

/** `gh[ps]_` and `gl(?:pat|dt)-` as the texts they stand for; what stands for too many stays as it is. */
function spellOut(source: string): string[] {
  const part = /\(\?:([^()]*)\)|\[([^\]\-\\]*)\](?![+{?])/.exec(source)
  if (!part) return [source]
  const [whole, words, letters = ''] = part
  const choices = words === undefined ? Array.from(letters) : words.split('|')
  return choices.flatMap((choice) => spellOut(source.replace(whole, () => choice)))
}

/**
 * A lookbehind reads backwards, so the character before the trigger decides first: one comparison instead of one for
 * each of a hundred marks.
 */
function byLastCharacter(leads: readonly string[], trigger: string): string {
  const groups = Map.groupBy(new Set(leads), (lead) =>
    /^[\w-]*$/.test(lead.slice(0, -trigger.length)) ? lead.slice(-trigger.length - 1, -trigger.length) : '',
  )
  const parts = [...groups].map(([last, all]) => {
    const fronts = all.map((lead) => lead.slice(0, -trigger.length - last.length))
    return `${LOOSE_START}(?:${fronts.join('|')})${last}`
  })
  return `(?:${parts.join('|')})${trigger}`
}

/** Alone it would fire on every `task_…` of a payload. */
const SHORT = 'sk_'

const prefixAnchors = (['_', '-', '\\.'] as const).map((trigger) => {
  const leads = PREFIXED.flatMap(([, prefix]) => prefix.split(/\|(?![^(]*\))/)).filter(
    (one) => one.endsWith(trigger) && one !== SHORT,
  )
  const short = trigger === '_' ? `|${LOOSE_START}${SHORT}(?=[0-9a-f]{16})` : ''
  const behind = `(?<=${byLastCharacter(leads.flatMap(spellOut), trigger)}${short})`
  const ahead = '(?=[\\w.+/=-]{16})'
  // The cheaper test first: most `_` stand in short names and most `.` before a space, most `-` in long ids.
  return trigger + (trigger === '-' ? behind + ahead : ahead + behind)
})

const simple = (
  kind: string,
  anchor: string,
  pattern: string,
  validate?: (secret: string) => boolean,
): Detector => ({ kind, anchor, pattern: new RegExp(pattern, 'g'), ...(validate && { validate }) })

const BEARER = '[A-Za-z0-9._~+/=-]'
const PEM_LABEL = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
/** What may stand between BEGIN and END, as in the file or with its line ends escaped. */
export const PEM_BODY = '(?:[A-Za-z0-9+/=\\s\\\\:,.>]|-(?!----))'

const marked: readonly Detector[] = [
  ...prefixedDetectors,
  // Its mark stands in the middle; the entry among the prefixes brings the anchor.
  simple('terraform-token', '', `${START}${ID}{14}\\.atlasv1\\.${URL_ID}{40,}`),
]

const shaped: readonly Detector[] = [
  simple(
    'google-key',
    'A(?=(?:Iza|[KSBC][IC]A|KID)[\\w-]{16}|T[AC]TT3|TBB[A-Za-z0-9]{28}|BSK[A-Za-z0-9+/]{60})',
    `${START}AIza${URL_ID}{35,}`,
  ),
  simple('aws-key', '', `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])`),
  simple('aws-bedrock-key', '', `${START}ABSK[A-Za-z0-9+/]{60,}={0,2}`),
  simple('facebook-token', `A(?<=${LOOSE_START}EAA)(?=${ID}{100})`, `${START}EAA${ID}{100,}`, isVaried),
  simple('twilio-key', 'S(?=K[0-9a-f]{32})', `${START}SK[0-9a-f]{32}(?![A-Za-z0-9])`),
  simple('atlassian-token', '', `${START}AT[AC]TT3[A-Za-z0-9_=-]{60,}`),
  simple('bitbucket-token', '', `${START}ATBB${ID}{28,32}(?![A-Za-z0-9])`, isVaried),
  simple('tencent-key', '', `${START}AKID${ID}{32}(?![A-Za-z0-9])`, isVaried),
  simple('alibaba-key', 'A(?<=LTA)(?=I[A-Za-z0-9]{16})', `${START}LTAI${ID}{16,20}(?![A-Za-z0-9])`, isVaried),
  simple(
    'mailchimp-key',
    '-(?=us\\d)(?<=[0-9a-f]{32}-)',
    '(?<![A-Za-z0-9])[0-9a-f]{32}-us\\d{1,2}(?![A-Za-z0-9])',
    isVaried,
  ),
  simple('google-token', '\\/(?<=1\\/\\/)(?=0[\\w-]{30})', `(?<![\\w/.:])1\\/\\/0${URL_ID}{30,}`, isVaried),
  simple('airtable-token', '', `${START}pat${ID}{14}\\.[0-9a-f]{64}`),
  simple(
    'telegram-token',
    ':(?=AA[\\w-]{32})',
    `(?:(?<![\\w.])|(?<=\\/bot))\\d{8,11}:AA${URL_ID}{32,34}(?![\\w-])`,
    isVaried,
  ),
  simple(
    'discord-token',
    '\\.(?=[\\w-]{6}\\.|[0-9a-f]{32})(?<=(?:[MNO][\\w-]{23,27}|pat[A-Za-z0-9]{14})\\.)',
    `${START}[MNO]${URL_ID}{23,27}\\.${URL_ID}{6}\\.${URL_ID}{27,}`,
    isVaried,
  ),
  simple(
    'webhook-url',
    '\\/(?<=\\/(?:services|webhooks|workflows)\\/)(?=[\\w/-]{16})',
    '(?<=hooks\\.slack\\.com\\/(?:services|workflows)\\/|discord(?:app)?\\.com\\/api\\/webhooks\\/)[\\w/-]{24,}',
  ),
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
    (secret) => !/^(?:\$|<|\{|%[({]|\*+$|PASS(?:WORD)?$|\.{3})/.test(secret),
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
    '=(?<=[sS]ignature=)(?=[\\w~%-]{32})',
    '(?<=[?&](?:X-Amz-|X-Goog-)?[sS]ignature=)[\\w~%-]{32,}',
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
const further: readonly Detector[] = [
  simple(
    'password-hash',
    '\\$(?=(?:2[abxy]|[156y]|apr1|argon2id?)\\$)',
    '\\$(?:2[abxy]|[156y]|apr1|argon2id?)\\$[\\w./$=,+-]{20,200}',
    isVaried,
  ),
  // A private key in PEM, in base64 once more, and that of minisign.
  simple(
    'private-key',
    'L(?=S0tLS1CRUdJTi)',
    'LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}(?:UFJJVkFURSBLRV|QUklWQVRFIEtFW|BSSVZBVEUgS0VZ)[A-Za-z0-9+/=]{16,}',
  ),
  simple('private-key', 'R(?=WRTY0Iy)', `${START}RWRTY0Iy[A-Za-z0-9+/]{100,}={0,2}`),
  simple(
    'password',
    'I(?=DENTIFIED BY )',
    'IDENTIFIED BY \\\\{0,3}["\'](?<secret>[^"\'\\\\]{4,128})(?=\\\\{0,3}["\'])',
  ),
  simple(
    'basic-credentials',
    'A(?=UTH (?:PLAIN|LOGIN) )',
    'AUTH (?:PLAIN|LOGIN) (?<secret>[A-Za-z0-9+/]{8,}={0,2})',
    isVaried,
  ),
  ...labelledDetectors,
]

const card: Detector = {
  kind: 'payment-card',
  anchor: '[2-6](?=\\d{3}(?:\\d{10}|[ -](?:\\d{4}[ -]\\d{4}|\\d{6})[ -]\\d{4}))(?<![\\d.A-Z_a-mo-qsu-z].)',
  alone: true,
  pattern: new RegExp(
    '(?:(?<![\\w#/]|\\d[ .,-]|[\\w.]-|\\.)|(?<=\\\\[nrt]))' +
      '(?:\\d{14,19}|\\d{4}([ -])\\d{4}\\1\\d{4}\\1\\d{4}(?:\\1\\d{3})?|\\d{4}([ -])\\d{6}\\2\\d{4,5})' +
      '(?![\\w]|[.,/-]\\d|[ -]\\d{4}(?!\\d))',
    'g',
  ),
  validate: isPaymentCard,
}

/**
 * On by default (P1). More telling kinds come first: they win when two find the same text. A group is asked only about a text
 * that its own anchors fit.
 */
export const SECRETS: readonly (readonly Detector[])[] = [
  marked,
  shaped,
  [card],
  assignmentDetectors,
  saidDetectors,
  further,
]

/** Groups whose anchors make a pass of their own, since V8 can leap only to so many different characters. */
export const APART: ReadonlySet<readonly Detector[]> = new Set([saidDetectors, further])

/** The prefilter as regular expressions: when none of them matches, no detector does. */
export function anchorsOf(detectors: readonly Detector[]): RegExp[] {
  const wanted = detectors.filter((one) => one.anchor !== '')
  const together = wanted.filter((one) => !one.alone).map((one) => one.anchor)
  if (detectors.some((one) => prefixedDetectors.includes(one))) together.unshift(...prefixAnchors)
  const byTrigger = Map.groupBy(together, (anchor) => /^(?:\\.|\[[^\]]*\]|.)/.exec(anchor)?.[0] ?? '')
  const grouped = [...byTrigger].map(
    ([trigger, anchors]) =>
      `${trigger}(?:${anchors.map((anchor) => anchor.slice(trigger.length)).join('|')})`,
  )
  const alone = wanted.filter((one) => one.alone).map((one) => one.anchor)
  return [grouped.join('|'), ...alone].filter((source) => source !== '').map((source) => new RegExp(source))
}
