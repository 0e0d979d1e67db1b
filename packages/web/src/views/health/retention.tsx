import { formatPolicy, type GrowthRate, type Hold, type RetentionReport } from '@clew/ledger'
import { copyText, formatBytes, formatCount, plural } from '@clew/react'
import { Check, Copy } from 'lucide-react'
import { type ReactElement, type ReactNode, useMemo, useState } from 'react'
import { Ago } from '../../parts/ago.tsx'
import { Command } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { NumberTable } from '../../parts/number-table.tsx'
import { RunLink } from '../run/run-head.tsx'
import { Chart } from './chart.tsx'

const SHOWN = 20

/** R10: how much there is, how fast it grows, what would go and why, what stays, and a policy that would fit. */
export function Retention({
  report,
  error,
  onRetry,
}: {
  /** Undefined while it is looked for, null where it could not be made. */
  readonly report: RetentionReport | null | undefined
  readonly error: Error | null
  readonly onRetry: () => void
}): ReactElement {
  return (
    <section aria-labelledby="retention">
      <h2 id="retention">Size and retention</h2>
      <p className="quiet">
        Nothing is deleted until a policy says so, and never automatically. This report changes nothing.
      </p>
      {error && <ErrorNote error={error} onRetry={onRetry} />}
      {report === undefined && !error && <p className="quiet">Loading…</p>}
      {report === null && <p className="quiet">The report could not be loaded. The error is shown below.</p>}
      {report && <Report report={report} />}
    </section>
  )
}

function Report({ report }: { readonly report: RetentionReport }): ReactElement {
  const { size, policy, goes, holds, lastGc, oldest, proposal, isWhole } = report
  const least = isWhole ? '' : 'at least '
  return (
    <div className="retention">
      <GrowthCharts report={report} />
      <dl className="facts">
        <Fact name="Recorded">
          {least}
          {plural(report.events, 'event')} in {plural(report.runs, 'run')} and{' '}
          {plural(report.systemRuns, 'system run')}
        </Fact>
        <Fact name="Oldest">
          {oldest ? (
            <>
              <Ago at={oldest.recordedAt} /> in <RunLink runId={oldest.runId} />
            </>
          ) : (
            'nothing is recorded yet'
          )}
        </Fact>
        <Fact name="Active policy">
          <InForce policy={policy} />
        </Fact>
        <Fact name="Last gc">
          {lastGc ? (
            <>
              <Ago at={lastGc.endedAt} />
              {lastGc.by !== null && ` by ${lastGc.by}`}: {!lastGc.isWhole && 'at least '}
              {plural(lastGc.events, 'event')} of {plural(lastGc.runs, 'run')} deleted by{' '}
              {lastGc.rules.join(', ')}
            </>
          ) : (
            'none: nothing was deleted yet'
          )}
        </Fact>
        <Fact name="Holds">
          {holds.length === 0
            ? 'none: clew hold add protects a run, a subject or a thread from retention and erasure'
            : holds.slice(0, SHOWN).map((hold) => (
                <span key={hold.holdId} className="hold">
                  {targetOf(hold)} keeps {hold.runs === 1 ? '1 run' : `${formatCount(hold.runs)} runs`}
                  <span className="quiet">
                    {hold.reason !== null && ` · ${hold.reason}`}
                    {hold.by !== null && ` · ${hold.by}`} · <Ago at={hold.since} />
                  </span>
                </span>
              ))}
        </Fact>
      </dl>
      {size.parts.length > 1 && (
        <NumberTable
          label="Space by part"
          first={size.isShared ? 'On disk, all workspaces together' : 'On disk'}
          columns={['Size']}
          rows={size.parts.map(({ name, bytes }) => ({
            key: name,
            name,
            numbers: [formatBytes(bytes)],
            share: size.bytes === 0 ? null : bytes / size.bytes,
          }))}
        />
      )}
      {goes && <Goes title="What would be deleted today" goes={goes} />}
      {proposal && <Proposal proposal={proposal} isMore={policy !== null && policy.problem === null} />}
      {!proposal && <p className="quiet">The active policy leaves nothing to suggest.</p>}
    </div>
  )
}

