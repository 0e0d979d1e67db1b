import { type MessageContext, useStreamSocket } from '@clew/react'
import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { StreamPane } from './stream-pane.tsx'

interface ThreadPaneProps {
  readonly streamId: string
  /** Text of the message on which the thread was opened. */
  readonly about: string | null
  readonly context: MessageContext
  readonly isActive: boolean
  readonly onFocus: () => void
  readonly onClose: () => void
}

/** The thread on a message, beside the stream that the message is in. */
export function ThreadPane({
  streamId,
  about,
  context,
  isActive,
  onFocus,
  onClose,
}: ThreadPaneProps): ReactElement {
  const stream = useStreamSocket(streamId)
  return (
    <aside className="thread-pane" aria-label="Thread" onFocus={onFocus}>
      <header>
        <h2 dir="auto">{about === null ? 'Thread' : `Thread: ${about}`}</h2>
        <button type="button" className="icon-button end" aria-label="Close the thread" onClick={onClose}>
          <X size={15} aria-hidden="true" />
        </button>
      </header>
      <StreamPane
        streamId={streamId}
        stream={stream}
        context={context}
        label="Messages of the thread"
        isActive={isActive}
        isThread
        empty={<p className="quiet stream-empty">There are no messages yet.</p>}
      />
    </aside>
  )
}
