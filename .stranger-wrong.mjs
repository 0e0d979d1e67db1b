import { createRedactor } from '@clew/ledger'
import fs from 'node:fs'; import path from 'node:path'; import zlib from 'node:zlib'
const [,, label, ext, ...roots]=process.argv
const found=[]
const r = createRedactor({}, s => { found.push(s); return 'F'+(found.length-1)+'F' })
const re = ext==='*'?null:new RegExp('\\.('+ext+')$')
let bytes=0, hits=0, files=0; const out=[]; const seen=new Map()
const deadline=Date.now()+ +(process.env.SECS||150)*1000
function scan(text,f){
  for(let i=0;i<text.length;i+=10240){
    const piece=text.slice(i,i+10240); bytes+=piece.length
    found.length=0
    const o=r.text(piece)
    if(o===piece) continue
    for(const m of o.matchAll(/\[redacted:([a-z0-9-]+):F(\d+)F\]/g)){
      hits++
      const sec=found[+m[2]]; const key=m[1]+'|'+sec
      if(seen.has(key)){seen.set(key,seen.get(key)+1);continue}
      seen.set(key,1)
      out.push({kind:m[1],sec:sec.slice(0,100),len:sec.length,before:o.slice(Math.max(0,m.index-60),m.index),after:o.slice(m.index+m[0].length,m.index+m[0].length+40),f,key})
    }
  }
}
function walk(p){
  if(Date.now()>deadline) return
  let st; try{st=fs.lstatSync(p)}catch{return}
  if(st.isSymbolicLink()) return
  if(st.isDirectory()){ let l; try{l=fs.readdirSync(p)}catch{return}; for(const e of l) walk(path.join(p,e)); return}
  if(!st.isFile()||st.size>8e6||st.size===0) return
  if(re&&!re.test(p.replace(/\.gz$/,''))) return
  let b; try{b=fs.readFileSync(p)}catch{return}
  if(p.endsWith('.gz')) try{b=zlib.gunzipSync(b)}catch{return}
  if(b.subarray(0,2000).includes(0)) return
  files++; scan(b.toString('utf8'),p)
}
if(roots[0]==='-'){ const t=fs.readFileSync(0,'utf8'); files=1; scan(t,'stdin') } else for(const x of roots) walk(x)
console.log(`## ${label}: files ${files}, MB ${(bytes/1e6).toFixed(1)}, hits ${hits}, distinct ${out.length}${Date.now()>deadline?' (TIMEOUT)':''}`)
for(const h of out) console.log(`[${h.kind} x${seen.get(h.key)} len${h.len}] ${JSON.stringify(h.before)} >>>${JSON.stringify(h.sec)}<<< ${JSON.stringify(h.after)}  @${h.f.slice(-70)}`)