function GrowthCharts({
  report: { size, growth, oldest },
}: {
  readonly report: RetentionReport
}): ReactElement {
  const { days, week, month, bytesIn30Days, isExact } = growth
  const points = useMemo(
    () => days.map(({ from, events }) => ({ atMs: Date.parse(from), value: events })),
    [days],
  )
  const least = isExact ? '' : 'at least '
  if (!week || !month || bytesIn30Days === null)
    return (
      <p>
        <b className="clew-mono">{formatBytes(size.bytes)}</b>{' '}
        <span className="quiet">
          {oldest
            ? 'on disk. The record is younger than a day: its growth is shown from tomorrow on.'
            : 'on disk. Nothing is recorded yet.'}
        </span>
      </p>
    )
  return (
    <div className="charts">
      <Chart
        title="Events a day"
        shown={`${least}${formatCount(week.eventsPerDay)}`}
        unit={`over ${daysText(week)}${month.days > week.days ? `, ${formatCount(month.eventsPerDay)} over ${daysText(month)}` : ''}`}
        points={points}
        isBars
      />
      <dl className="facts">
        <Fact name="On disk">
          <b className="clew-mono">{formatBytes(size.bytes)}</b>
        </Fact>
        <Fact name="Grows by">about {formatBytes(week.bytesPerDay)} a day</Fact>
        <Fact name="In 30 days">about {formatBytes(bytesIn30Days)}, if nothing is deleted</Fact>
      </dl>
    </div>
  )
}

const daysText = ({ days }: GrowthRate): string => `${days} days`

function InForce({ policy }: { readonly policy: RetentionReport['policy'] }): ReactNode {
  if (!policy) return 'none: everything stays'
  const { source, by, at, problem, policy: inForce } = policy
  return (
    <>
      {inForce.rules.map(({ name }, place) => name ?? `rule ${place + 1}`).join(', ')}
      <span className="quiet">
        {source === 'opened' ? ' · given where the ledger is opened' : ' · of the workspace'}
        {by !== null && ` · ${by}`}
        {at !== null && (
          <>
            {' · '}
            <Ago at={at} />
          </>
        )}
      </span>
      {problem !== null && <span className="bad"> {problem}</span>}
    </>
  )
}

function Goes({
  title,
  goes,
}: {
  readonly title: string
  readonly goes: NonNullable<RetentionReport['goes']>
}): ReactElement {
  const { rules, kept, moreKept, events } = goes
  const rest = Math.max(0, kept.length - SHOWN) + moreKept
  return (
    <>
      {rules.length === 0 ? (
        <p className="quiet">{title}: nothing.</p>
      ) : (
        <NumberTable
          label={title}
          first={title}
          columns={['Runs', 'Events']}
          rows={rules.map((each) => ({
            key: each.rule,
            name: each.rule,
            numbers: [formatCount(each.runs), formatCount(each.events)],
            share: events === 0 ? null : each.events / events,
          }))}
        />
      )}
      {kept.length > 0 && (
        <details>
          <summary>
            {plural(kept.length + moreKept, 'run')} {kept.length + moreKept === 1 ? 'stays' : 'stay'} though a
            rule names {kept.length + moreKept === 1 ? 'it' : 'them'}
          </summary>
          <ul className="checks">
            {kept.slice(0, SHOWN).map(({ runId, rule, reason }) => (
              <li key={`${runId} ${rule}`}>
                <RunLink runId={runId} />
                <span>
                  {rule} <span className="quiet">{reason}</span>
                </span>
              </li>
            ))}
          </ul>
          {rest > 0 && <p className="quiet">and {plural(rest, 'more')}: clew gc --dry-run</p>}
        </details>
      )}
    </>
  )
}

function Proposal({
  proposal,
  isMore,
}: {
  readonly proposal: NonNullable<RetentionReport['proposal']>
  readonly isMore: boolean
}): ReactElement {
  const [isCopied, setCopied] = useState(false)
  const text = formatPolicy(proposal.policy)
  async function copy(): Promise<void> {
    await copyText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1200)
  }
  return (
    <div className="proposal">
      <h3>Suggested policy</h3>
      <p className="quiet">
        {isMore ? 'It extends the active policy. ' : ''}It fits this ledger: runs that failed, wait or are
        held are in no rule.
      </p>
      <ul className="adds">
        {proposal.adds.map(({ name, why }) => (
          <li key={name}>
            <b>{name}</b> <span className="quiet">{why}</span>
          </li>
        ))}
      </ul>
      <div className="policy-text">
        <pre>{text}</pre>
        <button type="button" className="button" onClick={() => void copy()}>
          {isCopied ? <Check size={13} aria-hidden="true" /> : <Copy size={13} aria-hidden="true" />}
          {isCopied ? 'Copied' : 'Copy policy'}
        </button>
      </div>
      {proposal.goes ? (
        <Goes title="What it would delete today" goes={proposal.goes} />
      ) : (
        <p className="quiet">
          There are too many runs to plan for here: the dry run shows what would be deleted.
        </p>
      )}
      <div className="health-act">
        <Command text="clew retention --save retention.json" />
        <Command text="clew gc --policy retention.json --dry-run" />
      </div>
    </div>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function targetOf({ target }: Pick<Hold, 'target'>): ReactNode {
  if ('runId' in target) return <RunLink runId={target.runId} />
  return 'subject' in target ? `subject ${target.subject}` : `thread ${target.threadId}`
}
