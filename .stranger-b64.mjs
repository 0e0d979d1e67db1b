import { createRedactor } from '@clew/ledger'
import fs from 'node:fs'; import crypto from 'node:crypto'; import zlib from 'node:zlib'
const found=[]; const r=createRedactor({},s=>{found.push(s);return 'f'})
function run(label,gen,n){ let mb=0; const kinds={}; let ex={}
  for(let i=0;i<n;i++){const t=gen(i); mb+=t.length/1e6; const o=r.text(t); if(o!==t) for(const m of o.matchAll(/\[redacted:([a-z0-9-]+):f\]/g)){kinds[m[1]]=(kinds[m[1]]??0)+1; ex[m[1]]??=found.at(-1)?.slice(0,60)} found.length=0}
  console.log(label,mb.toFixed(0)+'MB',JSON.stringify(kinds),JSON.stringify(ex)) }
run('random base64',()=>crypto.randomBytes(750000).toString('base64'),60)
run('random base64url',()=>crypto.randomBytes(750000).toString('base64url'),60)
// quiet PCM16
const pcm=(amp)=>{const b=Buffer.alloc(300000);let v=0;for(let i=0;i<150000;i++){v=v*0.9+(Math.random()-.5)*amp;b.writeInt16LE(Math.round(v),i*2)}return b.toString('base64')}
for(const a of [4,20,60,200,2000]) run('pcm16 amp '+a,()=>pcm(a),40)
// int32 / float32 embeddings / protobuf-like
run('int32 small',()=>{const b=Buffer.alloc(300000);for(let i=0;i<75000;i++)b.writeInt32LE(Math.floor(Math.random()*50),i*4);return b.toString('base64')},30)
run('int32 small BE',()=>{const b=Buffer.alloc(300000);for(let i=0;i<75000;i++)b.writeInt32BE(Math.floor(Math.random()*50),i*4);return b.toString('base64')},30)
run('float32 emb',()=>{const b=Buffer.alloc(6144*10);for(let i=0;i<15360;i++)b.writeFloatLE((Math.random()-.5)/10,i*4);return b.toString('base64')},200)
run('rgba flat bmp',()=>{const b=Buffer.alloc(300000);for(let i=0;i<300000;i+=3)b[i+(i>>12)%3]=(Math.random()<.02)?16:0;return b.toString('base64')},30)
// real files
const bins=[]; const walk=p=>{let l;try{l=fs.readdirSync(p,{withFileTypes:true})}catch{return};for(const e of l){const q=p+'/'+e.name; if(e.isDirectory())walk(q);else if(/\.(png|jpg|gif|ico|wasm|woff2?|ttf|pdf|wav|mp3|so|pyc|node|exe|gz|jar|class)$/.test(e.name)&&bins.length<6000)bins.push(q)}}
walk('/work/main/node_modules');walk('/usr/share/icons');walk('/usr/lib/python3');walk('/usr/share/pixmaps')
let total=0; const k={},exs=[]
for(const p of bins){let b;try{b=fs.readFileSync(p)}catch{continue}; if(total>120e6)break; if(b.length>6e6)b=b.subarray(0,6e6); const t=b.toString('base64'); total+=t.length; const o=r.text(t); if(o!==t){for(const m of o.matchAll(/\[redacted:([a-z0-9-]+):f\]/g)){k[m[1]]=(k[m[1]]??0)+1}; exs.push(p.slice(-60)+' '+found.map(s=>s.slice(0,50)).join(' ; '))}; found.length=0}
console.log('real binaries base64',(total/1e6).toFixed(0)+'MB',bins.length,JSON.stringify(k)); console.log(exs.slice(0,25).join('\n'))
