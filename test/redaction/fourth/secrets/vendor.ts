import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const vendor = secretTexts('vendor')`
databricks configure --token
Databricks Host (should begin with https://): https://adb-${plain(f('{n1}{915}'))}.4.azuredatabricks.net
Token: ${f('dapi{x32}-3')}
%%
git clone https://x-token-auth:${f('ATBB{a32}')}@bitbucket.org/kontor/lager.git
Cloning into 'lager'...
remote: Enumerating objects: 4412, done.
%%
openrouter key for the eval: ${f('sk-or-v1-{x64}')}
xai one (only grok-3): ${f('xai-{a80}')}
both have a 10 € cap
%%
const supabase = createClient('https://${plain(f('{y20}'))}.supabase.co', '${f('sb_secret_{w22}_{w8}')}')
// management api
const mgmt = '${f('sbp_{x40}')}'
%%
:rubygems_api_key: ${f('rubygems_{x48}')}
:host: https://rubygems.org
%%
echo ${f('dckr_pat_{w27}')} | docker login -u kontorci --password-stdin
Login Succeeded
%%
steps:
  - label: ":rocket: deploy"
    env:
      BUILDKITE_API_TOKEN: "${f('bkua_{x40}')}"
      CIRCLE_TOKEN: "${f('CCIPAT_{a22}_{x40}')}"
%%
dotnet nuget push bin/Kontor.Core.4.1.0.nupkg --api-key ${f('oy2{l43}')} --source https://api.nuget.org/v3/index.json
Pushing Kontor.Core.4.1.0.nupkg to 'https://www.nuget.org/api/v2/package'...
  Created https://www.nuget.org/api/v2/package/ 812ms
Your package was pushed.
%%
[email]
brevo = "${f('xkeysib-{x64}-{a16}')}"
mailchimp = "${f('{x32}-us14')}"
from = "post@nordlicht-kerzen.de"
%%
CONTENTFUL_SPACE_ID=${plain(f('{l12}'))}
CONTENTFUL_MANAGEMENT_TOKEN=${f('CFPAT-{w43}')}
SQUARE_ACCESS_TOKEN=${f('EAAA{w60}')}
LAUNCHDARKLY_SDK_KEY=${f('sdk-{x8}-{x4}-4{x3}-b{x3}-{x12}')}
%%
DATABASE_HOST=aws.connect.psdb.cloud
DATABASE_USERNAME=${plain(f('{l20}'))}
DATABASE_PASSWORD=${f('pscale_pw_{w43}')}
%%
graph.facebook.com/v19.0/me/accounts?access_token=${f('EAAG{a180}')}
{"data":[{"name":"Nordlicht Kerzen","id":"${plain(f('1{914}'))}","category":"Shopping & Retail"}]}
%%
Bitte in den Jenkins-Credentials hinterlegen: Sonar ${f('squ_{x40}')} und Artifactory ${f('cmVmdGtu{a56}')} (Identity Token)
%%
grafana-agent: remote_write:
  - url: https://prometheus-prod-01-eu-west-0.grafana.net/api/prom/push
    basic_auth: { username: "${plain(f('{n1}{95}'))}", password: "${f('glc_eyJvIjoi{a110}')}" }
%%
stripe listen --forward-to localhost:3000/api/stripe
> Ready! You are using Stripe API Version [2024-06-20]. Your webhook signing secret is ${f('whsec_{x64}')} (^C to quit)
2026-01-19 10:11:02   --> payment_intent.succeeded [evt_${plain(f('3{a23}'))}]
%%
The sandbox key ${f('sk_test_51{a96}')} works, but with the Adyen key ${f('AQE{w90}-{b40}=-{w16}')} I get "HTTP 401 Unauthorized".
`
