import { again, plain, secretTexts } from '../corpus.ts'
import { base64, basic, form, password, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

const encoded = base64(password)
const encodedKey = base64(v.letters32)

export const infra = secretTexts('infra')`
apiVersion: v1
kind: Secret
metadata:
  name: db-credentials
  namespace: prod
type: Opaque
data:
  username: YXBw
  password: ${encoded}
%%
apiVersion: v1
kind: Secret
metadata:
  name: api-keys
stringData:
  STRIPE_KEY: ${v.stripeLive}
  OPENAI_API_KEY: ${v.openaiProject}
  webhook-secret: "${v.letters32}"
%%
$ kubectl get secret oauth -o yaml
apiVersion: v1
data:
  client-id: cG9ydGFs
  client-secret: ${encodedKey}
kind: Secret
%%
    spec:
      containers:
        - name: api
          image: images.example.com/api:2.3.1
          env:
            - name: DB_HOST
              value: db.internal
            - name: DB_PASSWORD
              value: ${password}
            - name: JWT_SECRET
              value: "${v.hex64}"
%%
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: app
      POSTGRES_PASSWORD: ${weak}
  api:
    build: .
    environment:
      - DATABASE_URL=postgres://app:${again(weak)}@db:5432/app
      - SECRET_KEY=${v.urlSafe43}
%%
services:
  mysql:
    image: mysql:8
    environment:
      MYSQL_ROOT_PASSWORD: "${weak}"
      MYSQL_PASSWORD: "${weak}"
  redis:
    command: redis-server --requirepass ${weak}
  minio:
    environment:
      MINIO_ROOT_USER: minio
      MINIO_ROOT_PASSWORD: ${password}
%%
FROM node:22-slim
ARG NPM_TOKEN=${v.npmToken}
ENV SENTRY_AUTH_TOKEN=${v.sentryUser}
RUN npm ci
%%
FROM python:3.12
ENV DB_PASSWORD ${strong}
ENV OPENAI_API_KEY ${v.openaiLegacy}
%%
provider "aws" {
  region     = "us-east-1"
  access_key = "${v.awsId}"
  secret_key = "${v.awsSecret}"
}
%%
resource "aws_db_instance" "main" {
  engine   = "postgres"
  username = "dbadmin"
  password = "${strong}"
}
%%
db_password         = "${password}"
datadog_api_key     = "${v.datadogApi}"
cloudflare_api_token = "${v.cloudflareToken}"
instance_count      = 3
%%
variable "github_token" {
  type    = string
  default = "${v.githubClassic}"
}
%%
      "instances": [{
        "attributes": {
          "address": "db.internal",
          "password": "${strong}",
          "username": "dbadmin",
          "arn": "arn:aws:rds:eu-west-1:123456789012:db:main"
        }
      }]
%%
[web]
web-1 ansible_host=10.0.1.4 ansible_user=ubuntu ansible_ssh_pass=${weak} ansible_become_pass=${weak}
%%
- name: create db user
  community.postgresql.postgresql_user:
    name: app
    password: "${strong}"
    login_password: "${weak}"
%%
env:
  DEPLOY_TOKEN: ${v.githubFine}
  SLACK_WEBHOOK: https://hooks.slack.com/services/${v.slackHookPath}
jobs:
  build:
    runs-on: ubuntu-latest
%%
variables:
  CI_REGISTRY_PASSWORD: "${v.gitlabDeploy}"
  SONAR_TOKEN: "${v.sonar}"
build:
  script:
    - make
%%
pipeline {
  environment {
    API_TOKEN = '${v.generic}'
    NEXUS_PASSWORD = '${weak}'
  }
}
%%
apiVersion: v1
kind: Config
users:
  - name: admin
    user:
      client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t
      client-key-data: ${form('LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{b240}')}
  - name: bot
    user:
      token: ${v.letters64}
%%
#cloud-config
users:
  - name: ops
    plain_text_passwd: ${weak}
    lock_passwd: false
chpasswd:
  list: |
    root:${weak}
%%
<domain>
  <graphics type='vnc' port='5901' passwd='${weak}'/>
</domain>
%%
backend:
  s3:
    endpoint: minio.internal:9000
    access_key: ${form('{U20}')}
    secret_key: ${v.awsSecret}
%%
values.yaml
postgresql:
  auth:
    postgresPassword: ${password}
    replicationPassword: ${password}
grafana:
  adminPassword: ${weak}
%%
apiVersion: argoproj.io/v1alpha1
kind: Application
spec:
  source:
    helm:
      parameters:
        - name: auth.adminPassword
          value: ${password}
%%
kind: ConfigMap
data:
  application.properties: |
    db.url=jdbc:oracle:thin:erp/${urlPassword}@ora.internal:1521/ERP
    mail.password=${weak}
%%
interface Gi0/1
 ip address 10.1.1.1 255.255.255.0
snmp-server community ${weak} RO
username netadmin privilege 15 password 0 ${weak}
enable password ${weak}
%%
listen stats
  bind *:8404
  stats auth admin:${weak}
%%
proxy_set_header Authorization "Basic ${basic('edge')}";
proxy_set_header X-Auth-Token "${v.hex40}";
%%
docker service inspect api
"Env": [
  "PORT=8080",
  "REDIS_PASSWORD=${password}",
  "RAILS_MASTER_KEY=${v.hex32}"
]
%%
Value of commit ${plain(v.hex40)}: age key for sops
# public key: age1${plain(form('{l58}'))}
${v.ageKey}
`
