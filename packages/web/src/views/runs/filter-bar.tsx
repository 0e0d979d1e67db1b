import { Search, X } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'
import { joinQuery, splitQuery } from '@clew/ledger'
import { completions } from './run-query.ts'

interface FilterBarProps {
  readonly query: string
  readonly agents: readonly string[]
  readonly onChange: (query: string) => void
}

/** A filter that is typed: what is written becomes chips, and what could follow is offered. */
export function FilterBar({ query, agents, onChange }: FilterBarProps): ReactElement {
  const [draft, setDraft] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const items = splitQuery(query)
  const offers = isOpen ? completions(draft.trim(), agents).slice(0, 10) : []
  useShortcut('filter', () => input.current?.focus())

  function add(text: string): void {
    const whole = (text.match(/"/g) ?? []).length % 2 === 1 ? `${text}"` : text
    onChange(joinQuery([...items, ...splitQuery(whole)]))
    setDraft('')
    setChosen(-1)
  }

  function take(text: string): void {
    setChosen(-1)
    if (text.endsWith(':')) setDraft(text)
    else add(text)
    input.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const offer = offers[chosen]
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const by = event.key === 'ArrowDown' ? 1 : -1
      if (offers.length > 0)
        setChosen((chosen + by + offers.length + (chosen < 0 && by < 0 ? 1 : 0)) % offers.length)
    } else if (event.key === 'Enter') {
      if (offer) take(offer.text)
      else if (draft.trim() !== '') add(draft.trim())
    } else if (event.key === 'Tab' && offers.length > 0 && draft !== '' && !event.shiftKey)
      take((offer ?? offers[0])?.text ?? '')
    else if (event.key === 'Backspace' && draft === '' && items.length > 0)
      onChange(joinQuery(items.slice(0, -1)))
    else if (event.key === 'Escape') {
      setDraft('')
      input.current?.blur()
    } else return
    event.preventDefault()
  }

  return (
    <search className="filter">
      <Search size={14} aria-hidden="true" />
      {items.map((item, index) => (
        <span key={`${index} ${item.text}`} className="chip">
          {item.field === null ? (
            item.text
          ) : (
            <>
              <span className="quiet">{item.text.slice(0, item.text.indexOf(':') + 1)}</span>
              {item.value}
            </>
          )}
          <button
            type="button"
            aria-label={`Remove ${item.text}`}
            onClick={() => onChange(joinQuery(items.filter((_, at) => at !== index)))}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </span>
      ))}
      <input
        ref={input}
        value={draft}
        role="combobox"
        aria-label="Filter runs"
        aria-expanded={offers.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosen < 0 ? undefined : `${listId}-${chosen}`}
        placeholder={items.length === 0 ? 'Filter: status:failed agent:… since:1h, or any words' : ''}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setDraft(event.target.value)
          setChosen(-1)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      {items.length > 0 && (
        <button
          type="button"
          className="icon-button"
          aria-label="Remove all filters"
          onClick={() => onChange('')}
        >
          <X size={14} aria-hidden="true" />
        </button>
      )}
      <div
        className="offers"
        id={listId}
        role="listbox"
        aria-label="Suggestions"
        hidden={offers.length === 0}
      >
        {offers.map((offer, index) => (
          <div
            key={offer.text}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerDown={(event) => {
              event.preventDefault()
              take(offer.text)
            }}
          >
            <span className="clew-mono">{offer.text}</span>
            <span className="quiet">{offer.about}</span>
          </div>
        ))}
      </div>
    </search>
  )
}
