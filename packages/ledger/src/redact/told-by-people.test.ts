import { describe, expect, test } from 'vitest'
import { expectLeft, expectNoneLeft } from '../../test/marked-texts.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')

/** Secrets stand between `«` and `»`. */
const SECRETS = [
  // Words with a number, joined or not, and codes behind a longer remark.
  'The guest network is LOFT, passphrase «amber falcon 61», keep it.',
  'wifi password: «amber falcon 61»',
  "le mot de passe du routeur c'est «Jardin_d_Hiver4», merci",
  'backup code for the build account in case the page asks me again: «7c310-41f9a»',
  'log in with kim@example.org and the password «amberfalcon».',
  'code from my authenticator is «417 204»',
  'the deploy token is «4kR7zQx2Vb9TmP»',
  // What it was, in the languages that people speak.
  'My password has always been «Daisy1961», but it fails now.',
  'Das Passwort lautete früher «Eisvogel88».',
  'Mon mot de passe était «Hirondelle61» avant.',
  'Mi contraseña siempre ha sido «Golondrina61», pero no entra.',
  'Minha senha sempre foi «Andorinha61», mas não entra.',
  'La mia password è sempre stata «Rondine61», ma non va.',
  'Moje hasło zawsze było «Jaskolka61», ale nie działa.',
  'the password should still be «barley-moon-12» unless Tom changed it',
  "I set the admin's password to «heron-Valley-47-brick», please change it",
  'He puesto la contraseña del panel en «Rio-Verde-47-sol», cámbiala.',
  'Ho impostato la password del router su «Fiume-Verde-47-sole».',
  'Ik ben ingelogd als admin met «Hagelslag.31», dat werkt.',
  'I signed in as `admin` with «fox-grafana42», the password that I found in the compose file.',
  'het ww is «stamppot12»',
  // The number on the back of a card, and what is typed on a keypad.
  'expiry 09/28, security code «246»',
  'the CVV is «935», thanks',
  'gültig bis 04/29, Prüfnummer «612».',
  'caduca 06/27, código de seguridad «753».',
  'Le cryptogramme est «518», au nom de Paul.',
  'I told him the code is «6241#», can you check?',
  'Der Code fürs Schlüsselfach ist «6241#».',
  'Password rotated. Old: «Autumn-Leaf-1», new: «Autumn-Leaf-2».',
  'I typed «Wisteria!9» and it said wrong password',
  "I'll connect with the password you provided, «Anchor-Reef-6».",
  'We agreed on «Eagle-Nest-2030» as the shared password.',
  'the alarm is armed with «7719», ask Bo',
  "Le code wifi c'est «brioche-2031»",
  'You need the passphrase, which is «wren.Kettle.9».',
  // An answer that other words lead to.
  '[09:14] bo: it asks me for the admin pw again\n[09:15] amy: same one as ever, «Gr4nite4us», user is admin',
  'bo: anyone has the importer token?\namy: yep, «dG9rPsEa4hXWaBsfvkn9EJg8ZOdHLPq75RiSR783j1v=»',
  'bo: can you send me the vpn password?\namy: of course! «Canal-Bridge-3» but keep it to yourself',
  'jo: alguém tem a senha do router?\nal: tenho, é «Moqueca77»',
  'Passwort: «Hase-Igel-33»',
  'mot de passe : «fromage_bleu9»',
  'пароль: «zenit_2011»',
  'login: kim / «blaubeere77»',
  'credentials are kim / «moonflower»',
  'printer: apc / «apc1747»',
  'use kim@example.com / «Otter-River-21» for the demo',
  "my password is not «Bluebird2020», it's «Redbird2021»",
  'Passwort weg? Macht nichts. Es ist «Sonne2024!».',
  'we changed the pass on the shared account from «Alpha2020» to «Beta2021» yesterday',
  '«yrunov-zzmw-2» is the hotspot password',
  'the admin password earlier («Milo2023»)',
  'Set the temp password to «Tmp-3245-neu» and told him',
  'pw -> «Maple2025*»',
  'Meeting passcode: «fCOZCC»',
  'WLAN-Schlüssel: «75684108886488524162»',
  'The safe combination is «12-34-56»',
  'front door code «3969E», mind the dog',
  'de toegangscode voor het magazijn «3401»',
  'Kod do drzwi «8578».',
  'La clave de la puerta es «4482»',
  'supervisor PIN («1494»)',
  'The code is «541759»',
  'Password: «Kiwi-Melon-42»\nConfirm ... «Kiwi-Melon-42»',
  'Bob: pw?\nAlice: «Kiwi-Melon-42»',
  'Anna 09:12\nPasswort für die Kasse?\nBen 09:13\n«Wolke7711»\n',
  '🧑 my ssh asks for the passphrase\n🤖 Tell me and I add it.\n🧑 «saddle.lantern57»\n',
  'To continue I need your PIN.\n➜ «8891»\n',
  "CTO: what was the root password?\nme: it was '«porto tournesol runs 22 apricot»' with spaces",
  'What password should I use?\n\nHere is a strong one: `«t82JLVZUudV@xgstqu»`',
  // Words with one digit, and words that were joined.
  'el usuario es pepe y la contraseña es «Girasol_7»',
  'het wachtwoord van de scanner in de kelder van gebouw twee is «fietsbel4»',
  'if it asks for a password, type «maplesyrup3»',
  'they changed the vpn passphrase, it is now «nine-Otters-in-Bergen»',
  'PSK erneuert: «Kreide-Tafel-Lineal»',
  'user is qa, password is «papaya-express»',
  'Le mot de passe du partage est désormais «Terrasse-Soleil-2026».',
  'my login is h.lind and the password’s «Midvinter-tårta»',
  'the password that you gave me yesterday («Grenouille_verte») works',
  'admin passcode «kiosk!leave».',
  'user `preview`, pass `«cedar-blossom»`',
  'SSID Besucher, key «tee-und-kekse»',
  'basic auth is preview:«cedar-blossom»',
  'the creds of the new board are root and «calv1n-neu»',
  'I used the account svc_import with «Tannenzweig.5», as told.',
  'Rotate the PSK. The old one was «sQsDepVV9Ixy0Ml9ygmxZgLO», both ends have it.',
  'the zip is encrypted, try «invoice2031» first and if that fails «Ledger2032!»',
  'The passphrase is «lantern gravel orbit walrus»',
  'mudei a senha para «Pipoca-Doce-7»',
  'zmieniłem hasło na «Kogut-Kura-8»',
  // Numbers that open something.
  'The PIN for the alarm panel at the back entrance of the warehouse is «4410».',
  'el código de la puerta es «4419»',
  'Der Code für die Haustür ist «2468»',
  'Alarmanlage ist wieder scharf, Code ist jetzt «9416»',
  'bring the tablet: unlock with «1379»',
  'la caja fuerte se abre con «3907»',
  'HomeKit setup code: «733-65-115»',
  'sim pin «5521», puk «77182930»',
  'it will ask, the code i just got is «418 207»',
  'Use «220194» to verify your account',
  '«447192» è il tuo codice di verifica',
  // Answers in other languages, and with more behind them.
  'nils: who has the root pw?\ntara: it is «Obelisk!mint4», same as last month',
  'anna: qual a senha?\nben: «morango2027»',
  'anna: jakie jest hasło?\nben: «truskawka7»\n',
  'Which credentials does it use?\nIt uses scan / «Toner_schwarz».',
  '[10:02] kim: need the otp\n[10:03] lee: «482193»\n',
  'web_1 | Please use the following password:\nweb_1 |\nweb_1 | «be49c2bdc1274e67f315eaa0411bef7e»\n',
]

