import type { CostGroup, CostReport } from '@clew/ledger'
import { formatCount } from '../../format-count.ts'
import { cost } from '../../operations/cost.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { formatMoney } from '../money.ts'
import { resolveRun } from '../resolve-run.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable } from '../text.ts'

const SHOWN = 50

export const costCommand: Command<InputOf<typeof cost>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) => {
    const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
    return cost.run(ledger, { ...input, runId })
  })
  await terminal.answer(data, () => lines(terminal, data, input))
  return EXIT.fine
}

function lines(terminal: Terminal, report: CostReport, input: InputOf<typeof cost>): string[] {
  const { dim, yellow } = terminal.output.colour
  const { groups, total, unpriced, otherCurrencies, by } = report
  if (total.modelCalls === 0)
    return [
      'No call with usage matches. Record `usage` and `model` on messages, calls or steps; see docs/guide/ledger.md.',
      '',
      dim(terminal.next('clew runs')),
    ]
  const columns: readonly Column[] = [
    { title: by.toUpperCase(), flexible: true },
    { title: 'CALLS', align: 'right' },
    { title: 'INPUT', align: 'right' },
    { title: 'CACHED', align: 'right' },
    { title: 'OUTPUT', align: 'right' },
    { title: 'COST', align: 'right' },
  ]
  const rows = groups.slice(0, SHOWN).map((group) => row(printable(group.key ?? '–'), group))
  if (groups.length > 1) rows.push(row('total', total))
  const [head = '', ...body] = formatTable(columns, rows, terminal.width)
  const totalLine = groups.length > 1 ? body.pop() : undefined
  const result = [dim(head), ...body]
  if (groups.length > SHOWN)
    result.push(dim(`… and ${groups.length - SHOWN} more: ${terminal.next('clew cost --json')}`))
  if (totalLine !== undefined) result.push(terminal.output.colour.bold(totalLine))
  if (!total.complete) {
    result.push(
      '',
      yellow(`+ means at least: ${plural(total.unpricedCalls, 'call')} without a price in dollars`),
    )
    for (const { model, provider, modelCalls } of unpriced.slice(0, 5))
      result.push(
        `  ${printable([provider, model ?? 'no model named'].filter((part) => part !== null).join(' '))}: ${plural(modelCalls, 'call')}`,
      )
    if (unpriced.length > 5) result.push(dim(`  … and ${plural(unpriced.length - 5, 'more model')}`))
    for (const { currency, amount, modelCalls } of otherCurrencies)
      result.push(`  ${plural(modelCalls, 'call')} in ${printable(currency)}: ${amount}`)
  }
  if (report.erasedEvents > 0)
    result.push(
      '',
      yellow(`${plural(report.erasedEvents, 'event')} erased: calls that they recorded are not included`),
    )
  return [...result, '', dim(next(terminal, report, input))]
}

const row = (name: string, group: CostGroup): string[] => [
  name,
  number(group.modelCalls),
  number(group.inputTokens),
  number(group.cacheReadTokens),
  number(group.outputTokens),
  `${formatMoney(group.amount)}${group.complete || group.amount === null ? '' : '+'}`,
]

function next(terminal: Terminal, { by, groups }: CostReport, { runId }: InputOf<typeof cost>): string {
  const [first] = groups
  if (by === 'run' && first) return terminal.next(`clew show ${first.key}`)
  if (runId !== undefined) return terminal.next(`clew show ${runId}`)
  return terminal.next('clew cost --by run')
}

const number = (value: number): string => (value === 0 ? '–' : formatCount(value))
