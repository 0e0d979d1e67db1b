import { result, type RunOutcome } from '../../operations/result.ts'
import { start } from '../../operations/start.ts'
import { parseTags } from '../../operations/tag.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { compact } from '../preview.ts'
import { questionLines, shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, printable } from '../text.ts'
import { formatLocal } from '../time.ts'

export const startCommand: Command<InputOf<typeof start>> = ({ input, flags, terminal, withLedger }) =>
  withLedger(
    async (ledger) => {
      const typed = text(flags['tag'])
      const tags = typed === undefined ? {} : { tags: parseTags(typed.split(',')) }
      const data = await start.run(ledger, { ...input, ...tags }, { signal: terminal.signal })
      await terminal.answer(data, () => lines(terminal, data))
      return exitOf(data)
    },
    { readOnly: false, create: true },
  )

export const resultCommand: Command<InputOf<typeof result>> = ({ input, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    const data = await result.run(ledger, { ...input, runId }, { signal: terminal.signal })
    await terminal.answer(data, () => lines(terminal, data))
    return exitOf(data)
  })

const exitOf = ({ run: { status } }: RunOutcome): number =>
  status === 'failed' || status === 'blocked' ? EXIT.no : EXIT.fine

function lines(terminal: Terminal, { run, output }: RunOutcome): string[] {
  const { colour } = terminal.output
  const { runId, status, error, dueAt, queue, waiting } = run
  const shown = [`${statusText(colour, status)}  ${colour.bold(printable(runId))}`]
  if (waiting) {
    const from = dueAt === null ? '' : ` from ${formatLocal(dueAt)}`
    shown.push(`  waits in queue ${printable(queue ?? '')} for a worker${from}`)
  }
  if (status === 'completed' && output !== null) shown.push(`  ${cut(compact(output), 4 * terminal.width)}`)
  if (error)
    shown.push(
      `  ${colour.red(printable([error.name, error.code, error.message].filter(Boolean).join(': ')))}`,
    )
  shown.push(...questionLines(terminal, run, undefined))
  const id = shellWord(printable(runId))
  const next =
    status === 'pending' || status === 'running' ? `clew result ${id} --wait 60000` : `clew show ${id}`
  return [...shown, '', colour.dim(terminal.next(next))]
}
