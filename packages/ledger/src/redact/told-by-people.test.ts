import { describe, expect, test } from 'vitest'
import { expectLeft, expectNoneLeft } from '../../test/marked-texts.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')

/** Secrets stand between `«` and `»`. */
const SECRETS = [
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
]

const ORDINARY = [
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
