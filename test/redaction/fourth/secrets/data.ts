import { plain, secretTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const data = secretTexts('data')`
 id |        email         |                        api_key                       |     created_at
----+----------------------+------------------------------------------------------+---------------------
  1 | jo@brightloop.io     | ${f('bl_live_{a40}')}     | 2025-11-02 10:11:09
  2 | mira@brightloop.io   | ${f('bl_live_{a40}')}     | 2025-11-03 08:55:41
(2 rows)
%%
name,host,username,password
nas,10.0.0.4,admin,${k.weak}
switch,10.0.0.2,cisco,${k.alnum}
camera,10.0.0.31,root,${k.weak}
%%
| Service | URL | User | Password |
| --- | --- | --- | --- |
| Grafana | https://graf.nordkap.no | admin | ${k.weak} |
| Jenkins | https://ci.nordkap.no | build | ${k.strong} |
%%
INSERT INTO users (id, name, password, role) VALUES
  (1, 'admin', '${k.weak}', 'superuser'),
  (2, 'tester', '${k.weak}', 'user');
%%
mysql> select user, host, authentication_string from mysql.user where user='app';
+------+------+-------------------------------------------+
| user | host | authentication_string                     |
+------+------+-------------------------------------------+
| app  | %    | *${f('{X40}')} |
+------+------+-------------------------------------------+
%%
> db.integrations.findOne({ provider: "hubspot" })
{
  _id: ObjectId("${plain(f('{x24}'))}"),
  provider: 'hubspot',
  accessToken: '${f('pat-na1-{x8}-{x4}-4{x3}-8{x3}-{x12}')}',
  portalId: 2391002,
  createdAt: ISODate("2025-12-01T10:00:00.000Z")
}
%%
127.0.0.1:6379> GET session:8812
"{\"userId\":8812,\"refreshToken\":\"${f('rt_{w48}')}\",\"ua\":\"Mozilla/5.0\"}"
%%
UPDATE settings SET value = '${k.sg}' WHERE key = 'sendgrid_api_key';
UPDATE settings SET value = 'true' WHERE key = 'mail_enabled';
%%
-[ RECORD 1 ]-+------------------------------------------
id            | ${plain(k.uuid)}
tenant        | fietsplan
webhook_url   | https://hooks.fietsplan.nl/in
webhook_secret| ${k.x40}
active        | t
%%
Benutzer;Passwort;Abteilung
hansen;${k.weak};Lager
petersen;${k.weak};Einkauf
%%
Tabla de accesos (copiada del Excel):
Equipo	Usuario	Clave
TPV-1	caja1	${f('{n1}{95}')}
TPV-2	caja2	${f('{n1}{95}')}
Servidor	administrador	${k.weak}
%%
dump.rdb keys sample
oauth:google:refresh:771  ${f('1//0{w90}')}
oauth:google:access:771   ${f('ya29.a0{w160}')}
count:visits              91823
%%
select name, connection_string from tenants limit 2;
name      | connection_string
petitport | postgres://petitport:${k.urlpw}@10.7.0.2/petitport
fietsplan | postgres://fietsplan:${k.urlpw}@10.7.0.2/fietsplan
%%
SELECT id, email, password_hash FROM accounts WHERE id = 77;
77 | tineke@fietsplan.nl | $2b$12$${f('{a53}')}
%%
Device,Serial,WPA2 key,Admin PIN
AP-Lobby,${plain(f('{U12}'))},${f('{a12}')},${f('{n1}{97}')}
`
