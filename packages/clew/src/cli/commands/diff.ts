import type { Delta, DiffRow, RunDiff } from '@clew/ledger'
import { formatCount } from '../../format-count.ts'
import { diff } from '../../operations/diff.ts'
import type { Colours, Style } from '../colour.ts'
import type { Command, InputOf } from '../command.ts'
import { bothSides, changeLines, divergenceLines } from '../divergence-lines.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { formatMoney } from '../money.ts'
import { resolveRun } from '../resolve-run.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { cut, pad, plural, printable } from '../text.ts'
import { formatDuration } from '../time.ts'

const SHOWN = 24

/** 1 when they differ: the answer to "are they the same?" is no (A1). */
export const diffCommand: Command<InputOf<typeof diff>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    diff.run(ledger, {
      ...input,
      runId: await resolveRun(ledger, input.runId),
      otherRunId: await resolveRun(ledger, input.otherRunId),
    }),
  )
  await terminal.answer(data, () => diffLines(terminal, data, input.full))
  return data.same ? EXIT.fine : EXIT.no
}

export function diffLines(terminal: Terminal, data: RunDiff, full: boolean): string[] {
  const { colour } = terminal.output
  const { dim, bold } = colour
  const { a, b, first, wording, again } = data
  const result = [
    `${dim('-')} ${bold(printable(a.runId))}  ${statusText(colour, a.status)}`,
    `${dim('+')} ${bold(printable(b.runId))}  ${statusText(colour, b.status)}`,
    '',
    summary(data),
  ]
  if (data.sharedEvents > 0 && a.runId !== b.runId)
    result.push(dim(`${plural(data.sharedEvents, 'event')} shared by the fork: identical, not compared`))
  if (wording) result.push('', dim('OTHER WORDS FROM'), ...bothSides(colour, terminal.width, wording))
  if (first)
    result.push(
      '',
      dim('FIRST DIVERGENCE'),
      ...divergenceLines(colour, terminal.width, first, data.sharedEvents),
    )
  if (again)
    result.push(
      '',
      `${dim('AGAIN THE SAME')} at #${again.a.seq} and #${again.b.seq}: ${cut(printable(again.b.label), terminal.width - 40)}`,
    )
  if (data.rows.length > 0) result.push('', ...sideBySide(colour, terminal, data, full))
  for (const [title, changes] of [
    ['OUTPUT', data.output],
    ['STATE', data.state],
  ] as const)
    if (changes.length > 0)
      result.push('', dim(title), ...changeLines(colour, terminal.width, changes.slice(0, 4)))
  const table = deltas(data)
  if (table.length > 0) {
    const columns = [
      { title: 'DELTA' },
      ...['-', '+', 'CHANGE'].map((title) => ({ title, align: 'right' as const })),
    ]
    const [head = '', ...body] = formatTable(columns, table, terminal.width)
    result.push('', dim(head), ...body)
  }
  const next = full
    ? `clew events ${b.runId} --after ${Math.max(0, (first?.received?.seq ?? 1) - 2)} --limit 5`
    : `clew diff ${a.runId} ${b.runId} --full`
  return [...result, '', dim(terminal.next(next))]
}

function summary({ same, counts, a, b }: RunDiff): string {
  const again = counts.attempts > 0 ? [`${counts.attempts} after more attempts or fewer`] : []
  if (same)
    return [`The same: ${plural(counts.same + counts.attempts, 'thing')} done, one as the other`, ...again]
      .join(', ')
      .concat('.')
  const parts = [`${counts.same} the same`, ...again]
  if (counts.wording > 0) parts.push(`${counts.wording} in other words`)
  if (counts.changed > 0) parts.push(`${counts.changed} changed`)
  if (counts.moved > 0) parts.push(`${counts.moved} moved`)
  if (counts.missing > 0) parts.push(`${counts.missing} missing`)
  if (counts.extra > 0) parts.push(`${counts.extra} extra`)
  return `They differ: ${parts.join(', ')} (${a.items} and ${b.items} things done).`
}

const MARKS: Readonly<Record<DiffRow['mark'], readonly [sign: string, style: Style]>> = {
  same: [' ', 'dim'],
  attempts: ['↻', 'dim'],
  wording: ['~', 'dim'],
  input: ['≠', 'yellow'],
  output: ['≠', 'yellow'],
  decision: ['≠', 'yellow'],
  name: ['≠', 'yellow'],
  kind: ['≠', 'yellow'],
  order: ['↕', 'cyan'],
  missing: ['-', 'red'],
  extra: ['+', 'green'],
}

/** Both runs in two columns, aligned; long stretches of the same are folded unless all was asked for. */
function sideBySide(
  colour: Colours,
  { width, next }: Terminal,
  { rows, a, b }: RunDiff,
  full: boolean,
): string[] {
  const half = Math.max(20, Math.floor((Math.min(width, 160) - 3) / 2))
  const result = [
    colour.dim(`${pad(cut(printable(a.runId), half), half)}   ${cut(printable(b.runId), half)}`),
  ]
  for (const { mark, a: left, b: right } of full ? rows : rows.slice(0, SHOWN)) {
    const [sign, style] = MARKS[mark]
    const cell = (item: DiffRow['a']): string =>
      pad(cut(item ? `#${item.seq} ${printable(item.label)}` : '', half), half)
    const line = `${cell(left)} ${sign} ${cell(right)}`.trimEnd()
    result.push(colour[style](line))
  }
  if (!full && rows.length > SHOWN)
    result.push(
      colour.dim(
        `… and ${plural(rows.length - SHOWN, 'more line')}: ${next(`clew diff ${a.runId} ${b.runId} --full`)}`,
      ),
    )
  return result
}

function deltas({ deltas: all }: RunDiff): string[][] {
  const row = (
    name: string,
    { a, b, delta }: Delta,
    format: (value: number) => string,
  ): string[] | undefined => {
    if (a === b && delta === 0) return undefined
    const signed =
      delta === null ? '?' : `${delta > 0 ? '+' : delta < 0 ? '-' : ''}${format(Math.abs(delta))}`
    return [name, a === null ? '?' : format(a), b === null ? '?' : format(b), signed]
  }
  return [
    row('steps', all.steps, formatCount),
    row('messages', all.messages, formatCount),
    row('tool calls', all.toolCalls, formatCount),
    row('errors', all.errors, formatCount),
    row('input tokens', all.inputTokens, formatCount),
    row('output tokens', all.outputTokens, formatCount),
    row('cost', all.cost, formatMoney),
    row('time', all.durationMs, formatDuration),
  ].filter((each) => each !== undefined)
}
