import { CRASH_POINTS } from './crash-points.ts'
import { pointOf, type Round, startSession } from './session.ts'

/**
 * `npm run chaos [ROUNDS]`: kills a writer again and again and looks at what it left; 200 rounds unless told.
 * `npm run chaos -- runtime [ROUNDS]`: kills agents at every named instant and goes on with them; 130 rounds unless told.
 */
if (process.argv[2] === 'runtime') {
  const { killAgents } = await import('../runtime/kill-chaos.ts')
  process.exit((await killAgents(Number(process.argv[3] ?? 130))) ? 0 : 1)
}

const rounds = Number(process.argv[2] ?? 200)
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
