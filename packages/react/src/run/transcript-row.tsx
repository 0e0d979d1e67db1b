import { type EntryOf, readJsonText, type StepSkeleton, type TranscriptEntry } from '@clew/ledger'
import {
  ArrowRightLeft,
  Braces,
  Check,
  CircleX,
  CornerDownRight,
  Flag,
  GitFork,
  Info,
  MessageSquare,
  Play,
  Workflow,
} from 'lucide-react'
import { memo, type MouseEvent, type ReactElement, type ReactNode } from 'react'
import { JsonTree } from '../json/json-tree.tsx'
import { LongText } from '../json/long-text.tsx'
import { StreamingText } from '../live/streaming-text.tsx'
import { formatTook, plural } from '../theme/format.ts'
import { StatusMark } from '../theme/status.tsx'
import { KindGlyph, namedKind } from '../theme/step-kinds.tsx'
import { Folded, Reasoning } from './folded.tsx'
import { Markdown } from './markdown.tsx'
import { type EntryRow, type TranscriptItem, textOf, wordsOf } from './transcript-items.ts'

export interface TranscriptRowProps {
  readonly row: TranscriptItem
  readonly isChosen: boolean
  /** The live end of the thread. */
  readonly isLive: boolean
  /** Text so far of a running step. */
  readonly text?: string | undefined
  readonly onChoose: (row: TranscriptItem) => void
  /** Renders an open question, for example as a form; without it only the text is shown. */
  readonly renderPause?: ((entry: EntryOf<'question'>) => ReactNode) | undefined
  readonly renderRunLink?: ((runId: string) => ReactNode) | undefined
  /** Text for a change of status; without it the recorded reason. */
  readonly statusText?: ((entry: EntryOf<'status'>) => string | undefined) | undefined
  /** Renders an entry whose payload was erased; without it only the fact is shown. */
  readonly renderErased?: ((entry: TranscriptEntry) => ReactNode) | undefined
}

/** One thing that was said or done, hung on the thread. */
export const TranscriptRow = memo(function TranscriptRow(props: TranscriptRowProps): ReactElement {
  const { row, isChosen, isLive, text, onChoose } = props
  const { glyph, who, body, tone } =
    row.type === 'steps' ? tellSteps(row.steps, row.name, row.kind) : tell(row.entry, props)
  const depth = row.type === 'steps' ? Math.min(row.depth, 4) : 0
  return (
    // Clicking anywhere opens it; the button within does the same for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div
      className="clew-row"
      onClick={(event) => isPlainClick(event) && onChoose(row)}
      data-chosen={isChosen}
      data-tone={tone}
      data-live={isLive}
      style={{ '--clew-depth': depth } as React.CSSProperties}
    >
      <button type="button" className="clew-row-who" aria-pressed={isChosen} onClick={() => onChoose(row)}>
        <span className="clew-row-knot">{glyph}</span>
        <span className="clew-row-name" title={typeof who === 'string' ? who : undefined}>
          {who}
        </span>
      </button>
      <div className="clew-row-body">
        {body}
        {text !== undefined && <StreamingText text={text} />}
      </div>
    </div>
  )
})

/** Not on what does something itself, and not at the end of selecting text. */
function isPlainClick({ target }: MouseEvent): boolean {
  const isActive =
    target instanceof Element && target.closest('button, a, input, textarea, select, label, form')
  return !isActive && (getSelection()?.isCollapsed ?? true)
}

interface RowContent {
  readonly glyph: ReactNode
  readonly who: ReactNode
  readonly body: ReactNode
  readonly tone?: 'said' | 'quiet' | 'error' | 'waiting'
}

function tellSteps(steps: readonly StepSkeleton[], name: string, kind: string): RowContent {
  const last = steps.at(-1) as StepSkeleton
  const failed = steps.filter((step) => step.status === 'failed').length
  const totalMs = steps.reduce((sum, step) => sum + (step.durationMs ?? 0), 0)
  const isOpen = last.durationMs === null
  return {
    tone: 'quiet',
    glyph: <KindGlyph kind={failed === steps.length ? 'error' : namedKind(kind, name)} />,
    who: name,
    body: (
      <span className="clew-row-facts clew-row-line">
        {steps.length > 1 && <span>×{steps.length.toLocaleString('en')}</span>}
        {last.status === 'completed' ? null : <StatusMark status={last.status} />}
        {last.attempt > 1 && <span>attempt {last.attempt}</span>}
        {failed > 0 && <span className="clew-row-error">{plural(failed, 'error')}</span>}
        {failed > 0 && last.error?.message && <LongText text={last.error.message} />}
        {last.cached && <span>cached</span>}
        {last.restored && <span>restored</span>}
        {last.decision !== null && <span>→ {[last.decision].flat().join(', ')}</span>}
        {(!isOpen || steps.length > 1) && (
          <span className="clew-row-note clew-row-time clew-mono">{formatTook(totalMs)}</span>
        )}
      </span>
    ),
  }
}

