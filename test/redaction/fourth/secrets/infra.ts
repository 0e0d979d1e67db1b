import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const infra = secretTexts('infra')`
apiVersion: v1
kind: Secret
metadata:
  name: atlas-db
  namespace: prod
type: Opaque
data:
  username: YXRsYXM=
  password: ${k.base64(k.strong)}
%%
apiVersion: v1
kind: Secret
metadata:
  name: mailer
stringData:
  SMTP_PASSWORD: "${k.weak}"
  DKIM_SELECTOR: s1
%%
$ kubectl get secret grafana -n monitoring -o jsonpath="{.data.admin-password}" | base64 -d
${k.a40}
%%
      containers:
        - name: api
          image: registry.nordkap.no/api:1.14.2
          env:
            - name: LOG_LEVEL
              value: debug
            - name: OPENAI_API_KEY
              value: ${k.oai}
            - name: DB_PASSWORD
              valueFrom: { secretKeyRef: { name: db, key: password } }
%%
$ kubectl describe pod api-${plain(f('{l10}'))}-${plain(f('{l5}'))} | sed -n '/Environment/,/Mounts/p'
    Environment:
      NODE_ENV:          production
      RABBITMQ_URL:      amqp://atlas:${k.urlpw}@rabbit.infra.svc:5672/
      HONEYCOMB_API_KEY: ${f('hcaik_01{l58}')}
    Mounts:
      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-${plain(f('{l5}'))} (ro)
%%
apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://k8s.nordkap.no:6443
  name: nordkap
users:
- name: admin
  user:
    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t${plain(f('{a200}'))}
    client-key-data: ${f('LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlF{a300}')}
- name: ci
  user:
    token: ${k.jwtOf('{"iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:ci:deployer"}', '{"alg":"RS256","kid":"x1"}', 342)}
%%
Terraform will perform the following actions:

  # aws_db_instance.atlas will be updated in-place
  ~ resource "aws_db_instance" "atlas" {
        id                = "db-${plain(f('{U26}'))}"
      ~ password          = "${k.alnum}" -> "${k.strong}"
        username          = "atlas"
    }

Plan: 0 to add, 1 to change, 0 to destroy.
%%
terraform.tfvars
region             = "westeurope"
client_id          = "${plain(k.uuid)}"
client_secret      = "${k.azSecret}"
admin_password     = "${k.weak}"
vm_size            = "Standard_B2s"
%%
{
  "version": 4,
  "serial": 88,
  "lineage": "${plain(k.uuid)}",
  "resources": [{ "type": "random_password", "name": "rds", "instances": [{ "attributes": { "length": 24, "result": "${f('{a24}')}", "bcrypt_hash": "$2a$10$${f('{a53}')}" } }] }]
}
%%
Run actions/checkout@v4
  with:
    repository: nordkap/portal
    token: ${k.ghs}
    fetch-depth: 1
Syncing repository: nordkap/portal
%%
# .github/workflows/release.yml
jobs:
  publish:
    runs-on: ubuntu-latest
    env:
      NODE_AUTH_TOKEN: ${k.npm}
      SLACK_WEBHOOK: https://hooks.slack.com/services/T${plain(f('{U8}'))}/B${plain(f('{U8}'))}/${k.slackHook}
    steps:
      - run: npm publish --provenance
%%
#12 [build 4/9] RUN echo "//npm.pkg.github.com/:_authToken=${k.ghpat}" > .npmrc && npm ci
#12 4.201 added 912 packages in 4s
#12 DONE 4.9s
%%
FROM node:24-slim
ENV SENTRY_AUTH_TOKEN=${f('sntrys_eyJpYXQiOjE3{a120}_{w43}')}
ARG GIT_TOKEN=${k.glpat}
RUN git clone https://ci:$GIT_TOKEN@gitlab.nordkap.no/libs/ui.git
%%
# helm values-prod.yaml
postgresql:
  auth:
    username: keycloak
    postgresPassword: ${k.alnum}
    password: ${k.weak}
keycloak:
  auth: { adminUser: admin, adminPassword: "${k.strong}" }
  replicaCount: 2
%%
$ helm get values loki
USER-SUPPLIED VALUES:
loki:
  storage:
    s3:
      accessKeyId: ${k.awsId}
      secretAccessKey: ${k.awsKey}
      region: eu-north-1
%%
$ pulumi config --show-secrets
KEY                  VALUE
aws:region           eu-west-1
atlas:dbPassword     ${k.strong}
atlas:instanceSize   t3.medium
atlas:webhookSecret  ${k.x40}
%%
#cloud-config
users:
  - name: ops
    ssh_authorized_keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${plain(f('{b43}'))} ops@nordkap]
chpasswd:
  list: |
    root:${k.weak}
    ops:${k.alnum}
runcmd:
  - [k3s, server, --token, ${f('K10{x64}::server:{x32}')}]
%%
$ kubeadm token create --print-join-command
kubeadm join 10.0.0.10:6443 --token ${f('{l6}.{l16}')} --discovery-token-ca-cert-hash sha256:${plain(k.x64)}
%%
Circle CI job output
#!/bin/bash -eo pipefail
doctl auth init --access-token ${k.dop}
Validating token... OK
doctl kubernetes cluster kubeconfig save atlas
Notice: Adding cluster credentials to kubeconfig file found in "/home/circleci/.kube/config"
%%
serverless.yml
provider:
  name: aws
  runtime: nodejs22.x
  environment:
    TABLE: orders-prod
    PAYPAL_CLIENT_ID: ${plain(f('A{w79}'))}
    PAYPAL_CLIENT_SECRET: ${f('E{w79}')}
    INTERNAL_API_KEY: ${k.uuid}
%%
gitlab-runner register
Enter the registration token:
${f('glrt-{w20}')}
Enter a description for the runner:
[build-3]: build-3
Verifying token... is valid
%%
pm2 ecosystem.config.cjs
module.exports = { apps: [{ name: 'api', script: 'dist/main.js', env_production: { NODE_ENV: 'production', JWT_SECRET: '${k.phrase}', MONGO_PASSWORD: '${k.alnum}' } }] }
`
