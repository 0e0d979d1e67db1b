import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const code = secretTexts('code')`
import Stripe from 'stripe'

const stripe = new Stripe('${k.stripe}', { apiVersion: '2024-06-20' })
export const charge = (amount: number) => stripe.paymentIntents.create({ amount, currency: 'eur' })
%%
const pool = new Pool({
  host: 'db.kestrel.app',
  user: 'kestrel',
  password: '${k.strong}',
  max: 10,
})
%%
import OpenAI from "openai";
const client = new OpenAI({ apiKey: "${k.oai}" });
const res = await client.responses.create({ model: "gpt-4.1", input: "ping" });
%%
import boto3

s3 = boto3.client(
    "s3",
    aws_access_key_id="${k.awsId}",
    aws_secret_access_key="${k.awsKey}",
    region_name="eu-west-3",
)
s3.upload_file("out.csv", "petitport-exports", "out.csv")
%%
package main

const (
	baseURL = "https://api.nordkap.no"
	apiToken = "${k.a40}"
)

func main() { run(baseURL, apiToken) }
%%
var factory = new ConnectionFactory { HostName = "rabbit", UserName = "kontor", Password = "${k.weak}" };
using var connection = factory.CreateConnection();
%%
public class Mailer {
  private static final String SMTP_USER = "noreply@bancolar.es";
  private static final String SMTP_PASSWORD = "${k.strong}";
  private final int retries = 3;
}
%%
<?php
$db = new mysqli("localhost", "boutique", "${k.weak}", "boutique");
if ($db->connect_error) die("Connexion impossible");
%%
class Notifier
  WEBHOOK = "https://hooks.slack.com/services/T${plain(f('{U8}'))}/B${plain(f('{U10}'))}/${k.slackHook}".freeze
  def call(text) = HTTP.post(WEBHOOK, json: { text: })
end
%%
let client = reqwest::Client::new();
let res = client
    .get("https://api.linear.app/graphql")
    .header("Authorization", "${f('lin_api_{a40}')}")
    .send()
    .await?;
%%
#include <WiFi.h>
const char* ssid = "Nordlicht-IoT";
const char* password = "${k.weak}";
#define MQTT_PASS "${k.alnum}"
void setup() { WiFi.begin(ssid, password); }
%%
let config = Configuration(
    baseURL: URL(string: "https://api.kiosk.app")!,
    clientID: "kiosk-ios",
    clientSecret: "${f('{w48}')}"
)
%%
val retrofit = Retrofit.Builder()
    .baseUrl("https://api.fietsplan.nl/")
    .client(OkHttpClient.Builder().addInterceptor { chain ->
        chain.proceed(chain.request().newBuilder().header("Authorization", "Bearer ${k.jwt}").build())
    }.build())
    .build()
%%
app.use(session({
  secret: '${k.phrase}',
  resave: false,
  saveUninitialized: false,
  cookie: { secure: true, maxAge: 86_400_000 },
}))
%%
const token = jwt.sign({ id: user.id }, '${f('{a32}')}', { expiresIn: '1h' })
res.json({ token })
%%
if (req.headers['x-admin-key'] !== '${f('{a24}')}') {
  return res.status(403).end()
}
%%
#!/usr/bin/env bash
set -euo pipefail
TOKEN="${k.dop}"
curl -sS -H "Authorization: Bearer $TOKEN" https://api.digitalocean.com/v2/droplets | jq '.droplets[].name'
%%
admin.initializeApp({
  credential: admin.credential.cert({
    projectId: 'kiosk-prod',
    clientEmail: 'firebase-adminsdk@kiosk-prod.iam.gserviceaccount.com',
    privateKey: '-----BEGIN PRIVATE KEY-----\n${k.pem(6, 'MIIEvAIBADANBgkqhkiG9w0BAQEFAASC', '\\n')}\n-----END PRIVATE KEY-----\n',
  }),
})
%%
describe('billing', () => {
  // TODO remove before merge
  const KEY = '${f('rk_live_{a24}')}'
  it('lists invoices', async () => {
    expect((await list(KEY)).length).toBeGreaterThan(0)
  })
})
%%
import telebot
bot = telebot.TeleBot("${k.telegram}")

@bot.message_handler(commands=["start"])
def start(m): bot.reply_to(m, "Ciao!")
%%
client.login('${k.discord}')
client.on('ready', () => console.log('bot up'))
%%
CREATE USER reporting WITH PASSWORD '${k.strong}';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reporting;
%%
ALTER USER 'root'@'localhost' IDENTIFIED BY '${k.weak}';
FLUSH PRIVILEGES;
%%
import requests
auth = ("svc-confluence", "${f('ATATT3xFfGF0{w160}={X8}')}")
r = requests.get("https://nordkap.atlassian.net/wiki/rest/api/space", auth=auth)
%%
const key = Buffer.from('${k.x64}', 'hex') // AES-256 key
const cipher = createCipheriv('aes-256-gcm', key, iv)
%%
cy.visit('/login')
cy.get('#email').type('admin@brightloop.io')
cy.get('#password').type('${k.weak}')
cy.contains('Sign in').click()
%%
library(DBI)
con <- dbConnect(RPostgres::Postgres(), dbname = "dwh", host = "10.5.0.3",
                 user = "analyst", password = "${k.pw}")
dbGetQuery(con, "select now()")
%%
Dim conn As New OleDbConnection("Provider=SQLOLEDB;Data Source=SRV-SQL;Initial Catalog=Lager;User Id=lager;Password=${k.weak};")
%%
const wallet = new ethers.Wallet("${f('0x{x64}')}", provider)
const tx = await wallet.sendTransaction({ to, value: parseEther("0.01") })
%%
export default {
  async fetch(req: Request) {
    const r = await fetch('https://api.resend.com/emails', {
      method: 'POST',
      headers: { Authorization: \`Bearer ${f('re_{a8}_{a24}')}\`, 'Content-Type': 'application/json' },
    })
    return new Response(await r.text())
  },
}
%%
@Configuration
public class S3Config {
    @Value("\${s3.secret:${k.awsKey}}")
    private String secretKey;
}
%%
my $dbh = DBI->connect("dbi:Pg:dbname=mrbs;host=localhost", "mrbs", "${k.weak}", { RaiseError => 1 });
%%
conn = psycopg.connect("host=pg.atlas dbname=atlas user=atlas password=${k.alnum} sslmode=require")
%%
interface Creds { user: string; pass: string }
const CREDS: Record<string, Creds> = {
  staging: { user: 'deploy', pass: '${k.weak}' },
  prod: { user: 'deploy', pass: '${k.strong}' },
}
%%
os.environ["LANGFUSE_PUBLIC_KEY"] = "pk-lf-${plain(k.uuid)}"
os.environ["LANGFUSE_SECRET_KEY"] = "${f('sk-lf-{x8}-{x4}-4{x3}-9{x3}-{x12}')}"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
%%
defmodule Atlas.Repo do
  use Ecto.Repo, otp_app: :atlas
end
config :atlas, Atlas.Repo, username: "atlas", password: "${k.weak}", hostname: "db"
config :atlas, AtlasWeb.Endpoint, secret_key_base: "${f('{b64}')}"
`
