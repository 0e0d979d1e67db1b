import { copyText } from '@clew/react'
import { useIsFetching } from '@tanstack/react-query'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { Keyboard, Monitor, Moon, Search, Sun } from 'lucide-react'
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from 'react'
import { KeysSheet } from './keys-sheet.tsx'
import { OfflineStrip } from './offline-strip.tsx'
import { NAV_ITEMS } from './nav-items.ts'
import { keysOf, listenToKeys, useShortcut } from './shortcuts.ts'
import { nextTheme, setTheme, useTheme } from './theme.ts'
import { TopBarSlot } from './top-bar.tsx'
import { gatherTyped, type TypedAhead } from './typed-ahead.ts'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: shown }) => ({ default: shown })))

/** Frame of every view: rail, top bar, palette and key help. */
export function Frame(): ReactElement {
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const navigate = useNavigate()
  const theme = useTheme()
  const isBusy = useIsFetching() > 0

  useEffect(listenToKeys, [])
  const typed = useRef<TypedAhead>(undefined)
  const close = (): void => {
    typed.current?.stop()
    setOpen(null)
  }
  const find = (): void => {
    typed.current?.stop()
    typed.current = gatherTyped()
    setOpen('palette')
  }
  useShortcut('palette', () => (open === 'palette' ? close() : find()))
  useShortcut('sheet', () => setOpen('keys'))
  useShortcut('theme', () => setTheme(nextTheme(theme)))
  useShortcut('copyLink', () => void copyText(location.href))
  useShortcut('goRuns', () => void navigate({ to: '/runs', search: {} }))
  useShortcut('goStreams', () => void navigate({ to: '/streams' }))
  useShortcut('goCompare', () => void navigate({ to: '/compare', search: {} }))
  useShortcut('goMemory', () => void navigate({ to: '/memory', search: {} }))
  useShortcut('goHealth', () => void navigate({ to: '/health' }))

  const ThemeIcon = theme === 'system' ? Monitor : theme === 'light' ? Sun : Moon
  return (
    <div className="frame">
      <nav className="rail" aria-label="Places">
        <Link to="/runs" search={{}} className="brand" aria-label="Clew, to the runs">
          <ThreadMark />
          <span>Clew</span>
        </Link>
        {NAV_ITEMS.map(({ to, label, icon: Icon, shortcut }) => (
          <Link
            key={to}
            to={to}
            search={{}}
            className="place"
            title={`${label}  ${keysOf(shortcut).join(' ')}`}
          >
            <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
            <span>{label}</span>
          </Link>
        ))}
      </nav>
      <header className="top">
        <div
          className="busy"
          data-busy={isBusy}
          role="progressbar"
          aria-label="Loading"
          aria-hidden={!isBusy}
        />
        <TopBarSlot />
        <div className="top-tools">
          <button type="button" className="icon-button wide" onClick={find}>
            <Search size={14} aria-hidden="true" />
            <span className="clew-hidden">Find anything</span>
            <kbd>{keysOf('palette').join(' ')}</kbd>
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Theme: ${theme}`}
            title={`Theme: ${theme}  T`}
            onClick={() => setTheme(nextTheme(theme))}
          >
            <ThemeIcon size={15} aria-hidden="true" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label="Shortcuts"
            title="Shortcuts  ?"
            onClick={() => setOpen('keys')}
          >
            <Keyboard size={15} aria-hidden="true" />
          </button>
        </div>
      </header>
      <OfflineStrip />
      <main className="view">
        <Outlet />
      </main>
      {open === 'keys' && <KeysSheet onClose={() => setOpen(null)} />}
      {open === 'palette' && (
        <Suspense>
          <Palette typed={typed.current} onClose={close} />
        </Suspense>
      )}
    </div>
  )
}

function ThreadMark(): ReactElement {
  return (
    <svg
      width="20"
      height="20"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <circle cx="11" cy="11" r="7.4" />
      <path d="M5.2 8.2c4.4-.6 8.2.9 11.6 4.4M4.6 13.4c4.4-1.6 8-.8 10.6 3.4M18.4 11c0 5.4 0 8 3.2 10" />
    </svg>
  )
}
