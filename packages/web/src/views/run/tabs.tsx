import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useRef } from 'react'
import { nameOfTab, RUN_TABS, type RunTab } from '../../url.ts'
import type { Supersteps } from './supersteps.ts'

interface TabsProps {
  readonly tab: RunTab
  readonly onTab: (tab: RunTab) => void
  readonly rounds: Supersteps
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
}

export function Tabs({ tab, onTab, rounds, at, onAt }: TabsProps): ReactElement {
  const list = useRef<HTMLDivElement>(null)
  const last = rounds.all.at(-1)
  const hasRounds = last !== undefined
  // Also when the supersteps come to stand beside the tabs and take some of their room.
  useEffect(() => {
    list.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab, hasRounds])

  function onKeyDown(event: KeyboardEvent): void {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    event.stopPropagation()
    const next = RUN_TABS[(RUN_TABS.indexOf(tab) + by + RUN_TABS.length) % RUN_TABS.length]
    if (next === undefined) return
    onTab(next)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus()
  }

  return (
    <div className="tabs">
      <div className="tab-list" role="tablist" aria-label="Views of the run" ref={list} onKeyDown={onKeyDown}>
        {RUN_TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            data-tab={each}
            aria-selected={each === tab}
            aria-controls="tab-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onTab(each)}
          >
            {nameOfTab(each)}
          </button>
        ))}
      </div>
      {last !== undefined && (
        <div className="tab-at">
          <span className="quiet">superstep</span>
          <button
            type="button"
            className="icon-button"
            aria-label="One superstep back"
            onClick={() => onAt(rounds.before(at))}
          >
            <ChevronLeft size={14} aria-hidden="true" />
          </button>
          <span className="clew-mono">
            {at ?? last} / {last}
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label="One superstep on"
            disabled={at === undefined}
            onClick={() => onAt(rounds.after(at))}
          >
            <ChevronRight size={14} aria-hidden="true" />
          </button>
        </div>
      )}
    </div>
  )
}
