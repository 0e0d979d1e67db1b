import { KILL_POINTS, type KillPoint } from './kill-points.ts'
import { type KillRound, killPointOf, startKills } from './kill-rounds.ts'

const ROUNDS_PER_FILE = 20
/** How often a life of the agent passes an instant; most of them once. */
const PASSINGS: Readonly<Partial<Record<KillPoint, number>>> = {
  'before-effect-dispatch': 6,
  'inside-effect': 6,
  'after-effect': 6,
  'before-commit': 16,
  'after-commit': 16,
}

/** Kills agents at every named instant, at a random one of its passings, up to three times; true when nothing was lost. */
export async function killAgents(rounds: number): Promise<boolean> {
  const done: KillRound[] = []
  const startedMs = performance.now()
  let session = startKills()
  for (let n = 0; n < rounds; n++) {
    if (n > 0 && n % ROUNDS_PER_FILE === 0) {
      session.close()
      session = startKills()
    }
    const at = killPointOf(n)
    const after = 1 + Math.floor(Math.random() * (PASSINGS[at] ?? 1))
    const round = await session.round(at, after, 1 + Math.floor(Math.random() * 3))
    done.push(round)
    const { point, lives, isKilled, violations } = round
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
    console.log(
      `${n + 1}/${rounds}  ${point.padEnd(28)} ${isKilled ? `${lives} lives` : 'not passed so often'}, ${violations.length} violations  (${seconds} s)`,
    )
    for (const violation of violations) console.error(`  ${violation}`)
  }
  session.close()
  console.log('')
  for (const point of KILL_POINTS)
    console.log(
      `  ${point.padEnd(28)} ${done.filter((round) => round.point === point && round.isKilled).length} killed runs`,
    )
  const violations = done.reduce((total, round) => total + round.violations.length, 0)
  console.log(
    `\n${rounds} runs, ${done.filter((round) => round.isKilled).length} killed, ${violations} violations`,
  )
  return violations === 0
}
