import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const sha1 = form('{x40}')
const sha256 = form('{x64}')
const sha512 = form('{b86}==')
const short = form('{x7}')
const uuid = form('{x8}-{x4}-4{x3}-9{x3}-{x12}')
const md5 = form('{x32}')
const traceId = form('{x32}')
const spanId = form('{x16}')
const ulid = form('01J{q23}')
const objectId = form('65f{x21}')
const nano = form('{w21}')

/** Hashes, ids and digests: long and random, but nobody signs in with them. */
export const ids = ordinaryTexts('ids')`
commit ${sha1}
Author: Mia Berg <mia@example.com>
Date:   Wed Mar 4 10:11:12 2026 +0100

    Rotate tokens on sign-out
%%
${short} Fix password reset link
${short} Bump parser to 4.2.1
${short} Merge branch 'feature/api-key-page'
${short} Initial commit
%%
HEAD is now at ${short} tidy up secret handling in docs
%%
$ git rev-parse HEAD
${sha1}
%%
index ${short}..${short} 100644
%%
[main ${short}] Add token counter
 3 files changed, 41 insertions(+), 7 deletions(-)
%%
$ sha256sum dist/app.tar.gz
${sha256}  dist/app.tar.gz
%%
$ md5sum *.iso
${md5}  alpine-3.20.iso
${md5}  debian-12.iso
%%
SHA256 (release.zip) = ${sha256}
%%
    "node_modules/left-pad": {
      "version": "1.3.0",
      "integrity": "sha512-${sha512}",
      "license": "MIT"
    },
%%
lodash@^4.17.21:
  version "4.17.21"
  integrity sha512-${sha512}
%%
  /zod@3.23.8:
    resolution: {integrity: sha512-${sha512}}
    dev: false
%%
[[package]]
name = "serde"
version = "1.0.203"
checksum = "${sha256}"
%%
golang.org/x/text v0.14.0 h1:${form('{b43}=')}
golang.org/x/text v0.14.0/go.mod h1:${form('{b43}=')}
%%
requests==2.32.3 \
    --hash=sha256:${sha256} \
    --hash=sha256:${sha256}
%%
FROM node:22-slim@sha256:${sha256}
%%
uses: actions/checkout@${sha1} # v4.1.7
%%
Digest: sha256:${sha256}
Status: Downloaded newer image for postgres:16
%%
CONTAINER ID   IMAGE         COMMAND                  STATUS
${form('{x12}')}   redis:7       "docker-entrypoint.s…"   Up 3 hours
${form('{x12}')}   postgres:16   "docker-entrypoint.s…"   Up 3 hours
%%
{"id":"${uuid}","parent":"${uuid}","type":"step.started","seq":41}
%%
{"trace_id":"${traceId}","span_id":"${spanId}","name":"GET /users","duration_ms":12.4}
%%
traceparent: 00-${traceId}-${spanId}-01
%%
X-Request-Id: ${uuid}
X-Amzn-Trace-Id: Root=1-${form('{x8}')}-${form('{x24}')}
ETag: "${md5}"
%%
run ${ulid} started by schedule nightly
run ${ulid} finished in 41.2 s
%%
{"_id":{"$oid":"${objectId}"},"user":{"$oid":"${objectId}"},"total":41.5}
%%
{"id":"chatcmpl-${form('{a29}')}","object":"chat.completion","model":"gpt-4o-mini","system_fingerprint":"fp_${form('{x10}')}"}
%%
{"id":"msg_01${form('{a22}')}","type":"message","role":"assistant","stop_reason":"tool_use"}
%%
{"type":"tool_use","id":"toolu_01${form('{a22}')}","name":"read_file","input":{"path":"src/token.ts"}}
%%
{"tool_call_id":"call_${form('{a24}')}","role":"tool","content":"3 files found"}
%%
{"id":"resp_${form('{x48}')}","status":"completed","usage":{"input_tokens":812,"output_tokens":96,"total_tokens":908}}
%%
{"customer":"cus_${form('{a14}')}","payment_intent":"pi_${form('{a24}')}","invoice":"in_${form('{a24}')}"}
%%
arn:aws:iam::123456789012:role/deploy-api
arn:aws:kms:eu-west-1:123456789012:key/${uuid}
%%
vpc-${form('{x17}')}  subnet-${form('{x17}')}  sg-${form('{x17}')}
%%
i-${form('{x17}')} running t3.medium 10.0.4.17
%%
Deployed revision api-7f9c${form('{l6}')}-${form('{l5}')}
pod/api-6d5b9c8f7-x2k4m condition met
%%
layer ${form('{x12}')}: Already exists
layer ${form('{x12}')}: Pushed
latest: digest: sha256:${sha256} size: 1994
%%
Fingerprint: SHA256:${form('{b43}')} (ED25519)
%%
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${form('{b43}')} dev@laptop
%%
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ${form('{b300}')} ci@example.com
%%
-----BEGIN CERTIFICATE-----
${form('MIID{b60}')}
${form('{b64}')}
${form('{b64}')}
${form('{b38}==')}
-----END CERTIFICATE-----
%%
-----BEGIN PUBLIC KEY-----
${form('MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{b28}')}
${form('{b58}==')}
-----END PUBLIC KEY-----
%%
Snapshot hash ${sha256} matches the recorded one; prev=${sha256}
%%
cache key: linux-node-22-${sha256}
Cache restored from key: linux-node-22-${sha256}
%%
blob ${sha1} 4096
tree ${sha1}
parent ${sha1}
%%
session ${nano} resumed, 4 steps left
%%
block 19283746 hash 0x${sha256} miner 0x${form('{x40}')}
%%
Order #A-${form('{n8}')} shipped, tracking 00340${form('{n15}')}
%%
ISBN 978-3-16-148410-0, EAN 4006381333931, ISSN 0378-5955
%%
build 20260304.3 (${short}) passed in 4m 12s
%%
"files": { "index-${form('{a8}')}.js": "${form('{x20}')}", "vendor-${form('{a8}')}.css": "${form('{x20}')}" }
`
