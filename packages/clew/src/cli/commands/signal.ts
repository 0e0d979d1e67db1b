import { signal } from '../../operations/signal.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { printable } from '../text.ts'

export const signalCommand: Command<InputOf<typeof signal>> = async ({ input, terminal, withLedger }) => {
  const sent = await withLedger(
    async (ledger) => signal.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) }),
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(sent, () => [
    `${green('✓')} ${printable(sent.name)} is kept for ${printable(sent.runId)} (seq ${sent.seq})`,
    '',
    dim(terminal.next(`clew show ${shellWord(printable(sent.runId))}`)),
  ])
  return EXIT.fine
}
