import { formatBytes, JsonTree, plural, useClient } from '@clew/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ValueDiffs } from '../../parts/value-diffs.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { readState } from './read-state.ts'
import type { TabProps } from './run-page.tsx'
import { SinceSuperstep } from './since-superstep.tsx'
import { StepValues } from './step-values.tsx'

/** The state as it was at the superstep under the scrubber, and what that superstep changed. */
export function StateTab(props: TabProps): ReactElement {
  const { runId, search, view, rounds, choose } = props
  const client = useClient()
  const isLive = search.at === undefined && view.run?.endedAt === null
  const at = useQuery({
    // The end of a live run moves on; what lies behind never changes.
    queryKey: ['state', runId, search.at ?? (isLive ? `end ${view.run?.checkpoint?.seq}` : 'end')],
    queryFn: ({ signal }) => readState(client, runId, search.at, signal),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const state = at.data
  const other = search.since === 'before' ? (state ? state.superstep - 1 : undefined) : search.since
  const before = useQuery({
    queryKey: ['state', runId, other],
    queryFn: ({ signal }) => readState(client, runId, other, signal),
    enabled: other !== undefined && other >= 0,
    staleTime: 60_000,
  })
  if (at.error) return <ErrorNote error={at.error} onRetry={() => void at.refetch()} />
  if (state === undefined) return <p className="tab-empty">Reading the state…</p>
  if (state === null) return <StepValues {...props} />
  const command = `clew state ${shellWord(runId)} --superstep ${state.superstep} --full`
  return (
    <div className="scroll state">
      <div className="state-head">
        <span>
          superstep <b className="clew-mono">{state.superstep}</b> of {state.lastSuperstep}
        </span>
        <span className="quiet">
          {state.next.length === 0 ? 'nothing follows' : `next: ${state.next.join(', ')}`}
        </span>
        <div className="switch" role="radiogroup" aria-label="Show">
          <Option
            label="State"
            isOn={search.since === undefined}
            onPick={() => choose({ since: undefined })}
          />
          <Option
            label="Diff to previous"
            isOn={search.since === 'before'}
            onPick={() => choose({ since: 'before' })}
          />
          <Option
            label="Diff to…"
            isOn={typeof search.since === 'number'}
            onPick={() => choose({ since: 0 })}
          />
        </div>
        {typeof search.since === 'number' && (
          <SinceSuperstep
            rounds={rounds}
            shown={state.superstep}
            since={search.since}
            onPick={(since) => choose({ since })}
          />
        )}
      </div>
      {search.since === undefined ? (
        state.channels.map((channel) => (
          <section key={channel.name} className="channel" data-changed={channel.changed}>
            <h2>
              <span className="clew-mono">{channel.name}</span>
              {channel.changed && <span className="clew-chip changed">changed here</span>}
              <span className="quiet">
                {channel.type}
                {channel.count !== null && ` of ${channel.count.toLocaleString('en')}`} ·{' '}
                {formatBytes(channel.bytes)} · {plural(channel.version, 'change')}
              </span>
            </h2>
            <JsonTree
              value={state.state?.[channel.name]}
              label={channel.name}
              key={`${state.superstep} ${channel.version}`}
            />
          </section>
        ))
      ) : (
        <ValueDiffs a={before.data?.state ?? {}} b={state.state ?? {}} />
      )}
      <Command text={command} />
    </div>
  )
}

function Option({
  label,
  isOn,
  onPick,
}: {
  readonly label: string
  readonly isOn: boolean
  readonly onPick: () => void
}): ReactElement {
  return (
    <button type="button" role="radio" aria-checked={isOn} onClick={onPick}>
      {label}
    </button>
  )
}
