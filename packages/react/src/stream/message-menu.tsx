import type { StreamMessage } from '@clew/trace'
import { Ellipsis } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactElement,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { MESSAGE_ACTIONS, type MessageAction, type MessageContext } from './message-actions.tsx'

export interface MessageMenuProps {
  readonly message: StreamMessage
  readonly context: MessageContext
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  readonly actions?: readonly MessageAction[] | undefined
}

/** The actions of a message, by mouse, touch and keyboard. */
export function MessageMenu({
  message,
  context,
  isOpen,
  onOpenChange,
  actions = MESSAGE_ACTIONS,
}: MessageMenuProps): ReactElement {
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const menuId = useId()
  const isAbove = useIsAbove(menu, isOpen)
  useEffect(() => {
    if (!isOpen) return undefined
    menu.current?.querySelector('button')?.focus({ preventScroll: true })
    const onPointer = (event: PointerEvent): void => {
      const target = event.target as Node
      if (!menu.current?.contains(target) && !button.current?.contains(target)) onOpenChange(false)
    }
    document.addEventListener('pointerdown', onPointer)
    return () => document.removeEventListener('pointerdown', onPointer)
  }, [isOpen, onOpenChange])

  function close(): void {
    onOpenChange(false)
    button.current?.focus()
  }
  function onKeyDown(event: KeyboardEvent): void {
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') return onOpenChange(false)
    if (event.key === 'Escape') close()
    else if (to !== undefined) buttons.at(to % buttons.length)?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <span className="clew-menu">
      <button
        ref={button}
        type="button"
        className="clew-menu-button"
        aria-label="Actions for this message"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? menuId : undefined}
        onClick={() => onOpenChange(!isOpen)}
      >
        <Ellipsis size={15} aria-hidden="true" />
      </button>
      {isOpen && (
        <div
          ref={menu}
          id={menuId}
          className="clew-menu-list"
          data-above={isAbove}
          role="menu"
          tabIndex={-1}
          aria-label="Actions for this message"
          onKeyDown={onKeyDown}
        >
          {actions
            .filter((action) => action.isFor(message))
            .map((action) => (
              <button
                key={action.id}
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={() => {
                  close()
                  action.run(message, context)
                }}
              >
                <action.icon size={14} aria-hidden="true" />
                {action.label}
              </button>
            ))}
        </div>
      )}
    </span>
  )
}

/** Opens upwards where what it stands in would cut it off. */
function useIsAbove(menu: { readonly current: HTMLElement | null }, isOpen: boolean): boolean {
  const [isAbove, setAbove] = useState(false)
  useLayoutEffect(() => {
    if (!isOpen) return setAbove(false)
    let around = menu.current?.parentElement
    while (around && getComputedStyle(around).overflowY === 'visible') around = around.parentElement
    const end = around?.getBoundingClientRect().bottom ?? innerHeight
    setAbove((menu.current?.getBoundingClientRect().bottom ?? 0) > Math.min(end, innerHeight))
  }, [menu, isOpen])
  return isAbove
}
