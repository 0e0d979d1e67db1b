import { ordinaryTexts } from '../corpus.ts'
import * as k from '../make.ts'
const { f } = k

export const web = ordinaryTexts('web')`
<img alt="logo" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAYAAAAf8/9hAAAA${f('{b260}')}==" width="16" height="16">
%%
@font-face{font-family:Inter;src:url(data:font/woff2;base64,d09GMgABAAAAA${f('{b240}')}=) format("woff2");font-weight:400}
%%
!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?t(exports):t((e=e||self).Tok={})}(this,(function(e){"use strict";var t=/\s+/,n=function(e){return e.split(t)};e.tokenize=n,e.key=function(e){return e.charCodeAt(0).toString(36)}}));
//# sourceMappingURL=tok.min.js.map
%%
.password-input{position:relative;display:flex;gap:.5rem}.password-input__toggle{color:var(--token-color-fg);background:#f6f8fa;border:1px solid #d0d7de}
%%
:root {
  --token-space-1: 4px;
  --token-space-2: 8px;
  --token-color-bg: #0d1117;
  --token-shadow: 0 1px 2px rgb(0 0 0 / 12%);
}
%%
<form action="/login" method="post">
  <input type="email" name="email" autocomplete="username">
  <input type="password" name="password" autocomplete="current-password">
  <button>Sign in</button>
</form>
%%
<svg viewBox="0 0 24 24"><path d="M12 1a5 5 0 0 0-5 5v4H6a2 2 0 0 0-2 2v9a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-9a2 2 0 0 0-2-2h-1V6a5 5 0 0 0-5-5zm3 9H9V6a3 3 0 1 1 6 0z"/></svg>
%%
{"version":3,"file":"auth.js","sources":["../src/auth.ts"],"names":["password","token"],"mappings":"AAAA,OAAO,EAAE,MAAM,EAAE,MAAM,QAAQ,CAAA;AAE/B,MAAM,CAAC,MAAM,KAAK,GAAG,CAAC,KAAa,EAAE,EAAE,CAAC,KAAK,CAAC"}
%%
<link rel="stylesheet" href="/assets/index-${f('{w8}')}.css">
<script type="module" crossorigin src="/assets/index-${f('{w8}')}.js"></script>
<link rel="modulepreload" href="/assets/auth-${f('{w8}')}.js">
%%
Content-Security-Policy: default-src 'self'; script-src 'self' 'sha256-${f('{b43}')}='; style-src 'self' 'sha256-${f('{b43}')}='
%%
https://www.youtube.com/watch?v=${f('{w11}')}
https://docs.google.com/document/d/1${f('{w43}')}/edit?tab=t.0
https://www.figma.com/design/${f('{a22}')}/Login?node-id=12-881
%%
https://nordkap.atlassian.net/browse/SEC-412 mentions https://github.com/nordkap/portal/commit/${k.sha} and https://github.com/nordkap/portal/blob/${k.sha}/src/token.ts#L14-L22
%%
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="og:title" content="How we rotate secrets">
<meta name="description" content="A short story about API keys, passwords and patience.">
%%
<template>
  <PasswordField v-model="password" :error="errors.password" label="Password" />
  <TokenList :tokens="tokens" @revoke="revokeToken" />
</template>
%%
export default function Page() {
  return <h1 className="text-2xl font-semibold tracking-tight">Reset your password</h1>
}
%%
(()=>{var e={412:(e,t,n)=>{n.r(t),n.d(t,{getToken:()=>r});const r=async()=>(await fetch("/api/token")).json()}},t={};function n(r){var o=t[r];if(void 0!==o)return o.exports;var i=t[r]={exports:{}};return e[r](i,i.exports,n),i.exports}})();
%%
GET /_next/static/chunks/app/(auth)/login/page-${f('{x16}')}.js 200 4.1 kB
GET /_next/static/css/${f('{x16}')}.css 200 11 kB
GET /_next/image?url=%2Fhero.webp&w=1200&q=75 200 88 kB
%%
Accept-Language: de-DE,de;q=0.9,en;q=0.8
Accept-Encoding: gzip, deflate, br, zstd
If-None-Match: "${f('{x8}')}-${f('{x4}')}"
Sec-WebSocket-Accept: ${f('{b27}')}=
%%
<input type="hidden" name="csrf_token" value="{{ csrf_token() }}">
<a href="{{ url_for('reset', token=token, _external=True) }}">Reset password</a>
%%
Lighthouse: performance 94, accessibility 100. "Links to cross-origin destinations are safe", "Allows users to paste into password fields".
%%
data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI4IiBoZWlnaHQ9IjgiPjxyZWN0IHdpZHRoPSI4IiBoZWlnaHQ9IjgiLz48L3N2Zz4=
%%
manifest.json
{"main.js":"main.${f('{x20}')}.js","auth.js":"auth.${f('{x20}')}.js","logo.png":"logo.${f('{x20}')}.png"}
%%
<h2 id="tokens">Tokens</h2><p>Every token has a <em>scope</em> and an <em>expiry</em>. See <a href="#api-keys">API keys</a>.</p>
%%
?utm_source=newsletter&utm_medium=email&utm_campaign=password-less&gclid=Cj0KCQiA${f('{w60}')}
`
