import type { WireEvent } from '@clew/ledger'
import { events } from '../../operations/events.ts'
import type { Command, InputOf } from '../command.ts'
import { eventBlock, eventLine } from '../event-line.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import { resolveRun } from '../resolve-run.ts'
import { jsonText, plural, printable } from '../text.ts'

export const eventsCommand: Command<InputOf<typeof events>> = ({ input, flags, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    const show = flags['full'] === true ? eventBlock : eventLine
    let lastSeq = 0
    const format = (event: WireEvent): string => {
      terminal.signal.throwIfAborted()
      lastSeq = event.ledger.seq
      return `${terminal.json ? jsonText(event) : show(terminal, event)}\n`
    }
    const count = await writeLines(terminal, events.run(ledger, { ...input, runId }), format)
    if (terminal.json) return EXIT.fine
    const id = printable(runId)
    const next = count === input.limit ? `clew events ${id} --after ${lastSeq}` : `clew events ${id} --full`
    await terminal.print([
      '',
      terminal.output.colour.dim(`${plural(count, 'event')} · ${terminal.next(next)}`),
    ])
    return EXIT.fine
  })
