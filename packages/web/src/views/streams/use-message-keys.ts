import type { MessageContext, StreamEntry } from '@clew/react'
import type { RefObject } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'

/** One row is one article, in the order of the items: the one that has the focus is the chosen one. */
export function useMessageKeys(
  pane: RefObject<HTMLElement | null>,
  items: readonly StreamEntry[],
  context: MessageContext,
  enabled: boolean,
): void {
  const rows = (): HTMLElement[] => [...(pane.current?.querySelectorAll<HTMLElement>('article') ?? [])]
  const chosenAt = (): number => rows().findIndex((row) => row.contains(document.activeElement))
  const chosen = (): StreamEntry | undefined => items[chosenAt()]
  function move(by: number): void {
    const all = rows()
    const at = chosenAt()
    const row = all[at === -1 ? all.length - 1 : Math.max(0, Math.min(all.length - 1, at + by))]
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }
  useShortcut('down', () => move(1), enabled)
  useShortcut('up', () => move(-1), enabled)
  useShortcut('write', () => pane.current?.querySelector('textarea')?.focus(), enabled)
  useShortcut(
    'messageMenu',
    () => rows()[chosenAt()]?.querySelector<HTMLElement>('[aria-haspopup="menu"]')?.click(),
    enabled,
  )
  useShortcut(
    'reply',
    () => {
      const item = chosen()
      if (item?.type === 'message') context.openThread(item.message)
    },
    enabled,
  )
  useShortcut(
    'open',
    () => {
      const item = chosen()
      if (item?.type === 'session') context.openTrace(item.session.sessionId)
      else if (item && item.message.sessionId !== null)
        context.openTrace(item.message.sessionId, item.message.messageId)
      else if (item) context.openThread(item.message)
    },
    enabled,
  )
}
