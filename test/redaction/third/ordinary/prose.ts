import { ordinaryTexts } from '../corpus.ts'

/** What people and models write, in several languages. */
export const prose = ordinaryTexts('prose')`
I read the three files. The bug is in \`parseCursor\`: it drops the last page when the total is a multiple of the page size. I'll add a test first.
%%
Sure! Here's a plan:
1. Read the schema
2. Write the migration
3. Run the tests
%%
The build fails since yesterday. Can you look at run 4412 and tell me what changed?
%%
Please call me at +49 30 901820 or +1 (415) 555-0132 after 3 pm.
%%
Meeting notes, 4 March 2026: release moved to Thursday; Anna takes the docs; Jon checks the invoices 2024-118 to 2024-131.
%%
Das Passwort muss mindestens zwölf Zeichen lang sein und darf nicht schon benutzt worden sein.
%%
Bitte ändern Sie Ihr Kennwort alle 90 Tage.
%%
Ich habe das Passwort vergessen und komme nicht mehr ins Portal.
%%
Der Schlüssel zum Erfolg ist Geduld.
%%
Le mot de passe doit contenir au moins huit caractères.
%%
J'ai oublié mon mot de passe, pouvez-vous le réinitialiser ?
%%
La contraseña no es correcta. Inténtelo de nuevo.
%%
La clave del proyecto es la comunicación entre los equipos.
%%
A senha expirou ontem; o usuário precisa criar outra no portal.
%%
La password è scaduta ieri, serve una nuova.
%%
Пароль должен быть не короче двенадцати символов.
%%
Я забыл пароль от почты, помогите восстановить доступ.
%%
密码长度至少为八位，且必须包含数字和字母。
%%
忘记密码？请点击下面的链接重置。
%%
パスワードを忘れた場合は、再設定してください。
%%
비밀번호를 잊으셨나요? 이메일로 재설정 링크를 보내드립니다.
%%
Het wachtwoord is verlopen. Vraag een nieuw aan bij de beheerder.
%%
Hasło wygasło wczoraj, proszę ustawić nowe.
%%
Şifre en az sekiz karakter olmalıdır.
%%
يجب أن تتكون كلمة المرور من ثمانية أحرف على الأقل.
%%
The password is wrong. The password was changed last week. The password is required.
%%
My password is not working anymore, what should I do?
%%
Is the token still valid? It was issued on Monday.
%%
The API key is missing from the request, so the server answers 401.
%%
The secret is out: we are opening a new office in Lisbon.
%%
Her username is visible to all members of the project.
%%
Let me check whether the token is expired, then refresh it.
%%
I moved the credentials into the vault and deleted them from the repository history.
%%
Ticket OPS-4413: reset password mails arrive twice. Priority: medium. Reporter: Kim.
%%
Rated 4.7 of 5 by 12,418 readers; 978 pages; weight 1.2 kg.
%%
Flight LH2024 leaves at 18:35 from gate B42, booking class Y, seat 23A.
%%
Dear Ms Berg, thank you for your order 30041182. We deliver on 6 March between 9 and 12.
%%
Recipe: 500 g flour, 350 ml water, 10 g salt, 3 g yeast. Rest for 18 hours.
%%
Summer2024 campaign results: 18 % more sign-ups, 4 % fewer cancellations.
%%
Once upon a time, in a castle of copper and amber, a dragon kept the key of the garden.
%%
correct-horse-battery-staple is the best known joke about passphrases.
%%
We measured p50 = 12 ms, p95 = 48 ms, p99 = 212 ms at 1,800 requests per second.
%%
LGTM! Two nits: rename \`tok\` to \`token\`, and sort the imports.
%%
Coordinates 52.520008, 13.404954; altitude 34 m; timezone Europe/Berlin.
`