const ORDINARY = [
  'password: minimum length 12',
  'The password was reset October 12',
  'code from my branch is 200 lines',
  'the token is getUserById2',
  'La contraseña fue cambiada por kim_2031.',
  'La password è stata cambiata da kim_2031.',
  'Il codice articolo è 3391.',
  'I was logged in as kim with firefox-128 when it crashed.',
  "pat: what's the commit?\nsam: it's 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
  'Security code 403: access was denied.',
  'The security code review found 188 issues.',
  'Der Sicherheitscode besteht aus 3 Ziffern.',
  'The CVV is 3 or 4 digits long.',
  'the code is in #4471 now',
  'All 117 tests pass, `golangci-lint` is clean.',
  'The user typed the password three times.',
  'La contraseña siempre ha sido obligatoria.',
  'bo: can you rotate the deploy token?\namy: sure, opened OPS-4471',
  'bo: which commit has the token check?\namy: sure: 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33',
  'bo: need the vpn password\namy: ok, ticket-2231 is open for it',
  'the password reset for project_2024 is done',
  'Password: see-vault-7',
  'Bob: did you change the password?\nAlice: yes, on 2024-05-01',
  "amy: what's the password for the TV?\nraj: ask Bo, he changed it",
  "What's the error code?\n5012",
  'The code is 482193 bytes long',
  'a combination of 2024 and 2025 models',
  'versions: node / python312',
  'admin / editor2 roles',
  'PIN 13 of GPIO is high, pin 4471 on the board',
  'Set the password policy to strict-2024',
  'Use code 482193 at checkout for a discount.',
  '> What password should I use?\n\nGenerate one: `openssl rand -base64 24`',
  'selector1._domainkey TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GN"',
  'The password is case-sensitive, and it is auto-filled.',
  'password reset flow: magic-link',
  'Password was changed by Hans-Peter.',
  'Never use passwords such as "Sommer2031!".',
  'user: the password rotation failed last night',
  'login: kim2024',
  'Your order code is 99120385',
  '482193 is your order number, code review follows',
  'Use 200000 to reset the counter',
  'Der Code für die Alarmierung ist 1200 Zeilen lang.',
  'Garage code review moved to 1400',
  'user: which library hashes the password?\nassistant: argon2-cffi',
  'user: which branch has the password fix?\nassistant: hotfix-2291',
  'Kim: how many PINs did we issue?\nBo: 4471',
  'Do you use a password manager?,412,188,23',
  'passwd/stable 1:4.13+dfsg1-1+deb12u1 amd64',
  "forgotPassword: 'Nie pamiętasz hasła?'",
  'Key {0e4f795d-52cf-408e-a7cf-8152eea8b3b9} may be persisted',
  'example.org/jwt/v5 v5.2.1 h1:apvL8D6N5wxcMFQvyCfpPTMNtSAl1mIeJ2QOl1UTY6u=',
  'password: ***REMOVED***',
  'Das Passwort ist Pflichtfeld.',
  'A master password should be **strong** and **memorable**.',
  '- Changed account password. (`1001`)',
  'You must pass the :opt:`builtin.dict2items#filter:key_name` too.',
  'a list of valid username and password combinations for all',
  'such as account recovery, password resets, and so on',
  'Benutzername und Passwort durch Referenzen ersetzen',
  'Je passkeys worden bewaard in je Sleutel-kluis',
  'The login page is described in [the guide](guide.md#sign-in).',
  'Hasło jest nieprawidłowe.',
  'input_tokens: basic \\"000000000000000000000000000b00 sbp_0 variable "password" { }',
]

