import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** Whole numbers handed over as `--name=value`; a name that the program does not know ends it. */
export function readNumbers<Name extends string>(defaults: Record<Name, number>): Record<Name, number> {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ options })
  const given = Object.entries(values).map(([name, value]) => [name, Number(value)])
  return { ...defaults, ...Object.fromEntries(given) }
}

/**
 * Best milliseconds of each over several rounds, after one that is not counted. They take turns, so that what else
 * happens on the machine hurts all of them alike.
 */
export async function bestInTurn<Name extends string>(
  rounds: number,
  works: Record<Name, (round: number) => Promise<unknown>>,
): Promise<Record<Name, number>> {
  const best: Record<string, number> = {}
  for (let round = 0; round <= rounds; round++)
    for (const [name, work] of Object.entries<(round: number) => Promise<unknown>>(works)) {
      const start = performance.now()
      await work(round)
      if (round > 0) best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, performance.now() - start)
    }
  return best as Record<Name, number>
}

/** When each step began, and when the last one had ended: marks[n] is the instant at which n steps were done. */
export interface Pace {
  readonly marks: number[]
  /** Milliseconds per step over the last steps before the n-th was done. */
  at(n: number): number
}

const WINDOW = 50

export function createPace(): Pace {
  const marks: number[] = []
  return {
    marks,
    at(n) {
      const [from, to] = [marks[n - WINDOW], marks[n]]
      if (from === undefined || to === undefined)
        throw new Error(`step ${n} has no time, ${marks.length} have`)
      return (to - from) / WINDOW
    },
  }
}

export async function inTempFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-peer-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A SQLite database with its write-ahead log, which belongs to it until a checkpoint moves it over. */
export const databaseBytes = (path: string): number =>
  [path, `${path}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)

export const SYNCHRONOUS = ['OFF', 'NORMAL', 'FULL', 'EXTRA'] as const

const WORDS =
  'an owl sat on the long branch and heard how small the rain was before it wrote down the hour'.split(' ')

/** Prose of a given length, different for each seed. */
export function prose(length: number, seed: number): string {
  let text = `${seed} `
  for (let i = seed; text.length < length; i = (i * 31 + 17) % 9973) text += `${WORDS[i % WORDS.length]} `
  return text.slice(0, length)
}

/** The one line of output that counts; the process ends with it, whatever a library keeps open. */
export function report(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
}
