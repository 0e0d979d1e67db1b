import { again, plain, secretTexts } from '../corpus.ts'
import { alphanumeric, form, jwt, phrase, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const chat = secretTexts('chat')`
The staging login is admin@example.com, password is ${weak}. Can you check why the dashboard is empty?
%%
Here's my API key: ${v.openaiProject}
Please add streaming to the script.
%%
use this token to clone the repo: ${v.githubClassic}
%%
hey, the db password for prod is ${strong} (don't share it pls)
%%
User: ssh into 10.0.3.8 as ubuntu, the password is ${weak}
Assistant: I'll connect and look at the disk usage first.
%%
I've updated the \`.env\` file for you:

\`\`\`
ANTHROPIC_API_KEY=${v.anthropic}
SLACK_BOT_TOKEN=${v.slackBot}
\`\`\`

Restart the server to pick up the change.
%%
I found hard-coded credentials in \`config/db.js\`: the user is \`root\` and the password is \`${weak}\`. They should move to environment variables.
%%
The request fails because the key \`${v.googleKey}\` is restricted to another referrer.
%%
> what's the wifi password again?
${phrase}
%%
Ticket OPS-4412
Summary: cannot log in to Grafana
Description: Tried user admin with password ${weak} since the migration, gets "Invalid username or password".
%%
**Credentials for the demo tenant**
- URL: https://demo.example.com
- Username: demo
- Password: ${weak}
%%
| Environment | User | Password |
| --- | --- | --- |
| staging | qa | ${weak} |
| production | qa-ro | ${strong} |
%%
login: backup
pass: ${weak}
host: nas.internal
%%
Das Passwort für den Testserver lautet ${weak}, Benutzername ist "pruefer".
%%
Zugangsdaten Shop-Backend:
Benutzer: redaktion
Kennwort: ${weak}
%%
Le mot de passe de la base est ${weak}, tu peux lancer la migration.
%%
Identifiant : support
Mot de passe : ${strong}
%%
La contraseña del servidor de pruebas es ${weak}. Avísame cuando termines.
%%
usuario: ventas
contraseña: ${weak}
%%
A senha do banco de homologação é ${weak}, usuário app.
%%
La password per il pannello è ${weak}
%%
Пароль от тестового сервера: ${weak}, логин deploy.
%%
логин: admin
пароль: ${weak}
%%
数据库密码是 ${weak} ，用户名 root。
%%
用户名：admin
密码：${weak}
%%
パスワードは ${weak} です。よろしくお願いします。
%%
비밀번호: ${weak}
%%
Hasło do panelu: ${weak}
%%
Het wachtwoord voor de router is ${weak}.
%%
Lösenord: ${weak}
Användare: anna
%%
Şifre: ${weak}
%%
كلمة المرور: ${weak}
%%
Reminder from Ops: the new VPN preshared key is ${alphanumeric}, the old one stops working on Friday.
%%
I changed your password to ${weak} — please change it at the next login.
%%
My stripe secret is ${v.stripeLong} and the webhook one is ${v.stripeHook}, both live.
%%
Bot token from the father: ${v.telegramBot}
Keep your token secure.
%%
pls rotate: slack ${v.slackUser}, npm ${v.npmToken}, sendgrid ${v.sendgrid}
%%
You can test with
curl -H "Authorization: Bearer ${jwt}" https://api.example.com/me
It expires in an hour.
%%
Connection string from Mark: mongodb+srv://readonly:${urlPassword}@cluster1.example.org/analytics
%%
I ran \`cat .env\` and it shows that \`JWT_SECRET\` is set to \`${v.hex64}\`, so signing works.
%%
The tool returned the secret key ${v.awsSecret} for access key ${v.awsId}; the policy lacks s3:PutObject.
%%
Temporary password: ${form('{a10}')}
You will be asked to set a new one.
%%
Subject: Your account
Hello Kim,
your username is kim.l and your initial password is ${weak}
Regards, IT
%%
credentials: ops / ${weak}
%%
admin:${weak} works on https://camera.internal
%%
Try ${weak} as the password, if not then ${weak}.
%%
In the meeting notes: "root pw on the NAS = ${weak}"
%%
passphrase for the ssh key is "${phrase}"
%%
the api key i got from the weather site is ${v.hex32}
%%
Unlock code for the keystore: storepass ${weak}, keypass ${weak}
%%
The bearer token ${v.urlSafe43} was rejected with 403, the refreshed one works.
%%
Mira [10:41]: can you send me the HF token?
Jon [10:42]: ${v.huggingFace}
Jon [10:42]: read only
%%
So the fix is to replace \`sk\` in settings by ${v.deepSeek} and rerun; commit ${plain(v.hex40)} had the old one.
%%
PIN for the vault app is ${form('{n6}')}, recovery key ${v.onePassword}.
%%
Root-Passwort = ${strong}; das gleiche (${again(strong)}) gilt für den Backup-Host.
`
