import { isTerminal } from '@clew/ledger'
import type { ControlOutcome } from '../../operations/schemas.ts'
import { stop } from '../../operations/stop.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { printable, wrap } from '../text.ts'

export const stopCommand: Command<InputOf<typeof stop>> = ({ input, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const data = await stop.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) })
    await terminal.answer(data, () => lines(terminal, data))
    return EXIT.fine
  })

function lines({ output, next, width }: Terminal, { run }: ControlOutcome): string[] {
  const { colour } = output
  const { runId, status } = run
  const id = shellWord(printable(runId))
  const head = `${statusText(colour, status)}  ${colour.bold(printable(runId))}`
  if (isTerminal(status))
    return [head, '', colour.dim(`${next(`clew show ${id}`)} · ${next(`clew fork ${id}`)}`)]
  const still = 'Stop was requested, and the owner has not stopped the run yet; the request stays recorded.'
  return [
    head,
    ...wrap(still, width - 2).map((line) => `  ${line}`),
    '',
    colour.dim(next(`clew show ${id} --watch`)),
  ]
}
