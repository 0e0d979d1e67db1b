import type { ControlOutcome } from '../../operations/schemas.ts'
import { pause } from '../../operations/pause.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { printable, wrap } from '../text.ts'

export const pauseCommand: Command<InputOf<typeof pause>> = ({ input, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const data = await pause.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) })
    await terminal.answer(data, () => lines(terminal, data))
    return EXIT.fine
  })

function lines({ output, next, width }: Terminal, { run }: ControlOutcome): string[] {
  const { colour } = output
  const id = shellWord(printable(run.runId))
  const head = `${statusText(colour, run.status)}  ${colour.bold(printable(run.runId))}`
  if (run.status !== 'running') return [head, '', colour.dim(next(`clew resume ${id}`))]
  const still = 'The pause was requested; the run is at work on a step, and rests when that has ended.'
  return [
    head,
    ...wrap(still, width - 2).map((line) => `  ${line}`),
    '',
    colour.dim(next(`clew show ${id} --watch`)),
  ]
}
