import { ClewError, type WireEvent } from '@clew/ledger'
import { tail } from '../../operations/tail.ts'
import type { Command, InputOf } from '../command.ts'
import { eventLine } from '../event-line.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import { resolveRun } from '../resolve-run.ts'
import { cut, jsonText, printable } from '../text.ts'

export const tailCommand: Command<InputOf<typeof tail>> = ({ input, terminal, withLedger }) => {
  if (input.untilEnd === true && input.runId === undefined)
    throw new ClewError(
      'bad_option',
      'The option --until-end needs a run whose end to wait for',
      'Name it: clew tail <run> --until-end.',
      { option: '--until-end' },
    )
  return withLedger(
    async (ledger) => {
      const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
      const { isTerminal, colour } = terminal.output
      if (isTerminal && !terminal.json)
        await terminal.print([
          colour.dim(`following ${runId === undefined ? ledger.url : printable(runId)} · Ctrl-C ends`),
        ])
      const format = (event: WireEvent): string => {
        const label = runId === undefined ? cut(printable(event.correlation_id), 14) : undefined
        return `${terminal.json ? jsonText(event) : eventLine(terminal, event, label)}\n`
      }
      await writeLines(
        terminal,
        tail.run(ledger, { ...input, runId }, { signal: terminal.signal }),
        format,
        true,
      )
      return EXIT.fine
      // A long-running command keeps the search index up to date.
    },
    { index: input.untilEnd !== true },
  )
}
