import { ClewError } from '@clew/ledger'
import { timeline } from '../../operations/timeline.ts'
import { type Command, type Flags, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { resolveRun } from '../resolve-run.ts'
import { plural, printable } from '../text.ts'
import { formatDuration } from '../time.ts'
import { timelineChart } from '../timeline-chart.ts'

const ROWS = 100

export const timelineCommand: Command<InputOf<typeof timeline>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const rows = rowsOf(flags)
  const data = await withLedger(async (ledger) =>
    timeline.run(ledger, { runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => {
    const { colour } = terminal.output
    const id = printable(data.runId ?? input.runId)
    const status = data.status === null ? '' : `  ${statusText(colour, data.status)}`
    const events = flags['events'] === true
    const { lines, left } = timelineChart(data, { colour, width: terminal.width, rows, events })
    const more =
      left === 0
        ? []
        : [
            colour.dim(
              `… ${plural(left, 'more row')}: ${terminal.next(`clew timeline ${id} --rows ${left + rows}`)}`,
            ),
          ]
    return [
      `${colour.bold(id)}${status}  ${colour.dim(formatDuration(data.durationMs))}`,
      '',
      ...lines,
      ...more,
      '',
      colour.dim(`${terminal.next(`clew steps ${id}`)} · ${terminal.next(`clew graph ${id}`)}`),
    ]
  })
  return EXIT.fine
}

function rowsOf(flags: Flags): number {
  const given = text(flags['rows'])
  if (given === undefined) return ROWS
  if (/^\d{1,7}$/.test(given) && Number(given) > 0) return Number(given)
  throw new ClewError('bad_option', 'The option --rows is not a number', 'Use a whole number from 1 on.', {
    option: '--rows',
  })
}
