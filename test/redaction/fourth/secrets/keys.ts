import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const keys = secretTexts('keys')`
$ cat ~/.ssh/id_ed25519
-----BEGIN OPENSSH PRIVATE KEY-----
${k.pem(5, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt')}
-----END OPENSSH PRIVATE KEY-----
%%
-----BEGIN RSA PRIVATE KEY-----
${k.pem(20, 'MIIEpAIBAAKCAQEA')}
-----END RSA PRIVATE KEY-----
%%
tls:
  cert: |
    -----BEGIN CERTIFICATE-----
    MIID${plain(f('{b60}'))}
    ${plain(f('{b64}'))}
    -----END CERTIFICATE-----
  key: |
    -----BEGIN EC PRIVATE KEY-----
    ${k.pem(3, 'MHcCAQEEI', '\n    ')}
    -----END EC PRIVATE KEY-----
%%
-----BEGIN PGP PRIVATE KEY BLOCK-----

${k.pem(12, 'lQVYBGW')}
=${plain(f('{b4}'))}
-----END PGP PRIVATE KEY BLOCK-----
%%
$ age-keygen
# created: 2026-01-19T09:40:11+01:00
# public key: age1${plain(f('{l58}'))}
${f('AGE-SECRET-KEY-1{q58}')}
%%
JWK for signing (private, keep it off the repo):
{"kty":"EC","crv":"P-256","kid":"2026-01","x":"${plain(k.w43)}","y":"${plain(k.w43)}","d":"${k.w43}"}
%%
PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\n${k.pem(3, 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w', '\\n')}\n-----END PRIVATE KEY-----"
APNS_KEY_ID=${plain(f('{U10}'))}
APNS_TEAM_ID=${plain(f('{U10}'))}
%%
otpauth://totp/Brightloop:jo@brightloop.io?secret=${f('{B32}')}&issuer=Brightloop&algorithm=SHA1&digits=6&period=30
%%
{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {},
   "outputs": [],
   "source": [
    "import os\n",
    "os.environ['OPENAI_API_KEY'] = '${k.oai}'\n",
    "openai.api_base = 'https://api.openai.com/v1'"
   ]
  }
 ],
 "nbformat": 4
}
%%
PuTTY-User-Key-File-3: ssh-ed25519
Encryption: none
Comment: ops@kontor
Public-Lines: 2
AAAAC3NzaC1lZDI1NTE5AAAAI${plain(f('{b39}'))}
${plain(f('{b16}'))}
Private-Lines: 1
${f('AAAAI{b38}=')}
Private-MAC: ${plain(k.x64)}
%%
# Ed25519 signing key (hex)
private: ${k.x64}
public:  ${plain(k.x64)}
%%
vapidKeys = {
  publicKey: 'B${plain(f('{w86}'))}',
  privateKey: '${k.w43}',
}
%%
$ cat cosign.key
-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----
${k.pem(10, 'eyJrZGYiOnsibmFtZSI6InNjcnlwdCIs')}
-----END ENCRYPTED SIGSTORE PRIVATE KEY-----
%%
WIF export from the old wallet: ${f('L{a51}')}
xprv: ${f('xprv9s21ZrQH143K{a96}')}
%%
The key you pasted starts fine but is cut off at the end:

-----BEGIN OPENSSH PRIVATE KEY-----
${f('b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0{b120}')}

Please paste the whole file.
%%
keystore.properties
storeFile=upload.jks
storePassword=${k.weak}
keyAlias=upload
keyPassword=${k.weak}
%%
$ cat ~/.config/sops/age/keys.txt
# public key: age1${plain(f('{l58}'))}
${f('AGE-SECRET-KEY-1{q58}')}
$ cat ~/.config/gh/hosts.yml
github.com:
    oauth_token: ${k.gho}
    user: jbrandt
`
