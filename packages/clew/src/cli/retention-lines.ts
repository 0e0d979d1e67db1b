import { formatPolicy, type GrowthRate, type RetentionReport } from '@clew/ledger'
import { formatCount } from '../format-count.ts'
import { formatSize } from '../format-size.ts'
import type { Terminal } from './terminal.ts'
import { plural, printable, wrap } from './text.ts'
import { formatLocal } from './time.ts'

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

export function sizeText({ size, runs, events, isWhole }: RetentionReport): string {
  const parts = size.parts.map(({ name, bytes }) => `${name} ${formatSize(bytes)}`).join(', ')
  const least = isWhole ? '' : 'at least '
  return `${formatSize(size.bytes)} on disk${size.isShared ? ', all workspaces together' : ''} (${parts}); ${least}${plural(events, 'event')} in ${plural(runs, 'run')}`
}

/** Text about growth; a ledger too young to have a rate says so. */
export function growthText({
  growth: { week, month, bytesIn30Days, isExact },
  oldest,
}: RetentionReport): string {
  if (!oldest) return 'nothing is recorded yet'
  if (!week || !month || bytesIn30Days === null)
    return `the record began ${formatLocal(oldest.recordedAt)}, less than a day ago: too young to tell`
  const about = isExact ? '' : 'at least '
  const longer = month.days > week.days ? `, ${rateText(month)}` : ''
  return `${about}${rateText(week)}${longer}; about ${formatSize(bytesIn30Days)} in 30 days if nothing is deleted`
}

const rateText = ({ days, eventsPerDay, bytesPerDay }: GrowthRate): string =>
  `${formatCount(eventsPerDay)} events or ${formatSize(bytesPerDay)} a day over ${days} days`

export function policyText({ policy, goes }: RetentionReport): string {
  if (!policy) return 'none: nothing is deleted'
  const { source, by, at, problem } = policy
  if (problem !== null) return printable(problem)
  const who = by === null ? '' : ` by ${printable(by)}`
  const set =
    source !== 'workspace' ? 'given to openLedger' : `of the workspace, set${who} ${formatLocal(at ?? '')}`
  const today = goes ? `; today ${plural(goes.events, 'event')} of ${plural(goes.runs, 'run')} would go` : ''
  return `${plural(policy.policy.rules.length, 'rule')} ${set}${today}`
}

/** Events of each day as a line of bars. */
export function growthBars({ growth: { days } }: RetentionReport): string {
  const most = Math.max(1, ...days.map(({ events }) => events))
  return days
    .map(({ events }) => (events === 0 ? '·' : BARS[Math.ceil((events / most) * BARS.length) - 1]))
    .join('')
}

/** The proposed policy, why, and the commands that would apply it. */
export function proposalLines({ output, width, next }: Terminal, report: RetentionReport): string[] {
  const { dim } = output.colour
  const { proposal, policy } = report
  if (!proposal) return ['The active policy leaves nothing to suggest.']
  const isNew = policy === null || policy.problem !== null
  const today = proposal.goes
    ? ` Today ${plural(proposal.goes.events, 'event')} would be deleted by it.`
    : ' Too many runs to plan for while you wait: gc --dry-run tells what would go.'
  return [
    `Suggested retention policy${isNew ? '' : ', an extension of the active one'}.${today}`,
    ...formatPolicy(proposal.policy)
      .trimEnd()
      .split('\n')
      .map((line) => `  ${printable(line)}`),
    '',
    ...proposal.adds.flatMap(({ name, why }) =>
      wrap(printable(`${name}: ${why}`), width - 2).map((line) => dim(`  ${line}`)),
    ),
    '',
    'Nothing is deleted automatically. To save the policy, and to see what it would delete:',
    `  ${next('clew retention --save retention.json')}`,
    `  ${next('clew gc --policy retention.json --dry-run')}`,
  ]
}
