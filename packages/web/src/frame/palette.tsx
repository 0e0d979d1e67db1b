import { formatAgo, type Client, shortenId, StatusMark, useClient } from '@clew/react'
import type { RunSummary } from '@clew/ledger'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { StreamView } from '@clew/trace'
import { Command, defaultFilter } from 'cmdk'
import { History, MessagesSquare, Search } from 'lucide-react'
import { type ReactElement, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { nameOfTab, readRunSearch, RUN_TABS } from '../url.ts'
import { STREAMS_PATH } from '../views/streams/paths.ts'
import { NAV_ITEMS } from './nav-items.ts'
import { recentRuns } from './recent-runs.ts'
import { isHeard, keysOf, SHORTCUTS, type ShortcutName, tellShortcut } from './shortcuts.ts'
import type { TypedAhead } from './typed-ahead.ts'

interface Hits {
  readonly hits: readonly { readonly run: RunSummary }[]
}

async function findRuns(client: Client, words: string, signal: AbortSignal): Promise<readonly RunSummary[]> {
  const { hits } = await client.get<Hits>('/v1/search', { query: words, limit: 6 }, signal)
  return hits.map(({ run }) => run)
}

/** Keys that belong to rows and cursors are of no use in a list of commands. */
const COMMANDS = (Object.keys(SHORTCUTS) as ShortcutName[]).filter(
  (name) => !/^(?:palette|down|up|open|go[A-Z]|unselect)/.test(name),
)

/** Messages of a stream are found in the run of that stream. */
const streamOf = (runId: string): string | null => /^clew:stream\/(.+)$/.exec(runId)?.[1] ?? null

const SEARCH = 'search all runs'

/** Rank of an entry: names that match come first, then runs found by the search in its order, then the rest of the list. */
const rank = (name: string, words: string, found?: string[]): number =>
  Math.max(
    defaultFilter(name, words),
    found?.includes(words.trim()) ? 0.01 : 0,
    name === SEARCH && words.trim() !== '' ? 0.001 : 0,
  )

interface PaletteProps {
  /** Keys typed while the palette was loading. */
  readonly typed: TypedAhead | undefined
  readonly onClose: () => void
}

export function Palette({ typed, onClose }: PaletteProps): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words.trim())
  const found = useQuery({
    queryKey: ['palette', wanted],
    queryFn: ({ signal }) => findRuns(client, wanted, signal),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
  })
  const { data: streams = [] } = useQuery({
    queryKey: ['palette', 'streams'],
    queryFn: async ({ signal }) =>
      (await client.get<{ streams: readonly StreamView[] }>(STREAMS_PATH, { limit: 50 }, signal)).streams,
  })
  const runs = wanted === '' ? [] : (found.data ?? [])
  // Results of the previous query stay until new ones arrive, but only those whose name matches the new query.
  const foundBy = found.isPlaceholderData ? [] : [wanted]
  const [here, setHere] = useState('')
  const isMoved = useRef(false)
  // Search results arrive late. The first line stays selected unless the user has moved the selection.
  const follow = useCallback((box: HTMLDivElement | null) => {
    if (!box) return undefined
    const observer = new MutationObserver(() => {
      const items = [...box.querySelectorAll('[cmdk-item]')]
      const chosen = items.findIndex((item) => item.getAttribute('aria-selected') === 'true')
      if (chosen > 0 && isMoved.current) return
      const first = items[0]?.getAttribute('data-value')
      if (chosen !== 0 && first) setHere(first)
    })
    observer.observe(box, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [])
  const { runId } = useParams({ strict: false })
  const recent = useMemo(() => recentRuns().filter((run) => run.runId !== runId), [runId])
  const openRun = (to: string): void =>
    void navigate({ to: '/runs/$runId', params: { runId: to }, search: {} })
  const openStream = (streamId: string): void =>
    void navigate({ to: '/streams/$streamId', params: { streamId }, search: {} })
  const openFound = (id: string): void => {
    const streamId = streamOf(id)
    if (streamId === null) openRun(id)
    else openStream(streamId)
  }
  const then = (doing: () => void) => () => {
    onClose()
    doing()
  }
  return (
    <Command.Dialog
      open
      label="Find anything"
      filter={rank}
      value={here}
      onValueChange={setHere}
      onKeyDown={({ key }) => (isMoved.current ||= /^(?:Arrow|Home|End)/.test(key))}
      onPointerMove={() => (isMoved.current = true)}
      onOpenChange={(open) => !open && onClose()}
      overlayClassName="palette-ground"
      contentClassName="palette"
    >
      <div className="palette-field">
        <Search size={15} aria-hidden="true" />
        <Command.Input
          value={words}
          // From now on letters come here by themselves.
          onFocus={() => setWords((before) => before + (typed?.take() ?? ''))}
          onValueChange={(next) => {
            isMoved.current = false
            setWords(next)
          }}
          placeholder="Find a run, go somewhere, do something…"
        />
        <span className="quiet" role="status">
          {found.isFetching && 'Looking…'}
        </span>
      </div>
      <Command.List ref={follow}>
        <Command.Empty>No match.</Command.Empty>
        {words.trim() === '' && recent.length > 0 && (
          <Command.Group heading="Recent">
            {recent.map((run) => (
              <Command.Item
                key={run.runId}
                value={`recent ${run.agent} ${run.runId}`}
                onSelect={then(() => openRun(run.runId))}
              >
                <History size={15} aria-hidden="true" />
                <span>{run.agent}</span>
                <span className="clew-mono quiet">{shortenId(run.runId, 24)}</span>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        {runs.length > 0 && (
          <Command.Group heading="Runs">
            {runs.map((run) => (
              <Command.Item
                // Anew with other words: the list looks at keywords once.
                key={`${foundBy.join()} ${run.runId}`}
                value={`run ${run.agent ?? ''} ${run.runId}`}
                keywords={foundBy}
                onSelect={then(() => openFound(run.runId))}
              >
                {streamOf(run.runId) === null ? (
                  <>
                    <StatusMark status={run.status} compact />
                    <span>{run.agent ?? 'run'}</span>
                    <span className="clew-mono quiet">{shortenId(run.runId, 24)}</span>
                  </>
                ) : (
                  <>
                    <MessagesSquare size={15} aria-hidden="true" />
                    <span># {streamOf(run.runId)}</span>
                  </>
                )}
                <span className="quiet end">{formatAgo(run.startedAt, Date.now())}</span>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        {runId !== undefined && (
          <Command.Group heading="In this run">
            {RUN_TABS.map((tab) => (
              <Command.Item
                key={tab}
                value={`tab ${nameOfTab(tab)}`}
                onSelect={then(
                  () =>
                    void navigate({
                      to: '/runs/$runId',
                      params: { runId },
                      search: (before) => ({ ...readRunSearch(before), tab }),
                    }),
                )}
              >
                {nameOfTab(tab)}
              </Command.Item>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Go to">
          {NAV_ITEMS.map(({ to, label, icon: Icon, shortcut }) => (
            <Command.Item
              key={to}
              value={`go ${label}`}
              onSelect={then(() => void navigate({ to, search: {} }))}
            >
              <Icon size={15} aria-hidden="true" />
              {label}
              <Keys name={shortcut} />
            </Command.Item>
          ))}
          {streams.map(({ streamId, title }) => (
            <Command.Item
              key={streamId}
              value={`stream ${title ?? ''} ${streamId}`}
              onSelect={then(() => openStream(streamId))}
            >
              <MessagesSquare size={15} aria-hidden="true" /># {title ?? streamId}
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Do">
          {COMMANDS.filter(isHeard).map((name) => (
            <Command.Item key={name} value={SHORTCUTS[name].about} onSelect={then(() => tellShortcut(name))}>
              {SHORTCUTS[name].about}
              <Keys name={name} />
            </Command.Item>
          ))}
        </Command.Group>
        {words.trim() !== '' && (
          <Command.Group heading="All runs">
            <Command.Item
              value={SEARCH}
              onSelect={then(() => void navigate({ to: '/runs', search: { q: words.trim() } }))}
            >
              <Search size={15} aria-hidden="true" />
              <span className="palette-words">List the runs with “{words.trim()}”</span>
            </Command.Item>
          </Command.Group>
        )}
      </Command.List>
      <footer className="palette-feet quiet">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </footer>
    </Command.Dialog>
  )
}

function Keys({ name }: { readonly name: ShortcutName }): ReactElement {
  return (
    <span className="end">
      {keysOf(name).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}