/** Texts for recorded reason codes. */
const REASONS: Readonly<Record<string, string>> = {
  'its owner is dead': 'its process is gone',
  pending: 'a process resumed it',
  interrupted: 'another process resumed it',
  answered: 'with an answer',
}

/** Texts for statuses that are recorded without a reason. */
const STANDS: Readonly<Record<string, string>> = { paused: 'waiting' }

const WHO: Readonly<Record<string, string>> = {
  user: 'You',
  human: 'You',
  assistant: 'Agent',
  ai: 'Agent',
  system: 'System',
}

function tell(
  entry: TranscriptEntry,
  { row, renderPause, renderRunLink, renderErased, statusText }: TranscriptRowProps,
): RowContent {
  if (entry.erased)
    return {
      tone: 'quiet',
      glyph: <Info size={14} />,
      who: entry.kind.replaceAll('_', ' '),
      body: renderErased?.(entry) ?? <Erased />,
    }
  switch (entry.kind) {
    case 'start':
      return {
        tone: 'quiet',
        glyph: <Play size={14} />,
        who: 'started',
        body: (
          <Folded
            label="input"
            value={entry.input}
            words={firstLine(wordsOf(entry.input))}
            lead={entry.agent ?? 'run'}
          />
        ),
      }
    case 'message': {
      const text = textOf(entry.content)
      const isUser = entry.role === 'user' || entry.role === 'human'
      return {
        tone: 'said',
        glyph: isUser ? <KindGlyph kind="human" /> : <MessageSquare size={14} />,
        who: entry.name ?? WHO[entry.role ?? ''] ?? entry.role ?? 'message',
        body: (
          <>
            {text === null ? <JsonTree value={entry.content} label="content" /> : <Markdown text={text} />}
            {entry.model !== null && <span className="clew-chip clew-mono">{entry.model}</span>}
            {entry.edited && <span className="clew-row-note">edited</span>}
          </>
        ),
      }
    }
    case 'reasoning':
      return {
        glyph: <KindGlyph kind="thinking" />,
        who: 'thinking',
        body: <Reasoning content={entry.content} />,
      }
    case 'tool_call':
      return tellTool(entry, row.type === 'entry' ? row : null)
    case 'decision':
      return {
        tone: 'quiet',
        glyph: <ArrowRightLeft size={14} />,
        who: 'decision',
        body: (
          <span className="clew-row-facts">
            <span>{typeof entry.choice === 'string' ? entry.choice : JSON.stringify(entry.choice)}</span>
            {entry.reason !== null && <LongText text={entry.reason} />}
          </span>
        ),
      }
    case 'handoff':
      return {
        tone: 'quiet',
        glyph: <ArrowRightLeft size={14} />,
        who: 'hand-off',
        body: (
          <span className="clew-row-facts">
            <span>
              {entry.from ?? '?'} → {entry.to ?? '?'}
            </span>
            {entry.reason !== null && <LongText text={entry.reason} />}
          </span>
        ),
      }
    case 'question':
      return tellQuestion(entry, row?.type === 'entry' && row.isOver, renderPause)
    case 'structured_output':
      return {
        glyph: <Braces size={14} />,
        who: 'output',
        body: <Folded label="output" value={entry.value} open />,
      }
    case 'child_run':
      return {
        tone: 'quiet',
        glyph: <Workflow size={14} />,
        who: entry.name ?? 'child run',
        body: renderRunLink?.(entry.childRunId) ?? <span className="clew-mono">{entry.childRunId}</span>,
      }
    case 'failure':
      return {
        tone: 'error',
        glyph: <KindGlyph kind="error" />,
        who: entry.name ?? 'step',
        body: (
          <span className="clew-row-facts">
            <span className="clew-row-error">failed</span>
            <span>attempt {entry.attempt}</span>
            <LongText text={entry.error.message ?? entry.error.name ?? 'unknown error'} />
            {entry.retried && <span>tried again</span>}
          </span>
        ),
      }
    case 'status':
      return {
        tone: 'quiet',
        glyph: entry.status === 'forked' ? <GitFork size={14} /> : <Info size={14} />,
        who: entry.status,
        body: (
          <LongText
            text={
              statusText?.(entry) ?? REASONS[entry.reason ?? ''] ?? entry.reason ?? STANDS[entry.status] ?? ''
            }
          />
        ),
      }
    case 'end':
      return {
        tone: entry.status === 'failed' ? 'error' : 'quiet',
        glyph:
          entry.status === 'completed' ? (
            <Check size={14} />
          ) : entry.status === 'failed' ? (
            <CircleX size={14} />
          ) : (
            <Flag size={14} />
          ),
        who: entry.status,
        body:
          entry.error !== null ? (
            <LongText text={entry.error.message ?? entry.error.name ?? 'unknown error'} />
          ) : entry.reason !== null ? (
            <LongText text={entry.reason} />
          ) : entry.output === null ? null : (
            <Folded label="output" value={entry.output} />
          ),
      }
  }
}

