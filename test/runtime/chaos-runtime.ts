import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '../postgres/database.ts'
import { createProgram } from './chaos-program.ts'
import { type ChaosRound, liveThrough, type Plant } from './chaos-rounds.ts'

export const CHAOS_STORES = ['sqlite', 'postgres'] as const
export type ChaosStore = (typeof CHAOS_STORES)[number]

export interface ChaosOptions {
  /** Programs are run until so many processes were killed. */
  readonly kills: number
  /** That of the first program; each further one has the next number. */
  readonly seed: number
  readonly stores: readonly ChaosStore[]
  readonly plant?: Plant | undefined
  readonly onRound?: ((round: ChaosRound, store: ChaosStore) => void) | undefined
}

export interface ChaosReport {
  readonly seed: number
  readonly runs: number
  readonly kills: number
  /** Each with what makes it again. */
  readonly violations: readonly (ChaosRound & { readonly store: ChaosStore; readonly program: unknown })[]
}

const RUNS_PER_DATABASE = 20

/**
 * Random programs on each store in turn, killed with SIGKILL at random instants and gone on with. With a planted mistake
 * it ends as soon as that is found.
 */
export async function runChaosPrograms(options: ChaosOptions): Promise<ChaosReport> {
  const { stores, plant = 'none', onRound } = options
  const violations: ChaosReport['violations'][number][] = []
  let { seed } = options
  let [runs, kills] = [0, 0]
  const goesOn = (): boolean => kills < options.kills && (plant === 'none' || violations.length === 0)
  while (goesOn())
    for (const store of stores) {
      const database = await open(store)
      for (let n = 0; n < RUNS_PER_DATABASE && goesOn(); n++, seed++, runs++) {
        const round = await liveThrough(database.url, seed, plant)
        kills += round.kills.length
        if (round.violations.length > 0) violations.push({ ...round, store, program: createProgram(seed) })
        onRound?.(round, store)
      }
      await database.drop()
    }
  return { seed: options.seed, runs, kills, violations }
}

async function open(store: ChaosStore): Promise<{ readonly url: string; drop(): Promise<void> }> {
  if (store === 'postgres') return createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'clew-chaos-store-'))
  return {
    url: `sqlite:${join(folder, 'clew.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The command: says what it does, writes each violation with its program and seed to `report`; true when there is none. */
export async function chaosPrograms(options: ChaosOptions, report: string): Promise<boolean> {
  console.log(`seed ${options.seed}, ${options.kills} kills, ${options.stores.join(' and ')}`)
  const startedMs = performance.now()
  const done = await runChaosPrograms({
    ...options,
    onRound({ seed, kills, lives, violations }, store) {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
      console.log(
        `${String(seed).padEnd(8)} ${store.padEnd(9)} ${kills.length} kills, ${lives} lives, ${violations.length} violations  (${seconds} s)`,
      )
      for (const violation of violations) console.error(`  ${violation}`)
    },
  })
  const found = done.violations.reduce((sum, { violations }) => sum + violations.length, 0)
  console.log(`\n${done.runs} runs, ${done.kills} kills, ${found} violations`)
  if (found === 0) return true
  writeFileSync(report, `${JSON.stringify(done, null, 2)}\n`)
  console.log(`Programs and seeds of the violations: ${report}`)
  return false
}
