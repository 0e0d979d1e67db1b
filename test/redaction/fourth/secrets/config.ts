import { again, plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const config = secretTexts('config')`
# config/production.yaml
server:
  port: 8080
database:
  host: db-1.tallyport.internal
  name: ledger
  user: ledger_rw
  password: ${k.pw}
redis:
  host: cache-1.tallyport.internal
  password: ${k.alnum}
%%
{
  "name": "kestrel",
  "smtp": { "host": "mail.gandi.net", "port": 465, "user": "hello@kestrel.app", "pass": "${k.strong}" },
  "jwt": { "secret": "${f('{a40}')}", "expiresIn": "7d" }
}
%%
[default]
aws_access_key_id = ${k.awsId}
aws_secret_access_key = ${k.awsKey}
region = eu-west-1

[prod]
role_arn = arn:aws:iam::${plain(f('{912}'))}:role/deployer
source_profile = default
%%
spring.datasource.url=jdbc:postgresql://pg.nordkap.no:5432/billing
spring.datasource.username=billing
spring.datasource.password=${k.pw}
spring.mail.password=${k.weak}
management.endpoints.web.exposure.include=health,info
%%
//registry.npm.example/:_authToken=${k.npm}
@brightloop:registry=https://npm.pkg.github.com
//npm.pkg.github.com/:_authToken=${k.ghp}
always-auth=true
%%
<configuration>
  <connectionStrings>
    <add name="Main" connectionString="Server=tcp:sql01.kontor.local,1433;Database=Kontor;User ID=svc_web;Password=${k.strong};Encrypt=True" providerName="System.Data.SqlClient" />
  </connectionStrings>
  <appSettings>
    <add key="ApiKey" value="${f('{U8}-{U8}-{U8}-{U8}')}" />
    <add key="PageSize" value="50" />
  </appSettings>
</configuration>
%%
machine api.heroku.com
  login ops@brightloop.io
  password ${k.uuid}
machine git.heroku.com
  login ops@brightloop.io
  password ${again(k.uuid)}
%%
# Cargo credentials
[registry]
token = "${f('cio{a32}')}"

[registries.internal]
token = "Bearer ${k.a40}"
%%
version: "3.9"
services:
  db:
    image: mariadb:11
    environment:
      MARIADB_ROOT_PASSWORD: ${k.weak}
      MARIADB_USER: wp
      MARIADB_PASSWORD: ${k.weak}
      MARIADB_DATABASE: wordpress
    volumes: [db:/var/lib/mysql]
%%
{"auths":{"https://index.docker.io/v1/":{"auth":"${k.base64(f('brightloopci:dckr_pat_{w27}'))}"},"registry.tallyport.eu":{"auth":"${k.basic('robot')}"}},"credsStore":""}
%%
<settings>
  <servers>
    <server>
      <id>nexus-releases</id>
      <username>ci</username>
      <password>${k.weak}</password>
    </server>
    <server>
      <id>github</id>
      <username>kontor-bot</username>
      <password>${k.ghp}</password>
    </server>
  </servers>
</settings>
%%
terraform {
  backend "remote" {
    hostname = "app.terraform.io"
    organization = "nordkap"
    token = "${k.tfc}"
  }
}
%%
provider "datadog" {
  api_key = "${k.x32}"
  app_key = "${k.x40}"
  api_url = "https://api.datadoghq.eu/"
}
%%
define('DB_NAME', 'wp_petitport');
define('DB_USER', 'wp');
define('DB_PASSWORD', '${k.strong}');
define('DB_HOST', 'localhost');
define('AUTH_KEY',         '${f('{s64}')}');
define('SECURE_AUTH_KEY',  '${f('{s64}')}');
define('LOGGED_IN_SALT',   '${f('{s64}')}');
$table_prefix = 'pp_';
%%
[client]
user=backup
password=${k.pw}
host=10.20.0.5
%%
$ cat ~/.pgpass
db.internal:5432:*:reporting:${k.alnum}
db.internal:5432:metrics:grafana:${k.weak}
%%
grafana.ini

[security]
admin_user = admin
admin_password = ${k.weak}
secret_key = ${f('{a20}')}

[auth.generic_oauth]
enabled = true
client_id = grafana
client_secret = ${k.a32}
%%
{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${k.ghpat}" }
    },
    "postgres": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://agent:${k.urlpw}@10.0.3.4/crm"]
    }
  }
}
%%
{
  "type": "service_account",
  "project_id": "nordkap-prod",
  "private_key_id": "${plain(k.x40)}",
  "private_key": "-----BEGIN PRIVATE KEY-----\n${k.pem(14, 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', '\\n')}\n-----END PRIVATE KEY-----\n",
  "client_email": "deployer@nordkap-prod.iam.gserviceaccount.com",
  "client_id": "${plain(f('1{920}'))}",
  "token_uri": "https://oauth2.googleapis.com/token"
}
%%
receivers:
- name: oncall
  slack_configs:
  - api_url: https://hooks.slack.com/services/T${plain(f('{U8}'))}/B${plain(f('{U10}'))}/${k.slackHook}
    channel: '#oncall'
  pagerduty_configs:
  - routing_key: ${k.x32}
%%
[remote "origin"]
	url = https://oauth2:${k.glpat}@gitlab.nordkap.no/platform/deploy.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
%%
[distutils]
index-servers = pypi

[pypi]
username = __token__
password = ${f('pypi-AgEIcHlwaS5vcmc{w150}')}
%%
rclone config show
[b2]
type = b2
account = ${plain(f('003{x22}'))}
key = ${f('K003{b27}')}

[sftp-nas]
type = sftp
host = nas.local
user = backup
pass = ${f('{w38}')}
%%
# wg0.conf
[Interface]
Address = 10.66.0.2/32
PrivateKey = ${k.b44}
DNS = 10.66.0.1

[Peer]
PublicKey = ${plain(k.b44)}
PresharedKey = ${k.b44}
Endpoint = vpn.kontor.de:51820
AllowedIPs = 0.0.0.0/0
%%
appsettings.Production.json
{
  "Logging": { "LogLevel": { "Default": "Warning" } },
  "Jwt": { "Issuer": "kontor", "Key": "${f('{a44}')}" },
  "AzureAd": { "TenantId": "${plain(k.uuid)}", "ClientId": "${plain(k.uuid)}", "ClientSecret": "${k.azSecret}" },
  "ServiceBus": "Endpoint=sb://kontor.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${k.b44}"
}
%%
default:
  adapter: mysql2
  username: root
  password: "${k.weak}"
production:
  <<: *default
  host: db.petitport.fr
  password: "${k.strong}"
%%
network={
    ssid="Nordlicht-Guest"
    psk="${k.weak}"
    key_mgmt=WPA-PSK
}
%%
exports.config = {
  user: 'brightloop_x7',
  key: '${f('{a20}')}',
  capabilities: [{ browserName: 'Chrome', 'bstack:options': { accessKey: '${f('{a20}')}' } }],
}
%%
[mysqld]
bind-address = 0.0.0.0
[replication]
master_user = repl
master_password = '${k.pw}'
master_host = 10.1.1.7
%%
# ansible group_vars/all.yml
ansible_user: deploy
ansible_become_pass: ${k.weak}
vault_api_token: ${f('{a32}')}
ntp_servers: [0.de.pool.ntp.org, 1.de.pool.ntp.org]
%%
variable "db_password" {
  type      = string
  sensitive = true
  default   = "${k.strong}"
}
resource "aws_db_instance" "main" {
  username = "app"
  password = "${k.alnum}"
}
%%
<Context>
  <Resource name="jdbc/orders" auth="Container" type="javax.sql.DataSource"
    username="orders" password="${k.pw}" driverClassName="oracle.jdbc.OracleDriver"
    url="jdbc:oracle:thin:@ora1.bancolar.es:1521/ORD"/>
</Context>
%%
jdbc.url=jdbc:mysql://10.9.0.3:3306/erp?user=erp&password=${k.alnum}&useSSL=false
jdbc.pool.max=20
%%
hosts:
    github.com:
        user: mk-nordkap
        oauth_token: ${k.gho}
        git_protocol: ssh
%%
# litellm_config.yaml
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o
      api_base: https://nordkap-ai.openai.azure.com
      api_key: ${k.x32}
  - model_name: claude
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_key: ${k.ant}
general_settings:
  master_key: ${f('sk-{a24}')}
%%
{
  "compilerOptions": { "strict": true },
  "figmaToken": "${f('figd_{w40}')}",
  "notion": { "token": "${f('ntn_{911}{a35}')}", "databaseId": "${plain(k.x32)}" },
  "airtable": { "pat": "${f('pat{a14}.{x64}')}", "base": "app${plain(f('{a14}'))}" }
}
%%
server {
  listen 443 ssl;
  location /api/ {
    proxy_set_header Authorization "Basic ${k.basic('upstream')}";
    proxy_set_header X-Api-Key "${k.a32}";
    proxy_pass http://10.2.0.8:9000;
  }
}
%%
[sentry]
[auth]
token=${f('sntryu_{x64}')}
[defaults]
org=brightloop
project=web
%%
homeserver:
  registration_shared_secret: "${f('{s50}')}"
  macaroon_secret_key: "${f('{a50}')}"
  form_secret: "${f('{a50}')}"
  server_name: "chat.tallyport.eu"
%%
<?xml version="1.0" encoding="UTF-8"?>
<server-list>
  <server host="ftp.bancolar.es" port="22">
    <User>webmaster</User>
    <Pass encoding="base64">${k.base64(k.weak)}</Pass>
  </server>
</server-list>
`
