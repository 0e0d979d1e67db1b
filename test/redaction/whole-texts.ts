// A blind corpus of secrets: every value is generated here from a fixed seed; none was ever valid anywhere.
import { createHash, createHmac } from 'node:crypto'
import { Buffer } from 'node:buffer'
import { createRandom } from '../../packages/ledger/src/conformance/random.ts'

export interface SecretCase {
  readonly kind: string
  readonly text: string
  readonly secret: string
}

const { below: rnd } = createRandom(0x5eed_b11d)

const LOW = 'abcdefghijklmnopqrstuvwxyz'
const UP = LOW.toUpperCase()
const DIG = '0123456789'
const B62 = DIG + UP + LOW
const B64 = B62 + '+/'
const URL64 = B62 + '-_'
const B58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BECH = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

function of(alphabet: string, n: number): string {
  let out = ''
  for (let i = 0; i < n; i++) out += alphabet[rnd(alphabet.length)]
  return out
}
const hex = (n: number): string => of('0123456789abcdef', n)
const alnum = (n: number): string => of(B62, n)
const lownum = (n: number): string => of(LOW + DIG, n)
const upnum = (n: number): string => of(UP + DIG, n)
const digits = (n: number): string => of('123456789', 1) + of(DIG, n - 1)
const b64 = (n: number): string => of(B64, n)
const url64 = (n: number): string => of(URL64, n)
const b32 = (n: number): string => of(UP + '234567', n)
const bytes = (n: number): Buffer => Buffer.from(Array.from({ length: n }, () => rnd(256)))
const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-${of('89ab', 1)}${hex(3)}-${hex(12)}`
const enc = (text: string): string => Buffer.from(text).toString('base64')
const encUrl = (text: string): string => Buffer.from(text).toString('base64url')
const cap = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

function crc32(text: string): number {
  let crc = -1
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ -1) >>> 0
}
function base62(value: number): string {
  let out = ''
  for (let v = value; v > 0; v = Math.floor(v / 62)) out = B62[v % 62]! + out
  return out.padStart(6, '0')
}
/** GitHub and npm form: 30 random characters and the base-62 CRC-32 of them. */
function checked(prefix: string): string {
  const body = alnum(30)
  return prefix + body + base62(crc32(body))
}
function base58(data: Buffer): string {
  let value = BigInt('0x' + data.toString('hex'))
  let out = ''
  while (value > 0n) {
    out = B58[Number(value % 58n)]! + out
    value /= 58n
  }
  for (const byte of data) {
    if (byte !== 0) break
    out = '1' + out
  }
  return out
}
function base58check(data: Buffer): string {
  const sha = (part: Buffer): Buffer => createHash('sha256').update(part).digest()
  return base58(Buffer.concat([data, sha(sha(data)).subarray(0, 4)]))
}
function jwt(payload: object, header: object = { alg: 'HS256', typ: 'JWT' }, long = false): string {
  const body = `${encUrl(JSON.stringify(header))}.${encUrl(JSON.stringify(payload))}`
  if (long) return `${body}.${bytes(256).toString('base64url')}`
  return `${body}.${createHmac('sha256', bytes(32)).update(body).digest('base64url')}`
}
function wrap(data: Buffer, width = 64): string[] {
  return data.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? []
}
const fromHex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const rsa = (): Buffer => Buffer.concat([fromHex('30 82 04 a4 02 01 00 02 82 01 01 00'), bytes(1180)])
const rsaShort = (): Buffer => Buffer.concat([fromHex('30 82 02 5c 02 01 00 02 81 81 00'), bytes(597)])
const pkcs8 = (): Buffer =>
  Buffer.concat([
    fromHex(
      '30 82 04 be 02 01 00 30 0d 06 09 2a 86 48 86 f7 0d 01 01 01 05 00 04 82 04 \
a8',
    ),
    rsa(),
  ])
const ec = (): Buffer =>
  Buffer.concat([
    fromHex('30 77 02 01 01 04 20'),
    bytes(32),
    fromHex('a0 0a 06 08 2a 86 48 ce 3d 03 01 07 a1 44 03 42 00 04'),
    bytes(64),
  ])
const ed25519 = (): Buffer =>
  Buffer.concat([fromHex('30 2e 02 01 00 30 05 06 03 2b 65 70 04 22 04 20'), bytes(32)])
const openssh = (): Buffer =>
  Buffer.concat([
    Buffer.from(
      'openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01\0\0\0\x33\0\0\0\x0bssh-ed2551\
9\0\0\0 ',
    ),
    bytes(32),
    fromHex('00 00 00 90'),
    bytes(8),
    Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0 '),
    bytes(108),
  ])

const WORDS = (
  'walnut harbor kettle saddle orbit velvet maple copper lantern tundra pickle falcon granite meadow quartz \
' +
  'ribbon saffron thistle umbrella violet whisper yonder zephyr anchor bramble cinder dapple ember fiddle ' +
  'goblet hazel indigo juniper kindle ladder mosaic nectar oyster pepper quiver rocket sparrow timber'
).split(' ')
const SEEDS = (
  'abandon ability absorb acoustic adjust airport album amused ancient apology arctic armor aspect attend ' +
  'balcony bamboo banner barely beach benefit blanket border bracket brisk bubble cabin camera canvas casual \
' +
  'cereal chalk cherry citizen clever cluster coconut column coral cradle cricket crystal curtain decade ' +
  'degree dentist dinosaur dolphin dragon eagle economy elbow embark enrich erosion excess fabric feature ' +
  'fiscal flavor fossil frozen galaxy garlic gesture glimpse gravity hammer hazard hollow hybrid impulse ' +
  'inhale ivory jaguar jungle ketchup ladder laptop lizard magnet marble midnight muffin mystery noodle ' +
  'obscure olympic orchard ostrich paddle parrot pioneer pottery pumpkin quantum raccoon ripple saddle ' +
  'shadow sibling tornado umbrella vacant velvet walnut window wisdom zebra'
).split(' ')
const word = (): string => WORDS[rnd(WORDS.length)]!
/** A password as a person makes it up. */
const human = (): string => `${cap(word())}${of('!#?*+', 1)}${digits(2)}${word()}`
const weak = (): string => `${cap(word())}${2017 + rnd(9)}!`
const phrase = (): string => `${word()}-${word()}-${word()}-${digits(2)}`
/** A password as a manager makes it up. */
const strong = (n: number): string =>
  of(LOW, 1) + of(UP, 1) + of(DIG, 1) + of(B62 + '!#*+-_?%^', n - 4) + of(UP, 1)
/** One that needs no escape in a URL. */
const plain = (n: number): string => of(LOW, 1) + of(DIG, 1) + of(UP, 1) + alnum(n - 3)
const seedPhrase = (n: number): string => Array.from({ length: n }, () => SEEDS[rnd(SEEDS.length)]!).join(' ')

const cases: SecretCase[] = []
function put(kind: string, secret: string, text: (secret: string) => string): void {
  cases.push({ kind, text: text(secret), secret })
}
const akid = (prefix = 'AKIA'): string => prefix + b32(16)
const gcpKey = (): string => 'AIza' + url64(35)
const openaiProject = (prefix = 'sk-proj-'): string => `${prefix}${url64(74)}T3BlbkFJ${url64(74)}`
const anthropic = (): string => `sk-ant-api03-${url64(93)}AA`

// ---- Amazon -----------------------------------------------------------------------------------------------

put(
  'aws-secret-access-key',
  b64(40),
  (s) => `[default]
aws_access_key_id = ${akid()}
aws_secret_access_key = ${s}
region = eu-central-1

[staging]
role_arn = arn:aws:iam::418830271945:role/staging-deploy
source_profile = default`,
)
put(
  'aws-secret-access-key',
  b64(40),
  (s) => `$ aws iam create-access-key --user-name ci-uploader
{
    "AccessKey": {
        "UserName": "ci-uploader",
        "AccessKeyId": "${akid()}",
        "Status": "Active",
        "SecretAccessKey": "${s}",
        "CreateDate": "2025-03-11T09:14:27+00:00"
    }
}`,
)
put(
  'aws-secret-access-key',
  b64(40),
  (s) => `import boto3

s3 = boto3.client(
    's3',
    region_name='us-west-2',
    aws_access_key_id='${akid()}',
    aws_secret_access_key='${s}',
)
print(s3.list_buckets()['Buckets'])`,
)
put(
  'aws-secret-access-key',
  b64(40),
  (s) => `provider "aws" {
  region     = "ap-southeast-2"
  access_key = "${akid()}"
  secret_key = "${s}"
}`,
)
put(
  'aws-secret-access-key',
  b64(40),
  (s) => `export AWS_ACCESS_KEY_ID=${akid()} AWS_SECRET_ACCESS_KEY=${s} && terraform plan -out tf.plan`,
)
put(
  'aws-secret-access-key',
  b64(40),
  (s) => `new S3Client({
  region: 'eu-west-1',
  credentials: { accessKeyId: '${akid()}', secretAccessKey: '${s}' },
})`,
)
put(
  'aws-access-key-id',
  akid(),
  (s) =>
    `botocore.exceptions.ClientError: An error occurred (InvalidAccessKeyId) when \
calling the PutObject operation: The AWS Access Key Id you provided does not exist in our records: ${s}`,
)
put(
  'aws-access-key-id',
  akid(),
  (s) => `$ git diff --cached
+  env:
+    AWS_ACCESS_KEY_ID: ${s}
+    AWS_REGION: eu-north-1`,
)
put(
  'aws-session-token',
  `IQoJb3JpZ2luX2VjE${b64(430)}==`,
  (s) => `$ aws sts assume-role --role-arn \
arn:aws:iam::902217745310:role/reader --role-session-name agent
{
    "Credentials": {
        "AccessKeyId": "${akid('ASIA')}",
        "SecretAccessKey": "${b64(40)}",
        "SessionToken": "${s}",
        "Expiration": "2025-06-02T18:44:10Z"
    }
}`,
)
put(
  'aws-session-token',
  `FwoGZXIvYXdzE${b64(300)}=`,
  (s) => `export AWS_ACCESS_KEY_ID="${akid('ASIA')}"
export AWS_SECRET_ACCESS_KEY="${b64(40)}"
export AWS_SESSION_TOKEN="${s}"`,
)
put(
  'aws-sts-secret-key-powershell',
  b64(40),
  (s) => `$Env:AWS_ACCESS_KEY_ID="${akid('ASIA')}"
$Env:AWS_SECRET_ACCESS_KEY="${s}"
aws s3 ls`,
)
put(
  'aws-presigned-url',
  hex(64),
  (s) =>
    `Download link (valid 1 h): https://acme-reports.s3.eu-west-1.amazonaws.com/2025/\
q1/summary.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${akid()}%2F20250402%2Feu-west-1%2Fs3%2F\
aws4_request&X-Amz-Date=20250402T081533Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=${s}`,
)
put(
  'aws-presigned-url',
  b64(27).replace(/[+/]/g, 'k') + '%3D',
  (s) =>
    `curl -O 'https://backups-prod.s3.amazonaws.com/\
db/2024-11-30.dump.gz?AWSAccessKeyId=${akid()}&Signature=${s}&Expires=1733011200'`,
)
put(
  'aws-sigv4-header',
  hex(64),
  (s) => `> GET /?Action=DescribeInstances&Version=2016-11-15 HTTP/1.1
> Host: ec2.eu-west-1.amazonaws.com
> X-Amz-Date: 20250214T101112Z
> Authorization: AWS4-HMAC-SHA256 Credential=${akid()}/20250214/eu-west-1/ec2/aws4_request, \
SignedHeaders=host;x-amz-date, Signature=${s}
< HTTP/1.1 200 OK`,
)
put(
  'aws-cloudfront-signed-url',
  url64(342) + '__',
  (s) =>
    `<video src="https://d3p8z0qk1v7.cloudfront.net/course/42/\
intro.mp4?Expires=1767139200&Signature=${s}&Key-Pair-Id=K${upnum(13)}"></video>`,
)
put(
  'aws-bedrock-api-key',
  'ABSK' + enc('BedrockAPIKey-' + lownum(4) + '-at-418830271945:' + alnum(40)),
  (s) =>
    `AWS_BEARER_TOKEN_BEDROCK=${s}
ANTHROPIC_MODEL=eu.anthropic.claude-sonnet-4
CLAUDE_CODE_USE_BEDROCK=1`,
)
put(
  'aws-mws-token',
  `amzn.mws.${uuid()}`,
  (s) => `mws:
  seller_id: A${upnum(13)}
  auth_token: ${s}
  marketplace: DE`,
)
put(
  'aws-ses-smtp-password',
  'B' + b64(43),
  (s) => `# mail
SMTP_HOST=email-smtp.eu-west-1.amazonaws.com
SMTP_PORT=587
SMTP_USER=${akid()}
SMTP_PASS=${s}`,
)
put(
  'aws-ecr-login',
  enc('AWS:' + enc(JSON.stringify({ payload: b64(120), version: '2', type: 'DATA_KEY' }))),
  (s) =>
    `$ aws ecr get-authorization-token
{
    "authorizationData": [
        {
            "authorizationToken": "${s}",
            "expiresAt": 1744041600.0,
            "proxyEndpoint": "https://418830271945.dkr.ecr.eu-west-1.amazonaws.com"
        }
    ]
}`,
)

// ---- Google -----------------------------------------------------------------------------------------------

put(
  'gcp-api-key',
  gcpKey(),
  (s) =>
    `<script async src="https://maps.googleapis.com/maps/api/js?key=${s}&libraries=places\
&callback=initMap"></script>`,
)
put(
  'gcp-api-key',
  gcpKey(),
  (s) =>
    `curl "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.0-flash:\
generateContent?key=${s}" -H 'Content-Type: application/json' -d @body.json`,
)
put(
  'gcp-api-key',
  gcpKey(),
  (s) => `genai.configure(api_key="${s}")
model = genai.GenerativeModel("gemini-1.5-pro")`,
)
put(
  'gcp-api-key',
  gcpKey(),
  (s) => `{
  "error": {
    "code": 403,
    "message": "Requests from referer <empty> are blocked. consumer 'api_key:${s}'",
    "status": "PERMISSION_DENIED"
  }
}`,
)
put(
  'gcp-service-account-key',
  wrap(pkcs8())[8]!,
  (s) => `{
  "type": "service_account",
  "project_id": "shop-prod-281907",
  "private_key_id": "${hex(40)}",
  "private_key": "-----BEGIN PRIVATE KEY-----\\n${wrap(pkcs8()).slice(0, 8).join('\\n')}\\n${s}\\n\
${wrap(bytes(600)).join('\\n')}\\n-----END PRIVATE KEY-----\\n",
  "client_email": "deployer@shop-prod-281907.iam.gserviceaccount.com",
  "client_id": "${digits(21)}",
  "token_uri": "https://oauth2.googleapis.com/token"
}`,
)
put(
  'gcp-service-account-key',
  wrap(pkcs8()).slice(12, 13).join(''),
  (s) => `FIREBASE_PROJECT_ID=chatty-7f1
FIREBASE_CLIENT_EMAIL=firebase-adminsdk-k2x@chatty-7f1.iam.gserviceaccount.com
FIREBASE_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\n${wrap(pkcs8()).slice(0, 12).join('\\n')}\\n${s}\\n\
${wrap(bytes(480)).join('\\n')}\\n-----END PRIVATE KEY-----\\n"`,
)
put(
  'google-oauth-client-secret',
  'GOCSPX-' + url64(28),
  (s) =>
    `{"web":{"client_id":"${digits(12)}-${lownum(32)}.apps.\
googleusercontent.com","project_id":"cal-sync","auth_uri":"https://accounts.google.com/o/oauth2/auth",\
"client_secret":"${s}","redirect_uris":["http://localhost:8080/callback"]}}`,
)
put(
  'google-oauth-client-secret',
  'GOCSPX-' + url64(28),
  (s) =>
    `GOOGLE_CLIENT_ID=${digits(12)}-${lownum(32)}.apps.\
googleusercontent.com
GOOGLE_CLIENT_SECRET=${s}
NEXTAUTH_URL=http://localhost:3000`,
)
put(
  'google-oauth-access-token',
  'ya29.a0A' + url64(210),
  (s) => `$ gcloud auth print-access-token
${s}`,
)
put(
  'google-oauth-access-token',
  'ya29.c.b0A' + url64(180),
  (s) => `DEBUG httpx: request headers {'host': \
'storage.googleapis.com', 'authorization': 'Bearer ${s}', 'accept': '*/*'}`,
)
put(
  'google-refresh-token',
  '1//0' + digits(1) + url64(98),
  (s) => `{
  "account": "",
  "client_id": "${digits(12)}-${lownum(32)}.apps.googleusercontent.com",
  "refresh_token": "${s}",
  "type": "authorized_user"
}`,
)
put(
  'gcs-signed-url',
  hex(512),
  (s) =>
    `Location: https://storage.googleapis.com/acme-exports/run-118/rows.parquet?\
X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=exporter%40acme.iam.gserviceaccount.com%2F20250110%2Fauto\
%2F\
storage%2Fgoog4_request&X-Goog-Date=20250110T120000Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&\
X-Goog-Signature=${s}`,
)
put(
  'gcs-hmac-secret',
  b64(40),
  (s) => `gsutil hmac create svc@shop-prod.iam.gserviceaccount.com
Access ID:   GOOG1E${upnum(55)}
Secret:      ${s}`,
)
put(
  'firebase-fcm-server-key',
  `AAAA${url64(7)}:APA91b${url64(134)}`,
  (s) =>
    `curl -X POST https://fcm.googleapis.com/\
fcm/send -H "Authorization: key=${s}" -H "Content-Type: application/json" -d '{"to":"/topics/news"}'`,
)
put(
  'google-app-password',
  `${of(LOW, 4)} ${of(LOW, 4)} ${of(LOW, 4)} ${of(LOW, 4)}`,
  (s) =>
    `I made a Gmail app password for the mailer, it is "${s}" (keep the spaces or drop them, Google takes \
both).`,
)
put(
  'google-calendar-private-ical',
  `private-${hex(32)}`,
  (s) => `BEGIN:import
url=https://calendar.google.com/calendar/ical/team%40acme.io/${s}/basic.ics
interval=15m`,
)

