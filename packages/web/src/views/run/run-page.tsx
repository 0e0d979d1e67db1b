import type { StepSkeleton } from '@clew/ledger'
import { isRequestError, type RunView, type TranscriptItem, useRun } from '@clew/react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useEffect, useMemo, useState } from 'react'
import { useTellLink } from '../../frame/link-state.ts'
import { rememberRun } from '../../frame/recent-runs.ts'
import { useShortcut } from '../../frame/shortcuts.ts'
import { TopBar } from '../../frame/top-bar.tsx'
import { Id } from '../../parts/id.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { RUN_TABS, type RunSearch, type RunTab } from '../../url.ts'
import { PrunedNote } from './gaps.tsx'
import { RunHead } from './run-head.tsx'
import { Scrubber } from './scrubber.tsx'
import { SplitPane } from './split-pane.tsx'
import { stepKey } from './step-key.ts'
import { createSupersteps, type Supersteps } from './supersteps.ts'
import { TabBoundary } from './tab-boundary.tsx'
import { Tabs } from './tabs.tsx'
import { createTimeline, type Timeline } from './timeline-layout.ts'
import { TranscriptTab } from './transcript-tab.tsx'
import { useChosenStep } from './use-chosen-step.ts'
import { useStory } from './use-transcript-items.ts'

const ActionSheet = lazy(() => import('./action-sheet.tsx').then((m) => ({ default: m.ActionSheet })))
const Inspector = lazy(() => import('./inspector.tsx').then((m) => ({ default: m.Inspector })))
const TimelineTab = lazy(() => import('./timeline-tab.tsx').then((m) => ({ default: m.TimelineTab })))
const GraphTab = lazy(() => import('./graph-tab.tsx').then((m) => ({ default: m.GraphTab })))
const StateTab = lazy(() => import('./state-tab.tsx').then((m) => ({ default: m.StateTab })))
const CausesTab = lazy(() => import('./causes-tab.tsx').then((m) => ({ default: m.CausesTab })))
const EventsTab = lazy(() => import('./events-tab.tsx').then((m) => ({ default: m.EventsTab })))
const CostTab = lazy(() => import('./cost-tab.tsx').then((m) => ({ default: m.CostTab })))
const LogTab = lazy(() => import('./log-tab.tsx').then((m) => ({ default: m.LogTab })))
const LineageTab = lazy(() => import('./lineage-tab.tsx').then((m) => ({ default: m.LineageTab })))

/** Props of every tab of a run: the run, the selected step, and a function to select another. */
export interface TabProps {
  readonly runId: string
  readonly view: RunView
  /** The steps of `view` as a tree in time, and with what was said between them. */
  readonly timeline: Timeline
  readonly rounds: Supersteps
  readonly story: readonly TranscriptItem[]
  readonly search: RunSearch
  readonly chosen: StepSkeleton | undefined
  /** Events after this one are not looked at; null at the end of the run. */
  readonly untilSeq: number | null
  readonly choose: (next: Partial<RunSearch>) => void
}

export function RunPage(): ReactElement {
  const { runId } = useParams({ from: '/runs/$runId' })
  // Another run is another page: nothing of the one before may stay.
  return <OneRun key={runId} runId={runId} />
}

