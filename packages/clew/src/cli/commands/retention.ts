import { writeFile } from 'node:fs/promises'
import { ClewError, formatPolicy, type RetentionOutlook, type RetentionReport } from '@clew/ledger'
import { retention } from '../../operations/retention.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { growthBars, growthText, policyText, proposalLines, sizeText } from '../retention-lines.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'
import { formatLocal } from '../time.ts'
import { shownTarget } from './hold.ts'

const SHOWN = 20
const NAME = 8

export const retentionCommand: Command<InputOf<typeof retention>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const report = await withLedger((ledger) => retention.run(ledger, input))
  const file = text(flags['save'])
  if (file !== undefined) await save(file, report)
  await terminal.answer(report, () => lines(terminal, report, file))
  return EXIT.fine
}

async function save(file: string, { proposal }: RetentionReport): Promise<void> {
  if (!proposal)
    throw new ClewError(
      'bad_option',
      'The active policy leaves nothing to suggest, so nothing was saved',
      'See it with `clew policy`.',
      { option: '--save' },
    )
  try {
    await writeFile(file, formatPolicy(proposal.policy), { flag: 'wx' })
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    throw new ClewError(
      'bad_option',
      `The policy cannot be written to ${file}${isThere ? ': it already exists' : ''}`,
      'Name a new file.',
      { option: '--save' },
      cause,
    )
  }
}

function lines(terminal: Terminal, report: RetentionReport, file: string | undefined): string[] {
  const { output, width, next } = terminal
  const { dim, green } = output.colour
  const row = (name: string, value: string): string[] =>
    wrap(value, width - NAME - 2).map((line, at) => `${(at === 0 ? name : '').padEnd(NAME)}  ${line}`)
  const { oldest, lastGc, growth } = report
  const result = [
    ...row('size', sizeText(report)),
    ...row('growth', growthText(report)),
    ...(growth.days.length > 1 ? row('', `${growthBars(report)} events a day, until now`) : []),
    ...row(
      'oldest',
      oldest ? `${formatLocal(oldest.recordedAt)}, run ${printable(oldest.runId)}` : 'nothing yet',
    ),
    ...row('policy', policyText(report)),
    ...row('last gc', lastGc ? lastGcText(lastGc) : 'none'),
    ...row('holds', report.holds.length === 0 ? 'none' : plural(report.holds.length, 'hold')),
    ...holdLines(terminal, report),
    ...(report.goes ? outlookLines(terminal, report.goes) : []),
    '',
  ]
  if (file === undefined) return [...result, ...proposalLines(terminal, report)]
  return [
    ...result,
    `${green('✓')} The suggested policy is in ${printable(file)}.`,
    '',
    dim(next(`clew gc --policy ${printable(file)} --dry-run`)),
  ]
}

const lastGcText = ({ endedAt, by, events, runs, isWhole }: NonNullable<RetentionReport['lastGc']>): string =>
  `${formatLocal(endedAt)}${by === null ? '' : ` by ${printable(by)}`}: ${isWhole ? '' : 'at least '}${plural(events, 'event')} of ${plural(runs, 'run')}`

function holdLines({ output, width }: Terminal, { holds }: RetentionReport): string[] {
  if (holds.length === 0) return []
  const columns = [
    { title: 'HOLD' },
    { title: 'KEEPS' },
    { title: 'SINCE' },
    { title: 'REASON', flexible: true },
  ] as const
  const rows = holds
    .slice(0, SHOWN)
    .map((hold) => [
      shownTarget(hold),
      hold.runs === 1 ? '1 run' : `${hold.runs} runs`,
      formatLocal(hold.since),
      printable(hold.reason ?? '–'),
    ])
  return ['', ...dimHead(output.colour.dim, formatTable(columns, rows, width))]
}

function outlookLines({ output, width }: Terminal, { rules, kept, moreKept }: RetentionOutlook): string[] {
  const { dim } = output.colour
  const goes = formatTable(
    [
      { title: 'WOULD BE DELETED BY' },
      { title: 'RUNS', align: 'right' },
      { title: 'EVENTS', align: 'right' },
    ],
    rules.map(({ rule, runs, events }) => [printable(rule), String(runs), String(events)]),
    width,
  )
  const stays = formatTable(
    [{ title: 'KEPT' }, { title: 'RULE' }, { title: 'BECAUSE', flexible: true }],
    kept
      .slice(0, SHOWN)
      .map(({ runId, rule, reason }) => [printable(runId), printable(rule), printable(reason)]),
    width,
  )
  const more = Math.max(0, kept.length - SHOWN) + moreKept
  return [
    ...(rules.length > 0 ? ['', ...dimHead(dim, goes)] : []),
    ...(kept.length > 0 ? ['', ...dimHead(dim, stays)] : []),
    ...(more > 0 ? [dim(`… and ${plural(more, 'more')}: clew gc --dry-run`)] : []),
  ]
}

const dimHead = (dim: (text: string) => string, [head = '', ...body]: readonly string[]): string[] => [
  dim(head),
  ...body,
]
