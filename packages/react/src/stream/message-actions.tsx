import type { StreamMessage } from '@clew/trace'
import { Copy, ListTree, MessageSquareReply } from 'lucide-react'
import { copyText } from '../json/copy-text.ts'
import type { Icon } from '../theme/icon.ts'

/** Second argument of an action, next to the message. */
export interface MessageContext {
  readonly openTrace: (sessionId: string, highlight?: string) => void
  readonly openThread: (message: StreamMessage) => void
}

export interface MessageAction {
  readonly id: string
  readonly label: string
  readonly icon: Icon
  /** Left out of the menu where it makes no sense. */
  isFor(message: StreamMessage): boolean
  run(message: StreamMessage, context: MessageContext): void
}

/** Default actions of a message. An app passes its own with them to the menu: `[...MESSAGE_ACTIONS, mine]`. */
export const MESSAGE_ACTIONS: readonly MessageAction[] = [
  {
    id: 'trace',
    label: 'Show trace and sources',
    icon: ListTree,
    isFor: ({ sessionId }) => sessionId !== null,
    run: ({ sessionId, messageId }, { openTrace }) => openTrace(sessionId ?? '', messageId),
  },
  {
    id: 'copy',
    label: 'Copy text',
    icon: Copy,
    isFor: ({ content }) => typeof content === 'string',
    run: ({ content }) => void (typeof content === 'string' && copyText(content)),
  },
  {
    id: 'reply',
    label: 'Reply in thread',
    icon: MessageSquareReply,
    isFor: () => true,
    run: (message, { openThread }) => openThread(message),
  },
]
