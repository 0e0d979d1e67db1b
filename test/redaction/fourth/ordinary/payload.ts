import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const payload = ordinaryTexts('payload')`
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01${f('{a22}')}","name":"bash","input":{"command":"rg -n 'password' src","timeout":30}}]}
%%
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01${f('{a22}')}","content":"src/auth.ts:12: const token = readToken(req)\nsrc/auth.ts:14: if (!token) throw new Error('no token')\n"}]}
%%
{"id":"chatcmpl-${f('{a29}')}","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"The password is hashed with argon2 before it is stored."},"finish_reason":"stop"}],"usage":{"prompt_tokens":812,"completion_tokens":18,"total_tokens":830},"system_fingerprint":"fp_${f('{x10}')}"}
%%
{"model":"claude-sonnet-4-5","max_tokens":4096,"temperature":0,"messages":[{"role":"user","content":"Why does the token expire after 15 minutes?"}]}
%%
{"usage":{"input_tokens":1822,"output_tokens":311,"cache_creation_input_tokens":0,"cache_read_input_tokens":1400,"total_tokens":2133},"token_budget":200000}
%%
{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAA${f('{b300}')}="}}
%%
{"tool":"http_request","arguments":{"method":"GET","url":"https://api.nordkap.no/v1/me","headers":{"authorization":"Bearer \${ACCESS_TOKEN}","accept":"application/json"}}}
%%
{"credentials":{"username":"svc-reporting","password":"********"},"options":{"retries":3}}
%%
{"password":null,"token":"","secret":"[REDACTED]","apiKey":"<redacted>","authorization":"***"}
%%
{"env":{"NODE_ENV":"production","TOKEN_TTL":"900","PASSWORD_MIN_LENGTH":"12","SECRETS_DIR":"/run/secrets"},"cwd":"/work"}
%%
{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"get_secret","description":"Read a secret by name","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"token":{"type":"string","description":"access token"}},"required":["name"]}}]}}
%%
{"name":"login","description":"Logs a user in","parameters":{"type":"object","properties":{"email":{"type":"string"},"password":{"type":"string","minLength":12}}}}
%%
{"error":{"type":"authentication_error","message":"invalid x-api-key","code":"invalid_api_key"},"request_id":"req_011C${f('{a20}')}"}
%%
{"event":"push","ref":"refs/heads/token-rotation","before":"${k.sha}","after":"${k.sha}","repository":{"id":${f('{n1}{98}')},"full_name":"nordkap/portal"}}
%%
{"trace_id":"${k.x32}","span_id":"${f('{x16}')}","name":"auth.verifyPassword","attributes":{"user.id":4412,"password.length":14,"token.kind":"access"}}
%%
{"session_id":"${k.uuid}","parent_id":"${k.uuid}","checksum":"sha256:${k.x64}","key":"orders/2026/01"}
%%
{"items":[{"key":"a","value":1},{"key":"b","value":2}],"next_token":null,"page_key":"orders#2026-01"}
%%
{"form":{"fields":[{"name":"password","type":"password","label":"Password","required":true},{"name":"otp","type":"text","label":"One-time code","pattern":"[0-9]{6}"}]}}
%%
{"step":2,"action":"edit","args":{"path":"src/token.ts","old":"const secret = ''","new":"const secret = process.env.JWT_SECRET"}}
%%
{"thread":[{"from":"mira","body":"did you change the password?"},{"from":"jo","body":"yes, it is in the vault now"},{"from":"mira","body":"thanks"}]}
%%
{"embedding":[0.0123,-0.0441,0.0009,0.1182],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}
%%
{"dependencies":{"jsonwebtoken":{"version":"9.0.2","resolved":"https://registry.npm.example/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz","integrity":"sha512-${f('{b86}')}=="}}}
%%
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"atlas-db","uid":"${k.uuid}","resourceVersion":"${f('{n1}{97}')}"},"type":"Opaque"}
%%
{"action":"kubectl","args":["get","secret","atlas-db","-o","name"],"exitCode":0,"stdout":"secret/atlas-db\n"}
%%
{"logprobs":{"content":[{"token":"password","logprob":-0.0021,"bytes":[112,97,115,115]},{"token":" is","logprob":-0.31,"bytes":[32,105,115]}]}}
%%
{"tokens":["The","secret","of","the","key"],"token_ids":[464,3200,286,262,1994],"special_tokens":{"bos_token":"<s>","eos_token":"</s>","pad_token":"<pad>"}}
%%
{"rules":[{"id":"no-secrets","pattern":"ghp_[A-Za-z0-9]{36}","severity":"error"},{"id":"no-password","pattern":"password\\s*=\\s*\\S+","severity":"warn"}]}
%%
{"user":{"id":4412,"email":"jo@brightloop.io","passwordChangedAt":"2026-01-04T09:12:44Z","hasPassword":true,"mfaEnabled":true,"apiKeyCount":2}}
%%
{"name":"write_file","input":{"path":".env.example","content":"DATABASE_URL=\nSESSION_SECRET=\nSTRIPE_SECRET_KEY=\n"}}
%%
{"jwks":[{"kty":"OKP","crv":"Ed25519","kid":"2026-01","x":"${k.w43}","use":"sig"}]}
%%
{"question":"Wie lautet die Regel für Passwörter?","answer":"Mindestens zwölf Zeichen, keine aus der Liste der bekannten Passwörter."}
%%
{"pagination":{"cursor":"${f('{a24}')}","limit":50},"filters":{"status":"active","key_type":"public"}}
%%
{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":4096}}
%%
{"settings":{"theme":"dark","shortcut_key":"Ctrl+K","token_display":"compact","secret_scanning":"enabled","push_protection":true}}
%%
{"secretRef":{"name":"atlas-db","key":"password"},"tokenPath":"/var/run/secrets/token","passwordFile":"/run/secrets/pw"}
`
