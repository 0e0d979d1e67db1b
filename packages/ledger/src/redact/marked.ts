import { hasDenseRun, isRandom, isVaried } from './checks.ts'
import { type Detector, ID, LOOSE_START, simple, START, URL_ID } from './detector.ts'

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

const prefixedDetectors = PREFIXED.map(
  ([kind, prefix, body, validate = isVaried], index): Detector => ({
    kind,
    // Built together: one trigger character serves all prefixes that end in it.
    anchor: index === 0 ? prefixAnchors : [],
    pattern: new RegExp(`${START}(?:${prefix})${body}`, 'g'),
    validate: (secret) => validate(secret.replace(/^[A-Za-z0-9]+[_.-]/, '')),
  }),
)

export const markedDetectors: readonly Detector[] = [
  ...prefixedDetectors,
  // Its mark stands in the middle; the entry among the prefixes brings the anchor.
  simple('terraform-token', [], `${START}${ID}{14}\\.atlasv1\\.${URL_ID}{40,}`),
]
