import type { ClewEvent, RetentionReport } from '@clew/ledger'
import { plural, useClient, useFollow } from '@clew/react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Check, CircleX, TriangleAlert } from 'lucide-react'
import { type ReactElement, useRef } from 'react'
import { useTellLink } from '../../frame/link-state.ts'
import { TopBar } from '../../frame/top-bar.tsx'
import { Command } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { RunLink } from '../run/run-head.tsx'
import { Retention } from './retention.tsx'
import { SampleChart } from './sample-chart.tsx'
import { useSamples } from './use-samples.ts'

interface Diagnosis {
  readonly ok: boolean
  readonly checks: readonly {
    readonly name: string
    readonly status: 'ok' | 'warn' | 'fail'
    readonly detail: string
    readonly hint: string | null
  }[]
  readonly retention: RetentionReport | null
}

interface Verification {
  readonly ok: boolean
  readonly checked: number
  readonly problems: readonly {
    readonly runId: string
    readonly seq: number | null
    readonly problem: string
    readonly detail: string
  }[]
}

const ICONS = { ok: Check, warn: TriangleAlert, fail: CircleX }

/** Whether the ledger is whole, and how the server gets on with its work. */
export function HealthPage(): ReactElement {
  const client = useClient()
  const doctor = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => client.get<Diagnosis>('/v1/doctor', {}, signal),
    staleTime: 30_000,
  })
  const verify = useMutation({ mutationFn: () => client.post<Verification>('/v1/verify', {}) })
  const appended = useRef(0)
  const link = useFollow(
    { path: '/v1/follow', after: null, by: 'position' },
    (events: readonly ClewEvent[]) => {
      appended.current += events.length
    },
  )
  useTellLink(link)
  const { samples, error } = useSamples(appended)
  return (
    <>
      <TopBar title="Health">
        <h1 className="crumb-here">Health</h1>
      </TopBar>
      <div className="scroll health">
        <section>
          <h2>Integrity</h2>
          <p className="quiet">
            Every event is chained to the one before it. Verifying reads all events and reports each one that
            was changed, removed or inserted.
          </p>
          <div className="health-act">
            <button
              type="button"
              className="button main"
              disabled={verify.isPending}
              onClick={() => verify.mutate()}
            >
              {verify.isPending ? 'Verifying…' : 'Verify the ledger'}
            </button>
            <Command text="clew verify" />
          </div>
          {verify.error && <ErrorNote error={verify.error} />}
          {verify.data && (
            <div role="status">
              <p className={verify.data.ok ? 'good' : 'bad'}>
                {verify.data.ok ? (
                  <Check size={14} aria-hidden="true" />
                ) : (
                  <CircleX size={14} aria-hidden="true" />
                )}{' '}
                {plural(verify.data.checked, 'event')} checked,{' '}
                {verify.data.ok ? 'nothing was changed.' : plural(verify.data.problems.length, 'problem')}
              </p>
              <ul className="checks">
                {verify.data.problems.map(({ runId, seq, problem, detail }) => (
                  <li key={`${runId} ${seq} ${problem}`}>
                    <RunLink runId={runId} /> {seq !== null && `#${seq} `}
                    <b>{problem}</b> {detail}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </section>
        <section>
          <h2>Now</h2>
          {error !== null && <ErrorNote error={error} />}
          <div className="charts">
            <SampleChart title="Events recorded" unit="per s" samples={samples} of="eventsPerSecond" />
            <SampleChart title="Requests" unit="per s" samples={samples} of="requestsPerSecond" />
            <SampleChart title="Follower lag" unit="events" samples={samples} of="lag" />
            <SampleChart title="Waiting appends" unit="" samples={samples} of="waiting" />
            <SampleChart title="Open streams and sockets" unit="" samples={samples} of="open" />
          </div>
        </section>
        <Retention
          report={doctor.data?.retention}
          error={doctor.error}
          onRetry={() => void doctor.refetch()}
        />
        <section>
          <h2>Machine and store</h2>
          {doctor.error && <ErrorNote error={doctor.error} />}
          <ul className="checks">
            {doctor.data?.checks.map(({ name, status, detail, hint }) => {
              const Icon = ICONS[status]
              return (
                <li key={name} data-status={status}>
                  <Icon size={14} aria-label={status} />
                  <b>{name}</b>
                  <span>
                    {detail}
                    {hint !== null && <span className="quiet"> {hint}</span>}
                  </span>
                </li>
              )
            })}
          </ul>
        </section>
      </div>
    </>
  )
}
