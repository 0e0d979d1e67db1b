import { describe, expect, test } from 'vitest'
import { expectLeft, expectNoneLeft } from '../../test/marked-texts.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')

/** Secrets stand between `«` and `»`. */
const SECRETS = [
  ' id |      email      |              api_key             | created\n----+-----------------+----------------------------------+--------\n  1 | kim@example.org | «4f9c2a7be1d84c3f9a0b6d5e7c8f1a2b» | 2026\n',
  '+------+-------------------------------------------+\n| user | authentication_string                     |\n+------+-------------------------------------------+\n| app  | «*81BC4B077327DB99626C4F8EB3D855BD8CF29750» |\n',
  '┌────────┬────────────────┐\n│  user  │ password_value │\n├────────┼────────────────┤\n│ kim    │ «Gx7pLm2QaZ9d»   │\n└────────┴────────────────┘\n',
  'Host\tUser\tPass\tRack\nsrv1\troot\t«Gx7pLm2Q»\tR1\nsrv2\tadmin\t«winter_wolf3»\tR2\n',
  'ID\t\tDescription\tToken\t\t\tUser\n062f6b20\tgrafana\t\t«VC1p0AeUWsB6-N7Dy68BMFrvUgAgU»\tadmin\n',
  'Equipo\tUsuario\tClave\nTPV-1\tcaja1\t«419606»\n',
  'Device,Serial,WPA2 key,Admin PIN\nAP,BK77SG546A72,«49ZpZZ6dqc47»,«92614173»\n',
  'name,user,pwd,note\n"Shop, old",kim,«s0mmer!99»,"a, b"\n',
  'Room\tSSID\tKey\n101\tInn-101\t«trud7112»\n',
  'Host   | Kind   | root pw\n------ | ------ | -------\nvm-1   | Debian | «p72rE5cZzvjL»\n',
  'ICCID | PIN1 | PUK1\n8949021000012345601 | «5137» | «11195570»\n',
  'Device,IP,Community RO\nsw,10.0.0.2,«roxlkjpm9»\n',
  'No. / Name / Initial password\n2026 / Gill / «xkc5jqi5»\n',
  'USERNAME        KENNWORT             LOCKED\n--------------- -------------------- ------\nMUELLERK        «Munich2026?»          N\n',
  '<table><tr><th>Service</th><th>User</th><th>Pass</th></tr>\n<tr><td>Mail</td><td>root</td><td>«sealharbor»</td></tr></table>\n',
]

const ORDINARY = [
  'System\tLogin\tPassword\nPayroll\tadmin\tin KeePass\nDoor\troot\tunknown\n',
  'name,username,pwd\nTill,kasse1,***\nArchive,archiv,see vault\n',
  ' column_name   | data_type\n---------------+-----------\n password_hash | varchar\n api_key       | text\n',
  'NAME            DIGEST              CREATED AT\nJWT_TOKEN    720d9ae0e3e2d1a7    1m ago\n',
  'key,hits,ttl\ncache:user:4410:profile:v7,112,300\n',
  'Room\tSSID\tKey\n101\tInn-101\ton the card\n',
  '| Key | Action |\n|---|---|\n| Ctrl+S | save |\n| F5 | run2024 |\n',
  'Token,Count\nhello,1205\nworld,3312\n',
  'RuleID:      generic-api-key\nCommit:      5ab24c50a4fa1eb5e1dff8fbb444175e31d1c365\n',
  'id,status_code\n1,2004\n2,4041\n',
]

describe('columns whose head names a secret', () => {
  test.each(SECRETS)('P1 T4 are found, also in pieces: %j', (marked) => expectNoneLeft(redactor, marked))

  test.each(ORDINARY)('P1 T4 are left where none is told: %j', (text) => expectLeft(redactor, text))

  test('P1 rows of a value are judged by the row of names above them', () => {
    const rows = [
      ['site', 'login', 'secret'],
      ['ads', 'lou', 'm2Z4MuNJtgux69K'],
      ['maps', '', ''],
    ]
    expect(redactor.value({ rows }).value).toEqual({
      rows: [rows[0], ['ads', 'lou', '[redacted:secret:f]'], rows[2]],
    })
    const plain = {
      rows: [
        ['term', 'text', 'password'],
        ['a', 'b', 'must be long'],
      ],
    }
    expect(redactor.value(plain)).toEqual({ value: plain, redacted: 0 })
  })
})
