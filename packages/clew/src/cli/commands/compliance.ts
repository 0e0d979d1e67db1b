import type { z } from 'zod'
import { compliance } from '../../operations/compliance.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable } from '../text.ts'
import { formatLocal } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'RECORDED' },
  { title: 'WHO' },
  { title: 'DID' },
  { title: 'TO', flexible: true },
  { title: 'EVENT' },
]

export const complianceCommand: Command<InputOf<typeof compliance>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => compliance.run(ledger, input))
  await terminal.answer(data, () => lines(terminal, data, input))
  return EXIT.fine
}

function lines(
  { output, width, next }: Terminal,
  { entries, nextCursor }: z.output<typeof compliance.output>,
  { since }: InputOf<typeof compliance>,
): string[] {
  const { dim } = output.colour
  if (entries.length === 0) return ['No administrative action is recorded.', '', dim(next('clew verify'))]
  const rows = entries.map((entry) => [
    formatLocal(entry.at),
    cut(printable(entry.who), 24),
    cut(printable(entry.action), 20),
    printable([entry.target, entry.detail].filter((part) => part !== null).join(': ')),
    `${cut(printable(entry.runId), 24)}:${entry.seq}`,
  ])
  const [head = '', ...body] = formatTable(COLUMNS, rows, width)
  const again = since === undefined ? '' : `--since ${printable(since)} `
  const more =
    nextCursor === null ? next('clew verify') : next(`clew compliance ${again}--cursor ${nextCursor}`)
  return [dim(head), ...body, '', dim(`${plural(entries.length, 'deed')} · ${more}`)]
}
