import { again, plain, secretTexts } from '../corpus.ts'
import { jwt, password, phrase, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const env = secretTexts('env')`
NODE_ENV=production
PORT=3000
DATABASE_URL=postgres://app:${urlPassword}@db.internal:5432/app
REDIS_URL=redis://:${urlPassword}@cache.internal:6379/0
JWT_SECRET=${v.hex64}
SESSION_SECRET=${phrase}
STRIPE_SECRET_KEY=${v.stripeLong}
STRIPE_WEBHOOK_SECRET=${v.stripeHook}
LOG_LEVEL=info
%%
# .env.local
NEXT_PUBLIC_APP_URL=https://app.example.com
NEXTAUTH_SECRET=${v.base64Of32}
GOOGLE_CLIENT_ID=${plain(v.hex32)}.apps.example.com
GOOGLE_CLIENT_SECRET=${v.googleClientSecret}
OPENAI_API_KEY=${v.openaiProject}
%%
OPENAI_API_KEY="${v.openaiLegacy}"
ANTHROPIC_API_KEY="${v.anthropic}"
PINECONE_API_KEY="${v.pinecone}"
PINECONE_ENVIRONMENT="us-east-1"
LANGCHAIN_TRACING_V2=true
LANGCHAIN_API_KEY="${v.langsmith}"
TAVILY_API_KEY="${v.tavily}"
%%
AWS_ACCESS_KEY_ID=${v.awsId}
AWS_SECRET_ACCESS_KEY=${v.awsSecret}
AWS_DEFAULT_REGION=eu-central-1
S3_BUCKET=uploads-prod
%%
$ cat .env
APP_KEY=base64:${v.base64Of32}
DB_CONNECTION=mysql
DB_HOST=127.0.0.1
DB_DATABASE=shop
DB_USERNAME=shop
DB_PASSWORD=${weak}
MAIL_HOST=smtp.example.com
MAIL_USERNAME=shop@example.com
MAIL_PASSWORD=${weak}
%%
1	SECRET_KEY=${v.urlSafe43}
2	DEBUG=False
3	ALLOWED_HOSTS=.example.com
4	EMAIL_HOST_USER=noreply@example.com
5	EMAIL_HOST_PASSWORD=${weak}
6	SENTRY_AUTH_TOKEN=${v.sentryUser}
%%
POSTGRES_USER=metabase
POSTGRES_PASSWORD=${password}
POSTGRES_DB=metabase
MB_ENCRYPTION_SECRET_KEY=${v.base64Of32}
%%
GITHUB_TOKEN=${v.githubClassic}
GITLAB_TOKEN=${v.gitlabPersonal}
NPM_TOKEN=${v.npmToken}
%%
TELEGRAM_BOT_TOKEN=${v.telegramBot}
TELEGRAM_CHAT_ID=-1001839204417
DISCORD_TOKEN=${v.discordBot}
SLACK_BOT_TOKEN=${v.slackBot}
SLACK_SIGNING_SECRET=${v.hex32}
%%
TWILIO_ACCOUNT_SID=AC${plain(v.hex32)}
TWILIO_AUTH_TOKEN=${v.twilioAuth}
TWILIO_FROM=+15005550006
SENDGRID_API_KEY=${v.sendgrid}
%%
export GROQ_API_KEY=${v.groq}
export MISTRAL_API_KEY=${v.mistral}
export CO_API_KEY=${v.cohere}
export HF_TOKEN=${v.huggingFace}
export REPLICATE_API_TOKEN=${v.replicate}
%%
AZURE_OPENAI_ENDPOINT=https://models.example.com
AZURE_OPENAI_API_KEY=${v.azureOpenai}
AZURE_TENANT_ID=${plain(v.uuid)}
AZURE_CLIENT_ID=${plain(v.uuid)}
AZURE_CLIENT_SECRET=${v.azureClientSecret}
%%
SUPABASE_URL=https://project.example.com
SUPABASE_SERVICE_ROLE_KEY=${jwt}
SUPABASE_DB_PASSWORD=${password}
%%
Contents of .env.production (12 lines):

VITE_API_BASE=https://api.example.com
CLERK_SECRET_KEY=${v.clerk}
RESEND_API_KEY=${v.resend}
UPSTASH_REDIS_REST_TOKEN=${v.letters64}
CRON_SECRET=${v.letters32}
%%
SMTP_PASS=${password}
IMAP_PASSWORD='${strong}'
LDAP_BIND_PW=${password}
%%
MONGODB_URI=mongodb+srv://api:${urlPassword}@cluster0.example.org/prod?retryWrites=true&w=majority
%%
# legacy, do not use
#DB_PASS=${weak}
DB_PASS=${strong}
%%
RABBITMQ_DEFAULT_USER=worker
RABBITMQ_DEFAULT_PASS=${weak}
CELERY_BROKER_URL=amqp://worker:${urlPassword}@rabbit.internal:5672//
FLOWER_BASIC_AUTH=admin:${password}
%%
DD_API_KEY=${v.datadogApi}
DD_APP_KEY=${v.datadogApplication}
NEW_RELIC_LICENSE_KEY=${v.hex40}
GRAFANA_TOKEN=${v.grafana}
%%
+LINEAR_API_KEY=${v.linear}
+NOTION_TOKEN=${v.notion}
+FIGMA_TOKEN=${v.figma}
+AIRTABLE_PAT=${v.airtable}
%%
CLOUDFLARE_ACCOUNT_ID=${plain(v.hex32)}
CLOUDFLARE_API_TOKEN=${v.cloudflareToken}
%%
ENCRYPTION_KEY=${v.hex64}
HASH_SALT=${v.letters32}
COOKIE_PASSWORD=${v.letters32}
ADMIN_PASSWORD=${weak}
%%
VERCEL_TOKEN=${v.vercel}
NETLIFY_AUTH_TOKEN=${v.netlify}
FLY_API_TOKEN=FlyV1 ${v.flyToken}
HEROKU_API_KEY=${v.herokuKey}
DIGITALOCEAN_ACCESS_TOKEN=${v.digitalOcean}
%%
The file differs in two lines:
< API_SECRET=${v.generic}
---
> API_SECRET=${v.generic}
%%
DATABASE_URL="mysql://root:${urlPassword}@mysql.internal:3306/wiki"
SHADOW_DATABASE_URL="mysql://root:${again(urlPassword)}@mysql.internal:3306/wiki_shadow"
`
