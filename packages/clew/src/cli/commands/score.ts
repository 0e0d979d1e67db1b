import type { Score } from '@clew/ledger'
import { parseScoreValue, score } from '../../operations/score.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { printable } from '../text.ts'

export const scoreCommand: Command<InputOf<typeof score>> = async ({ input, terminal, withLedger }) => {
  const value = typeof input.value === 'string' ? parseScoreValue(input.value) : input.value
  const { runId, scores } = await withLedger(
    async (ledger) => score.run(ledger, { ...input, value, runId: await resolveRun(ledger, input.runId) }),
    { readOnly: false, create: false },
  )
  await terminal.answer({ runId, scores }, () => [
    ...(scores.length === 0 ? ['The run has no scores.'] : scores.map(scoreLine)),
    '',
    terminal.output.colour.dim(terminal.next(`clew show ${shellWord(printable(runId))}`)),
  ])
  return EXIT.fine
}

export function scoreLine({ stepId, attempt, name, value, by, why }: Score): string {
  const step = stepId === null ? '' : ` of ${stepId}${attempt === null ? '' : ` (attempt ${attempt})`}`
  return printable(`${name} ${String(value)}${step} by ${by}${why === null ? '' : `: ${why}`}`)
}
