/**
 * Records what the SDKs in `sdks` export: `npm run traffic`, or `npm run traffic -- mastra` for one of them. Each program
 * in `sdks/programs` talks with the scripted model and exports to a server that keeps the bodies, in `recordings`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { redactBody } from './redact-body.ts'
import { startExportServer } from './export-server.ts'
import { startFerryModel } from './ferry-model.ts'

const SDKS = join(import.meta.dirname, 'sdks')
const PROGRAMS = join(SDKS, 'programs')
const RECORDINGS = join(import.meta.dirname, 'recordings')
/** Parts of programs, which export nothing themselves. */
const PARTS = new Set(['ferry', 'chat'])

const { positionals } = parseArgs({ allowPositionals: true })
const all = readdirSync(PROGRAMS)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => !PARTS.has(name))
const names = positionals.length > 0 ? positionals : all

if (!existsSync(join(SDKS, 'node_modules'))) {
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: SDKS, stdio: 'inherit' })
  if (status !== 0) throw new Error('the SDKs could not be installed')
}
const model = await startFerryModel()
for (const name of names) {
  const exports = await startExportServer()
  const env = { PATH: process.env['PATH'], MODEL_URL: model.url, OTLP_URL: exports.url }
  const program = spawn(process.execPath, [join(PROGRAMS, `${name}.ts`)], {
    cwd: SDKS,
    env,
    stdio: 'inherit',
  })
  const [code] = (await once(program, 'close')) as [number | null]
  const bodies = await exports.close()
  if (code !== 0) throw new Error(`${name} ended with code ${code}`)
  if (bodies.length === 0) throw new Error(`${name} exported nothing`)
  const recorded = bodies.map((body) => redactBody(body))
  writeFileSync(join(RECORDINGS, `${name}.json`), `${JSON.stringify(recorded, null, 1)}\n`)
  console.log(`${name}: ${bodies.length} bodies`)
}
await model.close()
