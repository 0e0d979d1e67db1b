import { ordinaryTexts } from '../corpus.ts'
import { form } from '../make.ts'

const hash = form('{a8}')

/** Pages, styles, images and packed code. */
export const web = ordinaryTexts('web')`
.button { color: #1f6feb; background: linear-gradient(90deg, #ff7a18, #af002d 70%, #319197); }
%%
:root { --key-color: #d0ebff; --token-width: 24px; --shadow: 0 1px 2px rgba(0,0,0,.12); }
%%
@font-face{font-family:Inter;src:url(/fonts/inter-${hash}.woff2) format("woff2");unicode-range:U+0000-00FF,U+0131}
%%
<img alt="logo" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==">
%%
background-image: url("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA${form('{b400}')}==");
%%
data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wCEAAkGBwgHBgkIBwgKCgkLDRYPDQwMDRsUFRAWIB0i${form('{b500}')}=
%%
data:font/woff2;base64,d09GMgABAAAAA${form('{b300}')}=
%%
<svg viewBox="0 0 24 24"><path d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 15h-2v-6h2v6zm0-8h-2V7h2v2z"/></svg>
%%
!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():"function"==typeof define&&define.amd?define(t):(e=e||self).Vue=t()}(this,function(){"use strict";var e=Object.freeze({});function t(e){return null==e}
%%
(()=>{var e={412:(e,t,r)=>{r.d(t,{A:()=>i});const n=r(81),o=r.n(n)()((function(e){return e[1]}));o.push([e.id,".password{display:none}",""]);const i=o}}})();
%%
{"version":3,"file":"index.js","sources":["src/index.ts"],"mappings":"AAAA,OAAO,KAAK,MAAM,OAAO,CAAC;AACzB,MAAM,CAAC,MAAM,KAAK,GAAG,CAAC,CAAC"}
%%
//# sourceMappingURL=index-${hash}.js.map
%%
<script src="/assets/app-${hash}.js" integrity="sha384-${form('{b64}')}" crossorigin="anonymous"></script>
%%
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="preload" href="/assets/${hash}.woff2" as="font" crossorigin>
%%
<a href="https://www.example.com/watch?v=${form('{w11}')}&t=42s">the talk</a>
%%
https://example.com/search?q=reset+password&page=2&sort=date
%%
https://docs.example.org/guides/authentication#access-tokens
%%
https://www.example.com/products/garden-chair-p-30041182?utm_source=newsletter&utm_campaign=summer2024
%%
https://git.example.com/acme/api/commit/${form('{x40}')}
%%
https://git.example.com/acme/api/blob/${form('{x40}')}/src/token.ts#L41-L58
%%
Content-Security-Policy: default-src 'self'; script-src 'self' 'sha256-${form('{b43}=')}'
%%
HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8
Cache-Control: max-age=31536000, immutable
ETag: "${form('{x32}')}"
%%
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="api", error="invalid_token"
%%
Access-Control-Allow-Headers: Authorization, Content-Type, X-Api-Key
%%
set-cookie: theme=dark; Path=/; Max-Age=31536000
set-cookie: lang=de; Path=/
%%
<button data-testid="submit-password" aria-label="Show password" class="css-${form('{l7}')}-Button">
%%
<div class="flex h-10 w-full rounded-md border-input bg-background px-3 py-2 text-sm ring-offset-background">
%%
- button "Sign in" [ref=e41]
- textbox "Password" [ref=e42]
- link "Forgot password?" [ref=e43]
%%
<form action="/login" method="post"><input name="user"><input name="pass" type="password"></form>
%%
export default{data(){return{password:"",token:null,loading:!1}},methods:{async login(){this.loading=!0}}}
%%
const K=new Uint32Array([1116352408,1899447441,3049323471,3921009573,961987163,1508970993])
%%
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
%%
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
%%
H4sIAAAAAAAAA${form('{b200}')}== (gzip, 812 bytes)
%%
%PDF-1.7
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
trailer << /ID [<${form('{X32}')}> <${form('{X32}')}>] >>
`
