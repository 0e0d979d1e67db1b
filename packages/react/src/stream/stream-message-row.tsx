import type { StreamMessage } from '@clew/trace'
import { memo, type ReactElement, useState } from 'react'
import { JsonTree } from '../json/json-tree.tsx'
import { Markdown } from '../run/markdown.tsx'
import { formatClock, formatExact, plural } from '../theme/format.ts'
import { ActivityIndicator } from '../trace/activity-indicator.tsx'
import { AuthorMark } from './author-mark.tsx'
import type { MessageActivity } from './merge-stream.ts'
import type { MessageAction, MessageContext } from './message-actions.tsx'
import { MessageMenu } from './message-menu.tsx'
import { useLongPress } from './use-long-press.ts'

export interface StreamMessageRowProps {
  readonly message: StreamMessage
  /** Keep it the same from one rendering to the next: rows that have not changed are then left alone. */
  readonly context: MessageContext
  readonly activity?: MessageActivity | null | undefined
  readonly avatarUrl?: string | null | undefined
  readonly actions?: readonly MessageAction[] | undefined
}

/** One message of a stream, with its thread and who is at work in it. */
export const StreamMessageRow = memo(function StreamMessageRow({
  message,
  context,
  activity = null,
  avatarUrl = null,
  actions,
}: StreamMessageRowProps): ReactElement {
  const { author, replyCount, sessionId, sources } = message
  const [isMenuOpen, setMenuOpen] = useState(false)
  const press = useLongPress(() => setMenuOpen(true))
  const name = (author.name ?? author.id).slice(0, 100)
  return (
    <article
      className="clew-message"
      data-author={author.type}
      tabIndex={-1}
      aria-label={`Message of ${name}`}
      {...press}
    >
      <AuthorMark author={author} avatarUrl={avatarUrl} />
      <div className="clew-message-inside">
        <header className="clew-message-head">
          <span className="clew-message-who">{name}</span>
          <time dateTime={message.createdAt} title={formatExact(message.createdAt)}>
            {formatClock(message.createdAt)}
          </time>
          {message.editedAt !== null && message.deletedAt === null && <span>edited</span>}
          {sessionId !== null && (
            <button
              type="button"
              className="clew-link"
              onClick={() => context.openTrace(sessionId, message.messageId)}
            >
              trace
            </button>
          )}
          {sessionId !== null && sources.length > 0 && (
            <button
              type="button"
              className="clew-link"
              title={titlesOf(sources)}
              onClick={() => context.openTrace(sessionId, message.messageId)}
            >
              sources {sources.length}
            </button>
          )}
          <MessageMenu
            message={message}
            context={context}
            actions={actions}
            isOpen={isMenuOpen}
            onOpenChange={setMenuOpen}
          />
        </header>
        <div className="clew-message-body">
          <Body message={message} />
        </div>
        {(replyCount > 0 || activity !== null) && (
          <div className="clew-message-thread">
            {replyCount > 0 && (
              <button type="button" className="clew-link" onClick={() => context.openThread(message)}>
                {plural(replyCount, 'reply', 'replies')}
              </button>
            )}
            {activity !== null && (
              <ActivityIndicator persona={activity.persona} stepType={activity.stepType} />
            )}
          </div>
        )}
      </div>
    </article>
  )
})

const titlesOf = (sources: StreamMessage['sources']): string =>
  sources
    .slice(0, 12)
    .map(({ title, url, type }) => title ?? url ?? type)
    .join('\n')

function Body({ message: { content, deletedAt } }: { readonly message: StreamMessage }): ReactElement {
  if (deletedAt !== null) return <span className="clew-row-note">deleted</span>
  return typeof content === 'string' ? (
    <Markdown text={content} />
  ) : (
    <JsonTree value={content} label="content" />
  )
}
