import { AssertionError } from 'node:assert'
import { ClewError, type RunSummary } from '@clew/ledger'
import { replay, type ReplayReport, type ReplayTarget, type Volatile } from '@clew/runtime'
import { openFixture, type FixtureOptions } from './replay/open-fixture.ts'
import { reportLines } from './replay/report-lines.ts'

export interface ExpectReplayOptions extends FixtureOptions {
  /** Which runs of the fixture; default all of them that are not children of others. */
  readonly runId?: string | readonly string[] | undefined
  /** Paths that may differ: `['input.requestId', 'output.at']`, or such lists by step name. */
  readonly volatile?: Volatile | undefined
}

/**
 * D5. Replays the runs of a fixture, a file that `clew export --run RUN --redacted -o FILE` wrote, with this
 * agent or graph, offline. Throws an `AssertionError` that shows the first divergence of each; gives back the
 * reports when all are identical.
 */
export async function expectReplay(
  target: ReplayTarget,
  file: string,
  { runId, volatile, ...options }: ExpectReplayOptions = {},
): Promise<ReplayReport[]> {
  const { ledger, runs } = await openFixture(file, options)
  try {
    const named = runId === undefined ? undefined : [runId].flat()
    const chosen = named
      ? await Promise.all(named.map(async (id) => (await ledger.getRun(id)) ?? missing(file, id, runs)))
      : runs
    for (const run of chosen) assertOwn(run, target.program.name, file)
    const reports: ReplayReport[] = []
    for (const run of chosen) reports.push(await replay(target, { ledger, runId: run.runId, volatile }))
    const diverged = reports.filter(({ verdict }) => verdict === 'diverged')
    if (diverged.length > 0) throw failure(diverged, reports.length, file)
    return reports
  } finally {
    await ledger.close()
  }
}

/** A report as text, as it stands in the message of a failed `expectReplay`. */
export const formatReport = (report: ReplayReport): string => reportLines(report).join('\n')

/** Known to vitest and node:test alike: both show how `expected` and `actual` differ below the message. */
function failure(diverged: readonly ReplayReport[], total: number, file: string): AssertionError {
  const [first] = diverged[0]?.divergences ?? []
  const head = `${diverged.length} of ${total} runs in ${file} diverged`
  const reports = diverged.map((report) =>
    reportLines(report, { file, advice: report === diverged.at(-1) }).join('\n'),
  )
  const message = [...(total > 1 ? [head] : []), ...reports].join('\n\n')
  return new AssertionError({
    message,
    expected: first?.expected,
    actual: first?.received,
    operator: 'expectReplay',
    stackStartFn: expectReplay,
  })
}

function missing(file: string, runId: string, runs: readonly RunSummary[]): never {
  throw new ClewError(
    'not_found',
    `There is no run ${runId} in ${file}`,
    `It contains ${runs.map((run) => run.runId).join(', ')}.`,
    { runId, file },
  )
}

function assertOwn({ runId, agent }: RunSummary, name: string, file: string): void {
  if (agent === name || agent === `${name} map`) return
  throw new ClewError(
    'bad_option',
    `Run ${runId} in ${file} is one of ${agent ?? 'no agent'}, not of ${name}`,
    'Replay it with its own agent; of a fixture with runs of several agents, name the runs with runId.',
    { runId, agent, file },
  )
}
