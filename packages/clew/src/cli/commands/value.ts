import type { z } from 'zod'
import { value } from '../../operations/value.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { printable } from '../text.ts'
import { formatCount } from '../../format-count.ts'

export const valueCommand: Command<InputOf<typeof value>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    value.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => lines(terminal, data))
  return EXIT.fine
}

function lines({ output: { colour }, next }: Terminal, data: z.output<typeof value.output>): string[] {
  const { of, path, type, chars, text, nextFrom, entries, runId, seq, erased } = data
  const where = path === '$' ? '' : ` ${printable(path)}`
  return [
    `${colour.bold(printable(of))}${where}  ${colour.dim(`${type}, ${formatCount(chars)} characters${erased ? ', erased' : ''}`)}`,
    ...text.split('\n').map(printable),
    ...(entries ?? []).map((entry) =>
      colour.dim(`  ${printable(entry.path)}  ${entry.type}, ${formatCount(entry.chars)} characters`),
    ),
    '',
    colour.dim(
      [
        ...(nextFrom === null ? [] : [`read on with --from ${nextFrom}`]),
        ...(seq === null ? [] : [next(`clew event ${printable(runId)}:${seq}`)]),
        next(`clew show ${printable(runId)}`),
      ].join(' · '),
    ),
  ]
}
