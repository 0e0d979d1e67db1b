import { again, plain, secretTexts } from '../corpus.ts'
import { base64, basic, form, password, pemLines, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const config = secretTexts('config')`
spring:
  datasource:
    url: jdbc:postgresql://db.internal:5432/billing
    username: billing
    password: ${password}
  mail:
    host: smtp.example.com
    username: billing@example.com
    password: "${strong}"
jwt:
  secret: ${v.base64Of32}
  expiration: 86400
%%
spring.datasource.username=orders
spring.datasource.password=${weak}
spring.rabbitmq.password=${weak}
app.api-key=${v.generic}
server.port=8443
server.ssl.key-store-password=${weak}
%%
{
  "ConnectionStrings": {
    "Default": "Server=sql.internal,1433;Database=Crm;User Id=crm;Password=${urlPassword};TrustServerCertificate=True;"
  },
  "Jwt": { "Issuer": "https://id.example.com", "Key": "${v.letters64}" },
  "Logging": { "LogLevel": { "Default": "Information" } }
}
%%
{
  "mcpServers": {
    "github": {
      "command": "mcp-github",
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${v.githubFine}" }
    },
    "notion": {
      "command": "mcp-notion",
      "env": { "NOTION_API_KEY": "${v.notion}" }
    }
  }
}
%%
[default]
aws_access_key_id = ${v.awsId}
aws_secret_access_key = ${v.awsSecret}

[staging]
aws_access_key_id = ${v.awsTemporaryId}
aws_secret_access_key = ${v.awsSecret}
aws_session_token = ${v.awsSession}
%%
[client]
user=root
password=${weak}
host=localhost
%%
//packages.example.com/:_authToken=${v.npmToken}
always-auth=true
%%
machine git.example.com
  login deploy
  password ${v.githubClassic}
machine api.example.org login bot password ${password}
%%
{
  "auths": {
    "images.example.com": { "auth": "${basic('deploy')}" }
  }
}
%%
db.internal:5432:warehouse:etl:${urlPassword}
%%
<?xml version="1.0" encoding="UTF-8"?>
<settings>
  <servers>
    <server>
      <id>releases</id>
      <username>ci</username>
      <password>${password}</password>
    </server>
  </servers>
</settings>
%%
<configuration>
  <connectionStrings>
    <add name="Main" connectionString="Data Source=sql01.internal;Initial Catalog=Erp;User ID=erp_app;Password=${urlPassword}" providerName="System.Data.SqlClient" />
  </connectionStrings>
  <appSettings>
    <add key="SmtpPassword" value="${weak}" />
    <add key="ApiSecret" value="${v.letters32}" />
  </appSettings>
</configuration>
%%
title = "gateway"
[upstream]
url = "https://api.example.com"
api_key = "${v.generic}"
[redis]
addr = "redis.internal:6379"
password = "${password}"
%%
define( 'DB_NAME', 'blog' );
define( 'DB_USER', 'blog' );
define( 'DB_PASSWORD', '${weak}' );
define( 'DB_HOST', 'localhost' );
define( 'AUTH_KEY', '${form('{s64}')}' );
define( 'SECURE_AUTH_KEY', '${form('{s64}')}' );
%%
production:
  secret_key_base: ${form('{x128}')}
  stripe:
    secret: ${v.stripeLive}
    currency: eur
%%
{
  "type": "service_account",
  "project_id": "reports-prod",
  "private_key_id": "${plain(v.hex40)}",
  "private_key": "-----BEGIN PRIVATE KEY-----\n${pemLines(6, 'MIIEvQIBADANBgkqhkiG9w0BAQ', '\\n')}\n-----END PRIVATE KEY-----\n",
  "client_email": "reports@example.com"
}
%%
users:
  - name: admin
    password: ${weak}
  - name: readonly
    password: ${weak}
%%
smtp_host: smtp.example.com
smtp_user: alerts
smtp_auth_password: '${strong}'
slack_api_url: https://hooks.slack.com/services/${v.slackHookPath}
receivers:
  - name: ops
    pagerduty_configs:
      - routing_key: ${v.hex32}
%%
[remote "origin"]
	url = https://oauth2:${v.gitlabPersonal}@git.example.com/platform/api.git
	fetch = +refs/heads/*:refs/remotes/origin/*
%%
[remote "origin"]
	url = https://${v.githubClassic}@github.example.com/acme/site.git
[user]
	email = dev@example.com
%%
{"gmail": {"user": "bot@example.com", "pass": "${form('{y4} {y4} {y4} {y4}')}"}}
%%
auth:
  basic:
    username: prometheus
    password: ${v.letters32}
  bearer_token: ${v.urlSafe43}
oauth2:
  client_id: exporter
  client_secret: ${v.letters32}
%%
[wifi-security]
key-mgmt=wpa-psk
psk=${weak}
%%
[Interface]
PrivateKey = ${v.base64Of32}
Address = 10.8.0.2/24

[Peer]
PublicKey = ${plain(v.base64Of32)}
PresharedKey = ${v.base64Of32}
Endpoint = vpn.example.com:51820
%%
requirepass ${v.letters64}
masterauth ${again(v.letters64)}
maxmemory 2gb
%%
elasticsearch.username: "kibana_system"
elasticsearch.password: "${password}"
xpack.encryptedSavedObjects.encryptionKey: "${v.letters32}"
%%
"datasources": [
  { "name": "pg", "type": "postgres", "secureJsonData": { "password": "${password}" } }
]
%%
sonar.host.url=https://sonar.example.com
sonar.token=${v.sonar}
artifactory_apikey=${v.artifactory}
%%
{
  "firebase": {
    "apiKey": "${v.googleKey}",
    "authDomain": "shop.example.com",
    "messagingSenderId": "482910384412"
  },
  "fcmServerKey": "${v.firebaseServer}"
}
%%
proxy=http://svc-build:${urlPassword}@proxy.internal:3128
https-proxy=http://svc-build:${again(urlPassword)}@proxy.internal:3128
%%
client:
  kafka:
    sasl.jaas.config: org.apache.kafka.common.security.plain.PlainLoginModule required username="ingest" password="${v.letters64}";
%%
vault_token: ${v.vault}
pulumi_token: ${v.pulumi}
databricks:
  host: https://dbc.example.com
  token: ${v.databricks}
%%
htpasswd generated from: admin / ${weak}
%%
key "rndc-key" {
  algorithm hmac-sha256;
  secret "${base64(v.hex32)}";
};
`
