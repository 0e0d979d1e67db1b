import { X } from 'lucide-react'
import { type ReactElement, type ReactNode, useId } from 'react'
import { useEndInView } from '../live/use-end-in-view.ts'
import { formatDuration, plural } from '../theme/format.ts'
import { StatusMark } from '../theme/status.tsx'
import { useModal } from '../theme/use-modal.ts'
import { leavesOf } from './leaves-of.ts'
import { useTracePlace } from './trace-provider.tsx'
import type { StepRenderers } from './trace-step.tsx'
import { TraceStepList } from './trace-step-list.tsx'
import { type AgentTrace, useAgentTrace } from './use-agent-trace.ts'
import { VersionPicker } from './version-picker.tsx'

export interface TraceDialogProps {
  readonly workspaceId?: string | undefined
  readonly renderers?: StepRenderers | undefined
  /** Beside the title, such as a link to the run. */
  readonly renderActions?: ((trace: AgentTrace, sessionId: string) => ReactNode) | undefined
  /** Below the steps, such as the form of an open question. */
  readonly renderEnd?: ((trace: AgentTrace, sessionId: string) => ReactNode) | undefined
}

/** The trace of the session that the address names; nothing when it names none. */
export function TraceDialog(props: TraceDialogProps): ReactElement | null {
  const { sessionId } = useTracePlace()
  return sessionId === null ? null : <Opened sessionId={sessionId} {...props} />
}

function Opened({
  sessionId,
  workspaceId,
  renderers,
  renderActions,
  renderEnd,
}: TraceDialogProps & { readonly sessionId: string }): ReactElement {
  const { highlight, open, close } = useTracePlace()
  const trace = useAgentTrace(sessionId, { workspaceId })
  const modal = useModal(close)
  const titleId = useId()
  const { session, persona, steps, status } = trace
  const isLive = status === 'running'
  const scroller = useEndInView(isLive && highlight === null)
  return (
    <dialog {...modal} className="clew clew-trace" aria-labelledby={titleId}>
      <header className="clew-trace-head">
        <h2 id={titleId}>{persona?.name ?? 'Trace'}</h2>
        {session && <StatusMark status={session.status} />}
        {session && <Facts trace={trace} />}
        <span className="clew-trace-tools">
          {session && (
            <VersionPicker
              session={session}
              related={trace.relatedSessions}
              onPick={(picked) => open(picked)}
            />
          )}
          {renderActions?.(trace, sessionId)}
        </span>
        <button
          type="button"
          className="clew-trace-close"
          aria-label="Close"
          title="Close  Esc"
          onClick={close}
        >
          <X size={16} aria-hidden="true" />
        </button>
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reached by keyboard */}
      <div ref={scroller} className="clew-trace-scroll" tabIndex={0} role="region" aria-labelledby={titleId}>
        <div>
          {session?.error && steps.every((step) => step.error === null) && (
            <p className="clew-trace-error">{session.error.message ?? session.error.name}</p>
          )}
          {trace.error !== null && session === null ? (
            <p className="clew-trace-error" role="alert">
              {trace.error instanceof Error ? trace.error.message : 'The trace cannot be read.'}
            </p>
          ) : steps.length === 0 ? (
            <p className="clew-row-note">{trace.isLoading ? 'Reading…' : 'No step has started yet.'}</p>
          ) : (
            <TraceStepList
              steps={steps}
              highlight={highlight}
              isLive={isLive}
              renderers={renderers}
              earlierSteps={trace.earlierSteps}
              onEarlier={() => void trace.readEarlier()}
            />
          )}
          {renderEnd?.(trace, sessionId)}
        </div>
      </div>
    </dialog>
  )
}

function Facts({ trace: { session, steps, earlierSteps } }: { readonly trace: AgentTrace }): ReactElement {
  const shown = leavesOf(steps).length
  const all = steps.length + earlierSteps
  const took =
    session?.endedAt != null
      ? ` · ${formatDuration(Date.parse(session.endedAt) - Date.parse(session.startedAt))}`
      : ''
  return (
    <span
      className="clew-row-note"
      title="Steps that only contain other steps are left out here; the run shows all."
    >
      {shown === all ? plural(shown, 'step') : `${shown} of ${plural(all, 'step')}`}
      {took}
    </span>
  )
}
