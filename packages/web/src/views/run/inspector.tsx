import type { ClewEvent, StepSkeleton } from '@clew/ledger'
import {
  formatClock,
  formatTook,
  formatExact,
  JsonTree,
  KindGlyph,
  LongText,
  namedKind,
  StatusMark,
  stepKindOf,
  spellBidi,
} from '@clew/react'
import { GitFork, X } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { Id } from '../../parts/id.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import type { ReplacedValue } from './branch-terms.tsx'
import { EditableValue } from './editable-value.tsx'
import { Missing } from './gaps.tsx'
import { RunLink } from './run-head.tsx'
import type { TabProps } from './run-page.tsx'
import { Scores } from './scores.tsx'
import { stepKey } from './step-key.ts'
import { useEvent } from './use-event.ts'

/** The thing under the cursor, whole. */
export function Inspector(props: TabProps & { readonly onClose: () => void }): ReactElement | null {
  const { runId, chosen, search } = props
  if (search.event !== undefined) return <EventSide {...props} seq={search.event} />
  return chosen ? <StepSide {...props} step={chosen} key={`${runId} ${chosen.stepId}`} /> : null
}

const stepCommand = (runId: string, { stepId, attempt }: StepSkeleton): string =>
  `clew step ${shellWord(runId)} ${shellWord(stepId)}${attempt === 1 ? '' : ` --attempt ${attempt}`}`

interface HeadProps {
  readonly title: ReactNode
  readonly onClose: () => void
}

function Head({ title, onClose }: HeadProps): ReactElement {
  return (
    <header className="side-head">
      <h2>{title}</h2>
      <button type="button" className="icon-button" aria-label="Close" title="Close  Esc" onClick={onClose}>
        <X size={15} aria-hidden="true" />
      </button>
    </header>
  )
}

function StepSide({
  runId,
  step,
  view,
  choose,
  onClose,
}: TabProps & { readonly step: StepSkeleton; readonly onClose: () => void }): ReactElement {
  const began = useEvent(runId, step.startedSeq)
  const ended = useEvent(runId, step.endedSeq)
  const cause = began.data?.causationId ?? null
  // The model that spoke last before a call is the one that asked for it.
  const asker = isSpoken(step)
    ? undefined
    : view.steps.findLast(
        (each) => isSpoken(each) && each.endedSeq !== null && each.endedSeq < step.startedSeq,
      )
  const isNode = step.kind === 'node' || step.kind === 'gate'
  // Only an effect can be performed with something else than the code asks for.
  const isEffect = began.data?.payload.kind === 'effect'
  return (
    <div className="side">
      <Head
        onClose={onClose}
        title={
          <>
            <KindGlyph kind={namedKind(step.kind, step.nodeName)} size={15} />
            <span className="side-name">{spellBidi(step.nodeName)}</span>
            <span className="quiet">{stepKindOf(step.kind).label}</span>
          </>
        }
      />
      <div className="side-facts">
        <StatusMark status={step.status} />
        <span className="clew-mono">{formatTook(step.durationMs)}</span>
        <span>attempt {step.attempt}</span>
        <span>superstep {step.superstep}</span>
        {step.cached && <span className="clew-chip">cached</span>}
        {step.restored && <span className="clew-chip">restored</span>}
        {step.partial && <span className="clew-chip">partial</span>}
      </div>
      {began.error && <ErrorNote error={began.error} />}
      {step.error && (
        <Part name="error">
          <p className="bad">
            {step.error.name !== null && <b>{step.error.name} </b>}
            {step.error.code !== null && <span className="clew-mono">{step.error.code} </span>}
          </p>
          <LongText text={step.error.message ?? ''} />
        </Part>
      )}
      <Scores runId={runId} scores={view.run?.scores ?? []} stepId={step.stepId} />
      {step.decision !== null && <Part name="decided">{[step.decision].flat().join(', ')}</Part>}
      <Value
        runId={runId}
        name="input"
        event={began.data}
        path="input"
        toReplaced={isEffect ? (input) => ({ step: step.stepId, input }) : undefined}
      />
      <Value
        runId={runId}
        name="output"
        event={ended.data}
        path="output"
        toReplaced={
          step.status !== 'completed' || isNode
            ? undefined
            : step.kind === 'interrupt'
              ? (answer) => ({ step: step.stepId, answer })
              : (output) => ({ step: step.stepId, output })
        }
      />
      {step.usage !== null && step.usage !== undefined && (
        <Part name="usage">
          <JsonTree value={step.usage} label="usage" />
        </Part>
      )}
      {step.childRunId !== null && (
        <Part name="child run">
          <RunLink runId={step.childRunId} />
        </Part>
      )}
      <Part name="record">
        <div className="side-links">
          <SeqLink seq={step.startedSeq} choose={choose}>
            began
          </SeqLink>
          {step.endedSeq !== null && (
            <SeqLink seq={step.endedSeq} choose={choose}>
              ended
            </SeqLink>
          )}
          {cause !== null && (
            <button
              type="button"
              className="link"
              onClick={() => choose({ tab: 'causes', event: step.startedSeq, step: undefined })}
            >
              what caused it
            </button>
          )}
          {asker && (
            <button
              type="button"
              className="link"
              onClick={() => choose({ step: stepKey(asker), event: undefined })}
            >
              asked for by {asker.nodeName} <span className="clew-mono">#{asker.startedSeq}</span>
            </button>
          )}
        </div>
        <p className="quiet" title={formatExact(step.createdAt)}>
          {formatClock(step.createdAt)}
          {step.completedAt !== null && ` to ${formatClock(step.completedAt)}`} ·{' '}
          <Id id={step.stepId} label="step id" most={34} />
        </p>
      </Part>
      <div className="side-feet">
        <button type="button" className="button" onClick={() => choose({ act: 'fork' })}>
          <GitFork size={13} aria-hidden="true" /> Fork from here…
        </button>
        <Command text={stepCommand(runId, step)} />
      </div>
    </div>
  )
}

