import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const chat = secretTexts('chat')`
hey can you check why staging login is broken? user is qa@brightloop.io and the password is ${k.weak}
%%
ok the api key is ${k.oai}, put it in the env file and try again
%%
Kannst du dich bitte auf dem Server anmelden und nachsehen? Benutzer root, Passwort ${k.weak} – der Port ist 2222.
%%
Subject: Zugangsdaten Shop-Backend

Hallo Frau Lindner,

anbei die Zugangsdaten für das neue Backend:

URL: https://backend.nordlicht-kerzen.de
Benutzername: lindner
Kennwort: ${k.weak}

Bitte ändern Sie das Kennwort nach der ersten Anmeldung.

Viele Grüße
Jonas Brandt
%%
Le mot de passe du wifi invité c'est ${k.weak} si jamais tu en as besoin pour la démo.
%%
Bonjour, voici l'accès au FTP : hôte ftp.petitport.fr, identifiant boutique, mdp : ${k.strong}. Merci de me dire quand c'est en ligne.
%%
La contraseña de la base de datos es ${k.weak}, el usuario es "ventas". Con eso ya deberías poder conectarte.
%%
Oi! A senha do painel é ${k.weak} e o usuário é admin. Pode subir o fix hoje?
%%
Het wachtwoord voor de testomgeving is ${k.weak}. Kun je kijken waarom de facturen niet laden?
%%
Hasło do panelu: ${k.weak} (login: biuro@kwiatkowski.pl). Proszę nie zmieniać, bo używa go też księgowa.
%%
La password del gestionale è ${k.weak}, utente "magazzino". Fammi sapere se entra.
%%
ステージング環境のパスワードは ${k.weak} です。ユーザー名は tester でお願いします。
%%
jo: whats the code for the door of the server room again?
mira: ${k.pin4}# and then press the bell
jo: thx
%%
Your verification code is ${k.code6}. It expires in 10 minutes. Don't share it with anyone.

-- I got this, can you finish the 2FA step in the browser with it?
%%
[10:02] Priya: need prod db creds asap, customer is blocked
[10:03] Tom: host db-prod.tallyport.internal user tally_admin pw ${k.strong}
[10:03] Priya: 🙏
[10:04] Tom: delete that after pls
%%
I rotated the token. Old one was ${k.ghp} (revoked already i think?), new one is ${k.ghpat}. Please update the CI.
%%
TICKET-4412: Customer cannot log in
Reporter: support@fietsplan.nl
Description: Customer Tineke Vermeer says her login fails since Monday. She gave me her password to test: ${k.weak}
I could reproduce it with that. Browser is Firefox 134.
%%
sry wrong channel. the passphrase for the ssh key is "${k.sentence}"
%%
Use my personal Anthropic key for now: ${k.ant}. Limit is 20 dollars so don't loop.
%%
you can use login demo / ${k.weak} on https://demo.kestrel.app, and for the admin area it's root / ${k.weak}
%%
My seed phrase is: ${k.seed(12)}. I want a script that derives the first 5 addresses.
%%
> From: it@kontor.de
> To: all-new@kontor.de
>
> Welcome to Kontor! Your temporary password is ${k.alnum}
> Please sign in at https://portal.kontor.de within 24 hours.

Can you draft a reply that I received it?
%%
I set the DB password to ${k.strong} because the old one (${k.weak}) leaked in the logs.
%%
the pin for the company card is ${k.pin4}, order the domain with it
%%
Here are my GitHub recovery codes, store them in the vault please:
${f('{x5}-{x5}')}
${f('{x5}-{x5}')}
${f('{x5}-{x5}')}
${f('{x5}-{x5}')}
%%
Connect with mongodb+srv://marta:${k.urlpw}@bancolar.${plain(f('{l5}'))}.mongodb.net and list the collections for me
%%
lol it's literally ${k.weak} – same password on all three test boxes
%%
Passwort vergessen? Nein :) Es lautet ${k.weak} und gilt auch für den Drucker. Groß- und Kleinschreibung beachten.
%%
@agent deploy to fly pls, token: ${f('fo1_{w43}')}
%%
Hi team,

the SFTP drop for bank statements moves on Friday. New details below.

Host: sftp2.bancolar.es
Port: 22
User: tallyport
Password: ${k.strong}

The old account will be disabled on 31 January.

Regards,
Lucía
%%
He olvidado decirte el PIN de la tarjeta SIM del router: ${k.pin4}. El PUK es ${f('{n1}{97}')}.
%%
J'ai généré une clé API pour toi : ${plain(f('pk_{l32}'))} – non pardon ça c'est la publique. La clé secrète : ${f('sk_{l48}')}
%%
A: what's the sudo pw on the jump host?
B: ${k.weak}
A: works, thanks
%%
Bitte den Slack-Bot mit diesem Token einrichten: ${k.xoxb}
Der Kanal heißt #betrieb.
%%
My Windows account is locked. Username: t.nowak, password: ${k.weak}, can you see if the AD sync is the problem?
%%
can u decode this for me? its our session token ${k.jwt} and tell me when it expires
%%
Twój kod logowania do banku to ${k.code6}. Nie podawaj go nikomu.
Wkleiłam, bo agent pytał o kod.
%%
the basic auth in front of staging is user "preview" and pass "${k.weak}" fyi
%%
Remember for later: wifi "Nordlicht-Office", key ${f('{a4}-{a4}-{a4}-{a4}')}
%%
I keep getting 401 from Stripe. This is the key I'm sending: ${k.stripe} — is it the restricted one or the full one?
%%
Your one-time password (OTP) for tallyport is: ${k.code6}
Never share this code.
%%
senha nova do servidor de homologação: ${k.weak}
usuário continua o mesmo (deploy)
%%
Vault unlock: master password = ${k.phrase}. It's in my head only, so don't write it to any file.
%%
**Credentials** (from the 1Password share)

| what | value |
|---|---|
| username | ops@nordkap.no |
| password | ${k.strong} |
| TOTP seed | ${f('{B32}')} |
%%
Il codice di verifica è ${k.code6}, inseriscilo tu che sto guidando
%%
管理画面のログイン情報です。
ID: admin@sakura-shop.jp
パスワード：${k.alnum}
よろしくお願いします。
%%
Passwd for the zip: ${k.weak}
The zip itself is in the shared drive under /2026/payroll.
%%
Tim changed the admin pass from ${k.weak} to ${k.weak} yesterday, which is why your cron job fails
%%
In the interview doc you wrote "HF token". Here it is ${k.hf} read only
%%
Anmeldung am VPN: Benutzer lhansen, PIN ${f('{n1}{95}')}, danach das Token aus der App.
%%
could you log into the printer? 192.168.1.40, its admin pw is still ${k.weak}, then check toner
%%
This is what the vendor sent:

"Your license has been activated. API secret: ${k.a40}. Keep it private."

Where do I put it in our config?
%%
Het wifi-wachtwoord van kantoor: ${k.phrase}
En de pincode van het alarm is ${k.pin4}.
%%
just use ssh root@95.216.${plain(f('{92}'))}.14 with ${k.strong} as password, keys are not set up yet
%%
Voici le token GitLab : ${k.glpat}. Il expire fin mars, portée read_api seulement.
%%
i typed the wrong one, my password isn't ${k.weak}, it's ${k.weak}
`