function tellTool(entry: EntryOf<'tool_call'>, row: EntryRow | null): RowContent {
  const { outcome, name } = entry
  const kind = namedKind(row?.step?.kind ?? 'tool', name ?? '')
  const ms = outcome === null ? null : Math.max(0, Date.parse(outcome.at) - Date.parse(entry.at))
  return {
    ...(outcome?.error ? { tone: 'error' as const } : {}),
    glyph: <KindGlyph kind={outcome?.error ? 'tool_error' : kind} />,
    who: name ?? 'tool',
    body: (
      <div className="clew-tool">
        {!isEmpty(entry.arguments) && <Folded label="arguments" value={entry.arguments} />}
        <div className="clew-tool-outcome">
          <CornerDownRight size={12} aria-hidden="true" />
          {outcome === null ? (
            <Unanswered row={row} />
          ) : outcome.error ? (
            <span className="clew-row-error">{outcome.error.message ?? outcome.error.name ?? 'failed'}</span>
          ) : outcome.result === null || outcome.result === undefined ? (
            <span className="clew-row-note">no output</span>
          ) : (
            <Folded label="result" value={readJsonText(outcome.result)} />
          )}
          {row?.step && row.step.attempt > 1 && (
            <span className="clew-row-note">attempt {row.step.attempt}</span>
          )}
          {ms !== null && <span className="clew-row-note clew-mono">{formatTook(ms)}</span>}
        </div>
      </div>
    ),
  }
}

/** Status of a call without an outcome. */
function Unanswered({ row }: { readonly row: EntryRow | null }): ReactElement {
  const status = row?.step?.status ?? (row?.isOver ? 'completed' : 'running')
  if (status === 'completed') return <span className="clew-row-note">no result was recorded</span>
  return <StatusMark status={status} />
}

function tellQuestion(
  entry: EntryOf<'question'>,
  isOver: boolean,
  renderPause: TranscriptRowProps['renderPause'],
): RowContent {
  const { answer } = entry
  const words = wordsOf(entry.question)
  const isWaiting = answer === null && !isOver
  return {
    tone: isWaiting ? 'waiting' : 'said',
    glyph: <KindGlyph kind="human" />,
    who: isWaiting ? 'waiting' : 'question',
    body: (
      <div className="clew-question">
        {words === null ? <JsonTree value={entry.question} label="question" /> : <Markdown text={words} />}
        {isWaiting ? (
          renderPause?.(entry)
        ) : answer === null ? (
          <span className="clew-row-note">not answered</span>
        ) : (
          <div className="clew-tool-outcome">
            <CornerDownRight size={12} aria-hidden="true" />
            <Folded label="answer" value={answer.value} />
            {answer.by !== null && <span className="clew-row-note">by {answer.by}</span>}
          </div>
        )}
      </div>
    ),
  }
}

const firstLine = (words: string | null): string | null =>
  words?.trim().split('\n', 1)[0]?.slice(0, 300) ?? null

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0)

function Erased(): ReactElement {
  return <span className="clew-chip clew-redacted">erased: only the event itself is kept</span>
}