// ---- Microsoft --------------------------------------------------------------------------------------------

put(
  'azure-storage-key',
  b64(86) + '==',
  (s) =>
    `AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;\
AccountName=acmelogs;AccountKey=${s};EndpointSuffix=core.windows.net"`,
)
put(
  'azure-storage-key',
  b64(86) + '==',
  (s) => `$ az storage account keys list -n acmelogs -g rg-logs -o table
CreationTime                      KeyName    Permissions    Value
--------------------------------  ---------  -------------  -----------------------------------------------
2024-10-01T07:12:55.103914+00:00  key1       FULL           ${s}`,
)
put(
  'azure-sas-signature',
  `${b64(42).replace(/[+/]/g, '%2B')}%3D`,
  (s) =>
    `azcopy copy "./site" "https://acmeweb.blob.\
core.windows.net/$web?sv=2023-11-03&ss=b&srt=sco&sp=rwdl&se=2026-01-01T00:00:00Z&st=2025-01-01T00:00:00Z&\
spr=https&sig=${s}" --recursive`,
)
put(
  'azure-sas-signature',
  `${alnum(41)}%2F${alnum(1)}%3D`,
  (s) =>
    `{"blobUrl":"https://mediaeu.blob.core.windows.net/\
uploads/8812.mov?se=2025-05-30T10%3A00Z&sp=r&sv=2022-11-02&sr=b&sig=${s}","size":88120931}`,
)
put(
  'azure-client-secret',
  `${alnum(3)}8Q~${url64(34)}`,
  (s) =>
    `az login --service-principal -u ${uuid()} -p ${s} \
--tenant ${uuid()}`,
)
put(
  'azure-client-secret',
  `${alnum(3)}8Q~${url64(34)}`,
  (s) => `"AzureAd": {
    "Instance": "https://login.microsoftonline.com/",
    "TenantId": "${uuid()}",
    "ClientId": "${uuid()}",
    "ClientSecret": "${s}"
  }`,
)
put(
  'azure-client-secret',
  `${alnum(3)}8Q~${url64(34)}`,
  (s) => `$ az ad sp create-for-rbac --name gh-deploy
{
  "appId": "${uuid()}",
  "displayName": "gh-deploy",
  "password": "${s}",
  "tenant": "${uuid()}"
}`,
)
put(
  'azure-devops-pat',
  lownum(52),
  (s) => `git clone https://build:${s}@dev.azure.com/contoso/Shop/_git/shop-api`,
)
put(
  'azure-devops-pat',
  `${alnum(75)}AZDO${alnum(4)}`,
  (s) => `AZURE_DEVOPS_EXT_PAT=${s} az pipelines list \
--org https://dev.azure.com/contoso`,
)
put(
  'azure-cosmos-key',
  b64(86) + '==',
  (s) => `var client = new CosmosClient(
    "AccountEndpoint=https://orders-eu.documents.azure.com:443/;AccountKey=${s};");`,
)
put(
  'azure-service-bus',
  b64(43) + '=',
  (s) =>
    `Endpoint=sb://acme-events.servicebus.windows.net/;SharedAccessKeyName=\
RootManageSharedAccessKey;SharedAccessKey=${s};EntityPath=orders`,
)
put(
  'azure-iot-device',
  b64(43) + '=',
  (s) => `iotedge config:
  connection_string: "HostName=plant7.azure-devices.net;DeviceId=press-04;SharedAccessKey=${s}"`,
)
put(
  'azure-app-configuration',
  b64(43) + '=',
  (s) =>
    `builder.Configuration.AddAzureAppConfiguration("Endpoint=https://\
shopcfg.azconfig.io;Id=${alnum(4)}-l0-s0:${alnum(20)};Secret=${s}");`,
)
put(
  'azure-openai-key',
  hex(32),
  (s) => `client = AzureOpenAI(
    azure_endpoint="https://acme-swe.openai.azure.com/",
    api_key="${s}",
    api_version="2024-06-01",
)`,
)
put(
  'azure-openai-key',
  `${alnum(52)}JQQJ99BC${upnum(1)}C${alnum(14)}ACOG${alnum(4)}`,
  (s) =>
    `POST /openai/deployments/\
gpt-4o/chat/completions?api-version=2024-10-21 HTTP/1.1
Host: acme-swe.openai.azure.com
api-key: ${s}
Content-Type: application/json`,
)
put(
  'azure-function-key',
  `${url64(54)}==`,
  (s) => `Invoke url: https://img-resize.azurewebsites.net/api/resize?code=${s}`,
)
put(
  'azure-search-admin-key',
  alnum(52),
  (s) => `SEARCH_ENDPOINT=https://docs-idx.search.windows.net
SEARCH_ADMIN_KEY=${s}
SEARCH_INDEX=handbook`,
)
put(
  'azure-publish-profile',
  alnum(60),
  (s) => `<publishData><publishProfile profileName="shop - Web Deploy" \
publishMethod="MSDeploy" publishUrl="shop.scm.azurewebsites.net:443" userName="$shop" userPWD="${s}" \
/></publishData>`,
)
put(
  'teams-webhook',
  `${hex(32)}/${uuid()}`,
  (s) =>
    `TEAMS_HOOK=https://contoso.webhook.office.com/webhookb2/${uuid()}@\
${uuid()}/IncomingWebhook/${s}`,
)

// ---- Source hosting and packages --------------------------------------------------------------------------

put(
  'github-pat-classic',
  checked('ghp_'),
  (s) => `git remote -v
origin  https://${s}@github.com/acme-labs/billing.git (fetch)
origin  https://${s}@github.com/acme-labs/billing.git (push)`,
)
put(
  'github-pat-classic',
  checked('ghp_'),
  (s) => `curl -s -H "Authorization: token ${s}" https://api.github.com/user/repos`,
)
put(
  'github-pat-classic',
  checked('ghp_'),
  (s) =>
    `hey can you push this for me? use my token ${s} since the ssh key on \
that box is broken`,
)
put('github-pat-classic', checked('ghp_'), (s) => `echo ${s} | gh auth login --with-token`)
put(
  'github-pat-fine-grained',
  `github_pat_11${upnum(20)}_${alnum(59)}`,
  (s) => `GITHUB_TOKEN=${s}
GITHUB_REPO=acme-labs/docs`,
)
put(
  'github-pat-fine-grained',
  `github_pat_11${upnum(20)}_${alnum(59)}`,
  (s) => `{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${s}" }
    }
  }
}`,
)
put(
  'github-oauth-token',
  checked('gho_'),
  (s) => `github.com:
    user: mkowalski
    oauth_token: ${s}
    git_protocol: https`,
)
put(
  'github-server-token',
  checked('ghs_'),
  (s) =>
    `2025-04-18T07:31:02.1180025Z ##[group]Run actions/checkout@v4
2025-04-18T07:31:02.4410921Z   token: ${s}
2025-04-18T07:31:02.4412032Z   ssh-strict: true
2025-04-18T07:31:02.4412661Z ##[endgroup]`,
)
put('github-user-token', checked('ghu_'), (s) => `{"login":"octo-dev","token":"${s}","expires_in":28800}`)
put(
  'github-refresh-token',
  `ghr_${alnum(76)}`,
  (s) =>
    `access_token=${checked('ghu_')}&expires_in=28800&refresh_token=${s}\
&refresh_token_expires_in=15897600&scope=&token_type=bearer`,
)
put(
  'github-extraheader-basic',
  enc(`x-access-token:${checked('ghs_')}`),
  (s) => `[http "https://github.com/"]
	extraheader = AUTHORIZATION: basic ${s}`,
)
put(
  'github-app-client-secret',
  hex(40),
  (s) => `GITHUB_CLIENT_ID=Iv1.${hex(16)}
GITHUB_CLIENT_SECRET=${s}`,
)
put(
  'gitlab-pat',
  `glpat-${url64(20)}`,
  (s) => `$ curl --header "PRIVATE-TOKEN: ${s}" \
"https://gitlab.acme.dev/api/v4/projects/37/variables"
{"message":"401 Unauthorized"}`,
)
put(
  'gitlab-pat',
  `glpat-${url64(27)}.01.${lownum(9)}`,
  (s) => `glab auth login --hostname gitlab.com --token ${s}`,
)
put(
  'gitlab-deploy-token',
  `gldt-${url64(20)}`,
  (s) => `docker login -u gitlab+deploy-token-88 -p ${s} registry.acme.dev`,
)
put(
  'gitlab-runner-token',
  `glrt-${url64(20)}`,
  (s) => `[[runners]]
  name = "linux-docker-2"
  url = "https://gitlab.acme.dev/"
  token = "${s}"
  executor = "docker"`,
)
put(
  'gitlab-ci-job-token',
  `glcbt-64_${url64(20)}`,
  (s) =>
    `fatal: unable to access 'https://gitlab-ci-token:${s}@gitlab.\
acme.dev/core/lib.git/': The requested URL returned error: 403`,
)
put(
  'gitlab-trigger-token',
  `glptt-${hex(40)}`,
  (s) => `curl -X POST -F token=${s} -F ref=main \
https://gitlab.com/api/v4/projects/4471/trigger/pipeline`,
)
put(
  'bitbucket-app-password',
  `ATBB${alnum(32)}`,
  (s) =>
    `git clone https://jdoe-acme:${s}@bitbucket.org/acme/legacy-erp.git
Cloning into 'legacy-erp'...`,
)
put(
  'bitbucket-access-token',
  `ATCTT3xFfGN0${url64(160)}=${of('0123456789ABCDEF', 8)}`,
  (s) => `BITBUCKET_TOKEN='${s}'`,
)
put(
  'atlassian-api-token',
  `ATATT3xFfGF0${url64(171)}=${of('0123456789ABCDEF', 8)}`,
  (s) => `jira = JIRA(
    server="https://acme.atlassian.net",
    basic_auth=("nina@acme.io", "${s}"),
)`,
)
put(
  'atlassian-api-token-legacy',
  alnum(24),
  (s) => `curl -u nina@acme.io:${s} \
https://acme.atlassian.net/rest/api/3/myself`,
)
put(
  'npm-token',
  checked('npm_'),
  (s) => `//npm.acme.io/:_authToken=${s}
@acme:registry=https://npm.acme.io/
save-exact=true`,
)
put(
  'npm-token',
  checked('npm_'),
  (s) => `npm notice Publishing to https://npm.acme.io/ with tag latest
npm verbose cli NPM_TOKEN=${s}
npm ERR! code E403`,
)
put(
  'npm-legacy-token',
  uuid(),
  (s) => `registry=https://npm.acme.dev/
//npm.acme.dev/:_authToken="${s}"`,
)
put(
  'npmrc-basic-auth',
  enc(`builder:${plain(14)}`),
  (s) => `//nexus.acme.dev/repository/npm/:_auth=${s}
//nexus.acme.dev/repository/npm/:always-auth=true`,
)
put('npmrc-password', enc(human()), (s) =>
  `//artifactory.corp.example/api/npm/npm/:_password=${s}
//artifactory.corp.example/api/npm/npm/:username=ci
//artifactory.corp.example/api/npm/npm/:email=ci@corp.example`.replaceAll('corp.example', 'norddal.no'),
)
put(
  'yarnrc-token',
  `${hex(8)}${uuid().slice(8)}`,
  (s) => `npmScopes:
  acme:
    npmRegistryServer: "https://npm.pkg.acme.dev"
    npmAuthToken: "${s}"`,
)
put(
  'pypi-token',
  `pypi-AgEIcHlwaS5vcmcC${url64(155)}`,
  (s) => `[distutils]
index-servers = pypi

[pypi]
username = __token__
password = ${s}`,
)
put('pypi-token', `pypi-AgEIcHlwaS5vcmcC${url64(150)}`, (s) => `twine upload dist/* -u __token__ -p ${s}`)
put(
  'pip-index-url',
  plain(18),
  (s) => `[global]
extra-index-url = https://svc-pip:${s}@pypi.acme.dev/simple/
timeout = 30`,
)
put(
  'rubygems-key',
  `rubygems_${hex(48)}`,
  (s) => `---
:rubygems_api_key: ${s}`,
)
put(
  'cargo-token',
  `cio${alnum(32)}`,
  (s) => `# ~/.cargo/credentials.toml
[registry]
token = "${s}"`,
)
put(
  'nuget-key',
  `oy2${lownum(43)}`,
  (s) =>
    `dotnet nuget push bin/Release/Acme.Core.4.2.0.nupkg --api-key ${s} \
--source https://api.nuget.org/v3/index.json`,
)
put(
  'nuget-config-password',
  strong(16),
  (s) => `<packageSourceCredentials>
  <AcmeFeed>
    <add key="Username" value="build" />
    <add key="ClearTextPassword" value="${s}" />
  </AcmeFeed>
</packageSourceCredentials>`,
)
put('docker-pat', `dckr_pat_${url64(27)}`, (s) => `echo "${s}" | docker login -u acmebuild --password-stdin`)
put(
  'docker-config-auth',
  enc(`acmebuild:${human()}`),
  (s) => `{
	"auths": {
		"https://index.docker.io/v1/": {
			"auth": "${s}"
		}
	},
	"credsStore": ""
}`,
)
put(
  'docker-config-auth',
  enc(`robot$ci:${alnum(32)}`),
  (s) => `cat ~/.docker/config.json
{"auths":{"harbor.acme.dev":{"auth":"${s}"}}}`,
)
put(
  'composer-auth',
  hex(40),
  (s) => `{"http-basic":{"repo.magento.com":{"username":"${hex(32)}","password":"${s}"}}}`,
)
put(
  'maven-settings-password',
  human(),
  (s) => `<server>
  <id>ossrh</id>
  <username>acme-release</username>
  <password>${s}</password>
</server>`,
)
put(
  'gradle-properties',
  strong(14),
  (s) => `org.gradle.jvmargs=-Xmx4g
signing.keyId=24875D73
signing.password=${s}
signing.secretKeyRingFile=/home/ci/.gnupg/secring.gpg`,
)
put(
  'android-keystore-password',
  weak(),
  (s) => `signingConfigs {
    release {
        storeFile file("upload.jks")
        storePassword "${s}"
        keyAlias "upload"
    }
}`,
)
put(
  'bundle-config',
  `${hex(8)}:${hex(8)}`,
  (s) => `bundle config set --global enterprise.contribsys.com ${s}
(sets the username:password used for the Sidekiq Enterprise gem server)`,
)
put(
  'jfrog-api-key',
  `AKCp${alnum(69)}`,
  (s) => `curl -H 'X-JFrog-Art-Api: ${s}' -T app.war \
https://acme.jfrog.io/artifactory/libs/app.war`,
)
put(
  'jfrog-reference-token',
  enc(`reftkn:01:${digits(10)}:${alnum(36)}`).replaceAll('=', ''),
  (s) => `jf c add acme --url=https://acme.jfrog.io --access-token=${s} --interactive=false`,
)
put(
  'sonar-token',
  `squ_${hex(40)}`,
  (s) => `mvn -B verify sonar:sonar -Dsonar.host.url=https://sonar.acme.dev \
-Dsonar.token=${s}`,
)
put(
  'sonar-token',
  `sqp_${hex(40)}`,
  (s) => `sonar.projectKey=shop
sonar.login=${s}
sonar.sources=src`,
)
put(
  'codecov-token',
  uuid(),
  (s) => `bash <(curl -s https://codecov.io/bash) -t ${s}
export CODECOV_TOKEN="${s}"`,
)
put('snyk-token', uuid(), (s) => `SNYK_TOKEN=${s} snyk test --severity-threshold=high`)
put(
  'circleci-token',
  `CCIPAT_${alnum(22)}_${hex(40)}`,
  (s) => `curl -H "Circle-Token: ${s}" \
https://circleci.com/api/v2/me`,
)
put(
  'buildkite-token',
  `bkua_${hex(40)}`,
  (s) => `buildkite:
  graphql_token: ${s}
  org: acme`,
)
put(
  'jenkins-api-token',
  `11${hex(32)}`,
  (s) => `curl -X POST https://jenkins.acme.dev/job/deploy/build --user \
rlopez:${s}`,
)
put(
  'travis-token',
  alnum(22),
  (s) => `travis login --pro --github-token ignored
travis token --pro
Your access token is ${s}`,
)

