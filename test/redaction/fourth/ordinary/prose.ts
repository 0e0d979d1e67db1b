import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const prose = ordinaryTexts('prose')`
hey can you look at the login page? the password field does not show the eye icon on Safari
%%
I forgot my password again. Can you walk me through the reset?
%%
The token budget for this run was 200000 and we used 143812 of it. Cached tokens: 98221.
%%
Wir sollten die Passwörter nicht im Klartext speichern, sondern mit argon2 hashen. Kannst du das umbauen?
%%
Bitte das Kennwort nie per Mail schicken. Wir nutzen dafür den Passwort-Manager.
%%
Le mot de passe doit contenir au moins 12 caractères, une majuscule et un chiffre. Peux-tu ajouter un test pour ça ?
%%
¿Puedes cambiar el texto "Contraseña incorrecta" por "Usuario o contraseña incorrectos"?
%%
A senha não pode ser igual às três últimas. Onde isso é verificado no código?
%%
Het wachtwoord wordt nu twee keer gevraagd bij het inloggen. Kun je dat oplossen?
%%
Hasło jest wymagane, ale formularz i tak się wysyła. Popraw walidację, proszę.
%%
La password viene richiesta due volte, secondo me è un bug del middleware. Ci guardi?
%%
パスワードの入力欄にプレースホルダーを追加してください。文言は「8文字以上」でお願いします。
%%
Who has access to the production secrets? I think only the platform team and the CI.
%%
The secret to good tests is that they fail for one reason only.
%%
Can you summarize this RFC? I mostly care about the part on bearer tokens and how clients are authenticated.
%%
Mira: is the API key rotated?
Jo: yes, yesterday. It is in 1Password under "Stripe prod"
Mira: perfect, I'll restart the pods
%%
Meeting notes 2026-01-15
- passkeys instead of passwords: spike in sprint 4
- access tokens live 15 minutes, refresh tokens 30 days
- Jo asks the auditors about key rotation
- next meeting on 22 January, 10:00, room 2.14
%%
Subject: Your password was changed

Hi Tineke,

the password of your account was changed on 18 January 2026 at 20:11. If this was not you, contact support.

Your fietsplan team
%%
Ticket 8812: "Reset password" mail arrives late
Steps: click on forgot password, wait. Mail arrives after 12 to 15 minutes.
Expected: within one minute.
Queue length at that time was 40211.
%%
Please refactor \`getToken\` so that it doesn't read the key from the environment each time.
%%
ok so the pin on the CPU socket is bent, pin 1151 I think? can it be repaired
%%
Could you explain the difference between authentication and authorization with an example from our code?
%%
Das Schlüsselwort \`satisfies\` prüft den Typ, ohne ihn zu verbreitern. Der Schlüssel der Map bleibt also ein Literal.
%%
Our office moved: Hafenstraße 12, 24103 Kiel. The door code is on the sheet at the reception desk.
%%
My phone number is 0171 ${f('{97}')} and the customer number is ${f('{98}')}, please add both to the contact page.
%%
the error code is 0x80070005 and the support code they gave me is just "E1203", what does it mean?
%%
Please do not paste the key here. Put it in the vault and tell me the path.
%%
The password is stored in the vault under secret/atlas/prod, the field is called db_password.
%%
I think the password is wrong, because the log says "authentication failed". Which variable does it read?
%%
Release 2026.01.3 is out. Highlights: dark mode, faster search, password-less login.
%%
We pay 3 dollars per million input tokens and 15 per million output tokens, so this run cost 0.42 dollars.
%%
Kannst du mir sagen, in welcher Datei der Token geprüft wird? Ich finde nur \`verifyToken\` in den Tests.
%%
In chapter 7 the hero learns the password of the old gate from the miller's daughter, but he never speaks it aloud.
%%
Translate to Spanish: "Enter your password to continue. Your session has expired."
%%
Les clés étrangères manquent dans la migration. Ajoute une clé sur user_id et un index sur created_at.
%%
No, the key is not the problem. The signature is computed over the wrong body, we trim the newline before hashing.
%%
"Correct password, wrong username" must never be told apart in the answer; use the same message for both.
%%
yes, the api key is required. no, the token is optional. both are documented in the readme
%%
The passphrase prompt appears twice on macOS because ssh-agent does not keep the key. Add UseKeychain yes.
%%
Jo hat gefragt, ob das Passwort neu ist. Ja, es ist neu, und nur sie kennt es.
%%
Hi Lucía, thanks for the quick answer. The password arrived by post this morning, and the login works now. Best, Mira
%%
Standup: yesterday I finished token rotation, today I write the docs, no blockers.
%%
pls rename secretName to credentialName everywhere, incl. the helm chart
%%
The wifi password is printed on the back of the router.
%%
User story: as an admin I want to see when each API key was last used, so that I can delete stale keys.
%%
Il token è scaduto ieri alle 18:00, per questo ricevi 401. Basta fare di nuovo il login.
%%
Your package will be delivered today between 14:05 and 16:05. Tracking: 00340${f('{915}')}
%%
What would a good name be for a token that is both an id and a capability? "Handle"? "Ticket"?
%%
Our tokenizer splits "password" into one token and "passwort" into two; does that matter for the price?
%%
Thanks! That fixed it. The cookie had SameSite=Strict, so the session was lost after the redirect.
`
