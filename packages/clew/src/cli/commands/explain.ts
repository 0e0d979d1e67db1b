import { ClewError, type Explanation, type RunSummary, stepLabel } from '@clew/ledger'
import type { z } from 'zod'
import { explain } from '../../operations/explain.ts'
import { agentsOf } from '../agent-flag.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { divergenceLines } from '../divergence-lines.ts'
import { replayFindingLines, whatIfLines } from '../explain-replay-lines.ts'
import { EXIT } from '../failure.ts'
import { waitOrDetach } from '../live-run.ts'
import { statusText, typeText } from '../marks.ts'
import { resolveRun } from '../resolve-run.ts'
import { suspectLines } from '../suspect-lines.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable, wrap } from '../text.ts'
import { formatDuration, formatRelative } from '../time.ts'

type Answer = z.output<typeof explain.output>

export const explainCommand: Command<InputOf<typeof explain>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const agents = await agentsOf(flags)
  if (input.fork === true && !agents)
    throw new ClewError(
      'bad_option',
      'A run can only be continued by its agent',
      'Name the module that exports it with --agent, or leave out --fork.',
      { option: '--fork' },
    )
  const data = await withLedger(
    async (ledger) => {
      const runId = await resolveRun(ledger, input.runId)
      agents?.of((await ledger.getRun(runId)) as RunSummary)
      const control =
        agents && (await import('../../control/create-control.ts')).createControl(ledger, { agents })
      return waitOrDetach(explain.run(ledger, { ...input, runId }, { control }), terminal)
    },
    { readOnly: input.fork !== true },
  )
  await terminal.answer(data, () => lines(terminal, data, text(flags['agent'])))
  return EXIT.fine
}

const HEADS = { failed: 'FAILED', paused: 'WAITS', running: 'AT WORK', last: 'LAST STEP' } as const

function lines(terminal: Terminal, data: Answer, module: string | undefined): string[] {
  const { run, place, outcome, lastGood } = data
  const { colour } = terminal.output
  const { bold, dim } = colour
  const took = run.durationMs === null ? '' : ` after ${formatDuration(run.durationMs)}`
  const id = printable(run.runId)
  const result = [
    `${bold(id)}  ${statusText(colour, run.status)}${took}${run.agent === null ? '' : `, ${printable(run.agent)}`}`,
  ]
  if (outcome) {
    const said = `${printable(outcome.name)} ${printable(String(outcome.value))}`
    result.push('', `${dim('OUTCOME')}  ${outcome.isGood ? said : colour.red(said)}`)
  }
  if (place) result.push('', ...placeLines(terminal, place))
  else result.push('', 'Nothing was recorded that could be explained.')
  if (data.suspects.length > 0) result.push('', ...suspectLines(terminal, data.suspects))
  result.push(...causeLines(terminal, data))
  if (lastGood) {
    const when = formatRelative(lastGood.startedAt, Date.now())
    result.push(
      '',
      `${dim('LAST GOOD RUN')}  ${printable(lastGood.runId)} ${dim(`(same ${lastGood.matched}, ${when})`)}`,
    )
    if (lastGood.first) result.push(...divergenceLines(colour, terminal.width, shorten(lastGood.first)))
    else result.push(lastGood.same ? '  did the same' : '  took the same way, to another outcome')
  } else if (run.agent !== null)
    result.push('', dim(`No completed run of ${printable(run.agent)} before it to compare with.`))
  const again = replayFindingLines(terminal, data, module)
  if (again.length > 0) result.push('', ...again)
  if (data.whatIf) result.push('', ...whatIfLines(terminal, data.whatIf))
  const next = lastGood
    ? `clew diff ${lastGood.runId} ${run.runId}`
    : `clew events ${run.runId} --after ${Math.max(0, (place?.seq ?? 1) - 4)} --limit 5`
  return [...result, '', dim(`${terminal.next(`clew show ${id}`)} · ${terminal.next(next)}`)]
}

/** At most a screen: two changed values are enough to see what kind of change it is. */
const shorten = <T extends { readonly changes: readonly unknown[] }>(found: T): T => ({
  ...found,
  changes: found.changes.slice(0, 2),
})

function placeLines({ output, width }: Terminal, place: NonNullable<Explanation['place']>): string[] {
  const { dim, red } = output.colour
  const attempt = place.attempt > 1 ? `, attempt ${place.attempt}` : ''
  const name = place.stepId === null ? place.name : stepLabel(place.stepId, place.name)
  const result = [
    `${dim(HEADS[place.because])}  ${printable(name)} ${dim(`(${printable(place.kind)}${attempt}, #${place.seq})`)}`,
  ]
  const facts = [
    ['input', place.input],
    ['output', place.output],
    ['error', place.error],
  ] as const
  for (const [title, value] of facts) {
    if (value === null) continue
    const all = wrap(printable(value), width - 12)
    const [first = '', ...more] =
      all.length > 4 ? [...all.slice(0, 3), `${cut(all[3] ?? '', width - 14)} …`] : all
    const paint = title === 'error' ? red : (text: string): string => text
    result.push(
      `  ${dim(title.padEnd(8))} ${paint(first)}`,
      ...more.map((line) => `${' '.repeat(11)}${paint(line)}`),
    )
  }
  return result
}

const BY = {
  person: 'a person',
  input: 'the input of the run',
  event: 'an event without a known cause',
} as const

function causeLines({ output, width }: Terminal, data: Explanation): string[] {
  const { dim } = output.colour
  const { causes, omittedCauses, origin, causesRecorded } = data
  if (causes.length === 0 || !origin) return []
  const how = causesRecorded ? 'back to' : 'no causes were recorded; nearest before it:'
  const result = ['', `${dim('LED THERE')}  ${dim(how)} ${BY[origin.by]}`]
  for (const [at, cause] of causes.entries()) {
    if (omittedCauses > 0 && at === causes.length - 2)
      result.push(dim(`         … ${plural(omittedCauses, 'more cause')}`))
    const type = printable(cause.eventType)
    const lead = `${`#${cause.seq}`.padStart(7)}  `
    const said = cut(printable(cause.label), width - lead.length - type.length - 2)
    result.push(`${dim(lead)}${typeText(output.colour, type, 0)}  ${said}`)
    if (cause.eventId === origin.eventId && at < causes.length - 1) break
  }
  return result
}
