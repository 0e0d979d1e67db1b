import { type ParsedMessage, parseModelReply } from '@clew/ledger'
import type { StepSource, TraceStep as Step } from '@clew/trace'
import { ExternalLink, FileText } from 'lucide-react'
import { memo, type ReactElement, type ReactNode } from 'react'
import { JsonTree } from '../json/json-tree.tsx'
import { StreamingText } from '../live/streaming-text.tsx'
import { Markdown } from '../run/markdown.tsx'
import { textOf } from '../run/transcript-items.ts'
import { formatDuration, formatExact } from '../theme/format.ts'
import { StatusMark } from '../theme/status.tsx'
import { KindGlyph, stepKindOf } from '../theme/step-kinds.tsx'

/** Renderers of a step's body by step type; other types keep the default. */
export type StepRenderers = Readonly<Record<string, (step: Step) => ReactNode>>

export interface TraceStepProps {
  readonly step: Step
  readonly isHighlighted?: boolean | undefined
  /** Keep it the same from one rendering to the next. */
  readonly renderers?: StepRenderers | undefined
}

const NONE: StepRenderers = {}

/** One step of a session: what it is, what it came to, where it looked. */
export const TraceStep = memo(function TraceStep({
  step,
  isHighlighted = false,
  renderers = NONE,
}: TraceStepProps): ReactElement {
  const { stepType, status, progress, content, sources, error, durationMs } = step
  const isOpen = status === 'running' || status === 'paused'
  const live = isOpen ? (progress?.content ?? null) : null
  const own = Object.hasOwn(renderers, stepType) ? renderers[stepType] : undefined
  return (
    <li
      className="clew-step"
      data-status={status}
      data-highlighted={isHighlighted}
      data-number={step.stepNumber}
      aria-current={isHighlighted || undefined}
      aria-label={`${stepKindOf(stepType).label}, ${status}`}
    >
      <span className="clew-step-knot">
        <KindGlyph kind={status === 'failed' ? 'tool_error' : stepType} />
      </span>
      <div className="clew-step-inside">
        <div className="clew-step-head">
          <span className="clew-step-name">{stepKindOf(stepType).label}</span>
          {step.attempt > 1 && <span className="clew-row-note">attempt {step.attempt}</span>}
          <span className="clew-step-facts" title={formatExact(step.startedAt)}>
            {isOpen || status !== 'completed' ? <StatusMark status={status} /> : formatDuration(durationMs)}
          </span>
        </div>
        {own ? own(step) : <Content content={live ?? content} isStreaming={live !== null} />}
        {step.isContentLeftOut && (
          <p className="clew-row-note">The content is long: open the run to read it.</p>
        )}
        {error && <p className="clew-row-error">{error.message ?? error.name ?? 'failed'}</p>}
        {sources.length > 0 && <Sources sources={sources} />}
      </div>
    </li>
  )
})

function Content({
  content,
  isStreaming,
}: {
  readonly content: Step['content']
  readonly isStreaming: boolean
}): ReactElement | null {
  if (content === null) return null
  if (typeof content !== 'string') {
    const said = parseModelReply(content)
    return said ? <Said speech={said} /> : <JsonTree value={content} label="content" open={false} />
  }
  return (
    <div className="clew-step-content">
      {isStreaming ? <StreamingText text={content} /> : <Markdown text={content} />}
    </div>
  )
}

/** Body of a model step: thoughts, text and tool calls. */
function Said({
  speech: { reasoning, content, toolCalls },
}: {
  readonly speech: ParsedMessage
}): ReactElement {
  const text = textOf(content)
  return (
    <div className="clew-step-content">
      {reasoning !== null && (
        <div className="clew-reasoning">
          <Markdown text={reasoning} />
        </div>
      )}
      {text !== null && <Markdown text={text} />}
      {toolCalls.length > 0 && (
        <div className="clew-step-calls">
          {toolCalls.map(({ name }, at) => (
            <span key={`${name} ${at}`} className="clew-chip">
              asks for {name}
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

function Sources({ sources }: { readonly sources: readonly StepSource[] }): ReactElement {
  return (
    <ul className="clew-sources" aria-label="Sources">
      {sources.map((source, at) => (
        <li key={`${source.url ?? source.title ?? ''} ${at}`}>
          <FileText size={13} aria-hidden="true" />
          {isLink(source.url) ? (
            <a href={source.url} target="_blank" rel="noreferrer noopener">
              {source.title ?? source.url}
              <ExternalLink size={11} aria-hidden="true" />
            </a>
          ) : (
            <span>{source.title ?? source.url ?? source.type}</span>
          )}
          <span className="clew-row-note">
            {source.domain ?? (source.title === null ? source.type : source.url)}
          </span>
          {source.snippet !== null && <p className="clew-row-note">{source.snippet.slice(0, SNIPPET)}</p>}
        </li>
      ))}
    </ul>
  )
}

const SNIPPET = 300

/** Whatever an agent gives as an address, only the web is linked to. */
const isLink = (url: string | null): url is string => url !== null && /^https?:\/\//i.test(url)