// ---- Models and AI services -------------------------------------------------------------------------------

put(
  'openai-key-project',
  openaiProject(),
  (s) => `OPENAI_API_KEY=${s}
OPENAI_MODEL=gpt-4o-mini`,
)
put(
  'openai-key-project',
  openaiProject(),
  (s) => `from openai import OpenAI
client = OpenAI(api_key="${s}")`,
)
put(
  'openai-key-project',
  openaiProject(),
  (s) =>
    `openai.AuthenticationError: Error code: 401 - {'error': {'message': \
'Incorrect API key provided: ${s}. You can find your API key at \
https://platform.openai.com/account/api-keys.', \
'type': 'invalid_request_error', 'code': 'invalid_api_key'}}`,
)
put(
  'openai-key-legacy',
  `sk-${alnum(20)}T3BlbkFJ${alnum(20)}`,
  (s) =>
    `const configuration = new Configuration({
  organization: 'org-${alnum(24)}',
  apiKey: '${s}',
})`,
)
put(
  'openai-key-service',
  openaiProject('sk-svcacct-'),
  (s) => `kubectl create secret generic llm \
--from-literal=openai=${s} -n assistants`,
)
put(
  'openai-key-admin',
  openaiProject('sk-admin-'),
  (s) =>
    `curl https://api.openai.com/v1/organization/users -H \
"Authorization: Bearer ${s}"`,
)
put('anthropic-key', anthropic(), (s) => `export ANTHROPIC_API_KEY='${s}'`)
put(
  'anthropic-key',
  anthropic(),
  (s) => `curl https://api.anthropic.com/v1/messages \\
  --header "x-api-key: ${s}" \\
  --header "anthropic-version: 2023-06-01" \\
  --data '{"model":"claude-sonnet-4-20250514","max_tokens":64,"messages":[]}'`,
)
put(
  'anthropic-key',
  anthropic(),
  (s) => `The key I was using was ${s} – I will rotate it after this session.`,
)
put(
  'anthropic-admin-key',
  `sk-ant-admin01-${url64(93)}AA`,
  (s) => `{"ANTHROPIC_ADMIN_KEY": "${s}", "days": 30}`,
)
put(
  'anthropic-oauth-token',
  `sk-ant-oat01-${url64(93)}AA`,
  (s) =>
    `{"claudeAiOauth":{"accessToken":"${s}","expiresAt":\
1749902331000,"scopes":["user:inference"]}}`,
)
put(
  'huggingface-token',
  `hf_${of(UP + LOW, 34)}`,
  (s) => `huggingface-cli login --token ${s} --add-to-git-credential`,
)
put(
  'huggingface-token',
  `hf_${of(UP + LOW, 34)}`,
  (s) => `model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.1-8B", token="${s}", device_map="auto")`,
)
put('groq-key', `gsk_${alnum(52)}`, (s) => `GROQ_API_KEY: ${s}`)
put(
  'openrouter-key',
  `sk-or-v1-${hex(64)}`,
  (s) => `{ "baseURL": "https://openrouter.ai/api/v1", "apiKey": "${s}" }`,
)
put(
  'deepseek-key',
  `sk-${hex(32)}`,
  (s) =>
    `llm = ChatOpenAI(base_url="https://api.deepseek.com", api_key="${s}", \
model="deepseek-chat")`,
)
put('perplexity-key', `pplx-${alnum(48)}`, (s) => `PERPLEXITY_API_KEY="${s}"`)
put('xai-key', `xai-${alnum(80)}`, (s) => `Authorization: Bearer ${s}`)
put(
  'replicate-token',
  `r8_${alnum(37)}`,
  (s) => `export REPLICATE_API_TOKEN=${s}
npx cog-client predict`,
)
put(
  'cohere-key',
  alnum(40),
  (s) => `co = cohere.ClientV2("${s}")
res = co.rerank(model="rerank-v3.5", query=q, documents=docs)`,
)
put('mistral-key', alnum(32), (s) => `mistral = new Mistral({ apiKey: "${s}" });`)
put(
  'together-key',
  `tgp_v1_${url64(43)}`,
  (s) => `together_ai:
  api_key: "${s}"
  model: mistralai/Mixtral-8x7B`,
)
put('fireworks-key', `fw_${alnum(24)}`, (s) => `fireworks.client.api_key = "${s}"`)
put(
  'elevenlabs-key',
  `sk_${hex(48)}`,
  (s) => `curl -X POST https://api.elevenlabs.io/v1/text-to-speech/abc \
-H "xi-api-key: ${s}" -d '{"text":"Hallo"}'`,
)
put(
  'pinecone-key',
  `pcsk_${alnum(6)}_${alnum(63)}`,
  (s) => `pc = Pinecone(api_key="${s}")
index = pc.Index("handbook")`,
)
put(
  'langsmith-key',
  `lsv2_pt_${hex(32)}_${hex(10)}`,
  (s) => `LANGCHAIN_TRACING_V2=true
LANGCHAIN_API_KEY=${s}
LANGCHAIN_PROJECT=router`,
)
put(
  'wandb-key',
  hex(40),
  (s) => `$ wandb login ${s}
wandb: Appending key for api.wandb.ai to your netrc file: /home/ci/.netrc`,
)
put('tavily-key', `tvly-dev-${alnum(32)}`, (s) => `"env": {"TAVILY_API_KEY": "${s}"}`)
put('nvidia-key', `nvapi-${url64(64)}`, (s) => `NGC_CLI_API_KEY=${s} docker compose up nim`)
put('voyage-key', `pa-${url64(43)}`, (s) => `vo = voyageai.Client(api_key="${s}")`)
put(
  'cerebras-key',
  `csk-${lownum(48)}`,
  (s) => `cerebras:
  key: ${s}`,
)
put(
  'langfuse-secret',
  `sk-lf-${uuid()}`,
  (s) => `LANGFUSE_PUBLIC_KEY=pk-lf-${uuid()}
LANGFUSE_SECRET_KEY=${s}`,
)

// ---- Chat, mail, money ------------------------------------------------------------------------------------

put(
  'slack-bot-token',
  `xoxb-${digits(12)}-${digits(13)}-${alnum(24)}`,
  (s) => `app = App(token="${s}", \
signing_secret=os.environ["SLACK_SIGNING_SECRET"])`,
)
put(
  'slack-bot-token',
  `xoxb-${digits(12)}-${digits(13)}-${alnum(24)}`,
  (s) =>
    `{"ok":false,"error":"missing_scope",\
"request":{"token":"${s}","channel":"C04LR9PQ2"}}`,
)
put(
  'slack-user-token',
  `xoxp-${digits(12)}-${digits(12)}-${digits(13)}-${hex(32)}`,
  (s) => `slackcat -t ${s} -c ops report.txt`,
)
put('slack-app-token', `xapp-1-A${upnum(10)}-${digits(13)}-${hex(64)}`, (s) => `SLACK_APP_TOKEN=${s}`)
put(
  'slack-client-cookie',
  `xoxd-${alnum(60)}%2B${alnum(60)}%3D`,
  (s) =>
    `curl 'https://acme.slack.com/api/search.modules' \
-H 'cookie: d=${s}; lc=1718870001' -F token=xoxc-${digits(12)}-${digits(12)}-${digits(13)}-${hex(64)}`,
)
put(
  'slack-refresh-token',
  `xoxe-1-${b64(146).replace(/[+/]/g, 'a')}`,
  (s) => `"refresh_token": "${s}", "expires_in": 43200`,
)
put(
  'slack-webhook',
  alnum(24),
  (s) => `SLACK_WEBHOOK_URL=https://hooks.slack.com/services/T0${upnum(9)}/B0${upnum(9)}/${s}`,
)
put(
  'slack-webhook',
  alnum(24),
  (s) =>
    `curl -X POST -H 'Content-type: application/json' --data '{"text":"build green"}' \
https://hooks.slack.com/services/T${upnum(8)}/B${upnum(10)}/${s}`,
)
put(
  'slack-signing-secret',
  hex(32),
  (s) => `slack:
  client_id: "${digits(12)}.${digits(13)}"
  signing_secret: "${s}"`,
)
put(
  'discord-bot-token',
  `${enc(digits(19)).slice(0, 26)}.G${alnum(5)}.${url64(38)}`,
  (s) => `client.login('${s}')`,
)
put(
  'discord-bot-token',
  `${enc(digits(18)).slice(0, 24)}.Y${alnum(5)}.${url64(27)}`,
  (s) => `bot.run("${s}", log_level=10)`,
)
put(
  'discord-webhook',
  url64(68),
  (s) => `requests.post("https://discord.com/api/webhooks/${digits(19)}/${s}", \
json={"content": "deploy done"})`,
)
put(
  'telegram-bot-token',
  `${digits(10)}:AA${url64(33)}`,
  (s) => `curl https://api.telegram.org/bot${s}/getUpdates`,
)
put(
  'telegram-bot-token',
  `${digits(10)}:AA${url64(33)}`,
  (s) =>
    `Done! Congratulations on your new bot. Use this token \
to access the HTTP API:
${s}
Keep your token secure and store it safely.`,
)
put('stripe-secret-key', `sk_live_51${alnum(97)}`, (s) => `Stripe.api_key = '${s}'`)
put(
  'stripe-secret-key',
  `sk_live_${alnum(24)}`,
  (s) => `curl https://api.stripe.com/v1/charges -u ${s}: -d amount=2000`,
)
put(
  'stripe-test-key',
  `sk_test_51${alnum(97)}`,
  (s) => `STRIPE_SECRET_KEY=${s}
STRIPE_PUBLISHABLE_KEY=pk_test_51${alnum(97)}`,
)
put(
  'stripe-restricted-key',
  `rk_live_51${alnum(97)}`,
  (s) => `{"payments":{"provider":"stripe","key":"${s}"}}`,
)
put(
  'stripe-webhook-secret',
  `whsec_${alnum(32)}`,
  (s) =>
    `> Ready! You are using Stripe API Version [2024-06-20]. \
Your webhook signing secret is ${s} (^C to quit)`,
)
put('svix-webhook-secret', `whsec_${b64(32)}`, (s) => `const wh = new Webhook("${s}")`)
put('square-token', `EAAA${url64(60)}`, (s) => `square.access_token = "${s}"`)
put('square-secret', `sq0csp-${url64(43)}`, (s) => `SQUARE_APPLICATION_SECRET=${s}`)
put(
  'paypal-client-secret',
  `E${url64(79)}`,
  (s) => `paypal:
  mode: live
  client_id: A${url64(79)}
  client_secret: ${s}`,
)
put(
  'braintree-token',
  `access_token$production$${lownum(16)}$${hex(32)}`,
  (s) => `gateway = Braintree::Gateway.new(access_token: "${s}")`,
)
put(
  'adyen-key',
  `AQE${lownum(20)}${b64(120)}-${b64(43)}=-${alnum(16)}`,
  (s) => `x-API-key: ${s}
Content-Type: application/json

{"merchantAccount":"AcmeECOM"}`,
)
put(
  'plaid-secret',
  hex(30),
  (s) => `PLAID_CLIENT_ID=${hex(24)}
PLAID_SECRET=${s}
PLAID_ENV=production`,
)
put(
  'razorpay-secret',
  alnum(24),
  (s) => `var razorpay = new Razorpay({ key_id: 'rzp_live_${alnum(14)}', key_secret: '${s}' })`,
)
put('flutterwave-key', `FLWSECK-${hex(32)}-X`, (s) => `$headers[] = 'Authorization: Bearer ${s}';`)
put(
  'mercadopago-token',
  `APP_USR-${digits(16)}-${digits(6)}-${hex(32)}-${digits(9)}`,
  (s) => `MP_ACCESS_TOKEN=${s}`,
)
put(
  'shopify-token',
  `shpat_${hex(32)}`,
  (s) => `GET /admin/api/2024-07/orders.json HTTP/2
host: kleine-werkstatt.myshopify.com
x-shopify-access-token: ${s}`,
)
put('shopify-shared-secret', `shpss_${hex(32)}`, (s) => `SHOPIFY_API_SECRET: ${s}`)
put(
  'twilio-auth-token',
  hex(32),
  (s) => `client = Client("AC${hex(32)}", "${s}")
client.messages.create(to="+4917012345", from_="+15005550006", body="Ihr Code")`,
)
put(
  'twilio-auth-token',
  hex(32),
  (s) => `TWILIO_ACCOUNT_SID=AC${hex(32)}
TWILIO_AUTH_TOKEN=${s}`,
)
put(
  'twilio-api-key-secret',
  alnum(32),
  (s) => `twilio api:core:keys:create --friendly-name voice
SID                                 Friendly Name  Secret
SK${hex(32)}  voice          ${s}`,
)
put('sendgrid-key', `SG.${url64(22)}.${url64(43)}`, (s) => `sgMail.setApiKey('${s}')`)
put('sendgrid-key', `SG.${url64(22)}.${url64(43)}`, (s) => `smtp://apikey:${s}@smtp.sendgrid.net:587`)
put(
  'mailgun-key',
  `key-${hex(32)}`,
  (s) => `curl -s --user 'api:${s}' https://api.mailgun.net/v3/mg.acme.io/messages`,
)
put(
  'mailgun-key',
  `${hex(32)}-${hex(8)}-${hex(8)}`,
  (s) => `mailgun.client({ username: 'api', key: '${s}' })`,
)
put('mailchimp-key', `${hex(32)}-us14`, (s) => `mailchimp.setConfig({ apiKey: "${s}", server: "us14" });`)
put('postmark-token', uuid(), (s) => `X-Postmark-Server-Token: ${s}`)
put('resend-key', `re_${alnum(8)}_${alnum(24)}`, (s) => `const resend = new Resend('${s}');`)
put(
  'brevo-key',
  `xkeysib-${hex(64)}-${alnum(16)}`,
  (s) => `api-key: ${s}
accept: application/json`,
)
put(
  'zoom-client-secret',
  alnum(32),
  (s) => `Zoom server-to-server app
Account ID: ${url64(22)}
Client ID: ${url64(22)}
Client Secret: ${s}`,
)

// ---- Hosting, infrastructure, monitoring ------------------------------------------------------------------

