export {
  type Client,
  type ClientOptions,
  createClient,
  isRequestError,
  type Query,
  type RequestError,
  runPath,
} from './client/client.ts'
export { follow, type FollowRequest, type LinkState } from './client/follow.ts'
export { ClewProvider, useClient } from './client/provider.tsx'
export { type FollowOptions, useFollow } from './client/use-follow.ts'
export { copyText } from './json/copy-text.ts'
export { describeValue, previewValue } from './json/json-rows.ts'
export { JsonTree } from './json/json-tree.tsx'
export { LongText } from './json/long-text.tsx'
export { type CodeToken, type Highlight, HighlightProvider } from './run/code-block.tsx'
export { Folded, type FoldedProps } from './run/folded.tsx'
export { Markdown, preloadMarkdown } from './run/markdown.tsx'
export type { RunOwner, RunView } from './run/run-record.ts'
export {
  type EntryRow,
  type StepsRow,
  type TranscriptItem,
  transcriptItemsInSlices,
  transcriptItems,
  textOf,
  wordsOf,
} from './run/transcript-items.ts'
export { TranscriptRow, type TranscriptRowProps } from './run/transcript-row.tsx'
export { useRun } from './run/use-run.ts'
export {
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatDuration,
  formatExact,
  formatMoney,
  formatTook,
  plural,
  shortenId,
} from './theme/format.ts'
export { spellBidi } from './theme/spell-bidi.ts'
export { StatusMark } from './theme/status.tsx'
export { useModal } from './theme/use-modal.ts'
export { type Hue, KindGlyph, namedKind, STEP_KINDS, type StepKind, stepKindOf } from './theme/step-kinds.tsx'
export { useEndInView } from './live/use-end-in-view.ts'
export type { MessageActivity, StreamEntry } from './stream/merge-stream.ts'
export { MESSAGE_ACTIONS, type MessageAction, type MessageContext } from './stream/message-actions.tsx'
export { MessageMenu, type MessageMenuProps } from './stream/message-menu.tsx'
export { StreamMessageRow, type StreamMessageRowProps } from './stream/stream-message-row.tsx'
export { type StreamTrace, useStreamSocket } from './stream/use-stream-socket.ts'
export { ActivityIndicator, type ActivityIndicatorProps } from './trace/activity-indicator.tsx'
export { SessionCard, type SessionCardProps } from './trace/session-card.tsx'
export { TraceDialog, type TraceDialogProps } from './trace/trace-dialog.tsx'
export { type TracePlace, TraceProvider, useTracePlace } from './trace/trace-provider.tsx'
export { type StepRenderers, TraceStep, type TraceStepProps } from './trace/trace-step.tsx'
export { TraceStepList, type TraceStepListProps } from './trace/trace-step-list.tsx'
export { type AgentTrace, type AgentTraceOptions, useAgentTrace } from './trace/use-agent-trace.ts'
