import { replay } from '../../packages/runtime/src/index.ts'
import { openLedger } from '../../packages/sqlite/test/harness.ts'
import { longRun } from './long-run.ts'

/** A process that replays one run: `node long-child.ts FILE STEPS`. Says what it came to and how much memory that took. */
const [, , file = '', steps = '0'] = process.argv
const ledger = openLedger(file)
const report = await replay(longRun(Number(steps)), { ledger, runId: 'long' })
await ledger.close()
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
console.log(JSON.stringify({ verdict: report.verdict, steps: report.steps, megabytes }))
