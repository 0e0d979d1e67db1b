import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const data = ordinaryTexts('data')`
 id |        name         | token_count | last_used
----+---------------------+-------------+------------
  1 | CI deploy key       |        8812 | 2026-01-18
  2 | Grafana read key    |         311 | 2026-01-02
(2 rows)
%%
name,email,role,password_changed_at
Jo Brandt,jo@brightloop.io,admin,2025-12-01
Mira Solberg,mira@nordkap.no,member,2026-01-04
%%
| Secret | Owner | Last rotated | Next rotation |
| --- | --- | --- | --- |
| Stripe key | Payments | 2025-12-01 | 2026-03-01 |
| DB password | Platform | 2026-01-02 | 2026-04-02 |
| JWT key | Identity | 2025-11-11 | 2026-02-11 |
%%
column_name   | data_type                   | is_nullable
--------------+-----------------------------+-------------
id            | uuid                        | NO
password_hash | text                        | NO
api_token     | character varying(64)       | YES
%%
EXPLAIN ANALYZE SELECT * FROM tokens WHERE hash = $1;
Index Scan using tokens_hash_key on tokens  (cost=0.42..8.44 rows=1 width=112) (actual time=0.021..0.022 rows=1 loops=1)
Planning Time: 0.091 ms
%%
> db.sessions.getIndexes()
[ { v: 2, key: { _id: 1 }, name: '_id_' }, { v: 2, key: { token: 1 }, name: 'token_1', unique: true } ]
%%
BEGIN;
ALTER TABLE users ADD COLUMN password_expires_at timestamptz;
CREATE INDEX CONCURRENTLY tokens_user_id_idx ON tokens (user_id);
COMMIT;
%%
GRANT SELECT ON api_keys TO reporting;
REVOKE ALL ON SCHEMA secrets FROM PUBLIC;
ALTER ROLE app PASSWORD NULL;
%%
CREATE USER app WITH PASSWORD :'app_password';
\set app_password \`cat /run/secrets/app_password\`
%%
time,cpu,mem,requests
2026-01-19T08:00:00Z,0.41,812331008,4412
2026-01-19T08:01:00Z,0.44,813002752,4518
%%
order_id,tracking,ean,amount
${f('{98}')},00340${f('{915}')},40${f('{911}')},19.90
${f('{98}')},00340${f('{915}')},40${f('{911}')},4.50
%%
model             input_tokens  output_tokens  cost
claude-sonnet-4-5      1822011         211822  8.64
gpt-4.1-mini            922110          99812  0.53
%%
embedding[0:8] = [0.0123881, -0.0441207, 0.0009912, 0.1182733, -0.0310044, 0.0027731, 0.0881200, -0.0554181]
%%
BTC block 881${f('{93}')} hash 00000000000000000001${f('{x44}')} merkle root ${k.x64}
%%
Question: which tables hold credentials?
Answer: users (password_hash), api_keys (key_hash), oauth_clients (secret_hash). None of them holds clear text.
%%
vCard
BEGIN:VCARD
VERSION:3.0
FN:Claire Dubois
EMAIL:claire@petitport.fr
TEL:+33 6 12 00 41 40
END:VCARD
%%
BEGIN:VEVENT
UID:${k.uuid}@nordkap.no
DTSTART:20260122T090000Z
SUMMARY:Key rotation with security
END:VEVENT
%%
s3://nordkap-dumps/2026/01/19/${k.uuid}.parquet	18 MB
s3://nordkap-dumps/2026/01/19/${k.uuid}.parquet	21 MB
%%
Sprachdatei
password;Passwort;Mot de passe;Contraseña
token;Token;Jeton;Token
secret;Geheimnis;Secret;Secreto
%%
"Code";"Bezeichnung";"Bestand"
"NK-${f('{95}')}";"Kerze blau";"412"
"NK-${f('{95}')}";"Kerze rot";"88"
%%
INSERT INTO permissions (id, name) VALUES (1, 'secrets.read'), (2, 'secrets.write'), (3, 'tokens.revoke');
%%
SELECT date_trunc('day', created_at) AS day, count(*) FROM password_resets GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
 2026-01-19 | 41
 2026-01-18 | 22
 2026-01-17 | 19
%%
127.0.0.1:6379> TTL session:8812
(integer) 2811
127.0.0.1:6379> TYPE token:blacklist
set
%%
benchmark            time/op   allocs
HashPassword-8       61.2ms    8
VerifyToken-8        14.1µs    31
MaskSecret-8         112ns     1
%%
Zugangscode-Statistik: 412 Codes erzeugt, 388 eingelöst, 24 abgelaufen.
%%
DICOM 1.2.840.113619.2.55.3.${f('{910}')}.${f('{93}')}.17${f('{98}')}.${f('{93}')} series 4
%%
Colors: #a1b2c3, #0f766e, #deadbeef; hex dump 0000: 7f45 4c46 0201 0100 0000 0000 0000 0000 .ELF............
%%
lat,lon,geohash
54.3233,10.1228,u1wz${f('{l6}')}
48.8566,2.3522,u09t${f('{l6}')}
%%
$argon2id parameters: m=65536, t=3, p=4. Length of the salt 16 bytes, of the hash 32 bytes.
%%
Inventory: license plates KI-NK 4412, KI-NK 881; VIN WVWZZZ1KZ${f('{U8}')}
%%
account_id | plan | api_calls | keys_active
acct_1${f('{a15}')} | pro | 918221 | 3
acct_1${f('{a15}')} | free | 11 | 1
`