describe('what people tell each other', () => {
  test.each(SECRETS)('P1 T4 is found, also in pieces: %j', (marked) => expectNoneLeft(redactor, marked))

  test.each(ORDINARY)('P1 T4 is left where none is told: %j', (text) => expectLeft(redactor, text))
})

describe('messages of a list', () => {
  test('P1 a message that answers one for a secret is read together with it', () => {
    const messages = [
      { from: 'amy', text: "what's the pw for the TV?" },
      { from: 'raj', text: 'Milo-Laptop-59' },
      { from: 'amy', text: 'door code?' },
      { from: 'raj', text: '3217, then the bell' },
    ]
    expect(redactor.value(messages)).toEqual({
      value: [
        messages[0],
        { from: 'raj', text: '[redacted:password:f]' },
        messages[2],
        { from: 'raj', text: '[redacted:pin:f], then the bell' },
      ],
      redacted: 2,
    })
  })

  test('P1 other answers stay, and the list keeps its identity', () => {
    const messages = [
      { role: 'user', content: 'Did the password change?' },
      { role: 'assistant', content: 'Yes, ask Bo. Build 20261108 has it.' },
    ]
    expect(redactor.value(messages).value).toBe(messages)
  })
})

test('P1 a secret said again is one again, a part of another word is none', () => {
  expect(redactor.text('password: Kiwi-Melon-42, again Kiwi-Melon-42. Kiwi-Melon-42b')).toBe(
    'password: [redacted:password:f], again [redacted:password:f]. Kiwi-Melon-42b',
  )
})