function OneRun({ runId }: { readonly runId: string }): ReactElement {
  const search = useSearch({ from: '/runs/$runId' })
  const navigate = useNavigate({ from: '/runs/$runId' })
  const view = useRun(runId)
  const { run, steps } = view
  useTellLink(view.link)
  const agent = run === null ? undefined : (run.agent ?? 'run')
  useEffect(() => {
    if (agent !== undefined) rememberRun({ runId, agent })
  }, [runId, agent])
  const chosen = useChosenStep(runId, view, search)
  // The data of all tabs grows with the steps, whichever tab is shown, so that switching tabs costs nothing.
  const [takeRounds] = useState(createSupersteps)
  const [timeline] = useState(createTimeline)
  const rounds = useMemo(() => {
    timeline.take(steps)
    return takeRounds(steps)
  }, [timeline, takeRounds, steps])
  const untilSeq = search.at === undefined ? null : rounds.lastSeqAt(search.at)
  const tab: RunTab = search.tab ?? 'transcript'
  const story = useStory(view, tab === 'transcript')

  /** Choosing is looking around, so it does not fill the way back; going to another tab does. */
  const choose = (next: Partial<RunSearch>): void =>
    void navigate({
      search: (before: RunSearch) => ({ ...before, ...next }),
      replace: next.tab === undefined || next.tab === tab,
    })
  const turn = (by: number): void => {
    const next = RUN_TABS[(RUN_TABS.indexOf(tab) + by + RUN_TABS.length) % RUN_TABS.length]
    choose({ tab: next })
  }
  const scrub = (at: number | undefined): void => choose({ at })
  useShortcut('nextTab', () => turn(1))
  useShortcut('previousTab', () => turn(-1))
  /** From one step to the next in the order of their start; all panes show the run as it stood there. */
  const walk = (by: 1 | -1): void => {
    const here = chosen
      ? steps.findLastIndex(({ startedSeq }) => startedSeq <= chosen.startedSeq)
      : steps.findLastIndex(({ superstep }) => search.at === undefined || superstep <= search.at)
    const next = steps[Math.max(0, Math.min(steps.length - 1, here + (chosen ? by : 0)))]
    if (!next) return
    const isLast = next === steps.at(-1)
    choose({ step: stepKey(next), event: undefined, at: isLast ? undefined : next.superstep })
  }
  useShortcut('earlierStep', () => walk(-1))
  useShortcut('laterStep', () => walk(1))
  useShortcut('earlier', () => scrub(rounds.before(search.at)))
  useShortcut('later', () => scrub(rounds.after(search.at)))
  useShortcut('toStart', () => scrub(rounds.all[0]))
  useShortcut('toEnd', () => scrub(undefined))
  useShortcut('compareRun', () => {
    const other = run?.forkedFrom?.runId ?? run?.replay?.sourceRunId
    void navigate({
      to: '/compare',
      search: { a: other ?? runId, b: other === undefined ? undefined : runId },
    })
  })
  useShortcut('fork', () => choose({ act: 'fork' }))
  useShortcut('replay', () => choose({ act: 'replay' }))
  useShortcut('stop', () => choose({ act: 'stop' }), run?.endedAt === null)
  useShortcut('unselect', () => choose({ step: undefined, event: undefined, at: undefined }))
  const toError = (by: 1 | -1): void => {
    const failed = steps.filter(({ status }) => status === 'failed')
    const here = chosen ? failed.indexOf(chosen) : -1
    const next =
      failed[(here + by + failed.length + (here < 0 && by < 0 ? 1 : 0)) % Math.max(1, failed.length)]
    if (next) choose({ step: stepKey(next), event: undefined })
  }
  useShortcut('nextError', () => toError(1))
  useShortcut('previousError', () => toError(-1))

  const props: TabProps = { runId, view, timeline, rounds, story, search, chosen, untilSeq, choose }
  // The server refuses to show this run, so there are no tabs.
  const isNowhere = run === null && isRequestError(view.error)
  const isLost = chosen === undefined && search.step !== undefined && view.complete
  const hasChoice = chosen !== undefined || search.event !== undefined
  return (
    <>
      <TopBar title={run?.agent ?? runId}>
        <Link to="/runs" search={{}} className="crumb">
          Runs
        </Link>
        <span className="crumb" aria-hidden="true">
          /
        </span>
        <h1 className="crumb-here">{run?.agent ?? 'run'}</h1>
        <Id id={runId} label="run id" most={22} />
      </TopBar>
      {view.error && <ErrorNote error={view.error} />}
      {isNowhere && (
        <p className="tab-empty">
          <Link to="/runs" search={{}} className="run-link">
            All runs
          </Link>
        </p>
      )}
      {isNowhere || (
        <>
          {run && <RunHead {...props} run={run} />}
          <PrunedNote runId={runId} hasGaps={view.hasGaps} />
          {isLost && (
            <ErrorNote error={`This run has no step ${search.step}. Choose one below.`} hint={null} />
          )}
          <Tabs
            tab={tab}
            onTab={(next) => choose({ tab: next })}
            rounds={rounds}
            at={search.at}
            onAt={scrub}
          />
          <SplitPane
            isOpen={hasChoice}
            side={
              hasChoice ? (
                <Suspense>
                  <Inspector
                    {...props}
                    key={`${search.step} ${search.event}`}
                    onClose={() => choose({ step: undefined, event: undefined })}
                  />
                </Suspense>
              ) : null
            }
          >
            <div className="tab-panel" role="tabpanel" id="tab-panel" aria-label={tab}>
              <TabBoundary key={tab} tab={tab}>
                <Suspense>
                  <TabBody tab={tab} {...props} />
                </Suspense>
              </TabBoundary>
            </div>
          </SplitPane>
          <Scrubber rounds={rounds} at={search.at} onAt={scrub} />
          {run && search.act !== undefined && (
            <Suspense>
              <ActionSheet {...props} run={run} act={search.act} />
            </Suspense>
          )}
        </>
      )}
    </>
  )
}

function TabBody({ tab, ...props }: TabProps & { readonly tab: RunTab }): ReactElement {
  switch (tab) {
    case 'transcript':
      return <TranscriptTab {...props} />
    case 'timeline':
      return <TimelineTab {...props} />
    case 'graph':
      return <GraphTab {...props} />
    case 'state':
      return <StateTab {...props} />
    case 'causes':
      return <CausesTab {...props} />
    case 'events':
      return <EventsTab {...props} />
    case 'cost':
      return <CostTab {...props} />
    case 'log':
      return <LogTab {...props} />
    case 'lineage':
      return <LineageTab {...props} />
  }
}
