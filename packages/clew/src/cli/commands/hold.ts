import { holdAdd, holdList, holdRelease, type ListedHold } from '../../operations/hold.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { resolveRun } from '../resolve-run.ts'
import { type Column, formatTable } from '../table.ts'
import { plural, printable } from '../text.ts'
import { formatLocal } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'HOLD' },
  { title: 'COVERS' },
  { title: 'SINCE' },
  { title: 'BY' },
  { title: 'REASON', flexible: true },
]

export const shownTarget = ({ target }: Pick<ListedHold, 'target'>): string => {
  const [kind, name] = Object.entries(target)[0] as [string, string]
  return `${kind === 'runId' ? 'run' : kind === 'threadId' ? 'thread' : kind} ${printable(name)}`
}

export const holdAddCommand: Command<InputOf<typeof holdAdd>> = async ({ input, terminal, withLedger }) => {
  const hold = await withLedger(
    async (ledger) => {
      const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
      return holdAdd.run(ledger, { ...input, runId })
    },
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(hold, () => [
    `${green('✓')} Held: ${shownTarget(hold)}. Neither gc nor erase deletes any of it until the hold is released.`,
    '',
    dim(terminal.next(`clew hold release ${hold.holdId}`)),
  ])
  return EXIT.fine
}

export const holdListCommand: Command<InputOf<typeof holdList>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger((ledger) => holdList.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => {
    if (data.holds.length === 0)
      return ['Nothing is held.', '', dim(terminal.next('clew hold add --run <run> --reason "case 12"'))]
    const rows = data.holds.map((hold) => [
      hold.holdId,
      shownTarget(hold),
      formatLocal(hold.since),
      printable(hold.by ?? '–'),
      printable(hold.reason ?? '–'),
    ])
    const [head = '', ...body] = formatTable(COLUMNS, rows, terminal.width)
    return [
      dim(head),
      ...body,
      '',
      dim(`${plural(rows.length, 'hold')} · ${terminal.next('clew hold release <hold>')}`),
    ]
  })
  return EXIT.fine
}

export const holdReleaseCommand: Command<InputOf<typeof holdRelease>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const hold = await withLedger((ledger) => holdRelease.run(ledger, input), {
    readOnly: false,
    create: false,
  })
  const { green, dim } = terminal.output.colour
  await terminal.answer(hold, () => [
    `${green('✓')} Released: ${shownTarget(hold)}.`,
    '',
    dim(terminal.next('clew gc --policy retention.json --dry-run')),
  ])
  return EXIT.fine
}
