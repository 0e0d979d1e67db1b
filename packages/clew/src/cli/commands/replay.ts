import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ClewError, type Ledger } from '@clew/ledger'
import type { AgentSet, ReplayRequest, RunControl } from '../../control/run-control.ts'
import { replay } from '../../operations/replay.ts'
import type { ReplayAnswer, ReplayedRun } from '../../operations/replay-schema.ts'
import { chooseRuns, nothingFits, replayOne, summarise } from '../../replay/replay-runs.ts'
import { reportLines, verdictText } from '../../replay/report-lines.ts'
import { agentsOf } from '../agent-flag.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createLiveRun, waitOrDetach } from '../live-run.ts'
import { createProgress } from '../progress.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, pad, plural, printable, wrap } from '../text.ts'
import { formatDuration } from '../time.ts'
import { diffLines } from './diff.ts'

type Input = InputOf<typeof replay>

export const replayCommand: Command<Input> = async ({ input, flags, terminal, withLedger }) => {
  const agents = await agentsOf(flags)
  if (input.all === true && input.runId !== undefined)
    return replayFixtures(terminal, input, input.runId, agents)
  // A replay that neither stores its report nor becomes live writes nothing.
  const readOnly = input.keep !== true && input.mode !== 'what-if'
  return withLedger(
    async (ledger) => {
      const control = await controlFor(ledger, agents)
      return input.all === true
        ? replayStore(terminal, ledger, control, input)
        : replayRun(terminal, ledger, control, input, text(flags['agent']))
    },
    { readOnly },
  )
}

async function controlFor(ledger: Ledger, agents: AgentSet | undefined): Promise<RunControl> {
  return (await import('../../control/create-control.ts')).createControl(ledger, { agents })
}

const exitOf = ({ verdict }: ReplayAnswer): number => (verdict === 'identical' ? EXIT.fine : EXIT.no)
const countSteps = (done: number): string => plural(done, 'step')

async function replayRun(
  terminal: Terminal,
  ledger: Ledger,
  control: RunControl,
  input: Input,
  module: string | undefined,
): Promise<number> {
  const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
  const run = runId === undefined ? null : await ledger.getRun(runId)
  const progress = createProgress(terminal, 'replaying', countSteps, run?.steps)
  const live = createLiveRun(terminal)
  const context = {
    control,
    onProgress: progress.update,
    onEvent: input.mode === 'what-if' ? live.onEvent : undefined,
  }
  let data: ReplayAnswer
  try {
    data = await waitOrDetach(replay.run(ledger, { ...input, runId }, context), terminal)
  } finally {
    progress.end()
    await live.end()
  }
  await terminal.answer(data, () => runLines(terminal, data, module))
  // A what-if has no expected outcome, so its exit code is 0.
  return input.mode === 'what-if' ? EXIT.fine : exitOf(data)
}

function runLines(terminal: Terminal, { runs }: ReplayAnswer, module: string | undefined): string[] {
  const { colour } = terminal.output
  const report = runs[0]?.report
  if (!report) return []
  if (report.comparison) {
    const rows = report.comparison.rows.filter(({ mark }) => mark !== 'same')
    return ['', ...diffLines(terminal, { ...report.comparison, rows }, false)]
  }
  const id = shellWord(printable(report.sourceRunId))
  const kept = report.runId === null ? [] : [terminal.next(`clew show ${shellWord(printable(report.runId))}`)]
  const width = Math.min(terminal.width, 120)
  const next =
    report.verdict === 'identical'
      ? terminal.next(`clew export --run ${id} --redacted -o fixtures/${id}.ndjson`)
      : terminal.next(`clew explain ${id}${module === undefined ? '' : ` --agent ${shellWord(module)}`}`)
  return [
    ...reportLines(report, { colour, width, module, next: terminal.next }),
    '',
    colour.dim([...kept, next].join(' · ')),
  ]
}

/** How many diverged runs are shown whole after the list. */
const SHOWN = 3

async function replayStore(
  terminal: Terminal,
  ledger: Ledger,
  control: RunControl,
  input: Input,
): Promise<number> {
  const { runs, left } = await chooseRuns(ledger, control, input)
  const teller = createReplayPrinter(terminal, runs.length)
  const done: ReplayedRun[] = []
  try {
    for (const run of runs) done.push(await teller.tell(await replayOne(control, run, teller.request(input))))
  } finally {
    teller.end()
  }
  return finish(terminal, summarise(done, left))
}

