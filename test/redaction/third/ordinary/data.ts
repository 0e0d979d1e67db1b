import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const uuid = form('{x8}-{x4}-4{x3}-9{x3}-{x12}')

/** Tables, queries, metrics and records. */
export const data = ordinaryTexts('data')`
id,name,email,created_at
1,Anna Berg,anna@example.com,2026-01-04
2,Tom Lee,tom@example.com,2026-01-05
%%
sku;price;stock;ean
TX-4412-B;19,90;41;4006381333931
TX-4413-R;24,90;7;4006381333948
%%
| Model | Tokens in | Tokens out | Cost |
| --- | --- | --- | --- |
| small | 81,204 | 9,112 | 0.041 |
| large | 12,900 | 3,004 | 0.212 |
%%
# HELP http_requests_total Requests by status.
# TYPE http_requests_total counter
http_requests_total{method="GET",code="200"} 81204
http_requests_total{method="POST",code="401"} 12
%%
auth_token_refresh_seconds_bucket{le="0.1"} 812
auth_token_refresh_seconds_sum 41.2
%%
SELECT u.id, u.email, count(o.id) AS orders
FROM users u LEFT JOIN orders o ON o.user_id = u.id
WHERE u.created_at > now() - interval '30 days'
GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20;
%%
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users (id),
  token_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL
);
%%
ALTER TABLE users ADD COLUMN password_changed_at timestamptz;
CREATE INDEX users_token_idx ON users (reset_token) WHERE reset_token IS NOT NULL;
%%
INSERT INTO products (id, name, price) VALUES (1, 'Secret Garden Tea', 4.90), (2, 'Key Lime Pie', 3.20);
%%
 id |  name  |         created_at
----+--------+----------------------------
  1 | anna   | 2026-03-04 10:11:12.182931
  2 | tom    | 2026-03-04 10:12:44.390112
(2 rows)
%%
                 QUERY PLAN
 Index Scan using users_token_idx on users  (cost=0.29..8.31 rows=1 width=72) (actual time=0.021..0.022 rows=1 loops=1)
%%
{"users":[{"id":1,"name":"Anna","roles":["admin"]},{"id":2,"name":"Tom","roles":[]}],"next":"/users?page=2"}
%%
{"next_page_token":"","total":0,"items":[]}
%%
{"max_tokens":4096,"temperature":0.2,"top_p":1,"stop":["\n\n"],"tool_choice":"auto"}
%%
{"usage":{"input_tokens":412,"output_tokens":88,"cache_read_input_tokens":2048}}
%%
{"name":"set_password","description":"Sets the password of a user","parameters":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string","minLength":12}},"required":["user","password"]}}
%%
{"path":"src/token.ts","start_line":1,"end_line":80}
%%
{"pattern":"password|secret|token","path":"packages","glob":"*.ts"}
%%
{"matches":["src/auth/password.ts:12: export const checkPassword","src/auth/token.ts:4: export type Token"],"count":2}
%%
{"command":"grep -rn 'api_key' src | head -20","description":"Find where the key is read"}
%%
{"old_string":"const token = getToken()","new_string":"const token = await getToken()"}
%%
{"todos":[{"content":"Add password strength meter","status":"pending"},{"content":"Write token tests","status":"completed"}]}
%%
{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[13.404954,52.520008]}}]}
%%
{"embedding":[0.0123,-0.0412,0.0981,0.0007,-0.0333,0.0512,-0.0119,0.0721]}
%%
{"logprobs":[-0.0012,-1.2311,-0.4411],"tokens":["The"," pass","word"]}
%%
{"error":{"code":"invalid_api_key","message":"No API key provided","type":"auth_error"}}
%%
{"openapi":"3.1.0","components":{"securitySchemes":{"bearer":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}}}
%%
{"keys":["ArrowUp","ArrowDown","Enter"],"keyCode":13,"shiftKey":false}
%%
{"feature_flags":{"password_login":true,"passkeys":false,"token_binding":"off"}}
%%
{"event":"password_changed","user_id":4412,"at":"2026-03-04T10:11:12Z","id":"${uuid}"}
%%
{"kty":"RSA","kid":"sig-1","use":"sig","alg":"RS256","e":"AQAB","n":"${form('{w342}')}"}
%%
{"id":"${uuid}","idempotency_key":"order-4412-attempt-2","amount":1990,"currency":"eur"}
%%
{"partition_key":"tenant-17","sort_key":"2026-03-04","routing_key":"orders.created"}
%%
{"cursor":"eyJpZCI6NDQxMiwiZGlyIjoibmV4dCJ9","hasMore":true}
%%
{"lat":52.52,"lon":13.405,"place_id":"ChIJAVkDPzdOqEcRcDteW0YgIQQ"}
%%
mean 12.41  sd 3.02  min 8.11  max 41.90  n 8124
%%
Name:      api
Namespace: prod
Labels:    app=api,version=2.3.1
Secrets:   db-credentials, tls-cert
%%
NAME             TYPE                DATA   AGE
db-credentials   Opaque              2      41d
tls-cert         kubernetes.io/tls   2      12d
%%
Filesystem      Size  Used Avail Use% Mounted on
overlay          98G   41G   53G  44% /
%%
total 48
-rw-r--r-- 1 dev dev  812 Mar  4 10:11 password.ts
-rw-r--r-- 1 dev dev 4412 Mar  4 10:11 token-bucket.ts
-rw------- 1 dev dev  411 Mar  4 10:11 id_ed25519
%%
BEGIN:VEVENT
UID:${uuid}@example.com
DTSTART:20260304T101112Z
SUMMARY:Password policy review
END:VEVENT
%%
>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha
MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG
%%
GATTACAGATTACAGATTACACCGGTTAACCGGTTAAGATTACAGGCCTTAAGGCCTTAA
%%
rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1
`
