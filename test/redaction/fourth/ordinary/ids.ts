import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const ids = ordinaryTexts('ids')`
$ git log --oneline -5
${f('{x7}')} fix(auth): refresh token before it expires
${f('{x7}')} feat: password strength meter
${f('{x7}')} chore: bump deps
${f('{x7}')} docs: how to rotate api keys
${f('{x7}')} test: session cookie is http-only
%%
commit ${k.sha}
Merge: ${f('{x9}')} ${f('{x9}')}
Author: Mira Solberg <mira@nordkap.no>
Date:   Tue Jan 13 16:40:02 2026 +0100

    Merge branch 'main' into token-refresh
%%
"node_modules/zod": {
  "version": "3.24.1",
  "resolved": "https://registry.npm.example/zod/-/zod-3.24.1.tgz",
  "integrity": "sha512-${f('{b86}')}==",
  "license": "MIT"
}
%%
  /@esbuild/linux-x64@0.24.2:
    resolution: {integrity: sha512-${f('{b86}')}==}
    engines: {node: '>=18'}
    cpu: [x64]
    os: [linux]
%%
$ sha256sum dist/*
${k.x64}  dist/app.js
${k.x64}  dist/app.css
${k.x64}  dist/index.html
%%
$ docker images --digests
REPOSITORY   TAG    DIGEST                                                                    IMAGE ID       CREATED       SIZE
node         24     sha256:${k.x64}   ${f('{x12}')}   2 weeks ago   1.12GB
postgres     17     sha256:${k.x64}   ${f('{x12}')}   5 weeks ago   438MB
%%
$ kubectl get pods
NAME                        READY   STATUS    RESTARTS   AGE
api-${f('{l10}')}-${f('{l5}')}        1/1     Running   0          3d
auth-server-${f('{x10}')}-${f('{l5}')}   1/1     Running   2          9d
token-refresher-${f('{95}')}      0/1     Completed 0          11m
%%
trace_id=${k.x32} span_id=${f('{x16}')} parent=${f('{x16}')} name="POST /login" status=OK duration=41ms
%%
traceparent: 00-${k.x32}-${f('{x16}')}-01
x-request-id: ${k.uuid}
x-amzn-trace-id: Root=1-${f('{x8}')}-${f('{x24}')}
cf-ray: ${f('{x16}')}-FRA
%%
$ aws ec2 describe-instances --query 'Reservations[].Instances[].[InstanceId,VpcId,SubnetId,ImageId]' --output text
i-0${f('{x16}')}	vpc-0${f('{x16}')}	subnet-0${f('{x16}')}	ami-0${f('{x16}')}
i-0${f('{x16}')}	vpc-0${f('{x16}')}	subnet-0${f('{x16}')}	ami-0${f('{x16}')}
%%
arn:aws:secretsmanager:eu-west-1:${f('{912}')}:secret:prod/atlas/db-${f('{a6}')}
arn:aws:kms:eu-west-1:${f('{912}')}:key/${k.uuid}
arn:aws:acm:us-east-1:${f('{912}')}:certificate/${k.uuid}
%%
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${f('{b43}')} jo@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ${f('{b342}')}== mira@desk
%%
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${f('{b20}')}
${f('{b64}')}
${f('{b64}')}
${f('{b36}')}IDAQAB
-----END PUBLIC KEY-----
%%
-----BEGIN CERTIFICATE-----
MIIDdzCCAl+gAwIBAgIE${f('{b44}')}
${f('{b64}')}
${f('{b64}')}
${f('{b62}')}==
-----END CERTIFICATE-----
%%
$ ssh-keyscan gitlab.nordkap.no
# gitlab.nordkap.no:22 SSH-2.0-OpenSSH_9.6
gitlab.nordkap.no ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${f('{b43}')}
%%
The authenticity of host 'bastion (10.0.0.1)' can't be established.
ED25519 key fingerprint is SHA256:${f('{b43}')}.
Are you sure you want to continue connecting (yes/no/[fingerprint])? yes
%%
Order ${f('{U8}')} shipped, tracking number 1Z${f('{U16}')}, invoice RE-2026-${f('{95}')}.
IBAN DE${f('{920}')} (the shop's own account, printed on each invoice)
%%
{"_id":{"$oid":"${f('{x24}')}"},"sku":"NK-${f('{U6}')}","ean":"40${f('{911}')}","batch":"${f('{U10}')}"}
%%
ETag: W/"${f('{x32}')}"
Last-Modified: Sun, 18 Jan 2026 20:11:04 GMT
x-amz-version-id: ${f('{a32}')}
x-amz-id-2: ${f('{b76}')}
%%
Terraform used the selected providers.
aws_route53_zone.main: Refreshing state... [id=Z${f('{U20}')}]
aws_cloudfront_distribution.web: Refreshing state... [id=E${f('{U13}')}]
aws_security_group.db: Refreshing state... [id=sg-0${f('{x16}')}]
No changes. Your infrastructure matches the configuration.
%%
provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.82.2"
  constraints = "~> 5.80"
  hashes = [
    "h1:${f('{b43}')}=",
    "zh:${k.x64}",
    "zh:${k.x64}",
  ]
}
%%
github.com/golang-jwt/jwt/v5 v5.2.1 h1:${f('{b43}')}=
github.com/golang-jwt/jwt/v5 v5.2.1/go.mod h1:${f('{b43}')}=
golang.org/x/crypto v0.31.0 h1:${f('{b43}')}=
%%
[[package]]
name = "secrecy"
version = "0.10.3"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "${k.x64}"
%%
Stripe objects in this test: cus_${f('{a14}')}, pi_${f('3{a23}')}, price_${f('1{a23}')}, sub_${f('1{a23}')}, evt_${f('1{a23}')}
%%
Slack ids: team T${f('{U10}')}, channel C${f('{U10}')}, user U${f('{U10}')}, ts 17${f('{98}')}.${f('{96}')}
%%
{"id":"msg_01${f('{a22}')}","type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"end_turn","usage":{"input_tokens":2210,"output_tokens":318,"cache_read_input_tokens":1800}}
%%
chatcmpl-${f('{a29}')} system_fingerprint fp_${f('{x10}')} prompt_tokens 1290 completion_tokens 77
%%
$ az account show
{
  "id": "${k.uuid}",
  "name": "Kontor Prod",
  "tenantId": "${k.uuid}",
  "state": "Enabled",
  "user": { "name": "lh@kontor.de", "type": "user" }
}
%%
projects/nordkap-prod/secrets/db-password/versions/7
projects/nordkap-prod/serviceAccounts/${f('1{920}')}
projects/nordkap-prod/locations/europe-west3/keyRings/app/cryptoKeys/tokens
%%
Build ${k.uuid} of image eu.gcr.io/nordkap-prod/api@sha256:${k.x64} finished in 3m12s
%%
$ git rev-parse HEAD origin/main
${k.sha}
${k.sha}
%%
$ git ls-tree HEAD src/auth
100644 blob ${k.sha}	src/auth/password.ts
100644 blob ${k.sha}	src/auth/token.ts
040000 tree ${k.sha}	src/auth/providers
%%
MAC addresses on the switch: ${f('{x2}:{x2}:{x2}:{x2}:{x2}:{x2}')}, ${f('{x2}:{x2}:{x2}:{x2}:{x2}:{x2}')}
IPv6 2a01:4f8:${f('{x4}')}:${f('{x4}')}::2
%%
contract 0x${k.x40} deployed in tx 0x${k.x64}, block 21${f('{96}')}, gas used 1,204,118
%%
torrent magnet:?xt=urn:btih:${f('{X40}')}&dn=ubuntu-24.04.1-live-server-amd64.iso
%%
ULIDs: 01J${f('{U23}')} and 01J${f('{U23}')}. nanoid: ${f('{w21}')}. KSUID: 2${f('{a26}')}
%%
SRI: <script src="https://cdn.jsdelivr.net/npm/vue@3.5.13/dist/vue.global.prod.js" integrity="sha384-${f('{b64}')}" crossorigin="anonymous"></script>
%%
Firmware v2.4.1, build ${f('{U8}')}, serial ${f('{U12}')}, crc32 ${f('{x8}')}, md5 ${k.x32}
%%
yarn.lock
"jsonwebtoken@npm:^9.0.2":
  version: 9.0.2
  resolution: "jsonwebtoken@npm:9.0.2"
  checksum: 10c0/${f('{x128}')}
%%
Datadog monitor 88${f('{96}')} linked to dashboard ${f('{l3}-{l3}-{l3}')}, org public id ${f('{x8}')}
`