/** Each file is a ledger of its own, in memory. */
async function replayFixtures(
  terminal: Terminal,
  input: Input,
  path: string,
  agents: AgentSet | undefined,
): Promise<number> {
  const { openFixture } = await import('../../replay/open-fixture.ts')
  const files = await fixtureFiles(path)
  const teller = createReplayPrinter(terminal, files.length)
  const done: ReplayedRun[] = []
  try {
    for (const file of files) {
      const { ledger, runs } = await openFixture(file)
      try {
        const control = await controlFor(ledger, agents)
        for (const run of runs.filter(({ agent }) => input.agent === undefined || agent === input.agent))
          done.push(await teller.tell(await replayOne(control, run, teller.request(input), file)))
      } finally {
        await ledger.close()
      }
    }
  } finally {
    teller.end()
  }
  if (done.length === 0) throw nothingFits()
  return finish(terminal, summarise(done))
}

async function fixtureFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => name.endsWith('.ndjson')).toSorted()
  if (names.length > 0) return names.map((name) => join(path, name))
  throw new ClewError(
    'bad_option',
    `The folder ${path} holds no fixture`,
    `Record one: clew export --run RUN --redacted -o ${join(path, 'run.ndjson')}.`,
    { path },
  )
}

interface ReplayPrinter {
  request(input: Input): ReplayRequest
  /** Writes the line of a run, and gives it back. */
  tell(run: ReplayedRun): Promise<ReplayedRun>
  end(): void
}

/** One line a run, as they come; the bar below them counts runs. */
function createReplayPrinter(terminal: Terminal, total: number): ReplayPrinter {
  let count = 0
  const progress = createProgress(terminal, 'replaying', (done) => plural(Math.floor(done), 'run'), total)
  return {
    request: ({ mode, volatile, keep }) => ({
      mode,
      volatile,
      keep,
      onProgress: () => progress.update(count),
    }),
    async tell(run) {
      progress.end()
      count++
      if (!terminal.json) await terminal.print([runLine(terminal, run)])
      return run
    },
    end: progress.end,
  }
}

function runLine({ output, width }: Terminal, run: ReplayedRun): string {
  const { colour } = output
  const { report, runId, agent, file } = run
  const verdict = report ? verdictText(colour, report) : colour.red('✗ failed')
  const mark = `${verdict}${' '.repeat(report?.verdict === 'identical' ? 0 : report ? 1 : 3)}`
  const first = report?.divergences[0]
  const facts = report
    ? first
      ? `${first.kind} at ${first.stepId ?? 'the run itself'}`
      : `${plural(report.steps, 'step')} in ${formatDuration(report.durationMs)}`
    : (run.error ?? '')
  const name = pad(cut(printable(runId), 32), 32)
  const where = `${agent ?? '–'}${file === null ? '' : ` · ${file}`}`
  const room = Math.max(16, width - 13 - 34 - 2)
  return `${mark}  ${name}  ${cut(printable(`${facts}  ${where}`), room)}`
}

async function finish(terminal: Terminal, data: ReplayAnswer): Promise<number> {
  await terminal.answer(data, () => summaryLines(terminal, data))
  return exitOf(data)
}

function summaryLines({ output, width, next }: Terminal, data: ReplayAnswer): string[] {
  const { colour } = output
  const { runs, left, identical, diverged, failed } = data
  const lines: string[] = []
  const bad = runs.filter(({ report }) => report?.verdict !== 'identical')
  for (const { report, runId, error } of bad.slice(0, SHOWN)) {
    if (report) lines.push('', ...reportLines(report, { colour, width: Math.min(width, 120), advice: false }))
    else
      lines.push(
        '',
        `${colour.red('✗')} ${printable(runId)}`,
        ...wrap(printable(error ?? ''), width - 2).map((line) => `  ${line}`),
      )
  }
  if (bad.length > SHOWN)
    lines.push(
      '',
      colour.dim(`… and ${plural(bad.length - SHOWN, 'more run')} like these: --json has them all`),
    )
  const counts = [`${identical} identical`]
  if (diverged > 0) counts.push(`${diverged} diverged`)
  if (failed > 0) counts.push(`${failed} could not be replayed`)
  const sign = bad.length === 0 ? colour.green('✓') : colour.red('✗')
  lines.push('', `${sign} ${plural(runs.length, 'run')}: ${counts.join(', ')}`)
  for (const { reason, runs: count } of left)
    lines.push(colour.dim(`  ${plural(count, 'run')} left out: ${printable(reason)}`))
  if (runs.length === 0 && left.length === 0) lines.push(colour.dim(next('clew runs')))
  return lines
}
