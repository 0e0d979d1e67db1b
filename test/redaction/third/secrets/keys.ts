import { plain, secretTexts } from '../corpus.ts'
import { form, pemLines, weak } from '../make.ts'
import * as v from '../vendors.ts'

const rsaBody = pemLines(12, 'MIIEpAIBAAKCAQEA')
const pkcs8Body = pemLines(13, 'MIIEvgIBADANBgkqhkiG9w0BAQEFAASC')
const ecBody = pemLines(3, 'MHcCAQEEI')
const sshBody = pemLines(6, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA')
const pgpBody = pemLines(9, 'lQOYBF')
const escapedBody = pemLines(5, 'MIIEowIBAAKCAQEA', '\\n')

/** Private keys and what is met rarely. */
export const keys = secretTexts('keys')`
$ cat id_rsa
-----BEGIN RSA PRIVATE KEY-----
${rsaBody}
-----END RSA PRIVATE KEY-----
%%
-----BEGIN PRIVATE KEY-----
${pkcs8Body}
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ
-----END CERTIFICATE-----
%%
-----BEGIN EC PRIVATE KEY-----
${ecBody}
-----END EC PRIVATE KEY-----
%%
-----BEGIN OPENSSH PRIVATE KEY-----
${sshBody}
-----END OPENSSH PRIVATE KEY-----
%%
-----BEGIN PGP PRIVATE KEY BLOCK-----

${pgpBody}
=${plain(form('{a4}'))}
-----END PGP PRIVATE KEY BLOCK-----
%%
PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\n${escapedBody}\n-----END RSA PRIVATE KEY-----\n"
%%
      tls.key: |
        -----BEGIN PRIVATE KEY-----
        ${pemLines(4, 'MIIEvwIBADANBgkqhkiG9w0BAQEFAASC', '\n        ')}
        -----END PRIVATE KEY-----
%%
The deploy key begins like this, the rest was cut off:
-----BEGIN OPENSSH PRIVATE KEY-----
${pemLines(3, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA')}
%%
Proc-Type: 4,ENCRYPTED with passphrase ${weak}
%%
ETH_PRIVATE_KEY=0x${v.hex64}
%%
const wallet = new ethers.Wallet('0x${v.hex64}', provider)
%%
{"kty":"RSA","kid":"sig-1","e":"AQAB","n":"${plain(form('{w342}'))}","d":"${form('{w342}')}"}
%%
otpauth://totp/Portal:anna@example.com?secret=${form('{B32}')}&issuer=Portal
%%
Mapbox secret token ${v.mapboxSecret}
Paypal: client_secret=${v.paypalSecret}
Square: ${v.square}
%%
hcloud context create prod
Token: ${v.letters64}
%%
POSTMAN_API_KEY=${v.postman}
OKTA_API_TOKEN=${v.okta}
BITBUCKET_APP_PASSWORD=${v.bitbucketApp}
%%
gem push --key ${v.rubygemsKey} pkg/tool-1.0.0.gem
dotnet nuget push *.nupkg --api-key ${v.nugetKey}
%%
elevenlabs.set_api_key("${v.elevenLabs}")
xai = Client(api_key="${v.xai}")
router_key = "${v.openRouter}"
pplx = "${v.perplexity}"
%%
Authorization: NRAK user key ${v.newRelic}
Mailchimp: ${v.mailchimp}
Twilio API key SID ${v.twilioKey}, secret ${v.letters32}
%%
https://acme.webhook.office.com/webhookb2/${plain(v.uuid)}@${plain(v.uuid)}/IncomingWebhook/${v.teamsHookPath}/${plain(v.uuid)}
%%
supabase login --token ${v.supabaseAccess}
%%
Recovery codes for the admin account:
${form('{l5}-{l5}')}
${form('{l5}-{l5}')}
${form('{l5}-{l5}')}
`
