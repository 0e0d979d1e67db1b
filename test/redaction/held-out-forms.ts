import type { Make } from './known-forms.ts'

/**
 * Held out: sibling forms and layouts on which no rule was tuned. They were written by somebody who had seen the rules,
 * and most carry a mark that the rules know, so a good figure here says that rules reach beyond their examples; it does
 * not say how many secrets of unknown makers would be found: `blind-corpus.ts` says more about that. The last eleven were misses when
 * they were written down, and rules for seven of them came afterwards; three of the others have no mark at all.
 */
export interface HeldOut {
  readonly name: string
  readonly make: Make
  /** Rules cannot see it yet; the test fails when they begin to, so that this list stays true. */
  readonly missed?: true
}

export const HELD_OUT: readonly HeldOut[] = [
  { name: 'GitHub OAuth token, 36 base62 with checksum', make: 'gho_{w36}' },
  { name: 'GitHub refresh token', make: 'ghr_{w76}' },
  { name: 'GitLab pipeline trigger token', make: 'glptt-{x40}' },
  { name: 'GitLab routable token', make: 'glpat-{s27}.01.{l9}' },
  { name: 'Slack user token', make: 'xoxp-{d12}-{d12}-{d12}-{x32}' },
  { name: 'Slack refresh token', make: 'xoxe-1-{w147}' },
  { name: 'Stripe test secret', make: 'sk_test_{w99}' },
  { name: 'OpenAI service account key', make: 'sk-svcacct-{s74}T3BlbkFJ{s74}' },
  { name: 'Anthropic OAuth token', make: 'sk-ant-oat01-{s86}AA' },
  { name: 'DeepSeek key', make: 'sk-{x32}' },
  { name: 'Hugging Face organisation token', make: 'api_org_{a34}' },
  { name: 'AWS secret under its name', make: 'aws_secret_access_key = {b40}' },
  {
    name: 'Google service account key file',
    make: (m) => JSON.stringify({ type: 'service_account', private_key: m.pem() }),
  },
  {
    name: 'Azure storage connection string',
    make: 'DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b86}==',
  },
  { name: 'Azure SAS signature', make: 'sv=2024-11-04&se=2027-01-01&sp=r&sig={b43}%3D' },
  { name: 'Shopify custom app token', make: 'shpca_{x32}' },
  { name: 'DigitalOcean refresh token', make: 'dor_v1_{x64}' },
  { name: 'Doppler service token', make: 'dp.st.dev.{w43}' },
  { name: 'HashiCorp Vault batch token', make: 'hvb.AAAAAQ{s140}' },
  { name: 'Linear OAuth token', make: 'lin_oauth_{x64}' },
  { name: 'Atlassian connect token', make: 'ATCTT3xFfGN0{s170}' },
  { name: 'Grafana cloud token', make: 'glc_eyJvIjoi{w110}' },
  { name: 'Sentry user token', make: 'sntryu_{x64}' },
  { name: 'MongoDB URL', make: 'mongodb+srv://root:{w20}@cluster0.mongodb.net/db' },
  { name: 'AMQP URL', make: 'amqps://svc:{w24}@mq.example/vhost' },
  { name: 'git URL with token', make: 'https://oauth2:{w26}@git.example/a/b.git' },
  { name: 'Discord webhook', make: 'https://discord.com/api/webhooks/{d18}/{s68}' },
  { name: 'Visa with spaces', make: (m) => m.card('4', 16).replace(/(.{4})(?=.)/g, '$1 ') },
  { name: 'JCB card', make: (m) => m.card('3530', 16) },
  { name: 'Docker auth entry', make: '"auth_token": "{s64}"' },
  { name: 'kubeconfig token', make: (m) => `token: ${m.jwt()}` },
  { name: 'netrc line', make: 'machine api.example login svc password {w20}' },
  { name: 'Cohere key without its name', make: '{w40}' },
  { name: 'Datadog key without its name', make: '{x32}', missed: true },
  { name: 'Heroku key of the old form', make: (m) => m.uuid(), missed: true },
  { name: 'Okta token after SSWS', make: 'SSWS 00{s40}' },
  { name: 'Cloudflare token without its name', make: '{s40}' },
  { name: 'password said in a sentence', make: 'my password is {l10}' },
  { name: 'extended private key of a wallet', make: 'xprv{c107}' },
  { name: 'PIN', make: 'PIN {d4}' },
  {
    name: 'recovery words',
    make: 'ripple mango tunnel orbit velvet canyon lunar pepper',
    missed: true,
  },
]
