import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as buildDist } from '../build-dist.ts'
import { CRASH_POINTS } from './crash-points.ts'
import { pointOf, type Round, startSession } from './session.ts'

/**
 * `npm run chaos [ROUNDS]`: kills a writer again and again and looks at what it left; 200 rounds unless told.
 * `npm run chaos -- runtime [ROUNDS]`: kills agents at every named instant and goes on with them; 130 rounds unless told.
 * `npm run chaos -- --runtime [--kills 300] [--seed N] [--store sqlite|postgres] [--report FILE]`: random programs, killed at
 * random instants, on both stores unless one is named.
 * `npm run chaos -- [postgres] --seconds 120 [--seed N] [--runs N] [--reports FOLDER]`: faults of server, network and processes
 * around PostgreSQL. A run that does not hold leaves its report and all notes in FOLDER, by default `clew-chaos` in the folder for temporary files.
 */
const USAGE = `npm run chaos -- [ROUNDS]                    kill a writer again and again (200)
npm run chaos -- runtime [ROUNDS]            kill agents at every named instant (130)
npm run chaos -- --runtime [--kills 300] [--seed N] [--store sqlite|postgres] [--report FILE]
                                             random programs, killed at random instants, on both stores
npm run chaos -- [postgres] --seconds 120 [--seed N] [--runs N] [--reports FOLDER]
                                             faults of server, network and processes around PostgreSQL
Example: npm run chaos -- --runtime --kills 20 --store sqlite`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    runtime: { type: 'boolean' },
    kills: { type: 'string' },
    store: { type: 'string' },
    plant: { type: 'string' },
    report: { type: 'string' },
    runs: { type: 'string' },
    reports: { type: 'string' },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
// Processes that are killed run `dist`: without it, or with an old one, a run would prove nothing about the source.
await buildDist()
if (values.runtime) {
  const { chaosPrograms, CHAOS_STORES } = await import('../runtime/chaos-runtime.ts')
  const { PLANTS } = await import('../runtime/chaos-rounds.ts')
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const stores = CHAOS_STORES.filter((store) => values.store === undefined || values.store === store)
  if (stores.length === 0) throw new Error(`--store is ${CHAOS_STORES.join(' or ')}`)
  const plant = PLANTS.find((each) => each === values.plant)
  if (values.plant !== undefined && !plant) throw new Error(`--plant is one of: ${PLANTS.join(', ')}`)
  const held = await chaosPrograms(
    { kills: Number(values.kills ?? 300), seed, stores, plant },
    values.report ?? `chaos-runtime-${seed}.json`,
  )
  process.exit(held ? 0 : 1)
}
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
