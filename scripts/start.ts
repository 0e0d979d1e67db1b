import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { buildPage } from './build-page.ts'

/** `npm start`: the page is built if it has to be, then the demo runs until Ctrl-C. */

if (!buildPage()) process.exit(1)
const bin = resolve(import.meta.dirname, '../packages/clew/bin/clew.mjs')
const demo = spawn(process.execPath, [bin, 'demo', ...process.argv.slice(2)], { stdio: 'inherit' })
// Ctrl-C reaches both; the demo ends in its own time, and then so does this.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => demo.kill(signal))
demo.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)))
