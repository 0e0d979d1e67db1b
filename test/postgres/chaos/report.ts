import type { FaultKind } from './faults.ts'
import type { ChaosOptions } from './run-chaos.ts'
import { longest, type Takeover } from './takeovers.ts'
import { CHECKS, type Check, type Evidence, findViolations } from './tally.ts'

/** `void`: a fault did not fire, so the run proves nothing about it. */
export type Verdict = 'held' | 'violated' | 'void'

export interface ChaosReport {
  readonly verdict: Verdict
  readonly options: ChaosOptions
  readonly fired: ReadonlyMap<FaultKind, number>
  readonly takeovers: readonly Takeover[]
  readonly late: readonly Takeover[]
  readonly violations: Readonly<Record<Check, readonly string[]>>
  readonly evidence: Evidence
}

interface Judged {
  readonly options: ChaosOptions
  readonly fired: ReadonlyMap<FaultKind, number>
  readonly takeovers: readonly Takeover[]
  readonly sweepMs: number
  readonly evidence: Evidence
}

export function judge({ options, fired, takeovers, sweepMs, evidence }: Judged): ChaosReport {
  const violations = findViolations(evidence)
  const late = takeovers.filter(
    ({ ms, isProvable }) => (ms ?? Number.POSITIVE_INFINITY) > longest(isProvable, sweepMs),
  )
  const isViolated = late.length > 0 || CHECKS.some((check) => violations[check].length > 0)
  const isVoid = [...fired.values()].includes(0)
  const verdict = isViolated ? 'violated' : isVoid ? 'void' : 'held'
  return { verdict, options, fired, takeovers, late, violations, evidence }
}

const MAX_SHOWN = 5

/** Text of a report, with so many violations of each check. */
export function formatReport(report: ChaosReport, maxShown = MAX_SHOWN): string {
  const { verdict, options, fired, takeovers, late, violations, evidence } = report
  const count = (check: Check): string => `${check} ${violations[check].length}`
  const slowest = (isProvable: boolean): string => {
    const of = takeovers.filter((each) => each.isProvable === isProvable)
    const ms = Math.max(0, ...of.map((each) => each.ms ?? Number.POSITIVE_INFINITY))
    return `${of.length}${of.length === 0 ? '' : `, slowest ${(ms / 1000).toFixed(1)} s`}`
  }
  const told = [
    ...CHECKS.flatMap((check) => violations[check].slice(0, maxShown).map((text) => `  ${check}: ${text}`)),
    ...late.map(
      ({ runId, ms }) =>
        `  late takeover: run ${runId} after ${ms === undefined ? 'no time at all' : `${ms} ms`}`,
    ),
  ]
  return [
    `PostgreSQL under faults: ${options.seconds} s, seed ${options.seed}`,
    '',
    ...[...fired].map(([kind, hits]) => `  ${kind.padEnd(32)} ${hits === 0 ? 'did not fire' : hits}`),
    '',
    `  appended ${evidence.found.length}, acknowledged ${evidence.acknowledged.length}`,
    `  ${count('lost')}, ${count('doubled')}, ${count('moved')}`,
    `  chain and projections: ${violations.broken.length === 0 ? 'verified' : `${violations.broken.length} problems`}`,
    `  followers ${evidence.followed.length}, ${count('follower gap')}; ${count('stale owner')}`,
    `  runs ${evidence.errands.length}, effects carried out ${evidence.outside.length}, violations ${violations.errand.length}`,
    `  takeovers of dead owners ${slowest(true)}; of silent owners ${slowest(false)}; late ${late.length}`,
    ...(violations.failure.length > 0 ? [`  processes that failed ${violations.failure.length}`] : []),
    ...told,
    '',
    `verdict: ${verdict}`,
  ].join('\n')
}
