import { formatReport, type Verdict } from './report.ts'
import { runChaos } from './run-chaos.ts'

export interface RepeatOptions {
  readonly seconds: number
  /** Seed of the first run; each further run takes the next number. */
  readonly seed: number
  readonly runs: number
  readonly reports: string
}

/** Fault runs one after the other, each printed. True if all of them held. */
export async function repeatChaos({ seconds, seed, runs, reports }: RepeatOptions): Promise<boolean> {
  const counts: Record<Verdict | 'failed', number> = { held: 0, violated: 0, void: 0, failed: 0 }
  for (let nth = 0; nth < runs; nth++) {
    const verdict = await runOne(seed + nth)
    counts[verdict]++
    if (verdict !== 'held') console.log(`report and notes: ${reports}`)
    if (runs > 1)
      console.log(
        `run ${nth + 1} of ${runs}, seed ${seed + nth}: ${verdict}  (held ${counts.held}, violated ${counts.violated}, void ${counts.void}, failed ${counts.failed})`,
      )
  }
  return counts.held === runs

  async function runOne(own: number): Promise<Verdict | 'failed'> {
    const startedMs = performance.now()
    const since = (): string => ((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)
    try {
      const report = await runChaos({
        seconds,
        seed: own,
        reports,
        onFault: (kind, hits) => runs === 1 && console.log(`${since()} s  ${kind}  ${hits}`),
      })
      if (runs === 1 || report.verdict !== 'held') console.log(`\n${formatReport(report)}`)
      return report.verdict
    } catch (error) {
      console.error(error)
      return 'failed'
    }
  }
}