put('digitalocean-token', `dop_v1_${hex(64)}`, (s) => `doctl auth init -t ${s}`)
put(
  'digitalocean-token',
  `dop_v1_${hex(64)}`,
  (s) => `provider "digitalocean" {
  token = "${s}"
}`,
)
put(
  'digitalocean-spaces-secret',
  b64(43),
  (s) => `spaces_access_id  = "DO00${upnum(16)}"
spaces_secret_key = "${s}"`,
)
put(
  'heroku-api-key',
  `HRKU-AA${url64(58)}`,
  (s) => `HEROKU_API_KEY=${s} git push https://git.heroku.com/acme-web.git main`,
)
put(
  'heroku-api-key',
  uuid(),
  (s) => `machine api.heroku.com
  login ops@acme.io
  password ${s}`,
)
put('cloudflare-api-token', url64(40), (s) => `CLOUDFLARE_API_TOKEN=${s} npx wrangler deploy`)
put(
  'cloudflare-api-token',
  url64(40),
  (s) =>
    `curl "https://api.cloudflare.com/client/v4/user/tokens/verify" -H \
"Authorization: Bearer ${s}"`,
)
put(
  'cloudflare-global-key',
  hex(37),
  (s) => `X-Auth-Email: ops@acme.io
X-Auth-Key: ${s}`,
)
put('cloudflare-origin-ca-key', `v1.0-${hex(24)}-${hex(146)}`, (s) => `cloudflare_origin_ca_key: "${s}"`)
put(
  'cloudflare-tunnel-token',
  enc(JSON.stringify({ a: hex(32), t: uuid(), s: bytes(32).toString('base64') })),
  (s) => `cloudflared service install ${s}`,
)
put(
  'hetzner-token',
  alnum(64),
  (s) => `hcloud context create prod
Token: ${s}
Context prod created and activated`,
)
put(
  'linode-token',
  hex(64),
  (s) => `linode-cli linodes list --token ${s}
LINODE_TOKEN=${s}`,
)
put('vultr-key', upnum(36), (s) => `export VULTR_API_KEY="${s}"`)
put('vercel-token', alnum(24), (s) => `vercel deploy --prod --token ${s} --yes`)
put('netlify-token', `nfp_${alnum(36)}`, (s) => `NETLIFY_AUTH_TOKEN=${s} netlify deploy --prod`)
put(
  'render-key',
  `rnd_${alnum(28)}`,
  (s) => `curl -H "Authorization: Bearer ${s}" https://api.render.com/v1/services`,
)
put('flyio-token', `FlyV1 fm2_lJPECAAAAAAA${b64(180)}`, (s) => `fly secrets list --access-token "${s}"`)
put('railway-token', uuid(), (s) => `RAILWAY_TOKEN=${s} railway up --detach`)
put(
  'fastly-token',
  url64(32),
  (s) => `Fastly-Key: ${s}
Accept: application/json`,
)
put(
  'supabase-service-key',
  jwt({ iss: 'supabase', ref: lownum(20), role: 'service_role', iat: 1712345678 }),
  (s) =>
    `NEXT_PUBLIC_SUPABASE_URL=https://kqzvbnwmxtrplsdhjfgy.supabase.co
SUPABASE_SERVICE_ROLE_KEY=${s}`,
)
put('supabase-access-token', `sbp_${hex(40)}`, (s) => `supabase login --token ${s}`)
put('supabase-secret-key', `sb_secret_${url64(22)}_${alnum(8)}`, (s) => `createClient(url, '${s}')`)
put(
  'planetscale-password',
  `pscale_pw_${url64(43)}`,
  (s) =>
    `DATABASE_URL='mysql://${lownum(20)}:${s}@aws.connect.psdb.\
cloud/shop?sslaccept=strict'`,
)
put(
  'planetscale-token',
  `pscale_tkn_${url64(43)}`,
  (s) =>
    `pscale deploy-request list shop --service-token ${s} \
--service-token-id ${lownum(12)}`,
)
put(
  'neon-connection',
  `npg_${alnum(12)}`,
  (s) =>
    `psql 'postgresql://neondb_owner:${s}@ep-cool-darkness-a2b3.eu-central-1.\
aws.neon.tech/neondb?sslmode=require'`,
)
put(
  'turso-token',
  jwt({ a: 'rw', iat: 1714652200, id: uuid() }, { alg: 'EdDSA', typ: 'JWT' }),
  (s) =>
    `TURSO_DATABASE_URL=libsql://notes-acme.turso.io
TURSO_AUTH_TOKEN=${s}`,
)
put(
  'upstash-token',
  `A${url64(44)}${of('AEIMQUYcgkosw048', 1)}A==`.slice(0, 48),
  (s) =>
    `UPSTASH_REDIS_REST_URL=https://eu1-\
legal-mole-38812.upstash.io
UPSTASH_REDIS_REST_TOKEN="${s}"`,
)
put(
  'databricks-token',
  `dapi${hex(32)}-2`,
  (s) => `[DEFAULT]
host = https://adb-4411829937120934.14.azuredatabricks.net
token = ${s}`,
)
put(
  'vault-token',
  `hvs.CAES${url64(90)}`,
  (s) => `$ vault login
Key                  Value
---                  -----
token                ${s}
token_accessor       ${alnum(24)}
token_duration       768h`,
)
put(
  'vault-token',
  `s.${alnum(24)}`,
  (s) => `curl -H "X-Vault-Token: ${s}" http://vault.service:8200/v1/secret/data/app`,
)
put(
  'vault-unseal-key',
  b64(44),
  (s) => `Unseal Key 1: ${s}
Unseal Key 2: ${b64(44)}
Unseal Key 3: ${b64(44)}

Initial Root Token: hvs.${alnum(24)}`,
)
put(
  'vault-kv-output',
  strong(18),
  (s) => `====== Data ======
Key         Value
---         -----
username    reporting
password    ${s}`,
)
put(
  'terraform-cloud-token',
  `${alnum(14)}.atlasv1.${alnum(67)}`,
  (s) => `credentials "app.terraform.io" {
  token = "${s}"
}`,
)
put('consul-token', uuid(), (s) => `CONSUL_HTTP_TOKEN=${s} consul kv get -recurse app/`)
put(
  'consul-gossip-key',
  b64(43) + '=',
  (s) => `encrypt = "${s}"
data_dir = "/opt/consul"
datacenter = "fra1"`,
)
put('doppler-token', `dp.st.prd.${alnum(43)}`, (s) => `doppler run --token="${s}" -- node server.js`)
put(
  'onepassword-service-token',
  `ops_${encUrl(JSON.stringify({ signInAddress: 'acme.1password.com', muk: url64(80) }))}`,
  (s) => `OP_SERVICE_ACCOUNT_TOKEN=${s}`,
)
put(
  'onepassword-secret-key',
  `A3-${upnum(6)}-${upnum(6)}-${upnum(5)}-${upnum(5)}-${upnum(5)}-${upnum(5)}`,
  (s) =>
    `1Password Emergency Kit
sign-in address: acme.1password.eu
email: lena@acme.io
Secret Key: ${s}`,
)
put(
  'onepassword-item',
  strong(20),
  (s) => `$ op item get "prod db" --reveal
ID:          ${lownum(26)}
Title:       prod db
Fields:
  username:  root
  password:  ${s}`,
)
put(
  'age-secret-key',
  `AGE-SECRET-KEY-1${of(BECH.toUpperCase(), 58)}`,
  (s) =>
    `# created: 2025-01-08T11:02:44+01:00
# public key: age1${of(BECH, 58)}
${s}`,
)
put('pulumi-token', `pul-${hex(40)}`, (s) => `PULUMI_ACCESS_TOKEN=${s} pulumi up -y`)
put('newrelic-key', `NRAK-${upnum(27)}`, (s) => `Api-Key: ${s}`)
put(
  'newrelic-license',
  `eu01xx${hex(30)}NRAL`,
  (s) => `license_key: '${s}'
app_name: checkout`,
)
put(
  'datadog-api-key',
  hex(32),
  (s) => `DD_API_KEY=${s} DD_SITE="datadoghq.eu" bash -c "$(curl -L \
https://install.datadoghq.com/scripts/install_script_agent7.sh)"`,
)
put(
  'datadog-app-key',
  hex(40),
  (s) =>
    `curl -G "https://api.datadoghq.eu/api/v1/monitor" -H "DD-API-KEY: ${hex(32)}" -H \
"DD-APPLICATION-KEY: ${s}"`,
)
put(
  'sentry-token',
  `sntrys_${enc(JSON.stringify({ iat: 1717171717.5, url: 'https://sentry.io', org: 'acme' }))}_${b64(43)}`,
  (s) => `[auth]
token=${s}

[defaults]
org=acme`,
)
put('sentry-user-token', `sntryu_${hex(64)}`, (s) => `sentry-cli --auth-token ${s} releases new 4.1.2`)
put(
  'grafana-token',
  `glsa_${alnum(32)}_${hex(8)}`,
  (s) => `curl -H "Authorization: Bearer ${s}" \
https://grafana.acme.dev/api/dashboards/home`,
)
put(
  'grafana-cloud-token',
  `glc_${enc(JSON.stringify({ o: '884213', n: 'alloy-push', k: alnum(24), m: { r: 'eu' } }))}`,
  (s) =>
    `remote_write:
  - url: https://prometheus-prod-24.grafana.net/api/prom/push
    basic_auth:
      username: 1183342
      password: ${s}`,
)
put('dynatrace-token', `dt0c01.${upnum(24)}.${upnum(64)}`, (s) => `Authorization: Api-Token ${s}`)
put(
  'splunk-hec',
  uuid(),
  (s) =>
    `curl -k https://splunk.acme.dev:8088/services/collector -H 'Authorization: Splunk ${s}' \
-d '{"event":"hello"}'`,
)
put(
  'elastic-api-key',
  enc(`${url64(20)}:${url64(22)}`),
  (s) => `es = Elasticsearch("https://es.acme.dev:9200", api_key="${s}")`,
)
put(
  'elastic-password',
  url64(20),
  (s) => `The generated password for the elastic built-in superuser is : ${s}

The enrollment token for Kibana instances is valid for 30 minutes.`,
)
put('honeycomb-key', alnum(22), (s) => `x-honeycomb-team: ${s}`)
put(
  'pagerduty-key',
  alnum(20),
  (s) => `curl -H 'Authorization: Token token=${s}' https://api.pagerduty.com/incidents`,
)
put('opsgenie-key', uuid(), (s) => `Authorization: GenieKey ${s}`)
put(
  'tailscale-key',
  `tskey-auth-k${alnum(11)}CNTRL-${alnum(32)}`,
  (s) => `sudo tailscale up --authkey ${s} --ssh`,
)
put(
  'ngrok-token',
  `2${alnum(26)}_${alnum(21)}`,
  (s) => `ngrok config add-authtoken ${s}
Authtoken saved to configuration file: /home/kim/.config/ngrok/ngrok.yml`,
)
put(
  'openshift-token',
  `sha256~${url64(43)}`,
  (s) => `oc login --token=${s} --server=https://api.ocp.acme.dev:6443`,
)
put(
  'rancher-token',
  `token-${lownum(5)}:${lownum(54)}`,
  (s) => `rancher login https://rancher.acme.dev --token ${s}`,
)
put(
  'kubeconfig-token',
  jwt(
    { iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:ci:deployer' },
    { alg: 'RS256', kid: url64(43) },
    true,
  ),
  (s) => `apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster:
    server: https://10.20.0.1:6443
users:
- name: deployer
  user:
    token: ${s}`,
)
put(
  'kubeconfig-client-key',
  enc(`-----BEGIN RSA PRIVATE KEY-----\n${wrap(rsa()).join('\n')}\n-----END RSA \
PRIVATE KEY-----\n`),
  (s) => `users:
- name: kubernetes-admin
  user:
    client-certificate-data: ${enc(`-----BEGIN CERTIFICATE-----\n${wrap(bytes(300)).join('\n')}\n-----END \
CERTIFICATE-----`)}
    client-key-data: ${s}`,
)
put(
  'k8s-secret-data',
  enc(strong(18)),
  (s) => `apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: shop
type: Opaque
data:
  password: ${s}`,
)
put(
  'k8s-secret-data',
  enc(hex(40)),
  (s) => `$ kubectl get secret api -o json
{"apiVersion":"v1","data":{"API_TOKEN":"${s}"},"kind":"Secret","metadata":{"name":"api"}}`,
)
put(
  'k8s-secret-stringdata',
  human(),
  (s) => `kind: Secret
metadata: { name: smtp }
stringData:
  SMTP_PASSWORD: "${s}"`,
)
put(
  'k8s-sa-token-mounted',
  jwt(
    {
      aud: ['https://kubernetes.default.svc'],
      exp: 1780000000,
      sub: 'system:serviceaccount:default:default',
    },
    { alg: 'RS256', kid: url64(43) },
    true,
  ),
  (s) => `# cat /var/run/secrets/kubernetes.io/serviceaccount/token
${s}`,
)
put(
  'helm-set-password',
  strong(15),
  (s) =>
    `helm upgrade --install pg bitnami/postgresql --set auth.postgresPassword=${s} \
--set primary.persistence.size=20Gi`,
)
put(
  'argocd-password',
  alnum(16),
  (s) => `$ argocd admin initial-password -n argocd
${s}

 This password must be only used for first time login.`,
)
put('minio-credentials', alnum(40), (s) => `mc alias set local http://127.0.0.1:9000 ${upnum(20)} ${s}`)
put(
  's3cfg',
  b64(40),
  (s) => `[default]
access_key = ${upnum(20)}
secret_key = ${s}
host_base = s3.gra.io.cloud.ovh.net`,
)
put(
  'rclone-config',
  url64(38),
  (s) => `[nas]
type = webdav
url = https://cloud.acme.io/remote.php/dav
vendor = nextcloud
user = backup
pass = ${s}`,
)
put(
  'restic-password',
  phrase(),
  (s) => `RESTIC_REPOSITORY=sftp:backup@nas:/srv/restic
RESTIC_PASSWORD=${s}
restic snapshots`,
)
put(
  'alibaba-access-secret',
  alnum(30),
  (s) => `{
  "mode": "AK",
  "access_key_id": "LTAI5t${alnum(18)}",
  "access_key_secret": "${s}",
  "region_id": "cn-hangzhou"
}`,
)
put('tencent-secret-key', alnum(32), (s) => `cred = credential.Credential("AKID${alnum(32)}", "${s}")`)
put('yandex-oauth-token', `y0_AgAAAA${url64(50)}`, (s) => `yc config set token ${s}`)
put('yandex-api-key', `AQVN${url64(36)}`, (s) => `Authorization: Api-Key ${s}`)
put(
  'scaleway-secret',
  uuid(),
  (s) => `SCW_ACCESS_KEY=SCW${upnum(17)}
SCW_SECRET_KEY=${s}`,
)
put(
  'ovh-application-secret',
  lownum(32),
  (s) => `[ovh-eu]
application_key=${lownum(16)}
application_secret=${s}
consumer_key=${lownum(32)}`,
)
put(
  'oci-config-passphrase',
  human(),
  (s) => `[DEFAULT]
user=ocid1.user.oc1..aaaaaaaa${lownum(52)}
fingerprint=${Array.from({ length: 16 }, () => hex(2)).join(':')}
key_file=~/.oci/key.pem
pass_phrase=${s}`,
)
put('ibm-cloud-key', url64(44), (s) => `ibmcloud login --apikey ${s} -r eu-de`)

// ---- Productivity and other SaaS --------------------------------------------------------------------------

put(
  'linear-key',
  `lin_api_${alnum(40)}`,
  (s) => `Authorization: ${s}
Content-Type: application/json

{"query":"{ viewer { id } }"}`,
)
put('notion-token', `ntn_${digits(11)}${alnum(35)}`, (s) => `const notion = new Client({ auth: '${s}' })`)
put('notion-token-legacy', `secret_${alnum(43)}`, (s) => `NOTION_TOKEN=${s}`)
put('airtable-pat', `pat${alnum(14)}.${hex(64)}`, (s) => `Airtable.configure({ apiKey: '${s}' })`)
put(
  'figma-token',
  `figd_${url64(40)}`,
  (s) => `curl -H 'X-Figma-Token: ${s}' https://api.figma.com/v1/files/kZ1`,
)
put(
  'asana-pat',
  `2/${digits(16)}/${digits(16)}:${hex(32)}`,
  (s) => `asana:
  access_token: ${s}`,
)
put(
  'postman-key',
  `PMAK-${hex(24)}-${hex(34)}`,
  (s) => `newman run https://api.getpostman.com/collections/118?apikey=${s}`,
)
put('contentful-token', `CFPAT-${url64(43)}`, (s) => `contentful space export --management-token ${s}`)
put('typeform-token', `tfp_${alnum(44)}_${alnum(14)}`, (s) => `TYPEFORM_TOKEN=${s}`)
put(
  'hubspot-token',
  `pat-eu1-${uuid()}`,
  (s) => `const hubspotClient = new hubspot.Client({ accessToken: '${s}' })`,
)
put('launchdarkly-sdk-key', `sdk-${uuid()}`, (s) => `ldclient.set_config(Config("${s}"))`)
put(
  'algolia-admin-key',
  hex(32),
  (s) => `const client = algoliasearch('${upnum(10)}', '${s}') // admin API key, server only`,
)
put(
  'mapbox-secret-token',
  `sk.${encUrl(JSON.stringify({ u: 'acmemaps', a: lownum(25) }))}.${url64(22)}`,
  (s) => `MAPBOX_DOWNLOADS_TOKEN=${s}`,
)
put('okta-token', `00${url64(40)}`, (s) => `Authorization: SSWS ${s}`)
put(
  'auth0-client-secret',
  url64(64),
  (s) => `AUTH0_DOMAIN=acme.eu.auth0.com
AUTH0_CLIENT_ID=${alnum(32)}
AUTH0_CLIENT_SECRET=${s}`,
)
put('clerk-secret', `sk_live_${alnum(42)}`, (s) => `CLERK_SECRET_KEY=${s}`)
put('dropbox-token', `sl.u.AF${url64(130)}`, (s) => `dbx = dropbox.Dropbox("${s}")`)
put(
  'facebook-token',
  `EAA${alnum(170)}`,
  (s) => `GET https://graph.facebook.com/v19.0/me/accounts?access_token=${s}`,
)
put(
  'facebook-app-secret',
  hex(32),
  (s) => `FB_APP_ID=${digits(15)}
FB_APP_SECRET=${s}`,
)
put(
  'twitter-bearer',
  `AAAAAAAAAAAAAAAAAAAAA${alnum(25)}%3D${alnum(50)}`,
  (s) => `client = tweepy.Client(bearer_token="${s}")`,
)
put(
  'twitter-consumer-secret',
  alnum(50),
  (s) => `consumer_key    = "${alnum(25)}"
consumer_secret = "${s}"`,
)
put('linkedin-secret', `WPL_AP1.${alnum(16)}.${b64(6)}==`, (s) => `LINKEDIN_CLIENT_SECRET="${s}"`)
put(
  'twitch-client-secret',
  lownum(30),
  (s) =>
    `curl -X POST 'https://id.twitch.tv/oauth2/token' -d 'client_id=${lownum(30)}\
&client_secret=${s}&grant_type=client_credentials'`,
)
put(
  'spotify-client-secret',
  hex(32),
  (s) => `sp = spotipy.Spotify(auth_manager=SpotifyClientCredentials(
    client_id="${hex(32)}",
    client_secret="${s}"))`,
)
put(
  'openweather-key',
  hex(32),
  (s) => `GET https://api.openweathermap.org/data/2.5/weather?q=Gdynia&appid=${s}&units=metric`,
)
put(
  'deepl-key',
  `${uuid()}:fx`,
  (s) =>
    `curl -X POST https://api-free.deepl.com/v2/translate --header "Authorization: \
DeepL-Auth-Key ${s}"`,
)
put(
  'zendesk-token',
  alnum(40),
  (s) => `curl https://acme.zendesk.com/api/v2/tickets.json -u agent@acme.io/token:${s}`,
)
put(
  'wechat-app-secret',
  hex(32),
  (s) => `wx:
  appid: wx${hex(16)}
  appsecret: ${s}`,
)
put('dingtalk-robot', hex(64), (s) => `https://oapi.dingtalk.com/robot/send?access_token=${s}`)
put('feishu-app-secret', alnum(32), (s) => `lark.NewClient("cli_${hex(16)}", "${s}") // app_id, app_secret`)
put(
  'home-assistant-token',
  jwt({ iss: hex(32), iat: 1716000000, exp: 2031360000 }),
  (s) => `rest_command:
  lights:
    url: http://ha.local:8123/api/services/light/turn_off
    headers:
      authorization: "Bearer ${s}"`,
)
put('cloudinary-url', url64(27), (s) => `CLOUDINARY_URL=cloudinary://${digits(15)}:${s}@acme-media`)
put(
  'binance-secret',
  alnum(64),
  (s) => `exchange = ccxt.binance({'apiKey': '${alnum(64)}', 'secret': '${s}'})`,
)
put(
  'coinbase-api-secret',
  wrap(ec())[0]!,
  (s) => `{
   "name": "organizations/${uuid()}/apiKeys/${uuid()}",
   "privateKey": "-----BEGIN EC PRIVATE KEY-----\\n${s}\\n${wrap(ec())[1]}\\n${b64(36)}\\n-----END EC \
PRIVATE KEY-----\\n"
}`,
)
put(
  'wordpress-application-password',
  Array.from({ length: 6 }, () => alnum(4)).join(' '),
  (s) => `curl --user "editor:${s}" https://blog.acme.io/wp-json/wp/v2/posts`,
)
put(
  'apple-app-specific-password',
  `${of(LOW, 4)}-${of(LOW, 4)}-${of(LOW, 4)}-${of(LOW, 4)}`,
  (s) =>
    `xcrun notarytool \
submit App.zip --apple-id dev@acme.io --team-id ${upnum(10)} --password ${s} --wait`,
)
put('expo-token', url64(40), (s) => `EXPO_TOKEN=${s} eas build --platform ios --non-interactive`)
put('n8n-api-key', `n8n_api_${hex(80)}`, (s) => `X-N8N-API-KEY: ${s}`)
put('mattermost-webhook', lownum(26), (s) => `webhook: https://chat.acme.dev/hooks/${s}`)
put(
  'zapier-webhook',
  `${digits(7)}/${lownum(7)}`,
  (s) =>
    `fetch('https://hooks.zapier.com/hooks/catch/${s}/', { method: 'POST' }) \
// anyone with this link can write into our CRM`,
)

// ---- Passwords in URLs, connection strings, databases -----------------------------------------------------

put('postgres-url', plain(16), (s) => `DATABASE_URL=postgres://shop:${s}@db.internal:5432/shop`)
put(
  'postgres-url',
  plain(12),
  (s) =>
    `sqlalchemy.exc.OperationalError: could not connect: postgresql+psycopg2://app:${s}@\
10.4.2.11/app?connect_timeout=5`,
)
put(
  'postgres-url',
  `${plain(7)}%21${alnum(4)}%40`,
  (s) =>
    `prisma:info Datasource "db": postgresql://prisma:${s}@localhost:\
5433/main?schema=public`,
)
put(
  'postgres-url',
  weak(),
  (s) => `engine = create_engine("postgresql://analyst:${s}@warehouse:5432/dwh", pool_size=5)`,
)
put('mysql-url', plain(10), (s) => `mysql://root:${s}@127.0.0.1:3306/wordpress`)
put(
  'mysql-cli-password',
  plain(11),
  (s) => `mysqldump -h db1 -u backup -p${s} --single-transaction crm | gzip > crm.sql.gz`,
)
put(
  'mysql-cli-password',
  human(),
  (s) => `mysql --host=db1 --user=root --password='${s}' -e 'SHOW PROCESSLIST'`,
)
put(
  'mysql-cnf',
  strong(12),
  (s) => `[client]
user=monitor
password="${s}"
socket=/run/mysqld/mysqld.sock`,
)
put(
  'mongodb-url',
  plain(15),
  (s) => `MONGODB_URI=mongodb+srv://api:${s}@cluster0.k3xw9.mongodb.net/prod?retryWrites=true&w=majority`,
)
put(
  'mongodb-url',
  phrase(),
  (s) => `mongosh "mongodb://admin:${s}@mongo-0.mongo:27017/?authSource=admin" --eval 'rs.status()'`,
)
put(
  'redis-url',
  alnum(32),
  (s) => `REDIS_URL=redis://default:${s}@redis-14822.c55.eu-central-1-1.ec2.cloud.redislabs.com:14822`,
)
put('redis-url', hex(32), (s) => `celery -A app worker --broker rediss://:${s}@cache.acme.dev:6380/1`)
put(
  'redis-cli-password',
  alnum(24),
  (s) => `redis-cli -h cache -p 6379 -a ${s} INFO memory
Warning: Using a password with '-a' option on the command line interface may not be safe.`,
)
put(
  'redis-conf-requirepass',
  strong(20),
  (s) => `bind 127.0.0.1
requirepass ${s}
maxmemory 512mb`,
)
put('amqp-url', plain(14), (s) => `amqps://events:${s}@rabbit.acme.dev:5671/prod`)
put('smtp-url', plain(14), (s) => `MAILER_DSN=smtp://noreply%40acme.io:${s}@mail.acme.io:465`)
put('ftp-url', weak(), (s) => `lftp -e 'mirror -R dist /www; quit' ftp://web482:${s}@ftp.hoster.de`)
put('http-url-userinfo', plain(9), (s) => `wget https://download:${s}@files.partner.com/exports/2025-02.csv`)
put(
  'http-url-userinfo',
  human().replace(/[?#]/, '!'),
  (s) => `HTTPS_PROXY=http://CORP%5Cmeier:${s}@proxy.corp.local:8080`,
)
put(
  'rtsp-url',
  plain(8),
  (s) =>
    `ffmpeg -rtsp_transport tcp -i rtsp://admin:${s}@192.168.1.64:554/Streaming/Channels/101 -c copy cam.mkv`,
)
put(
  'git-remote-password',
  plain(20),
  (s) => `[remote "origin"]
	url = https://deploy:${s}@git.acme.dev/infra/ansible.git
	fetch = +refs/heads/*:refs/remotes/origin/*`,
)
put(
  'jdbc-url',
  strong(12).replace(/[%?#]/g, 'x'),
  (s) => `jdbc:mysql://db.acme.dev:3306/erp?user=erp&password=${s}&useSSL=true`,
)
put(
  'jdbc-url',
  plain(12),
  (s) => `jdbc:sqlserver://sql01:1433;databaseName=Sales;user=sa;password=${s};encrypt=true`,
)
put('jdbc-oracle', plain(10), (s) => `sqlplus system/${s}@//ora19.acme.dev:1521/ORCLPDB1 @patch.sql`)
put(
  'ado-net',
  human(),
  (s) => `"ConnectionStrings": {
  "Default": "Server=tcp:sql.acme.dev,1433;Initial Catalog=Shop;User ID=shop_app;Password=${s};Encrypt=True;"
}`,
)
put(
  'odbc',
  strong(13),
  (s) =>
    `conn = pyodbc.connect("DRIVER={ODBC Driver 18 for SQL Server};SERVER=sql01;DATABASE=hr;UID=etl;PWD=${s}")`,
)
put(
  'web-config',
  weak(),
  (s) =>
    `<add name="Main" connectionString="Data Source=.\\SQLEXPRESS;Initial Catalog=Portal;User \
Id=portal;Password=${s}" providerName="System.Data.SqlClient" />`,
)
put(
  'pgpass',
  strong(16).replaceAll(':', 'x'),
  (s) => `# hostname:port:database:username:password
db.acme.dev:5432:*:readonly:${s}`,
)
put('pgpassword-env', human(), (s) => `PGPASSWORD='${s}' psql -h 10.0.0.8 -U postgres -c '\\dt'`)
put(
  'libpq-dsn',
  plain(12),
  (s) => `psycopg2.connect("host=db port=5432 dbname=shop user=shop password=${s} sslmode=require")`,
)
put(
  'sql-create-user',
  human(),
  (s) => `CREATE USER 'report'@'%' IDENTIFIED BY '${s}';
GRANT SELECT ON sales.* TO 'report'@'%';`,
)
put(
  'sql-alter-role',
  strong(18),
  (s) => `ALTER ROLE app_rw WITH LOGIN PASSWORD '${s}' VALID UNTIL '2026-01-01';`,
)
put(
  'sql-alter-role',
  weak(),
  (s) => `postgres=# alter user postgres password '${s}';
ALTER ROLE`,
)
put(
  'sql-create-login',
  strong(14),
  (s) => `CREATE LOGIN [svc_etl] WITH PASSWORD = N'${s}', CHECK_POLICY = OFF;
GO`,
)
put(
  'sql-insert-credential',
  human(),
  (s) => `INSERT INTO integrations (name, username, password, enabled)
VALUES ('dhl', 'acme-versand', '${s}', true);`,
)
put(
  'snowflake-connect',
  human(),
  (s) => `conn = snowflake.connector.connect(
    user='LOADER', password='${s}', account='xy12345.eu-central-1', warehouse='WH_S')`,
)
put(
  'dbt-profile',
  strong(14),
  (s) => `shop:
  target: dev
  outputs:
    dev:
      type: postgres
      host: localhost
      user: dbt
      pass: ${s}
      dbname: dwh`,
)
put(
  'clickhouse-cli',
  plain(13),
  (s) => `clickhouse-client --host ch1 --user default --password ${s} --query "SELECT 1"`,
)
put('influx-token', url64(86) + '==', (s) => `influx write -b sensors -o acme -t ${s} -f data.lp`)
put(
  'neo4j',
  phrase(),
  (s) => `driver = GraphDatabase.driver("neo4j+s://a1b2c3d4.databases.neo4j.io", auth=("neo4j", "${s}"))`,
)
put(
  'kafka-jaas',
  plain(20),
  (s) => `security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="${upnum(16)}" \
password="${s}";`,
)
put(
  'confluent-api-secret',
  b64(64),
  (s) => `confluent api-key create --resource lkc-9w1zp
+------------+------------------------------------------------------------------+
| API Key    | ${upnum(16)}                                                 |
| API Secret | ${s} |
+------------+------------------------------------------------------------------+`,
)
put(
  'django-databases',
  strong(15),
  (s) => `DATABASES = {
    'default': {
        'ENGINE': 'django.db.backends.postgresql',
        'NAME': 'portal',
        'USER': 'portal',
        'PASSWORD': '${s}',
        'HOST': 'db',
    }
}`,
)
put(
  'rails-database-yml',
  human(),
  (s) => `production:
  adapter: mysql2
  database: shop_production
  username: shop
  password: "${s}"
  host: db.internal`,
)
put(
  'typeorm-config',
  plain(14),
  (s) =>
    `export const dataSource = new DataSource({ type: 'postgres', host: 'db', username: \
'nest', password: '${s}', database: 'nest' })`,
)
put(
  'go-dsn',
  plain(13),
  (s) => `db, err := sql.Open("mysql", "svc:${s}@tcp(10.2.0.5:3306)/orders?parseTime=true")`,
)
put('php-pdo', human(), (s) => `$pdo = new PDO('mysql:host=localhost;dbname=forum', 'forum', '${s}');`)
put(
  'wp-config',
  strong(16),
  (s) => `define( 'DB_NAME', 'wp_acme' );
define( 'DB_USER', 'wp' );
define( 'DB_PASSWORD', '${s}' );
define( 'DB_HOST', 'localhost' );`,
)
put(
  'wp-salts',
  of(B62 + '!@#%^&*()-_[]{}<>~+=,.;:/?|', 64),
  (s) => `define('AUTH_KEY',         '${s}');
define('SECURE_AUTH_KEY',  '${alnum(64)}');`,
)
put(
  'ldap-bind',
  human(),
  (s) =>
    `ldapsearch -x -H ldaps://dc1.corp.local -D "cn=svc-ldap,ou=svc,dc=corp,dc=local" -w '${s}' \
-b "dc=corp,dc=local" "(mail=*)"`,
)
put(
  'ldap-bind',
  strong(15),
  (s) => `AUTH_LDAP_BIND_DN = "cn=django,ou=apps,dc=uni,dc=edu"
AUTH_LDAP_BIND_PASSWORD = "${s}"`,
)

// ---- Passwords in configuration ---------------------------------------------------------------------------

put(
  'dotenv-secret',
  hex(64),
  (s) => `NODE_ENV=production
PORT=3000
SESSION_SECRET=${s}
LOG_LEVEL=info`,
)
put(
  'dotenv-secret',
  bytes(32).toString('base64'),
  (s) => `NEXTAUTH_URL=https://app.acme.io
NEXTAUTH_SECRET=${s}`,
)
put(
  'dotenv-secret',
  `base64:${bytes(32).toString('base64')}`,
  (s) => `APP_NAME=Lager
APP_ENV=production
APP_KEY=${s}
APP_DEBUG=false`,
)
put(
  'dotenv-secret',
  phrase(),
  (s) => `# local only
JWT_SECRET="${s}"
JWT_EXPIRES_IN=7d`,
)
put(
  'dotenv-password',
  human(),
  (s) => `SMTP_HOST=smtp.acme.io
SMTP_USER=noreply@acme.io
SMTP_PASSWORD='${s}'`,
)
put(
  'dotenv-password',
  strong(18),
  (s) => `# Basic auth for the staging site
STAGING_USER=guest
STAGING_PASS=${s}`,
)
put(
  'dotenv-custom-key',
  alnum(36),
  (s) => `INTERNAL_API_KEY=${s}
ENCRYPTION_ALGO=aes-256-gcm`,
)
put('dotenv-encryption-key', hex(64), (s) => `FIELD_ENCRYPTION_KEY=${s}`)
put(
  'django-secret-key',
  'django-insecure-' + of(LOW + DIG + '!@#%^&*(-_=+)', 50),
  (s) =>
    `# SECURITY WARNING: keep the secret \
key used in production secret!
SECRET_KEY = '${s}'
DEBUG = False`,
)
put(
  'flask-secret-key',
  hex(48),
  (s) => `app = Flask(__name__)
app.secret_key = "${s}"`,
)
put(
  'rails-master-key',
  hex(32),
  (s) => `$ cat config/master.key
${s}`,
)
put(
  'rails-secret-key-base',
  hex(128),
  (s) => `production:
  secret_key_base: ${s}`,
)
put(
  'fernet-key',
  bytes(32).toString('base64url') + '=',
  (s) => `AIRFLOW__CORE__FERNET_KEY=${s}
AIRFLOW__CORE__EXECUTOR=LocalExecutor`,
)
put(
  'symfony-secret',
  hex(32),
  (s) => `###> symfony/framework-bundle ###
APP_SECRET=${s}
###< symfony/framework-bundle ###`,
)
put(
  'compose-env',
  human(),
  (s) => `services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: shop
      POSTGRES_PASSWORD: ${s}
    volumes: [pg:/var/lib/postgresql/data]`,
)
put(
  'compose-env',
  plain(16),
  (s) => `  mariadb:
    image: mariadb:11
    environment:
      - MARIADB_DATABASE=nextcloud
      - MARIADB_ROOT_PASSWORD=${s}`,
)
put(
  'compose-env',
  alnum(44),
  (s) => `  meili:
    image: getmeili/meilisearch:v1.8
    environment:
      MEILI_MASTER_KEY: "${s}"`,
)
put(
  'docker-run-env',
  plain(14),
  (s) =>
    `docker run -d --name mq -e RABBITMQ_DEFAULT_USER=mq -e RABBITMQ_DEFAULT_PASS=${s} \
-p 15672:15672 rabbitmq:3-management`,
)
put(
  'docker-inspect-env',
  strong(20),
  (s) => `$ docker inspect web --format '{{json .Config.Env}}'
["PATH=/usr/local/bin:/usr/bin","NODE_VERSION=20.11.1","ADMIN_PASSWORD=${s}","TZ=Europe/Oslo"]`,
)
put(
  'dockerfile-env',
  alnum(32),
  (s) => `FROM node:20-alpine
WORKDIR /app
ENV API_SECRET=${s}
COPY . .
RUN npm ci`,
)
put(
  'dockerfile-env',
  checked('npm_'),
  (s) => `#9 [4/7] RUN --mount=type=cache NPM_TOKEN=${s} npm ci
#9 0.412 npm warn deprecated inflight@1.0.6`,
)
put(
  'terraform-tfvars',
  strong(20),
  (s) => `db_instance_class = "db.t4g.medium"
db_username       = "root"
db_password       = "${s}"`,
)
put(
  'terraform-state',
  strong(24),
  (s) => `{
  "type": "random_password",
  "name": "master",
  "instances": [{ "attributes": { "length": 24, "result": "${s}", "special": true } }]
}`,
)
put(
  'terraform-output',
  strong(16),
  (s) => `Outputs:

db_endpoint = "shop.cx1.eu-central-1.rds.amazonaws.com:5432"
db_password = "${s}"`,
)
put(
  'cloudformation-parameter',
  strong(16),
  (s) =>
    `aws cloudformation deploy --template-file rds.yml --stack-name db \
--parameter-overrides MasterUsername=admin MasterUserPassword=${s}`,
)
put(
  'ansible-inventory',
  human(),
  (s) => `[windows]
win01 ansible_host=10.9.0.4

[windows:vars]
ansible_user=Administrator
ansible_password=${s}
ansible_connection=winrm`,
)
put('ansible-become', weak(), (s) => `ansible-playbook site.yml -e "ansible_become_pass=${s}" --limit web`)
put(
  'spring-properties',
  strong(14),
  (s) => `spring.datasource.url=jdbc:postgresql://db:5432/orders
spring.datasource.username=orders
spring.datasource.password=${s}
spring.jpa.hibernate.ddl-auto=validate`,
)
put(
  'spring-yaml',
  human(),
  (s) => `spring:
  mail:
    host: smtp.office365.com
    username: noreply@acme.io
    password: ${s}
server:
  port: 8081`,
)
put(
  'spring-keystore',
  weak(),
  (s) => `server.ssl.key-store=classpath:keystore.p12
server.ssl.key-store-password=${s}
server.ssl.key-alias=tomcat`,
)
put(
  'appsettings-json',
  bytes(48).toString('base64'),
  (s) => `"Jwt": {
    "Issuer": "https://api.acme.io",
    "Key": "${s}",
    "ExpiresMinutes": 60
}`,
)
put(
  'json-config-password',
  strong(12),
  (s) => `{"host":"192.168.10.3","port":22,"username":"pi","password":"${s}","remotePath":"/srv"}`,
)
put('json-config-password', weak(), (s) => `{ "user": "admin", "pass": "${s}", "retries": 3 }`)
put('json-in-json', human(), (s) =>
  JSON.stringify({
    tool: 'write_file',
    input: JSON.stringify({
      path: 'config.json',
      content: JSON.stringify({ smtp: { user: 'bot', password: s }, debug: false }, null, 2),
    }),
  }),
)
put('json-in-json', plain(24), (s) =>
  JSON.stringify({
    type: 'tool_result',
    content: [{ type: 'text', text: `API_TOKEN=${s}\nAPI_URL=https://api.acme.io\n` }],
  }),
)
put('json-in-json', alnum(40), (s) =>
  JSON.stringify({
    body: JSON.stringify({ grant_type: 'client_credentials', client_id: 'reporter', client_secret: s }),
    method: 'POST',
  }),
)
put('json-in-json', openaiProject(), (s) => JSON.stringify(JSON.stringify({ env: { OPENAI_API_KEY: s } })))
put(
  'yaml-nested-secret',
  alnum(48),
  (s) => `integrations:
  - name: erp
    endpoint: https://erp.acme.dev/api
    auth:
      type: header
      header: X-Api-Key
      value: ${s}
  - name: crm
    enabled: false`,
)
put(
  'toml-password',
  human(),
  (s) => `[email]
host = "smtp.acme.io"
port = 587
password = "${s}"`,
)
put(
  'ini-password',
  strong(12),
  (s) => `[printer]
ip = 10.1.1.40
login = admin
passwd = ${s}`,
)
put(
  'xml-password',
  human(),
  (s) => `<ftp>
  <host>ftp.lieferant.de</host>
  <user>acme</user>
  <password>${s}</password>
  <passive>true</passive>
</ftp>`,
)
put(
  'plist-password',
  strong(16),
  (s) => `<key>username</key>
<string>updates</string>
<key>password</key>
<string>${s}</string>`,
)
put(
  'java-properties',
  strong(12),
  (s) => `mail.smtp.host=mail.acme.io
mail.smtp.auth=true
mail.smtp.password=${s}`,
)
put(
  'systemd-environment',
  alnum(32),
  (s) => `[Service]
ExecStart=/usr/bin/node /srv/api/index.js
Environment=NODE_ENV=production
Environment=SIGNING_SECRET=${s}
Restart=always`,
)
put('netrc', strong(14), (s) => `machine git.acme.dev login jenkins password ${s}`)
put(
  'svn-cli',
  weak(),
  (s) => `svn checkout --username build --password ${s} https://svn.acme.dev/repos/erp/trunk`,
)
put(
  'wireguard',
  bytes(32).toString('base64'),
  (s) => `[Interface]
PrivateKey = ${s}
Address = 10.66.0.7/32

[Peer]
PublicKey = ${bytes(32).toString('base64')}
Endpoint = vpn.acme.io:51820
AllowedIPs = 10.66.0.0/16`,
)
put(
  'wireguard-psk',
  bytes(32).toString('base64'),
  (s) => `[Peer]
PublicKey = ${bytes(32).toString('base64')}
PresharedKey = ${s}
AllowedIPs = 10.8.0.2/32`,
)
put(
  'wifi-psk',
  phrase(),
  (s) => `network={
    ssid="Werkstatt-5G"
    psk="${s}"
    key_mgmt=WPA-PSK
}`,
)
put('wifi-psk', human(), (s) => `nmcli dev wifi connect "Cafe Nord" password '${s}'`)
put('wifi-qr', phrase(), (s) => `WIFI:T:WPA;S:Studio Gast;P:${s};;`)
put(
  'openvpn-auth',
  strong(12),
  (s) => `$ cat /etc/openvpn/auth.txt
# line 1 user, line 2 password
vpn-tim
${s}`,
)
put(
  'ipsec-secrets',
  strong(24),
  (s) => `# /etc/ipsec.secrets
203.0.113.10 198.51.100.4 : PSK "${s}"`,
)
put('snmpv3-password', plain(12), (s) => `snmpv3 user monitor auth SHA authpassword ${s} priv AES`)
put(
  'cisco-config',
  plain(10),
  (s) => `line vty 0 4
 login local
username netadmin privilege 15 password 0 ${s}
enable secret 5 $1$mERr$${b64(22)}`,
)
put(
  'samba-credentials',
  human(),
  (s) => `//nas/share /mnt/share cifs username=scan,password=${s},uid=1000 0 0`,
)
put(
  'shadow-hash',
  `$6$${alnum(16)}$${of(B62 + './', 86)}`,
  (s) => `root:${s}:19822:0:99999:7:::
daemon:*:19700:0:99999:7:::`,
)
put(
  'htpasswd',
  `$apr1$${alnum(8)}$${of(B62 + './', 22)}`,
  (s) => `$ cat /etc/nginx/.htpasswd
kunde:${s}`,
)
put('htpasswd-cli', weak(), (s) => `htpasswd -b -c /etc/nginx/.htpasswd kunde ${s}`)
put(
  'keepass-master',
  `${phrase()} ${word()}`,
  (s) => `The master password of the team's KeePass file is: ${s}`,
)
put(
  'cloud-init',
  human(),
  (s) => `#cloud-config
chpasswd:
  list: |
    ubuntu:${s}
  expire: false`,
)
put(
  'unattend-xml',
  strong(12),
  (s) => `<AutoLogon>
  <Password><Value>${s}</Value><PlainText>true</PlainText></Password>
  <Username>Administrator</Username>
</AutoLogon>`,
)

// ---- Shell ------------------------------------------------------------------------------------------------

put('curl-user', strong(12), (s) => `curl -u admin:${s} -X PUT http://couch.acme.dev:5984/orders`)
put(
  'curl-user',
  human(),
  (s) => `curl --user 'svc_sync:${s}' 'https://sap.acme.dev/odata/v2/Orders?$top=5' -o orders.json`,
)
put('wget-password', weak(), (s) => `wget --user=press --password=${s} -r https://media.acme.io/raw/`)
put('sshpass', human(), (s) => `sshpass -p '${s}' ssh -o StrictHostKeyChecking=no root@10.0.3.17 uptime`)
put('sshpass', plain(9), (s) => `SSHPASS=${s} sshpass -e rsync -a ./public/ web@host.acme.io:/var/www/`)
put(
  'shell-history',
  plain(14),
  (s) => `  501  cd /opt/app
  502  git pull
  503  export DB_PASS=${s}
  504  ./migrate.sh
  505  history`,
)
put(
  'shell-history',
  human(),
  (s) => `: 1718804411:0;cd infra
: 1718804430:0;echo 'postgres:${s}' | chpasswd
: 1718804441:0;systemctl restart postgresql`,
)
put('sudo-stdin', weak(), (s) => `echo '${s}' | sudo -S apt-get install -y nginx`)
put('openssl-passin', human(), (s) => `openssl rsa -in server.key -out server.plain.key -passin pass:${s}`)
put(
  'openssl-enc',
  phrase(),
  (s) => `openssl enc -aes-256-cbc -pbkdf2 -in backup.tar -out backup.tar.enc -k '${s}'`,
)
put('zip-password', weak(), (s) => `7z a -p${s} -mhe=on payroll-2025-03.7z payroll/`)
put('gpg-passphrase', phrase(), (s) => `gpg --batch --yes --passphrase "${s}" -d secrets.tar.gpg | tar x`)
put('smbclient', human(), (s) => `smbclient //fs01/finance -U 'CORP\\meier%${s}' -c 'ls'`)
put('net-use', weak(), (s) => `net use Z: \\\\fs01\\finance /user:CORP\\meier ${s}`)
put(
  'powershell-securestring',
  strong(14),
  (s) => `$pw = ConvertTo-SecureString "${s}" -AsPlainText -Force
$cred = New-Object System.Management.Automation.PSCredential("corp\\svc_backup", $pw)`,
)
put(
  'expect-script',
  human(),
  (s) => `spawn ssh admin@switch-3
expect "assword:"
send "${s}\\r"
expect "#"`,
)
put(
  'ps-output',
  plain(14),
  (s) => `$ ps aux | grep worker
app   2217  0.3  1.2  88123 ?  Sl  09:11  0:04 ./worker --queue mails --smtp-password ${s} --concurrency 4`,
)
put(
  'printenv',
  alnum(40),
  (s) => `$ printenv | sort | head
HOME=/root
HOSTNAME=7c1f9d2a4b10
LANG=C.UTF-8
MAIL_API_TOKEN=${s}
PATH=/usr/local/sbin:/usr/local/bin
PWD=/srv`,
)
put(
  'env-prefix-command',
  strong(12),
  (s) =>
    `DJANGO_SUPERUSER_PASSWORD='${s}' python manage.py createsuperuser --noinput \
--username admin --email it@acme.io`,
)
put(
  'vault-kv-put',
  plain(24),
  (s) => `vault kv put secret/payments api_key=${s} endpoint=https://pay.acme.io`,
)
put('gh-secret-set', alnum(32), (s) => `gh secret set DEPLOY_KEY --body "${s}" --repo acme-labs/site`)
put(
  'heroku-config-set',
  alnum(30),
  (s) => `heroku config:set PAYMENTS_SECRET=${s} -a acme-web
Setting PAYMENTS_SECRET and restarting acme-web... done, v118`,
)
put(
  'aws-ssm-parameter',
  strong(20),
  (s) => `aws ssm put-parameter --name /prod/db/password --type SecureString --value '${s}'`,
)
put(
  'aws-secretsmanager-output',
  strong(22),
  (s) => `$ aws secretsmanager get-secret-value --secret-id prod/db
{
    "Name": "prod/db",
    "SecretString": "{\\"username\\":\\"root\\",\\"password\\":\\"${s}\\"}",
    "VersionStages": ["AWSCURRENT"]
}`,
)
put(
  'gcloud-secret-access',
  alnum(36),
  (s) => `$ gcloud secrets versions access latest --secret=crm-api-key
${s}`,
)
put(
  'security-keychain',
  human(),
  (s) => `$ security find-generic-password -a kim -s vpn -w
${s}`,
)
put(
  'pass-show',
  strong(18),
  (s) => `$ pass show web/hetzner
${s}
login: k2219931
url: https://accounts.hetzner.com`,
)
put(
  'kubectl-decode',
  strong(16),
  (s) =>
    `$ kubectl -n db get secret pg -o jsonpath='{.data.password}' | base64 -d
${s}`,
)
put(
  'openssl-rand-assigned',
  bytes(24).toString('base64'),
  (s) => `$ openssl rand -base64 24
${s}
$ # that is the new admin password, set it in the portal`,
)
put('useradd', human(), (s) => `useradd -m deploy && echo "deploy:${s}" | chpasswd`)
put(
  'set-x-trace',
  alnum(32),
  (s) => `+ set -euo pipefail
+ TOKEN=${s}
+ curl -fsS -H 'Authorization: Bearer ***' https://api.acme.io/deploy`,
)

// ---- Code -------------------------------------------------------------------------------------------------

put(
  'python-requests-auth',
  human(),
  (s) => `r = requests.get("https://intranet.acme.dev/api/users", auth=("svc-hr", "${s}"), timeout=10)`,
)
put(
  'python-paramiko',
  strong(12),
  (s) => `ssh = paramiko.SSHClient()
ssh.set_missing_host_key_policy(paramiko.AutoAddPolicy())
ssh.connect('10.10.4.9', username='root', password='${s}')`,
)
put(
  'python-smtplib',
  weak(),
  (s) => `with smtplib.SMTP_SSL("smtp.strato.de", 465) as srv:
    srv.login("info@acme.de", "${s}")`,
)
put(
  'python-constant',
  alnum(40),
  (s) => `BASE_URL = "https://api.partner.io"
API_KEY = "${s}"


def fetch(path: str) -> dict:
    return requests.get(BASE_URL + path, headers={"X-Api-Key": API_KEY}).json()`,
)
put('python-jwt-encode', phrase(), (s) => `token = jwt.encode({"sub": user.id}, "${s}", algorithm="HS256")`)
put(
  'js-constant',
  alnum(32),
  (s) => `const apiSecret = '${s}'
export default axios.create({ baseURL, headers: { 'X-Secret': apiSecret } })`,
)
put('js-jwt-sign', human(), (s) => `const token = jwt.sign({ id: user._id }, '${s}', { expiresIn: '1d' })`)
put(
  'js-nodemailer',
  strong(14),
  (s) => `nodemailer.createTransport({
  host: 'smtp.ionos.de',
  port: 587,
  auth: { user: 'shop@acme.de', pass: '${s}' },
})`,
)
put(
  'js-express-session',
  phrase(),
  (s) => `app.use(session({ secret: '${s}', resave: false, saveUninitialized: true }))`,
)
put(
  'js-playwright-fill',
  human(),
  (s) => `await page.fill('#email', 'qa@acme.io')
await page.fill('#password', '${s}')
await page.click('button[type=submit]')`,
)
put(
  'js-cypress-type',
  weak(),
  (s) => `cy.get('input[name=password]').type('${s}')
cy.contains('Anmelden').click()`,
)
put('selenium-send-keys', human(), (s) => `driver.find_element(By.ID, "password").send_keys("${s}")`)
put('browser-tool-call', strong(13), (s) =>
  JSON.stringify({
    name: 'browser_type',
    input: {
      element:
        'Password \
field',
      ref: 'e42',
      text: s,
      submit: true,
    },
  }),
)
put(
  'java-constant',
  alnum(32),
  (s) => `public final class Keys {
    private static final String CLIENT_SECRET = "${s}";
    private Keys() {}
}`,
)
put(
  'java-drivermanager',
  human(),
  (s) => `Connection c = DriverManager.getConnection("jdbc:postgresql://db/erp", "erp", "${s}");`,
)
put(
  'kotlin-constant',
  alnum(36),
  (s) => `object Config {
    const val BASE_URL = "https://api.acme.io"
    const val API_TOKEN = "${s}"
}`,
)
put(
  'csharp-networkcredential',
  strong(12),
  (s) => `smtp.Credentials = new NetworkCredential("noreply@acme.io", "${s}");`,
)
put('csharp-const', alnum(44), (s) => `private const string HmacSecret = "${s}";`)
put(
  'go-constant',
  hex(40),
  (s) => `const (
	apiHost   = "https://api.acme.io"
	apiSecret = "${s}"
)`,
)
put(
  'go-basic-auth',
  plain(12),
  (s) => `req, _ := http.NewRequest("GET", url, nil)
req.SetBasicAuth("metrics", "${s}")`,
)
put(
  'go-redis-options',
  strong(16),
  (s) => `rdb := redis.NewClient(&redis.Options{Addr: "cache:6379", Password: "${s}", DB: 0})`,
)
put('rust-bearer', alnum(44), (s) => `let res = client.get(url).bearer_auth("${s}").send().await?;`)
put('rust-const', alnum(32), (s) => `const WEBHOOK_SECRET: &str = "${s}";`)
put(
  'ruby-constant',
  hex(40),
  (s) => `Partner.configure do |c|
  c.api_key = '${s}'
  c.timeout = 5
end`,
)
put(
  'php-define',
  alnum(32),
  (s) => `<?php
define('API_SECRET', '${s}');
$client = new Client(API_SECRET);`,
)
put(
  'php-array-config',
  human(),
  (s) => `return [
    'host'     => 'mail.acme.de',
    'username' => 'system',
    'password' => '${s}',
    'secure'   => 'tls',
];`,
)
put(
  'swift-constant',
  alnum(32),
  (s) => `enum Secrets {
    static let apiKey = "${s}"
    static let timeout = 30.0
}`,
)
put(
  'perl-dbi',
  plain(12),
  (s) => `my $dbh = DBI->connect("dbi:mysql:shop", "shop", "${s}", { RaiseError => 1 });`,
)
put(
  'r-dbconnect',
  plain(12),
  (s) => `con <- dbConnect(RPostgres::Postgres(), host = "dwh", user = "ana", password = "${s}")`,
)
put(
  'vba-password',
  weak(),
  (s) => `ActiveSheet.Unprotect Password:="${s}"
Range("A1:F40").ClearContents`,
)
put(
  'arduino-wifi',
  phrase(),
  (s) => `const char* ssid = "Garage";
const char* password = "${s}";
void setup() { WiFi.begin(ssid, password); }`,
)
put(
  'elixir-config',
  url64(64),
  (s) => `config :shop, ShopWeb.Endpoint,
  url: [host: "shop.acme.io"],
  secret_key_base: "${s}"`,
)
put(
  'scala-typesafe-conf',
  strong(14),
  (s) => `db.default {
  driver = org.postgresql.Driver
  user = "play"
  password = "${s}"
}`,
)
put(
  'code-comment',
  human(),
  (s) => `// TODO remove before merge: test login is petra@acme.io / ${s}
export function login() {}`,
)
put('fallback-default', alnum(32), (s) => `const secret = process.env.JWT_SECRET || '${s}'`)
put('fallback-default', human(), (s) => `password: process.env.DB_PASS ?? "${s}",`)
put(
  'git-diff-secret',
  alnum(40),
  (s) => `diff --git a/config/prod.rb b/config/prod.rb
@@ -4,7 +4,7 @@
   config.cache = :redis
-  config.api_token = "${s}"
+  config.api_token = ENV.fetch("API_TOKEN")
   config.timeout = 3`,
)
put('jupyter-cell', hex(32), (s) =>
  JSON.stringify({
    cell_type: 'code',
    source: ['import quandl\n', `quandl.ApiConfig.api_key = "${s}"\n`],
    outputs: [],
  }),
)

// ---- HTTP, cookies, sessions, tokens ----------------------------------------------------------------------

const claims = { sub: 'auth0|6630b1', iat: 1719400000, exp: 1719486400, scope: 'openid profile' }
put(
  'jwt-bearer',
  jwt({ ...claims, aud: 'api' }),
  (s) => `GET /v1/orders HTTP/1.1
Host: api.acme.io
Authorization: Bearer ${s}
Accept: application/json`,
)
put(
  'jwt-bearer',
  jwt({ ...claims, role: 'admin' }, { alg: 'RS256', typ: 'JWT', kid: url64(21) }, true),
  (s) =>
    `curl 'https://app.acme.io/api/me' -H 'accept: application/json' -H 'authorization: Bearer ${s}' \
--compressed`,
)
put(
  'jwt-in-json',
  jwt({ sub: '41', name: 'Ida' }),
  (s) => `{"access_token":"${s}","token_type":"Bearer","expires_in":3600}`,
)
put(
  'jwt-in-local-storage',
  jwt({ uid: 88, ver: 3 }, { alg: 'ES256', typ: 'JWT' }),
  (s) =>
    `> localStorage.getItem('auth')
'${s}'`,
)
put('jwt-in-url', jwt({ inv: 9912 }), (s) => `https://app.acme.io/accept-invite?token=${s}&lang=de`)
put(
  'jwt-in-log',
  jwt({ jti: uuid() }),
  (s) => `2025-05-04 10:12:31,556 DEBUG [http-nio-8080-exec-4] JwtFilter - validating ${s}`,
)
put(
  'jwe-token',
  `${encUrl('{"alg":"dir","enc":"A256GCM"}')}..${url64(16)}.${url64(220)}.${url64(22)}`,
  (s) => `set-cookie: __Secure-authjs.session-token=${s}; Path=/; HttpOnly; Secure; SameSite=Lax`,
)
put(
  'opaque-bearer',
  alnum(43),
  (s) => `> POST /graphql HTTP/2
> authorization: Bearer ${s}
> content-type: application/json
< HTTP/2 200`,
)
put(
  'basic-auth-header',
  enc(`admin:${human()}`),
  (s) => `GET /manager/status HTTP/1.1
Host: tomcat.acme.dev:8080
Authorization: Basic ${s}
User-Agent: curl/8.5.0`,
)
put(
  'basic-auth-header',
  enc(`${uuid()}:${alnum(30)}`),
  (s) => `headers: { Authorization: 'Basic ${s}', Accept: '*/*' }`,
)
put(
  'proxy-authorization',
  enc(`meier:${weak()}`),
  (s) => `CONNECT pypi.org:443 HTTP/1.1
Proxy-Authorization: Basic ${s}`,
)
put(
  'x-api-key-header',
  alnum(40),
  (s) => `curl -H "X-API-Key: ${s}" https://abc123.execute-api.eu-west-1.amazonaws.com/prod/items`,
)
put('x-api-key-header', uuid(), (s) => `headers = {"x-api-key": "${s}", "accept": "application/json"}`)
put(
  'x-auth-token-header',
  hex(48),
  (s) => `X-Auth-Token: ${s}
X-Request-Id: ${uuid()}`,
)
put(
  'session-cookie',
  `s%3A${url64(32)}.${alnum(41)}%2B${alnum(1)}`,
  (s) => `Cookie: theme=dark; connect.sid=${s}`,
)
put(
  'session-cookie',
  lownum(32),
  (s) =>
    `Set-Cookie: sessionid=${s}; expires=Wed, 18 Jun 2025 09:00:00 GMT; HttpOnly; \
Max-Age=1209600; Path=/; SameSite=Lax`,
)
put('session-cookie', lownum(26), (s) => `curl -b 'PHPSESSID=${s}; lang=pl' https://panel.acme.pl/zamowienia`)
put(
  'session-cookie',
  of('0123456789ABCDEF', 32),
  (s) => `< HTTP/1.1 200
< Set-Cookie: JSESSIONID=${s}; Path=/app; HttpOnly`,
)
put(
  'session-cookie',
  enc(JSON.stringify({ iv: b64(22), value: b64(80), mac: hex(64) })),
  (s) => `cookie: XSRF-TOKEN=ok; laravel_session=${s}`,
)
put(
  'session-cookie',
  `${encUrl('{"user_id":7,"role":"staff"}')}.${url64(6)}.${url64(27)}`,
  (s) => `Cookie: session=${s}`,
)
put('session-cookie', url64(64), (s) => `requests.get(url, cookies={"remember_token": "${s}"})`)
put(
  'cookie-jar-netscape',
  hex(40),
  (s) => `# Netscape HTTP Cookie File
.acme.io	TRUE	/	TRUE	1767225600	auth_token	${s}`,
)
put(
  'github-session-cookie',
  url64(48),
  (s) => `cookie: _octo=GH1.1.88121.1719; user_session=${s}; logged_in=yes`,
)
put(
  'oauth-token-response',
  alnum(48),
  (s) => `{
  "access_token": "${alnum(64)}",
  "token_type": "bearer",
  "refresh_token": "${s}",
  "expires_in": 7200
}`,
)
put(
  'oauth-token-request',
  url64(40),
  (s) => `POST /oauth/token HTTP/1.1
Host: login.acme.io
Content-Type: application/x-www-form-urlencoded

grant_type=client_credentials&client_id=reporting&client_secret=${s}&scope=read`,
)
put(
  'oauth-code',
  url64(60),
  (s) => `GET /callback?code=${s}&state=af0ifjsldkj HTTP/1.1
Host: localhost:53682`,
)
put(
  'oauth-fragment',
  url64(80),
  (s) => `redirected to https://app.acme.io/#access_token=${s}&token_type=Bearer&expires_in=3599`,
)
put(
  'form-login-post',
  human().replace(/[#?+]/, '*'),
  (s) => `POST /login HTTP/1.1
Host: portal.acme.de
Content-Type: application/x-www-form-urlencoded

username=k.berger&password=${s}&remember=on`,
)
put(
  'json-login-post',
  strong(12),
  (s) =>
    `curl -X POST localhost:4000/auth/login -H 'content-type: application/json' -d \
'{"email":"qa@acme.io","password":"${s}"}'`,
)
put('graphql-login', human(), (s) => `mutation { login(email: "jo@acme.io", password: "${s}") { token } }`)
put('query-api-key', alnum(32), (s) => `GET https://api.partner.io/v2/rates?base=EUR&api_key=${s} 200 118ms`)
put(
  'query-access-token',
  alnum(40),
  (s) => `10.0.0.4 - - [12/May/2025:06:25:14 +0000] "GET /hook?access_token=${s}&id=7 HTTP/1.1" 204 0`,
)
put(
  'reset-link',
  url64(43),
  (s) =>
    `Hi Jo, use this link to choose a new password: https://app.acme.io/reset-password?token=${s} \
– it works for one hour.`,
)
put('magic-link', hex(64), (s) => `Sign in to Acme: https://acme.io/auth/magic?magic_token=${s}`)
put(
  'signed-url-generic',
  url64(43),
  (s) => `https://cdn.acme.io/private/contract-118.pdf?expires=1751328000&signature=${s}`,
)
put(
  'meeting-passcode',
  digits(6),
  (s) => `Zoom meeting
Meeting ID: 884 1120 4471
Passcode: ${s}`,
)
put('zoom-join-url', `${alnum(30)}.1`, (s) => `Join: https://acme.zoom.us/j/88411204471?pwd=${s}`)
put(
  'soap-wsse',
  human(),
  (s) => `<wsse:UsernameToken>
  <wsse:Username>erp</wsse:Username>
  <wsse:Password Type="PasswordText">${s}</wsse:Password>
</wsse:UsernameToken>`,
)
put('har-entry', alnum(44), (s) =>
  JSON.stringify({
    request: {
      method: 'GET',
      url: 'https://app.acme.io/api/me',
      headers: [
        { name: 'Accept', value: '*/*' },
        { name: 'Authorization', value: `Bearer ${s}` },
      ],
    },
  }),
)
put(
  'websocket-auth',
  alnum(36),
  (s) => `{"type":"auth","access_token":"${s}"}
{"type":"auth_ok","ha_version":"2025.4.1"}`,
)
put(
  'imap-login',
  weak(),
  (s) => `a1 LOGIN "info@acme.de" "${s}"
a1 OK Logged in`,
)
put(
  'smtp-auth-plain',
  enc(`\0info@acme.de\0${human()}`),
  (s) => `C: AUTH PLAIN ${s}
S: 235 2.7.0 Authentication successful`,
)
put(
  'ftp-log',
  plain(10),
  (s) => `220 ProFTPD Server
USER web482
331 Password required for web482
PASS ${s}
230 User web482 logged in`,
)
put(
  'telnet-log',
  plain(9),
  (s) => `login: admin
Password: ${s}
Welcome to RouterOS 7.14`,
)
put(
  'redis-auth-command',
  alnum(28),
  (s) => `127.0.0.1:6379> AUTH ${s}
OK
127.0.0.1:6379> DBSIZE`,
)

// ---- Private keys and wallets -----------------------------------------------------------------------------

const pem = (label: string, lines: readonly string[]): string =>
  `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----`
function putPem(
  kind: string,
  label: string,
  data: Buffer,
  line: number,
  text: (block: string) => string,
): void {
  const lines = wrap(data)
  put(kind, lines.at(line)!, () => text(pem(label, lines)))
}
putPem('pem-rsa', 'RSA PRIVATE KEY', rsa(), 11, (block) => `$ cat ~/.ssh/id_rsa\n${block}`)
putPem('pem-rsa', 'RSA PRIVATE KEY', rsaShort(), -1, (block) => block)
putPem('pem-pkcs8', 'PRIVATE KEY', pkcs8(), 9, (block) => block)
putPem(
  'pem-ec',
  'EC PRIVATE KEY',
  ec(),
  0,
  (block) => `openssl ecparam -genkey -name prime256v1 -noout\n${block}\n`,
)
putPem(
  'pem-ed25519',
  'PRIVATE KEY',
  ed25519(),
  0,
  (block) => `Generated ed25519 key:\n${block}\nkeep it safe`,
)
putPem(
  'pem-openssh',
  'OPENSSH PRIVATE KEY',
  openssh(),
  3,
  (block) => `deploy key for the site repo, paste in the secrets:\n\n${block}`,
)
putPem(
  'pem-openssh',
  'OPENSSH PRIVATE KEY',
  openssh(),
  4,
  (block) => `ssh:
  private_key: |
${block
  .split('\n')
  .map((line) => '    ' + line)
  .join('\n')}
  port: 22`,
)
putPem('pem-encrypted', 'ENCRYPTED PRIVATE KEY', bytes(700), 4, (block) => block)
putPem('pem-dsa', 'DSA PRIVATE KEY', bytes(440), 5, (block) => `file: legacy/host_dsa\n${block}`)
putPem('pem-pgp', 'PGP PRIVATE KEY BLOCK', bytes(520), 6, (block) =>
  block
    .replace(
      'BLOCK-----\n',
      'BLOCK-----\nVersion: GnuPG \
v2\n\n',
    )
    .replace(/\n-----END/, '\n=aX3k\n-----END'),
)
put(
  'pem-escaped-one-line',
  wrap(rsaShort())[6]!,
  (s) => `JWT_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\\n\
${wrap(rsaShort()).slice(0, 6).join('\\n')}\\n${s}\\n${wrap(bytes(180)).join('\\n')}\\n-----END RSA PRIVATE \
KEY-----"`,
)
put('pem-double-escaped', wrap(ec())[0]!, (s) =>
  JSON.stringify({
    args: JSON.stringify({ file: 'k.pem', text: pem('EC PRIVATE KEY', [s, wrap(ec())[1]!, b64(36)]) }),
  }),
)
put(
  'pem-terraform-heredoc',
  wrap(rsaShort())[4]!,
  (s) => `resource "aws_iam_server_certificate" "web" {
  private_key = <<EOF
${pem('RSA PRIVATE KEY', [...wrap(rsaShort()).slice(0, 4), s, ...wrap(bytes(220))])}
EOF
}`,
)
put('pem-numbered-lines', wrap(rsaShort())[3]!, (s) =>
  [
    '-----BEGIN RSA PRIVATE \
KEY-----',
    ...wrap(rsaShort()).slice(0, 3),
    s,
    ...wrap(bytes(190)),
    '-----END RSA PRIVATE KEY-----',
  ]
    .map((line, i) => `${String(i + 1).padStart(6)}\t${line}`)
    .join('\n'),
)
put(
  'pem-in-diff',
  wrap(pkcs8())[5]!,
  (s) => `+++ b/certs/dev.key
${[
  '-----BEGIN PRIVATE KEY-----',
  ...wrap(pkcs8()).slice(0, 5),
  s,
  ...wrap(bytes(240)),
  '-----END PRIVATE \
KEY-----',
]
  .map((line) => '+' + line)
  .join('\n')}`,
)
put(
  'pem-truncated',
  wrap(rsa())[7]!,
  (s) => `$ head -12 server.key
-----BEGIN RSA PRIVATE KEY-----
${wrap(rsa()).slice(0, 7).join('\n')}
${s}
${wrap(rsa()).slice(8, 11).join('\n')}`,
)
put(
  'putty-ppk',
  b64(64),
  (s) => `PuTTY-User-Key-File-3: ssh-ed25519
Encryption: none
Comment: eddsa-key-20250211
Public-Lines: 2
${b64(64)}
${b64(16)}
Private-Lines: 2
${s}
${b64(20)}
Private-MAC: ${hex(64)}`,
)
put(
  'jwk-private',
  url64(43),
  (s) => `{"kty":"EC","crv":"P-256","x":"${url64(43)}","y":"${url64(43)}","d":"${s}","kid":"sig-1"}`,
)
put(
  'jwk-oct',
  url64(43),
  (s) => `{ "keys": [ { "kty": "oct", "alg": "HS256", "kid": "2025-01", "k": "${s}" } ] }`,
)
put(
  'vapid-private-key',
  url64(43),
  (s) => `=======================================
Public Key:
B${url64(86)}

Private Key:
${s}
=======================================`,
)
put(
  'ethereum-private-key',
  `0x${hex(64)}`,
  (s) => `Account #0: 0x${hex(40)} (10000 ETH)
Private Key: ${s}`,
)
put(
  'ethereum-private-key',
  hex(64),
  (s) => `DEPLOYER_PRIVATE_KEY=${s}
RPC_URL=https://rpc.sepolia.org`,
)
put('ethereum-private-key', `0x${hex(64)}`, (s) => `const wallet = new ethers.Wallet('${s}', provider)`)
put(
  'bitcoin-wif',
  base58check(Buffer.concat([fromHex('80'), bytes(32), fromHex('01')])),
  (s) =>
    `$ bitcoin-cli dumpprivkey bc1q${of(BECH, 38)}
${s}`,
)
put(
  'bitcoin-xprv',
  base58check(
    Buffer.concat([fromHex('0488ade4'), fromHex('00'.repeat(9)), bytes(32), fromHex('00'), bytes(32)]),
  ),
  (s) => `"master": "${s}",`,
)
put(
  'seed-phrase',
  seedPhrase(12),
  (s) => `MNEMONIC="${s}"
npx hardhat run scripts/deploy.ts --network sepolia`,
)
put(
  'seed-phrase',
  seedPhrase(24),
  (s) => `Write down your recovery phrase and keep it offline:

${s}`,
)
put(
  'seed-phrase',
  seedPhrase(12),
  (s) => `my metamask seed phrase is ${s}, can you check why the balance is zero?`,
)
put(
  'solana-keypair',
  Array.from({ length: 64 }, () => rnd(256)).join(','),
  (s) =>
    `$ cat ~/.config/solana/id.json
[${s}]`,
)
put('infura-key-secret', hex(32), (s) => `INFURA_API_KEY_SECRET=${s}`)
put(
  'nostr-nsec',
  `nsec1${of(BECH, 58)}`,
  (s) => `$ nak key generate | nak encode nsec
${s}`,
)
put(
  'totp-seed',
  b32(32),
  (s) => `otpauth://totp/Acme:lena%40acme.io?secret=${s}&issuer=Acme&algorithm=SHA1&digits=6&period=30`,
)
put(
  'totp-seed',
  b32(16),
  (s) => `Can't scan the QR code? Enter this setup key in the authenticator app: ${s}`,
)
put(
  'totp-seed',
  b32(32),
  (s) => `TOTP_SECRET=${s}
oathtool --totp -b ${s}`,
)
const recovery = Array.from({ length: 6 }, () => `${hex(5)}-${hex(5)}`)
put('recovery-codes', recovery[3]!, () => `GitHub recovery codes (each works once):\n${recovery.join('\n')}`)
const backup = Array.from({ length: 6 }, () => `${digits(4)} ${digits(4)}`)
put(
  'recovery-codes',
  backup[2]!,
  () => `SAVE YOUR BACKUP CODES (Google account jo@acme.io)
${backup.map((code, i) => `${i + 1}. ${code}`).join('\n')}`,
)
put(
  'recovery-codes',
  `${upnum(4)}-${upnum(4)}-${upnum(4)}`,
  (s) => `If you lose the phone, sign in with this recovery code: ${s}`,
)
put(
  'bitlocker-recovery-key',
  Array.from({ length: 8 }, () => String(11 * (9091 + rnd(50000))).padStart(6, '0')).join('-'),
  (s) =>
    `BitLocker Drive Encryption recovery key
Identifier: ${uuid().toUpperCase()}
Recovery Key:
${s}`,
)
put(
  'filevault-recovery-key',
  Array.from({ length: 6 }, () => upnum(4)).join('-'),
  (s) =>
    `$ sudo fdesetup changerecovery -personal
New personal recovery key = '${s}'`,
)
put(
  'ssh-key-passphrase',
  phrase(),
  (s) => `Enter passphrase for key '/home/kim/.ssh/id_ed25519': ${s}
Identity added: /home/kim/.ssh/id_ed25519`,
)
put('one-time-code', digits(6), (s) => `Your Acme verification code is ${s}. Do not share it with anyone.`)
put(
  'release-signing-key',
  bytes(32).toString('base64'),
  (s) => `Sparkle EdDSA private signing key (do not commit): ${s}`,
)

// ---- Logs, tables, documents ------------------------------------------------------------------------------

put(
  'gha-log-env',
  alnum(40),
  (s) => `##[group]Run ./deploy.sh
env:
  NODE_VERSION: 20.x
  DEPLOY_TOKEN: ${s}
##[endgroup]
deploying 118 files`,
)
put(
  'gha-workflow-hardcoded',
  plain(18),
  (s) => `jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - uses: appleboy/ssh-action@v1
        with:
          host: 203.0.113.7
          username: root
          password: ${s}
          script: systemctl restart web`,
)
put(
  'gitlab-ci-variables',
  strong(14),
  (s) => `variables:
  POSTGRES_DB: test
  FTP_PASSWORD: "${s}"
stages: [test, deploy]`,
)
put(
  'app-debug-log',
  strong(12),
  (s) =>
    `[2025-03-02 08:11:09] local.DEBUG: Login attempt {"email":"petra@acme.io","password":"${s}",\
"remember":true}`,
)
put(
  'app-debug-log',
  alnum(40),
  (s) =>
    `time=2025-06-01T10:00:01Z level=debug msg="calling partner" url=https://api.partner.io \
api_key=${s} attempt=2`,
)
put(
  'rails-log',
  human(),
  (s) => `Started POST "/sessions" for 127.0.0.1
Parameters: {"utf8"=>"✓", "user"=>{"email"=>"k@acme.io", "password"=>"${s}"}, "commit"=>"Log in"}`,
)
put(
  'stack-trace-locals',
  plain(14),
  (s) => `File "/srv/app/mail.py", line 41, in send
    smtp.login(user, password)
locals: user='noreply@acme.io', password='${s}', retries=0`,
)
put(
  'php-stack-trace',
  plain(12),
  (s) =>
    `PHP Fatal error: Uncaught PDOException: SQLSTATE[HY000] [1045] in db.php:7
Stack trace:
#0 db.php(7): PDO->__construct('mysql:host=db', 'shop', '${s}')`,
)
put('error-echo', alnum(32), (s) => `Error: invalid API key "${s}" for account acme (HTTP 401)`)
put(
  'error-echo',
  alnum(40),
  (s) => `{"status":401,"error":"Unauthorized","detail":"The token ${s} has expired"}`,
)
put(
  'python-dict-repr',
  alnum(30),
  (s) => `>>> settings.as_dict()
{'debug': False, 'region': 'eu', 'client_secret': '${s}', 'workers': 4}`,
)
put(
  'ruby-hash-inspect',
  strong(12),
  (s) => `=> {:host=>"db1", :username=>"app", :password=>"${s}", :pool=>5}`,
)
put('go-struct-print', plain(16), (s) => `cfg: {Host:db1 Port:5432 User:app Password:${s} SSLMode:disable}`)
put(
  'java-tostring',
  plain(13),
  (s) => `DataSourceConfig(url=jdbc:postgresql://db/erp, username=erp, password=${s}, maxPool=10)`,
)
put(
  'csv-password-column',
  human(),
  (s) => `name,username,password,role
Berger,k.berger,${s},admin
Olsen,p.olsen,${weak()},editor`,
)
put(
  'csv-password-column',
  strong(12),
  (s) => `url,username,password
https://accounts.acme.io/login,lena@acme.io,${s}
https://shop.partner.de/,lena,${weak()}`,
)
put(
  'csv-semicolon',
  weak(),
  (s) => `Kunde;Benutzer;Passwort
Nordwind GmbH;nordwind;${s}
Südlicht AG;suedlicht;${weak()}`,
)
put(
  'markdown-table-password',
  human(),
  (s) => `| System | User | Password |
|---|---|---|
| Jenkins | admin | ${s} |
| Grafana | viewer | ${phrase()} |`,
)
put(
  'markdown-table-password',
  strong(14),
  (s) => `| Gerät   | IP         | Login | Kennwort |
| ------- | ---------- | ----- | -------- |
| Switch 1 | 10.0.0.2  | admin | \`${s}\` |`,
)
put(
  'markdown-list',
  human(),
  (s) => `## Staging access
- **URL**: https://staging.acme.io
- **User**: reviewer
- **Password**: \`${s}\``,
)
put(
  'readme-credentials',
  weak(),
  (s) => `Default admin account after seeding:

    email:    admin@acme.local
    password: ${s}`,
)
put(
  'html-input-value',
  human(),
  (s) => `<input type="password" name="pw" id="pw" value="${s}" autocomplete="off">`,
)
put(
  'sql-result-table',
  plain(14),
  (s) => ` id | username |   password_plain   | active
----+----------+--------------------+--------
  1 | root     | ${s}     | t
(1 row)`,
)
put(
  'seed-script-output',
  human(),
  (s) => `🌱 Seeding…
Created admin user
  login: admin
  pass:  ${s}
Done in 1.2s`,
)
put(
  'install-summary',
  strong(16),
  (s) => `Installation complete!
  Web UI:   https://10.0.0.5:8006
  Username: root
  Password: ${s}
Please change it after the first login.`,
)
put(
  'jenkins-initial-password',
  hex(32),
  (s) => `*************************************************************
Jenkins initial setup is required. An admin user has been created and a password generated.
Please use the following password to proceed to installation:

${s}

This may also be found at: /var/jenkins_home/secrets/initialAdminPassword`,
)
put(
  'mysql-temporary-password',
  strong(12),
  (s) =>
    `2025-02-11T09:22:10.221331Z 6 [Note] [MY-010454] [Server] A temporary password is \
generated for root@localhost: ${s}`,
)
put(
  'jupyter-token-url',
  hex(48),
  (s) => `[I 2025-04-02 09:12:44.119 ServerApp] http://127.0.0.1:8888/lab?token=${s}`,
)
put('rabbitmq-erlang-cookie', of(UP, 20), (s) => `RABBITMQ_ERLANG_COOKIE=${s}`)
put('sentry-breadcrumb', alnum(36), (s) =>
  JSON.stringify({
    breadcrumbs: [
      { category: 'http', data: { url: '/api/charge', request_headers: { 'X-Api-Key': s, Accept: '*/*' } } },
    ],
  }),
)
put(
  'env-list-json',
  alnum(32),
  (s) =>
    `[{"key":"LOG_LEVEL","value":"info"},{"key":"STORAGE_SECRET","value":"${s}"},\
{"key":"REGION","value":"fra"}]`,
)
put(
  'k8s-env-name-value',
  strong(16),
  (s) => `        env:
        - name: LOG_LEVEL
          value: debug
        - name: DB_PASSWORD
          value: "${s}"
        - name: TZ
          value: UTC`,
)
put(
  'ecs-task-definition',
  alnum(40),
  (s) => `"environment": [
  { "name": "STAGE", "value": "prod" },
  { "name": "AUTH_TOKEN", "value": "${s}" }
]`,
)
put(
  'mcp-args',
  alnum(40),
  (s) => `"args": ["-y", "mcp-remote", "https://mcp.acme.io/sse", "--header", "Authorization: Bearer ${s}"]`,
)
put('cli-flag-token', alnum(36), (s) => `npx acme-cli sync --workspace main --token ${s} --dry-run`)
put('cli-flag-token', hex(40), (s) => `./bin/importer --api-key=${s} --since 2025-01-01 < orders.csv`)
put(
  'cli-flag-client-secret',
  url64(40),
  (s) => `kubectl oidc-login setup --oidc-client-id=k8s --oidc-client-secret=${s}`,
)

// ---- Told in prose ----------------------------------------------------------------------------------------

put('prose-en-password', human(), (s) => `the password is ${s}, don't commit it please`)
put(
  'prose-en-password',
  weak(),
  (s) => `You can log in to the NAS with user admin and password ${s}. The share is called "media".`,
)
put('prose-en-password', phrase(), (s) => `ok I changed it. New pw: ${s}`)
put('prose-en-password', strong(12), (s) => `Use these creds for the test env: qa_user / ${s}`)
put(
  'prose-en-password',
  human(),
  (s) => `My login is lena@acme.io and my password is "${s}" – can you try to reproduce it?`,
)
put(
  'prose-en-password',
  `${word()}${digits(3)}`,
  (s) => `The admin panel's password was still ${s}, which is really weak; we should rotate it.`,
)
put(
  'prose-en-password',
  `${cap(word())}${cap(word())}${digits(4)}`,
  (s) => `for the wifi just use ${s} as the password`,
)
put(
  'prose-en-password-turns',
  human(),
  (s) => `User: Can you ssh into the box?
Assistant: I need the root password.
User: ${s}
Assistant: Thanks, connected.`,
)
put(
  'prose-en-api-key',
  alnum(32),
  (s) => `here's my api key: ${s}
please wire it into the weather widget`,
)
put('prose-en-api-key', hex(32), (s) => `The API key for the geocoder is ${s} (limit 2,500 a day).`)
put(
  'prose-en-api-key',
  alnum(40),
  (s) => `I replaced the old key with ${s} and the 401s went away, so the API key was the problem.`,
)
put('prose-en-token', alnum(36), (s) => `Set the bearer token to ${s} in Postman, then call /me.`)
put('prose-en-token', hex(40), (s) => `token for the staging deploy hook = ${s}`)
put('prose-en-secret', hex(64), (s) => `Our webhook signing secret is now ${s}; update both workers.`)
put('prose-en-passphrase', phrase(), (s) => `The passphrase for the backup key is "${s}".`)
put(
  'prose-en-pin',
  digits(6),
  (s) => `The SIM PIN of the LTE router is ${s}, it asks for it after every reboot.`,
)
put(
  'prose-en-door-code',
  digits(6),
  (s) => `Door code for the server room: ${s}#. Do not put it in the wiki.`,
)
put('prose-de-password', weak(), (s) => `Das Passwort für den Admin-Zugang lautet ${s}.`)
put('prose-de-password', human(), (s) => `Zugangsdaten: Benutzername kberger, Kennwort ${s}`)
put(
  'prose-de-password',
  phrase(),
  (s) => `Ich habe das WLAN-Passwort auf „${s}“ geändert, bitte im Router eintragen.`,
)
put(
  'prose-de-password',
  strong(12),
  (s) => `Benutzer: sa
Passwort: ${s}
Server: SQL01\\PROD`,
)
put('prose-de-api-key', alnum(32), (s) => `Der API-Schlüssel ist ${s}, bitte nur lokal verwenden.`)
put('prose-de-pin', digits(5), (s) => `Die PIN der Alarmanlage ist ${s}.`)
put('prose-fr-password', human(), (s) => `Le mot de passe du compte admin est ${s}`)
put(
  'prose-fr-password',
  weak(),
  (s) => `Identifiant : mdupont
Mot de passe : ${s}
Merci de le changer dès la première connexion.`,
)
put('prose-fr-password', phrase(), (s) => `J'ai mis « ${s} » comme mot de passe pour la base de recette.`)
put('prose-fr-api-key', alnum(36), (s) => `Voici la clé API à utiliser : ${s}`)
put('prose-es-password', human(), (s) => `La contraseña del servidor es ${s}, no la compartas.`)
put(
  'prose-es-password',
  weak(),
  (s) => `usuario: admin
contraseña: ${s}
host: 10.1.4.2`,
)
put('prose-es-api-key', hex(32), (s) => `Mi clave de API es ${s}, ¿puedes probar la llamada?`)
put('prose-pt-password', human(), (s) => `A senha do banco de produção é ${s} (usuário: root).`)
put(
  'prose-pt-password',
  weak(),
  (s) => `Login: financeiro
Senha: ${s}`,
)
put('prose-pt-token', alnum(36), (s) => `O token de acesso é ${s} e vale por 30 dias.`)
put('prose-pl-password', human(), (s) => `Hasło do panelu to ${s}, login admin.`)
put(
  'prose-pl-password',
  weak(),
  (s) => `Użytkownik: kowalski
Hasło: ${s}`,
)
put('prose-pl-api-key', alnum(32), (s) => `Klucz API: ${s} – wklej go do pliku .env`)
put('prose-ja-password', strong(12), (s) => `管理画面のパスワードは ${s} です。`)
put(
  'prose-ja-password',
  human(),
  (s) => `ユーザー名:admin
パスワード:${s}`,
)
put('prose-ja-api-key', alnum(32), (s) => `APIキーは「${s}」を使ってください。`)
put('prose-zh-password', strong(12), (s) => `数据库密码是 ${s},请不要提交到仓库。`)
put(
  'prose-zh-password',
  human(),
  (s) => `账号:root
密码:${s}
地址:192.168.3.20`,
)
put('prose-zh-api-key', alnum(40), (s) => `我的 API 密钥是:${s}`)
put('prose-it-password', weak(), (s) => `La password del gestionale è ${s}, utente "magazzino".`)
put('prose-nl-password', human(), (s) => `Het wachtwoord voor de testserver is ${s}`)
put('prose-sv-password', phrase(), (s) => `Lösenordet till gästnätet är ${s}`)
put('prose-ru-password', strong(12), (s) => `Пароль от админки: ${s}`)
put('prose-ko-password', strong(12), (s) => `관리자 비밀번호는 ${s} 입니다.`)
put('prose-tr-password', human(), (s) => `Yönetici şifresi: ${s}`)
put(
  'model-answer-repeats-password',
  human(),
  (s) =>
    `I found the credentials in \`deploy/legacy.sh\`: the script logs in as \
\`ftpuser\` with the password \`${s}\`. I suggest moving it to an environment variable.`,
)
put(
  'model-answer-repeats-password',
  plain(20),
  (s) =>
    `I have set \`POSTGRES_PASSWORD\` to \`${s}\` in both the compose file and \
the migration job, so that they match now.`,
)
put(
  'model-thinking',
  alnum(32),
  (s) => `The user gave me the API token ${s}. I should pass it as a header rather than in the URL.`,
)
put(
  'email-temporary-password',
  strong(10),
  (s) => `From: it-support@acme.io
To: newhire@acme.io
Subject: Account

Welcome aboard! Log in as n.hire; the temporary password is ${s}. You will be asked to change it.`,
)
put(
  'ticket-comment',
  weak(),
  (s) =>
    `[OPS-1183] Comment by p.olsen: reset the service account, it's svc_print with pw ${s} now. Closing.`,
)
put('chat-short', `${word()}${digits(4)}`, (s) => `netflix pass: ${s} dont tell mum`)
put('banking-pin', digits(5), (s) => `Customer's telephone banking PIN as noted by the agent: ${s}`)

export const SECRETS: readonly SecretCase[] = cases
