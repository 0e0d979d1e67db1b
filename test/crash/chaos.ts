import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CRASH_POINTS } from './crash-points.ts'
import { pointOf, type Round, startSession } from './session.ts'

/**
 * `npm run chaos [ROUNDS]`: kills a writer again and again and checks what it left; 200 rounds by default.
 * `npm run chaos -- runtime [ROUNDS]`: kills agents at every named instant and resumes their runs; 130 rounds by default.
 * `npm run chaos -- [postgres] --seconds 120 [--seed N] [--runs N] [--reports FOLDER]`: faults of server, network and processes
 * around PostgreSQL. A run that does not hold leaves its report and all notes in FOLDER, by default `clew-chaos` in the folder for temporary files.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    runs: { type: 'string' },
    reports: { type: 'string' },
  },
})
if (positionals[0] === 'postgres' || values.seconds !== undefined) {
  const { repeatChaos } = await import('../postgres/chaos/repeat-chaos.ts')
  const hasHeld = await repeatChaos({
    seconds: Number(values.seconds ?? 120),
    seed: Number(values.seed ?? Date.now() % 100_000),
    runs: Number(values.runs ?? 1),
    reports: values.reports ?? join(tmpdir(), 'clew-chaos'),
  })
  process.exit(hasHeld ? 0 : 1)
}
if (positionals[0] === 'runtime') {
  const { killAgents } = await import('../runtime/kill-chaos.ts')
  process.exit((await killAgents(Number(positionals[1] ?? 130))) ? 0 : 1)
}

const rounds = Number(positionals[0] ?? 200)
const ROUNDS_PER_FILE = 12

const done: Round[] = []
const startedMs = performance.now()
let session = startSession()
for (let n = 0; n < rounds; n++) {
  if (n > 0 && n % ROUNDS_PER_FILE === 0) {
    session.close()
    session = startSession()
  }
  const round = await session.round(pointOf(n))
  done.push(round)
  const { point, acknowledged, resent, violations } = round
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  console.log(
    `${n + 1}/${rounds}  ${point.padEnd(16)} ${acknowledged} acknowledged, ${resent} sent again, ${violations.length} violations  (${seconds} s)`,
  )
  for (const violation of violations) console.error(`  ${violation}`)
}
session.close()

const sum = (pick: (round: Round) => number): number => done.reduce((total, round) => total + pick(round), 0)
console.log('')
for (const point of CRASH_POINTS)
  console.log(`  ${point.padEnd(16)} ${done.filter((round) => round.point === point).length} kills`)
const violations = sum((round) => round.violations.length)
console.log(
  `\n${rounds} kills, ${sum((round) => round.void)} void tries repeated, ${sum((round) => round.acknowledged)} events acknowledged, ${violations} violations`,
)
process.exitCode = violations === 0 ? 0 : 1
