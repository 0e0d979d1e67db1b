import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const env = secretTexts('env')`
# .env.local
NODE_ENV=development
PORT=3000
DATABASE_URL=postgresql://kite:${k.urlpw}@localhost:5432/kite_dev
NEXTAUTH_URL=http://localhost:3000
NEXTAUTH_SECRET=${k.b44}
GITHUB_ID=Iv1.${plain(f('{x16}'))}
GITHUB_SECRET=${k.x40}
%%
cat .env
OPENAI_API_KEY=${k.oai}
ANTHROPIC_API_KEY=${k.ant}
MODEL=claude-sonnet-4-5
MAX_TOKENS=4096
LOG_LEVEL=info
%%
export AWS_ACCESS_KEY_ID=${k.awsId}
export AWS_SECRET_ACCESS_KEY=${k.awsKey}
export AWS_DEFAULT_REGION=eu-central-1
%%
STRIPE_PUBLISHABLE_KEY=pk_live_${plain(f('51{a90}'))}
STRIPE_SECRET_KEY=${k.stripe}
STRIPE_WEBHOOK_SECRET=${k.whsec}
STRIPE_PRICE_ID=price_${plain(f('{a24}'))}
%%
# docker-compose reads this file
POSTGRES_USER=shop
POSTGRES_PASSWORD=${k.weak}
POSTGRES_DB=shop
PGADMIN_DEFAULT_EMAIL=dev@tallyport.eu
PGADMIN_DEFAULT_PASSWORD=${k.weak}
%%
SLACK_BOT_TOKEN=${k.xoxb}
SLACK_SIGNING_SECRET=${k.x32}
SLACK_APP_TOKEN=${f('xapp-1-A{U10}-{n1}{912}-{x64}')}
SLACK_CHANNEL=C${plain(f('{U10}'))}
%%
The deploy fails with "Missing SENDGRID_API_KEY". Here's what I have in .env.production:

SENDGRID_API_KEY="${k.sg}"
MAIL_FROM="Brightloop <no-reply@brightloop.io>"
SMTP_HOST=smtp.sendgrid.net
SMTP_PORT=587
SMTP_USER=apikey
%%
$ diff .env .env.example
2,4c2,4
< JWT_SECRET=${f('{a48}')}
< REDIS_URL=redis://:${k.urlpw}@cache.tallyport.internal:6379/0
< ADMIN_PASSWORD=${k.weak}
---
> JWT_SECRET=
> REDIS_URL=redis://localhost:6379/0
> ADMIN_PASSWORD=
%%
NEXT_PUBLIC_SUPABASE_URL=https://${plain(f('{y20}'))}.supabase.co
SUPABASE_SERVICE_ROLE_KEY=${k.jwtOf('{"iss":"supabase","ref":"{y20}","role":"service_role","iat":17{98},"exp":20{98}}')}
SUPABASE_DB_PASSWORD=${k.strong}
%%
# Laravel
APP_NAME=Kontor
APP_ENV=production
APP_KEY=base64:${k.b44}
APP_DEBUG=false
DB_CONNECTION=mysql
DB_HOST=10.4.0.12
DB_DATABASE=kontor
DB_USERNAME=kontor
DB_PASSWORD='${k.strong}'
MAIL_MAILER=smtp
MAIL_USERNAME=postmaster@kontor.de
MAIL_PASSWORD=${k.weak}
%%
TWILIO_ACCOUNT_SID=AC${plain(k.x32)}
TWILIO_AUTH_TOKEN=${k.x32}
TWILIO_FROM=+4930${plain(f('{98}'))}
%%
GOOGLE_CLIENT_ID=${plain(f('{n1}{911}-{l32}'))}.apps.googleusercontent.com
GOOGLE_CLIENT_SECRET=${f('GOCSPX-{w28}')}
GOOGLE_REFRESH_TOKEN=${f('1//0{w100}')}
GOOGLE_MAPS_KEY=${k.goog}
%%
vercel env pull .env.local
> Downloading \`development\` Environment Variables for kestrel-web
+ Created .env.local file [412ms]

cat .env.local
# Created by Vercel CLI
CRON_SECRET="${f('{a32}')}"
KV_REST_API_TOKEN="${f('A{a2}AA{w80}')}"
KV_REST_API_URL="https://polite-heron-31022.upstash.io"
VERCEL="1"
VERCEL_ENV="development"
%%
R2_ACCOUNT_ID=${plain(k.x32)}
R2_ACCESS_KEY_ID=${plain(k.x32)}
R2_SECRET_ACCESS_KEY=${k.x64}
CLOUDFLARE_API_TOKEN=${f('{w40}')}
CLOUDFLARE_ZONE_ID=${plain(k.x32)}
%%
TELEGRAM_BOT_TOKEN=${k.telegram}
TELEGRAM_CHAT_ID=-100${plain(f('{910}'))}
DISCORD_TOKEN=${k.discord}
DISCORD_GUILD=${plain(f('{n1}{917}'))}
%%
[tool: read_file path=apps/api/.env]
1  NODE_ENV=production
2  SESSION_SECRET=${f('{a20}-{a20}')}
3  COOKIE_DOMAIN=.tallyport.eu
4  MONGO_URI=mongodb+srv://api:${k.urlpw}@cluster0.${plain(f('{l5}'))}.mongodb.net/tally?retryWrites=true&w=majority
5  SENTRY_ENVIRONMENT=prod
6  LINEAR_API_KEY=${f('lin_api_{a40}')}
%%
# e2e
E2E_USER=e2e@brightloop.io
E2E_PASSWORD=${k.weak}
E2E_TOTP_SECRET=${f('{B32}')}
BASE_URL=https://staging.brightloop.io
%%
HF_TOKEN=${k.hf}
WANDB_API_KEY=${k.x40}
REPLICATE_API_TOKEN=${f('r8_{a37}')}
CUDA_VISIBLE_DEVICES=0,1
%%
AZURE_TENANT_ID=${plain(k.uuid)}
AZURE_CLIENT_ID=${plain(k.uuid)}
AZURE_CLIENT_SECRET=${k.azSecret}
AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=kontorblob;AccountKey=${k.azKey};EndpointSuffix=core.windows.net
%%
PS C:\src\portal> Get-ChildItem Env: | Where-Object Name -like '*NPM*'

Name                           Value
----                           -----
NPM_CONFIG_REGISTRY            https://registry.npm.example/
NPM_TOKEN                      ${k.npm}
%%
$ printenv | sort | head -20
CI=true
GH_TOKEN=${k.ghp}
GITLAB_TOKEN=${k.glpat}
HOME=/home/runner
HOSTNAME=build-7c9f
LANG=C.UTF-8
OLDPWD=/home/runner/work
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
SONAR_TOKEN=${f('sqp_{x40}')}
TERM=xterm-256color
%%
set -a
DOPPLER_TOKEN=${f('dp.st.prd.{a43}')}
VAULT_ADDR=https://vault.brightloop.io:8200
VAULT_TOKEN=${k.hvs}
set +a
%%
# ---- Datadog ----
DD_API_KEY=${k.x32}
DD_APP_KEY=${k.x40}
DD_SITE=datadoghq.eu
DD_SERVICE=checkout
DD_TRACE_SAMPLE_RATE=0.2
%%
SHOPIFY_API_KEY=${plain(k.x32)}
SHOPIFY_API_SECRET=${f('shpss_{x32}')}
SHOPIFY_ADMIN_TOKEN=${f('shpat_{x32}')}
SHOPIFY_STORE=nordlicht-kerzen.myshopify.com
%%
RAILS_MASTER_KEY=${k.x32}
SECRET_KEY_BASE=${f('{x128}')}
RAILS_LOG_TO_STDOUT=1
DATABASE_URL=mysql2://root:${k.urlpw}@db/rails_production
%%
# Django settings
DJANGO_SECRET_KEY='${f('{l20}+{l14}-{l14}')}'
DJANGO_DEBUG=0
EMAIL_HOST_USER=robot@tallyport.eu
EMAIL_HOST_PASSWORD=${f('{y4} {y4} {y4} {y4}')}
%%
KAFKA_BROKERS=pkc-${plain(f('{l5}'))}.europe-west3.gcp.confluent.cloud:9092
KAFKA_SASL_USERNAME=${plain(f('{U16}'))}
KAFKA_SASL_PASSWORD=${f('{b64}')}
SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO=${plain(f('{U16}'))}:${f('{b64}')}
%%
PINECONE_API_KEY=${f('pcsk_{a5}_{a63}')}
PINECONE_INDEX=docs-v3
COHERE_API_KEY=${k.a40}
MISTRAL_API_KEY=${k.a32}
LANGSMITH_API_KEY=${f('lsv2_pt_{x32}_{x10}')}
LANGSMITH_PROJECT=retrieval-eval
%%
RESEND_API_KEY=${f('re_{a8}_{a24}')}
POSTMARK_SERVER_TOKEN=${k.uuid}
MAILGUN_API_KEY=${f('key-{x32}')}
MAILGUN_DOMAIN=mg.brightloop.io
%%
ENCRYPTION_KEY=${k.x64}
BLIND_INDEX_KEY=${k.b44}
KMS_KEY_ALIAS=alias/tallyport-prod
PEPPER=${f('{a24}')}
%%
Le fichier .env.prod sur le serveur :

APP_URL=https://boutique.petitport.fr
DB_HOST=mysql-petitport.alwaysdata.net
DB_USER=petitport
DB_PASS=${k.weak}
FTP_PASS=${k.weak}
%%
AUTH0_DOMAIN=brightloop.eu.auth0.com
AUTH0_CLIENT_ID=${plain(f('{a32}'))}
AUTH0_CLIENT_SECRET=${f('{w64}')}
AUTH0_SECRET=${k.x64}
CLERK_SECRET_KEY=${f('sk_live_{a42}')}
%%
DATABASE_URL="sqlserver://sql-kontor.database.windows.net:1433;database=kontor;user=sa_kontor;password=${k.alnum};encrypt=true"
SHADOW_DATABASE_URL="postgres://prisma:${f('npg_{a12}')}@ep-old-hill-${plain(f('{l8}'))}.eu-central-1.aws.neon.tech/shadow?sslmode=require"
%%
TURSO_DATABASE_URL=libsql://atlas-miro.turso.io
TURSO_AUTH_TOKEN=${k.jwtOf('{"a":"rw","iat":17{98},"id":"{x8}-{x4}-{x4}"}', '{"alg":"EdDSA","typ":"JWT"}', 86)}
%%
;; direnv: loading ~/work/atlas/.envrc
export PULUMI_ACCESS_TOKEN=${f('pul-{x40}')}
export DIGITALOCEAN_TOKEN=${k.dop}
export TF_VAR_root_password=${k.weak}
export KUBECONFIG=$PWD/kubeconfig
%%
VITE_API_URL=https://api.petitport.fr
VITE_MAPBOX_TOKEN=pk.eyJ1IjoicGV0aXRwb3J0IiwiYSI6ImNrejEifQ.${plain(f('{w22}'))}
MAPBOX_SECRET_TOKEN=sk.eyJ1IjoicGV0aXRwb3J0IiwiYSI6ImNrejIifQ.${f('{w22}')}
ALGOLIA_APP_ID=${plain(f('{U10}'))}
ALGOLIA_ADMIN_KEY=${k.x32}
%%
env_file after your change:

export const env = {
  API_TOKEN: "${f('{a36}')}",
  API_BASE: "https://api.tallyport.eu/v2",
  BASIC_AUTH_USER: "partner",
  BASIC_AUTH_PASS: "${k.weak}",
}
%%
OKTA_ORG_URL=https://dev-${plain(f('{98}'))}.okta.com
OKTA_API_TOKEN=${f('00{w40}')}
SNOWFLAKE_ACCOUNT=xy${plain(f('{95}'))}.eu-central-1
SNOWFLAKE_USER=LOADER
SNOWFLAKE_PASSWORD=${k.strong}
DBT_TARGET=prod
%%
heroku config -a tally-worker
=== tally-worker Config Vars

DATABASE_URL:      postgres://${plain(f('u{l12}'))}:${f('p{x64}')}@ec2-52-19-${plain(f('{92}'))}-8.eu-west-1.compute.amazonaws.com:5432/d${plain(f('{l12}'))}
PAPERTRAIL_API_TOKEN: ${f('{a20}')}
SIDEKIQ_WEB_PASSWORD: ${k.weak}
WEB_CONCURRENCY:   2
`