const isSpoken = ({ kind, usage }: StepSkeleton): boolean => kind === 'model' || usage != null

function EventSide({
  runId,
  seq,
  choose,
  onClose,
  view,
}: TabProps & { readonly seq: number; readonly onClose: () => void }): ReactElement {
  const { data: event, error, isPending } = useEvent(runId, seq)
  const stepId = event?.payload.stepId
  const step = view.steps.find((each) => each.stepId === stepId)
  return (
    <div className="side">
      <Head
        onClose={onClose}
        title={
          <>
            <span className="side-name clew-mono">{event?.eventType ?? 'event'}</span>
            <span className="quiet clew-mono">#{seq}</span>
          </>
        }
      />
      {error && <ErrorNote error={error} />}
      {!event && !isPending && !error && (
        <p className="quiet">
          There is no event {seq} in this run: <Missing runId={runId} place={{ seq, pruned: true }} />
        </p>
      )}
      {event && (
        <>
          <div className="side-facts">
            <time dateTime={event.timestamp} title={formatExact(event.timestamp)}>
              {formatClock(event.timestamp)}
            </time>
            <span>
              {event.source.origin} · {event.source.runtime}
            </span>
            <span>position {event.ledger.position.toLocaleString('en')}</span>
          </div>
          <Part name="payload">
            {event.ledger.erased ? (
              <Missing runId={runId} place={event.ledger} />
            ) : (
              <JsonTree value={event.payload} label="payload" open />
            )}
          </Part>
          <Part name="record">
            <div className="side-links">
              {step && (
                <button
                  type="button"
                  className="link"
                  onClick={() => choose({ step: stepKey(step), event: undefined })}
                >
                  step {step.nodeName}
                </button>
              )}
              <button type="button" className="link" onClick={() => choose({ tab: 'causes' })}>
                causes and effects
              </button>
              <SeqLink seq={seq - 1} choose={choose}>
                before
              </SeqLink>
              <SeqLink seq={seq + 1} choose={choose}>
                after
              </SeqLink>
            </div>
            <p className="quiet">
              id <Id id={event.eventId} label="event id" most={22} />
            </p>
            <p className="quiet">
              hash <Id id={event.ledger.hash} label="hash" most={22} />
            </p>
          </Part>
          <div className="side-feet">
            <Command text={`clew causes ${shellWord(`${runId}:${seq}`)}`} />
          </div>
        </>
      )}
    </div>
  )
}

function Part({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <section className="side-part">
      <h3>{name}</h3>
      <div>{children}</div>
    </section>
  )
}

function Value({
  runId,
  name,
  event,
  path,
  toReplaced,
}: {
  readonly runId: string
  readonly toReplaced: ((value: unknown) => ReplacedValue) | undefined
  readonly name: string
  readonly event: ClewEvent | null | undefined
  readonly path: string
}): ReactElement | null {
  if (!event) return null
  if (event.ledger.erased)
    return (
      <Part name={name}>
        <Missing runId={event.correlationId} place={event.ledger} />
      </Part>
    )
  const value = event.payload[path]
  if (value === undefined || value === null) return null
  return (
    <Part name={name}>
      <EditableValue runId={runId} name={name} value={value} toReplaced={toReplaced} />
    </Part>
  )
}

interface SeqLinkProps {
  readonly seq: number
  readonly choose: TabProps['choose']
  readonly children: ReactNode
}

function SeqLink({ seq, choose, children }: SeqLinkProps): ReactElement {
  return (
    <button
      type="button"
      className="link"
      disabled={seq < 1}
      onClick={() => choose({ event: seq, step: undefined })}
    >
      {children} <span className="clew-mono">#{seq}</span>
    </button>
  )
}
