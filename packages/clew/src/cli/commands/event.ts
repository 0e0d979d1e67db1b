import { event } from '../../operations/event.ts'
import type { Command, InputOf } from '../command.ts'
import { eventBlock } from '../event-line.ts'
import { EXIT } from '../failure.ts'
import { resolveEvent } from '../resolve-event.ts'
import { printable } from '../text.ts'

export const eventCommand: Command<InputOf<typeof event>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    event.run(ledger, { eventId: await resolveEvent(ledger, input.eventId) }),
  )
  const place = `${printable(data.correlation_id)}:${data.ledger.seq}`
  await terminal.answer(data, () => [
    eventBlock(terminal, data),
    terminal.output.colour.dim(
      `${terminal.next(`clew causes ${place}`)} · ${terminal.next(`clew effects ${place}`)}`,
    ),
  ])
  return EXIT.fine
}
