import { answer } from '../../operations/answer.ts'
import type { Command, InputOf } from '../command.ts'
import { outcomeLines } from '../outcome.ts'
import { EXIT } from '../failure.ts'
import { resolveRun } from '../resolve-run.ts'

export const answerCommand: Command<InputOf<typeof answer>> = ({ input, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const data = await answer.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) })
    await terminal.answer(data, () => outcomeLines(terminal, data, undefined))
    return EXIT.fine
  })
